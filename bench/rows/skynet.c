/* SPDX-License-Identifier: MIT */
/*
 * skynet.c - row `skynet`: fork nine children, call the tenth, join them.
 */
#include "rows.h"

#include "../problems/skynet.h"

struct plain {
	long first, leaves, sum;
};

static void plain_skynet(void *arg)
{
	struct plain *self = arg;
	long each = self->leaves / SKYNET_WAYS;
	struct sley_fork child[SKYNET_WAYS - 1];
	struct plain part[SKYNET_WAYS];
	int last = SKYNET_WAYS - 1;

	if (self->leaves == 1) {
		self->sum = self->first;
		return;
	}
	for (int i = 0; i < SKYNET_WAYS; i++) {
		part[i].first = self->first + i * each;
		part[i].leaves = each;
		if (i < last)
			sley_fork(&child[i], plain_skynet, &part[i]);
	}
	plain_skynet(&part[last]);
	self->sum = part[last].sum;
	for (int i = last; i-- > 0;) {
		sley_fork_join(&child[i]);
		self->sum += part[i].sum;
	}
}

static long skynet_plain(long first, long leaves)
{
	struct plain whole = { .first = first, .leaves = leaves };

	plain_skynet(&whole);
	return whole.sum;
}

static void root(void *arg)
{
	const struct measure *m = arg;

	skynet_measure(m, "plain_ns", SKYNET_TURNS, skynet_plain);
}

void row_skynet(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
