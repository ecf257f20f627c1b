/* SPDX-License-Identifier: MIT */
/*
 * tasks_only.h - for models whose threads may wait as tasks do.
 *
 * As threads_only.h is for plain threads: the rest of the runtime that
 * src/core/wait/wait.c with src/core/sched/place.c needs.  A model thread that calls
 * task_begin() is a worker with one task from then on.  A waiting task leaves its
 * stack for a second stack, by the very code of core/sched/switch.h.  There the
 * worker parks the task, releases the lock, and waits until a waker places the task
 * in the home list, or until a timer of the task is due.  Then the worker claims the
 * task and switches back.  So wake, deadline and cancel meet as in a runtime.  A
 * model thread that does not call task_begin() is a plain thread.
 *
 *	static void setup(void) { tasks_setup(0); ... }
 *	static void waiter(int id) { task_begin(id); sley_sem_acquire(...); }
 *	static void canceller(int id) { task_begin(id); task_end_wait(0); }
 *
 * Left out: how a worker looks for work and sleeps (core_idle.c), and several tasks
 * on one worker.  A sleeping worker waits here for its home list.  Only if there are
 * deadlines (TASKS_TIMED) it also waits for a futex; that is one more scheduling
 * point for the waker.  A cancel takes the way without membarrier unless
 * TASKS_BARRIER is set: both ways are in core_task_state.c, and a membarrier sees
 * every buffered store of all threads, which multiplies the executions in TSO.
 *
 * Include this file in one source of a model, in place of threads_only.h, and link
 * ${task_waiting}.
 */
#ifndef SLEY_TESTS_MODEL_TASKS_ONLY_H
#define SLEY_TESTS_MODEL_TASKS_ONLY_H

#include "never.h"
#include "lease_off.h"
#include "selves.h"

#include "core/sched/place.h"
#include "core/task/turn.h"
#include "core/wait/wait.h"
#include "os/clock.h"
#include "os/futex.h"

#include <string.h>

#define TASKS_MAX 4 /* the first threads of a model */
#define TASK_STACK_SIZE 32768
#define LATER 2000000000u /* a deadline in virtual time: at any moment */

static struct sley task_runtime;
static struct task_thread {
	struct worker worker;
	struct strand strand; /* of the task                        */
	struct strand idle;   /* where the worker waits meanwhile   */
	struct sley_task task;
	struct sley_forks *forks; /* the thread's */
	int saved_errno;
} task_threads[TASKS_MAX];
static _Alignas(64) char task_stacks[TASKS_MAX][TASK_STACK_SIZE];

enum tasks_flags {
	TASKS_TIMED = 1,   /* some wait with a deadline        */
	TASKS_BARRIER = 2, /* cancels use membarrier           */
};
static enum tasks_flags tasks_flags;

/*
 * Called when a worker looks for the next task: the running task is about to leave
 * its stack, and holds the lock of the object it waits for.  NULL: no call.
 */
static void (*task_picks)(struct worker *worker);

/* ---- the worker's side ------------------------------------------------------ */

static struct sley_task *task_await(struct worker *worker)
{
	struct levels *ready = &worker->ready;

	for (;;) {
		/* Also empties the store buffer. */
		(void)xchg_acq_rel(&worker->seat.word, 0);
		place_arrivals(worker);
		if (ready->bitmap)
			return levels_take(
				ready, (unsigned int)bits_first(ready->bitmap));
		if (!(tasks_flags & TASKS_TIMED))
			spin_hint(&worker->home.head);
		else if (os_futex_wait(&worker->seat.word, 0,
				       timers_next(&worker->timers)))
			timers_fire(&worker->timers, os_now());
	}
}

/* On the other stack: the worker's loop, for one task. */
static void task_idle(void *arg, void *pass)
{
	struct task_thread *own = arg;
	struct worker *worker = &own->worker;

	(void)pass;
	for (;;) {
		switch_finish(worker);
		worker->strand = strand_resume(task_await(worker));
		MODEL_CHECK(worker->strand == &own->strand);
		(void)fiber_switch(&own->idle.fiber, &own->strand.fiber,
				   &worker->thread);
	}
}

