/* SPDX-License-Identifier: MIT */
/*
 * hooks.h - functions of the user that run on each worker first and last.
 *
 * A hook is a task like any other, pinned to its worker, so that it may spawn
 * and block.  The start hook is handed to the worker before its thread starts: the
 * hook comes before anything that the worker could find elsewhere.  If the hook
 * blocks, the worker goes on with other work.  The worker has to, since the hook
 * may be waiting for a task that it spawned there.
 *
 * Stop hooks are queued when nothing else is left, once.  Then the destroyer waits
 * again until nothing is left.  A worker that has run its hook may still run
 * tasks that the hooks of other workers spawn.
 *
 * A bound thread of a single-threaded runtime calls its hooks itself.
 *
 * The idle hook is no task.  A worker that is about to park calls the function, with
 * the worker's own stack and queues, where alarms ring, too (core/wait/timer.h).
 * The call comes before the worker takes its seat.  So the look of a worker that
 * has its seat finds the tasks that the function has made ready, as it finds all
 * tasks that were queued before: the protocol of core/sched/idle.h does not change.
 *
 * Rejected: calling hooks on the thread's own stack.  They could not block, and
 * the stack below the loop has no task.  Calling the idle hook as a task: a worker with
 * such a task is not idle.  Calling it after the worker has taken its seat: a
 * submitter that wakes this worker would wait for the function.
 */
#ifndef SLEY_CORE_LIFE_HOOKS_H
#define SLEY_CORE_LIFE_HOOKS_H

#include "core/life/idle_call.h"
#include "core/sched/worker.h"

/* The worker's thread is not running yet. */
void hooks_hand_start(struct worker *worker);

/* Wait until all start hooks have returned. */
void hooks_await_start(struct sley *rt);

/*
 * Nothing is left, and the caller is the only destroyer.  True: stop hooks were
 * queued just now.
 */
must_check bool hooks_queue_stop(struct sley *rt);

/* On @worker, which has found no work.  True: look again before parking. */
static inline bool hooks_call_idle(struct worker *worker)
{
	const struct sley_config *config = &worker->rt->config;
	struct idle_calls *calls = &worker->rt->idle_calls;
	bool again = false;

	if (unlikely(config->on_idle)) {
		/* As for an alarm: there is no task that could wait. */
		sley__self.ringing = true;
		again = config->on_idle(config->hook_self, (int)worker->index);
		sley__self.ringing = false;
	}
	if (unlikely(idle_calls_exist(calls)))
		again |= idle_calls_make(calls, worker);
	return again;
}

/* Single-threaded, on the bound thread. */
void hooks_call_start(struct sley *rt);
void hooks_call_stop(struct sley *rt);

#endif
