/* SPDX-License-Identifier: MIT */
/*
 * tree.c - see tree.h.
 */
#include "core/task/tree.h"

#include "core/task/then.h"
#include "core/sched/worker.h"

#include <sley/fork.h>

static uint64_t last_id;

/* The number in *@id; a new number is made if there is none. */
static uint64_t number(uint64_t *id)
{
	/* relaxed: a number says nothing about other memory. */
	uint64_t old = load_relaxed(id), fresh;

	if (old)
		return old;
	/* relaxed: as above. */
	fresh = add_relaxed(&last_id, 1) + 1;
	/* relaxed: as above. */
	return cas_relaxed(id, &old, fresh) ? fresh : old;
}

static uint64_t tree_of(struct strand *strand)
{
	struct sley_group *group;

	for (;;) {
		/* A parent cannot end before its child.  The parent may move. */
		struct sley_task *task = strand_task(strand);
		struct worker *home = strand_home(strand);

		/* The code of a bound thread; its children run there, too. */
		if (strand == &home->base)
			return number(&sley__self.tree);
		group = then_group(task);
		if (group && group->tree)
			return group->tree;
		if (!(task_flags(task) & TASK_FORKED))
			return number(&strand->tree.id);
		strand = task_forked(task)->parent;
	}
}

static void forget(struct cleanup *cleanup)
{
	struct tree *tree = container_of(cleanup, struct tree, cleanup);

	/* relaxed: a number says nothing about other memory. */
	store_relaxed(&tree->id, 0);
}

void tree_keep(struct strand *strand)
{
	struct tree *tree = &strand->tree;

	/* relaxed: made by this task, or by a child that it has joined. */
	if (cleanup_is_added(&tree->cleanup) || !load_relaxed(&tree->id))
		return;
	cleanup_add_last(&strand->cleanups, &tree->cleanup, forget);
}

uint64_t tree_current(void)
{
	struct strand *strand = strand_current();
	uint64_t id;

	if (!strand)
		return number(&sley__self.tree);
	id = tree_of(strand);
	tree_keep(strand);
	return id;
}
