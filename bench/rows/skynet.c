/* SPDX-License-Identifier: MIT */
/*
 * skynet.c - row `skynet`: fork nine children, call the tenth, join all; typed and
 * plain.
 */
#include "rows.h"

#include "../problems/skynet.h"

static long skynet(long first, long leaves);
SLEY_FORKABLE(long, skynet, long, first, long, leaves)

static long skynet(long first, long leaves)
{
	struct skynet_fork child[SKYNET_WAYS - 1];
	long each = leaves / SKYNET_WAYS, sum;
	int last = SKYNET_WAYS - 1;

	if (leaves == 1)
		return first;
	for (int i = 0; i < last; i++)
		skynet_fork(&child[i], first + i * each, each);
	sum = skynet(first + last * each, each);
	for (int i = last; i-- > 0;)
		sum += skynet_join(&child[i]);
	return sum;
}

struct plain {
	long first, leaves, sum;
};

static void plain_skynet(void *arg)
{
	struct plain *self = arg;
	long each = self->leaves / SKYNET_WAYS;
	struct sley_forked child[SKYNET_WAYS - 1];
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

	skynet_measure(m, "ns", SKYNET_TURNS, skynet);
	skynet_measure(m, "plain_ns", SKYNET_TURNS, skynet_plain);
}

void row_skynet(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
