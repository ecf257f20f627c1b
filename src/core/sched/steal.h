/* SPDX-License-Identifier: MIT */
/*
 * steal.h - forked children: how thieves steal them, and how a parent waits.
 *
 * The children of a task are in the fork stack of its strand (lf/fork_stack.h).
 * Thieves look at the strand a worker is on, and at the list of strands that
 * were suspended there with children that can be stolen.  A stolen child becomes
 * a task like any other, of its parent's level, so that the child may block.
 *
 * A child is private at first: forking notifies no worker.  A thief that finds
 * nothing asks the strands that workers are on, so that their next fork takes the
 * slow path and answers.  If no answer comes within the time of a search, the thief
 * seizes a child.  A worker that goes to sleep asks before it looks around for the
 * last time: a parent that forks later answers, and wakes the worker; a child that
 * was forked before, private or not, keeps the worker awake.  Where the kernel has
 * no membarrier every fork is public at once.
 */
#ifndef SLEY_CORE_SCHED_STEAL_H
#define SLEY_CORE_SCHED_STEAL_H

#include "core/sched/worker.h"

/* A public child of a task of @victim, as a task to be run; or NULL. */
struct sley_task *fork_steal(struct worker *worker, struct worker *victim);

/* Could there be such a child? */
bool fork_stealable(struct worker *victim);

/* The same for a child that its parent has not shared. */
struct sley_task *fork_seize(struct worker *worker, struct worker *victim);
bool fork_is_private(struct worker *victim);

/* Let the next fork on @worker be slow.  True: it was not asked yet. */
bool fork_ask(struct worker *worker);

/* Let every parent share with its next fork.  True: some were not asked yet. */
bool fork_ask_all(struct sley *rt);

/* A parent has forked the slow way: a thief may have asked. */
void fork_answer(struct worker *worker);

/*
 * Let a task of @rt run @child, which was forked by a thread, or in a blocking
 * region by the task on @parent.  False: there is no worker, or no memory.
 */
must_check bool fork_give(struct sley *rt, struct strand *parent,
			  struct sley_forked *child);

/*
 * The parent on @strand joins its child @i: take the child back, if no thief has
 * it.  @worker is NULL in a blocking region.
 */
must_check enum fork_pop fork_take_back(struct strand *strand,
					struct worker *worker, uint32_t i);

/*
 * A join has lowered the head for a moment: a worker that looked then, and
 * sleeps, has not seen the children from @first on.
 */
void fork_show(struct strand *strand, struct worker *worker, uint32_t first);

/*
 * The calling task is about to leave its stack: its children must not wait for the
 * task.  Called by core/sched/suspend.h alone, if there are children; so is
 * fork_come_back(), if thieves know the strand.
 */
void fork_leave_behind(struct worker *worker);

/* The task goes on: thieves find its children through its worker again. */
void fork_come_back(struct strand *strand);

/* AFTER_FORK: the parent has left its stack. */
void fork_finish_wait(struct worker *worker, const struct after *after);

/* Make room for one more child.  False: no memory. */
must_check bool fork_make_room(struct worker *worker);

void fork_storage_free(struct sley *rt, struct strand *strand);

#endif