static void task_thread_setup(struct task_thread *own, char *stack)
{
	struct worker *worker = &own->worker;

	memset(own, 0, sizeof(*own));
	task_build_running(&own->task, 0,
			   tasks_flags & TASKS_BARRIER ? 0 : TASK_NO_BARRIER);
	own->strand.home = own->idle.home = worker;
	own->strand.task = &own->task;
	own->task.fiber = &own->strand;
	worker->rt = &task_runtime;
	worker->strand = &own->strand;
	worker->forks = &own->forks;
	worker->thread.errno_location = &own->saved_errno;
	worker->thread.current = &own->strand.fiber;
	timers_init(&worker->timers);
	ctx_init(&own->idle.fiber.ctx, stack, TASK_STACK_SIZE, task_idle, own);
}

/* ---- for models ------------------------------------------------------------- */

/* In setup. */
static void tasks_setup(enum tasks_flags flags)
{
	tasks_flags = flags;
	task_picks = NULL;
	selves_set(&(struct self){ 0 });
	task_runtime.nr_workers = TASKS_MAX;
	for (int i = 0; i < TASKS_MAX; i++) {
		struct task_thread *own = &task_threads[i];

		task_thread_setup(own, task_stacks[i]);
		if (flags & TASKS_TIMED)
			model_lock_word(&own->worker.timers.lock.word);
		model_name(&own->task.state, "task%d.state", i);
		model_name(&own->task.flags, "task%d.flags", i);
		model_name(&own->worker.home.head, "home%d", i);
		model_name(&own->worker.seat.word, "seat%d", i);
	}
}

/* The calling model thread is a task from here on. */
__attribute__((unused)) static void task_begin(int id)
{
	sley__self.worker = &task_threads[id].worker;
	sley__self.bound = &task_runtime;
}

/* Cancel the task of thread @id. */
__attribute__((unused)) static void task_end_wait(int id)
{
	struct sley_task *task = &task_threads[id].task;

	if (task_cancel(task))
		task_enqueue(task);
}

/* In finish: no wait has left its timer behind. */
__attribute__((unused)) static void tasks_check(void)
{
	for (int i = 0; i < TASKS_MAX; i++) {
		const struct timers *timers = &task_threads[i].worker.timers;

		MODEL_CHECK(!timers->heap.filled && !timers->heap.bucket[0]);
	}
}

/* As the monitor does for a stuck worker: fires all timers that are due by LATER. */
__attribute__((unused)) static void task_fire_timers(int id)
{
	struct timers *timers = &task_threads[id].worker.timers;

	timers_fire(timers, LATER);
}

/* ---- the rest of the runtime ------------------------------------------------- */

bool idle_notify_seat(struct idle *idle, struct idle_seat *seat)
{
	(void)idle;
	if (!(tasks_flags & TASKS_TIMED))
		return false;
	(void)xchg_acq_rel(&seat->word, 1);
	os_futex_wake(&seat->word, 1);
	return true;
}

struct strand *worker_spare_strand(struct worker *worker,
				   struct sley_task *task)
{
	MODEL_CHECK(!task);
	return &container_of(worker, struct task_thread, worker)->idle;
}

struct sley_task *worker_pick(struct worker *worker)
{
	if (task_picks)
		task_picks(worker);
	return NULL;
}

/* Back on the stack of the task nothing is left to do. */
void switch_finish_rare(struct worker *worker)
{
	if (worker->after.kind == AFTER_INBOX)
		turn_finish_wait(worker, &worker->after);
	else if (worker->after.kind == AFTER_WAIT_UNTIL)
		switch_finish_wait(worker);
	else
		MODEL_CHECK(worker->after.kind == AFTER_NOTHING);
}

void idle_notify_toward(struct idle *idle, struct idle_seat *seat)
{
	(void)idle;
	(void)seat;
	never();
}

void idle_wake_one(struct idle *idle)
{
	(void)idle;
	never();
}

#endif
