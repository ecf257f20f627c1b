/* SPDX-License-Identifier: MIT */
/*
 * uts.c - row `uts`: walk an unbalanced tree that is 1596 nodes deep;
 * typed and plain.
 */
#include "rows.h"

#include "../problems/uts.h"

static long walk(uint64_t node);
SLEY_FORKABLE(long, walk, uint64_t, node)

static long walk(uint64_t node)
{
	struct walk_fork child[UTS_WAYS - 1];
	int last = UTS_WAYS - 1;
	long nodes;

	if (!uts_inner(node))
		return 1;
	for (int i = 0; i < last; i++)
		walk_fork(&child[i], uts_child(node, i));
	nodes = 1 + walk(uts_child(node, last));
	for (int i = last; i-- > 0;)
		nodes += walk_join(&child[i]);
	return nodes;
}

static long uts(int root)
{
	static struct walk_fork child[UTS_ROOT];
	long nodes = 1;

	for (int i = 0; i < root; i++)
		walk_fork(&child[i], uts_child(UTS_SEED, i));
	for (int i = root; i-- > 0;)
		nodes += walk_join(&child[i]);
	return nodes;
}

struct plain {
	uint64_t node;
	long nodes;
};

static void plain_walk(void *arg)
{
	struct plain *self = arg;
	struct sley_forked child[UTS_WAYS - 1];
	struct plain below[UTS_WAYS];
	int last = UTS_WAYS - 1;

	self->nodes = 1;
	if (!uts_inner(self->node))
		return;
	for (int i = 0; i < UTS_WAYS; i++) {
		below[i].node = uts_child(self->node, i);
		if (i < last)
			sley_fork(&child[i], plain_walk, &below[i]);
	}
	plain_walk(&below[last]);
	self->nodes += below[last].nodes;
	for (int i = last; i-- > 0;) {
		sley_fork_join(&child[i]);
		self->nodes += below[i].nodes;
	}
}

static long uts_plain(int root)
{
	static struct sley_forked child[UTS_ROOT];
	static struct plain below[UTS_ROOT];
	long nodes = 1;

	for (int i = 0; i < root; i++) {
		below[i].node = uts_child(UTS_SEED, i);
		sley_fork(&child[i], plain_walk, &below[i]);
	}
	for (int i = root; i-- > 0;) {
		sley_fork_join(&child[i]);
		nodes += below[i].nodes;
	}
	return nodes;
}

static void root(void *arg)
{
	const struct measure *m = arg;

	uts_measure(m, "ns", UTS_TURNS, uts);
	uts_measure(m, "plain_ns", UTS_TURNS, uts_plain);
}

void row_uts(const struct measure *m)
{
	row_run_config(SLEY_CONFIG(.workers = m->workers,
				   .stack_kib = UTS_STACK_KIB),
		       root, (void *)m);
}
