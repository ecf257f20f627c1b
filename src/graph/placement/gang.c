/* SPDX-License-Identifier: MIT */
/*
 * gang.c - see gang.h.
 *
 * When all members are there they decide, once, whether the gang starts.  The first
 * member that changes the word sets GANG_STARTED; or GANG_CANCELLED, if the node is
 * to be skipped.  A canceller sets GANG_CANCELLED in the same word.  So either all
 * members call the function, or no member does:
 *
 *      member:     word has STARTED or CANCELLED?  else set one of them
 *                  it has STARTED: call the function
 *      canceller:  set CANCELLED;  it had BEGUN: cancel the tasks of the members
 *
 * A gang with GANG_CANCELLED alone is skipped.  With GANG_STARTED as well the gang
 * runs, and its members are cancelled.
 *
 * Edges:
 *
 *   M1  a member has ended -> the last member ends the node : what the member did
 *   M2  gang_begin() and gang_cancel() read-modify-write one word : the later sees
 *       the members, or the cancel
 */
#include "graph/placement/gang.h"

#include "core/sched/place.h"
#include "core/task/turn.h"
#include "core/wait/wait.h"
#include "graph/node/graph.h"
#include "graph/node/watch.h"

#include <errno.h>
#include <sley/time.h>

/* By each member, when all are there.  False: no member calls the function. */
static bool starts(struct node *node)
{
	uint32_t *at = &node->placement->word;
	uint32_t decided = node_is_skipped(node) ? GANG_CANCELLED
						 : GANG_STARTED;
	/* relaxed: a guess; the countdown orders the arrival of all members. */
	uint32_t word = load_relaxed(at);

	while (!(word & (GANG_STARTED | GANG_CANCELLED))) {
		/* relaxed: one word, which decides nothing else. */
		if (!chaos_says(CHAOS_LOSE) &&
		    cas_relaxed(at, &word, word | decided))
			word |= decided;
	}
	return word & GANG_STARTED;
}

/* A member comes, waits for the others, and starts with them. */
static void turn(void *task)
{
	struct gang_member *member = task;
	struct node *node = member->node;
	struct placement *placement = node->placement;
	int32_t none = 0;
	int code;

	(void)countdown_done(&placement->coming);
	/* Shielded: the function of the node handles a cancel. */
	code = countdown_wait(&placement->coming, SLEY_FOREVER, WAIT_SHIELDED);
	sley_assert(!code);
	if (unlikely(node->scope->graph->watch) && !member->index)
		watch_begin(node);
	if (unlikely(!starts(node)))
		return;
	code = node->fn(node->task.arg);
	if (code < 0)
		/* relaxed: M1 publishes it; any of the failures may be the first. */
		(void)cas_relaxed(&placement->code, &none, code);
}

/* The last member ends the node, as if the node had had a turn. */
static struct sley_task *after_turn(struct worker *worker,
				    struct sley_task *task)
{
	struct gang_member *member = (struct gang_member *)(void *)task;
	struct node *node = member->node;
	struct placement *placement = node->placement;

	if (sub_acq_rel(&placement->nr_left, 1) > 1) /* M1 */
		return NULL;
	/* relaxed: decided before the turn of this member ended. */
	if (likely(load_relaxed(&placement->word) & GANG_STARTED))
		failure_set_result(&node->failure, placement->code);
	else
		failure_set_skipped(&node->failure);
	return graph_turns.after(worker, &node->task);
}

static void poke(struct sley_task *task)
{
	(void)task;
}

static const struct turns turns = { after_turn, poke };

bool gang_begin(struct node *node)
{
	struct placement *placement = node->placement;

	placement->nr_left = placement->gang;
	countdown_add(&placement->coming, placement->gang);
	for (uint32_t i = 0; i < placement->gang; i++) {
		struct gang_member *member = &placement->member[i];

		member->node = node;
		member->index = i;
		member->task.fn = turn;
		member->task.arg = node->task.arg;
		member->task.name = node->task.name;
		member->task.group = (struct sley_group *)(uintptr_t)&turns;
		task_build(&member->task, task_level(&node->task),
			   (task_flags(&node->task) & ~TASK_LEVEL_MASK) |
				   TASK_PINNED);
	}
	return !(or_acq_rel(&placement->word, GANG_BEGUN) &
		 GANG_CANCELLED); /* M2 */
}

void gang_cancel(struct node *node)
{
	struct placement *placement = node->placement;

	if (!(or_acq_rel(&placement->word, GANG_CANCELLED) &
	      GANG_BEGUN)) /* M2 */
		return;
	for (uint32_t i = 0; i < placement->gang; i++) {
		struct sley_task *task = &placement->member[i].task;

		if (task_cancel(task))
			task_enqueue(task);
	}
}

struct node *gang_node(struct sley_task *task)
{
	if (task->fn != turn)
		return NULL;
	return ((struct gang_member *)(void *)task)->node;
}

uint32_t sley_node_member(void)
{
	const struct strand *strand = strand_current();
	struct sley_task *task = strand ? strand->task : NULL;

	if (!task || !gang_node(task))
		return 0;
	return ((struct gang_member *)(void *)task)->index;
}
