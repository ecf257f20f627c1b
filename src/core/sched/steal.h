/* SPDX-License-Identifier: MIT */
/*
 * steal.h - forked children: how they are stolen, and how a parent waits.
 *
 * The children of a task are in the fork stack of its strand (lf/fork_stack.h).
 * Thieves look at the strand a worker is on, and at the list of strands that
 * were suspended there with children still to be had.  A stolen child becomes
 * a task like any other, of its parent's level, so that it may block.
 *
 * A child is private at first: forking tells nobody.  Who finds nothing asks the
 * strands that workers are on, so that their next fork takes the slow path and
 * answers.  If that does not come within the time of a search, it seizes a child.
 * Who goes to sleep asks before it looks around for the last time: whoever forks
 * later answers, and wakes it; what was forked before, private or not, keeps it
 * awake.  Where the kernel has no membarrier every fork is public at once.
 */
#ifndef SLEY_CORE_SCHED_STEAL_H
#define SLEY_CORE_SCHED_STEAL_H

#include "core/sched/worker.h"

/* A public child of a task of @victim, as a task to be run; or NULL. */
struct sley_task *fork_steal(struct worker *worker, struct worker *victim);

/* Could there be one? */
bool fork_stealable(struct worker *victim);

/* The same for a child that its parent has not shared. */
struct sley_task *fork_seize(struct worker *worker, struct worker *victim);
bool fork_is_private(struct worker *victim);

/* Let every parent share with its next fork.  True: some did not yet. */
bool fork_ask_all(struct sley *rt);

/* A parent has forked the slow way: somebody may have asked. */
void fork_answer(struct worker *worker);

/*
 * Let a task of @rt run @child, which was forked by a thread, or in a blocking
 * region by the task on @parent.  False: it cannot.
 */
must_check bool fork_give(struct sley *rt, struct strand *parent,
			  struct sley_forked *child);

/*
 * The parent on @strand joins its child @i: take it back, if nobody has it.
 * @worker is NULL in a blocking region.
 */
must_check enum fork_pop fork_take_back(struct strand *strand,
					struct worker *worker, uint32_t i);

/*
 * A join has lowered the head for a moment: who looked then, and sleeps, has not
 * seen the children from @first on.
 */
void fork_show(struct strand *strand, struct worker *worker, uint32_t first);

/* The calling task is about to block: its children must not wait for it. */
void fork_leave_behind(struct worker *worker);

/* It goes on: thieves find its children through its worker again. */
void fork_come_back(struct strand *strand);

/* AFTER_FORK: the parent has left its stack. */
void fork_finish_wait(struct worker *worker, const struct after *after);

/* Make room for one more.  False: no memory. */
must_check bool fork_make_room(struct worker *worker);

void fork_storage_free(struct sley *rt, struct strand *strand);

#endif
