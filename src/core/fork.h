/* SPDX-License-Identifier: MIT */
/*
 * fork.h - forked children: how they are stolen, and how a parent waits.
 *
 * The children of a task are in the fork stack of its strand (lf/fork_stack.h).
 * Thieves look at the strand a worker is on, and at the list of strands that
 * were suspended there with children still to be had.  A stolen child becomes
 * a task like any other, so that it may block.
 */
#ifndef SLEY_CORE_FORK_H
#define SLEY_CORE_FORK_H

#include "core/worker.h"

/* A public child of a task of @victim, as a task to be run; or NULL. */
struct sley_task *fork_steal(struct worker *worker, struct worker *victim);

/* Could there be one? */
bool fork_stealable(struct worker *victim);

/* Let others have the children of the calling task. */
void fork_publish(struct worker *worker);

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
