/* SPDX-License-Identifier: MIT */
/*
 * region.h - a task that takes its stack to another thread, to block there.
 *
 *   worker                         thread of core/wait/blocking.h
 *   region_enter: reserve a thread
 *   leave the strand
 *   AFTER_REGION: post the strand  take it, switch to the strand
 *   (goes on with other tasks)     ... the task is here, RUNNING ...
 *                                  region_leave: back to the thread's own stack
 *   resumes it like a task that    queue the task at its home
 *   has yielded
 *
 * The next stack posts the strand, when the worker has left the strand's stack.
 * The thread's own stack queues the strand, for the same reason.  The task is
 * RUNNING all the time: no decider can decide it, and a cancel only leaves its
 * mark.  The strand's home stays the worker that it left, and the task is queued
 * there, so outside of regions a fiber never changes its thread (ADR 4).  A task that
 * may move is queued where any worker may take it.
 *
 * The thread is reserved before the strand is left, since afterwards it would
 * be too late to fail.
 *
 * A region does not wait for a thread where the limit of the pool is reached: the
 * task may hold a lock that all threads wait for, and nothing could cancel its wait.
 * Its code runs on the worker, as where no thread can be started.
 *
 * Nested regions are counted in strand->regions.  A region that found no thread
 * counts, too, and has no struct region: its code runs on the worker.
 *
 * Rejected: handing the worker's queues and its identity to another thread, and
 * adding workers; see docs/adr/0008-blocking-regions-move-the-task.md.
 */
#ifndef SLEY_CORE_WAIT_REGION_H
#define SLEY_CORE_WAIT_REGION_H

#include "core/sched/worker.h"

struct region {
	struct blocking_job job;
	struct strand *strand;
	struct blocking_thread *thread; /* that the strand runs on */
};

/*
 * Returns on another thread; no thread-local may be used by the caller
 * afterwards.  -EAGAIN: there is no thread, and nothing has changed.
 */
must_check int region_enter(struct worker *worker);

/* On that thread.  Returns on the worker of @strand. */
void region_leave(struct strand *strand);

/* AFTER_REGION: the worker has left the stack of @strand. */
void region_finish_enter(struct worker *worker, struct strand *strand);

#endif
