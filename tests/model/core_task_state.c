/* SPDX-License-Identifier: MIT */
/*
 * core_task_state.c - the state word of src/core/task_state.h: a task is queued
 * exactly once for each time it becomes READY, a wait is decided once, and no
 * cancel is lost.
 *
 * The task's side is one thread: it runs, parks as core/worker.c does after the
 * switch, and is claimed again by whoever finds it queued.  Deciders and
 * cancellers queue it when the word says that they must.  All complete.
 */
#include "explorer.h"

#include "core/task_state.h"

static struct sley_task task;
static uint32_t queued;  /* a queue with room for one */
static uint32_t decided; /* how many deciders won */
static enum task_verdict verdict;
static bool early[2]; /* said the decision, said the state it led to */
static bool dropped;

static void setup(void)
{
	task = (struct sley_task){ 0 };
	task_build(&task, LEVEL_DEFAULT, 0);
	queued = 1;
	decided = 0;
	verdict = VERDICT_NONE;
	early[0] = early[1] = false;
	dropped = false;
	model_name(&task.state, "state");
	model_name(&queued, "queued");
}

static void setup_without_membarrier(void)
{
	setup();
	task.flags |= TASK_NO_BARRIER;
}

static void enqueue(void)
{
	MODEL_CHECK(xchg_acq_rel(&queued, 1) == 0);
}

/* A worker that takes the task from the queue. */
static uint32_t dequeue_and_claim(void)
{
	while (!xchg_acq_rel(&queued, 0))
		spin_hint(&queued);
	return task_claim(&task);
}

static void park(uint32_t shield)
{
	if (!task_park(&task, shield))
		enqueue();
}

/* ---- wake, time-out and cancel against one wait -------------------------- */

/* RUNNING: wait, and end. */
static void wait_and_end(uint32_t shield)
{
	uint32_t state;

	park(shield);
	state = dequeue_and_claim();
	verdict = task_verdict_of(state);
	early[1] = state & TASK_EARLY;
	MODEL_CHECK(verdict != VERDICT_NONE);
	task_finish(&task);
}

static void wait_once(uint32_t shield, bool announced)
{
	(void)dequeue_and_claim();
	if (announced)
		task_announce_wait(&task);
	wait_and_end(shield);
}

static void wait_open(int id)
{
	(void)id;
	wait_once(0, true);
}

static void wait_shielded(int id)
{
	(void)id;
	wait_once(TASK_SHIELDED, true);
}

/* For several objects, with a deadline: the timer announces it again. */
static void wait_announced_twice(int id)
{
	(void)id;
	(void)dequeue_and_claim();
	task_announce_wait(&task);
	task_announce_wait(&task);
	wait_and_end(0);
}

/* Only who knows of the wait decides it: after it was announced. */
static void decide(enum task_verdict with)
{
	while (!(task_observe(&task) & TASK_WAITING))
		spin_hint(&task.state);
	switch (task_decide(&task, with, 0)) {
	case DECIDED_QUEUE:
		enqueue();
		(void)add_relaxed(&decided, 1);
		break;
	case DECIDED_EARLY:
		early[0] = true;
		(void)add_relaxed(&decided, 1);
		break;
	case DECIDED_LOST:
		break;
	}
}

static void waker(int id)
{
	(void)id;
	decide(VERDICT_WOKEN);
}

static void canceller(int id)
{
	(void)id;
	if (task_cancel(&task))
		enqueue();
}

/* For one object alone: nobody decides it before it is BLOCKED. */
static void wait_alone(int id)
{
	(void)id;
	wait_once(0, false);
}

/* Holds the lock of that object: the waiter is BLOCKED, or not there yet. */
static void waker_of_blocked(int id)
{
	(void)id;
	if (task_state_of(task_observe(&task)) != TASK_BLOCKED)
		return;
	if (task_decide(&task, VERDICT_WOKEN, 0) == DECIDED_QUEUE)
		enqueue();
}

static void ended_once(void)
{
	MODEL_CHECK(task_state_of(task.state) == TASK_COMPLETED);
	MODEL_CHECK(queued == 0);
	MODEL_CHECK(early[0] == early[1]);
}

MODEL(a_waker_ends_the_wait, .setup = setup, .threads = { wait_open, waker },
      .finish = ended_once);

MODEL(a_waker_ends_the_wait_that_is_announced_again, .setup = setup,
      .threads = { wait_announced_twice, waker }, .finish = ended_once);

MODEL(a_cancel_ends_the_wait, .setup = setup,
      .threads = { wait_open, canceller }, .finish = ended_once);

MODEL(a_cancel_ends_a_wait_for_one, .setup = setup,
      .threads = { wait_alone, canceller }, .finish = ended_once);

MODEL(a_cancel_ends_a_wait_for_one_without_membarrier,
      .setup = setup_without_membarrier, .threads = { wait_alone, canceller },
      .finish = ended_once);

MODEL(a_waker_and_a_cancel_end_a_wait_for_one, .setup = setup,
      .threads = { wait_alone, canceller, waker_of_blocked },
      .finish = ended_once);

MODEL(a_waker_and_a_cancel_end_a_wait_for_one_without_membarrier,
      .setup = setup_without_membarrier,
      .threads = { wait_alone, canceller, waker_of_blocked },
      .finish = ended_once);

MODEL(two_cancels_end_the_wait_once, .setup = setup,
      .threads = { wait_open, canceller, canceller }, .finish = ended_once);

static void woken_in_spite_of_the_cancel(void)
{
	ended_once();
	MODEL_CHECK(verdict == VERDICT_WOKEN);
}

MODEL(a_shielded_wait_is_woken_only, .setup = setup,
      .threads = { wait_shielded, waker, canceller },
      .finish = woken_in_spite_of_the_cancel);

/* As a condition variable does: it waits, and takes the mutex again. */
static void wait_open_then_shielded(int id)
{
	(void)id;
	(void)dequeue_and_claim();
	park(0);
	(void)dequeue_and_claim();
	wait_and_end(TASK_SHIELDED);
}

/* Wakes from both waits, holding the lock of what each is for. */
static void waker_of_two(int id)
{
	(void)id;
	for (;;) {
		enum task_state state = task_state_of(task_observe(&task));

		if (state == TASK_COMPLETED)
			return;
		if (state != TASK_BLOCKED)
			spin_hint(&task.state);
		else if (task_decide(&task, VERDICT_WOKEN, 0) == DECIDED_QUEUE)
			enqueue();
	}
}

MODEL(a_cancel_of_one_wait_does_not_hit_the_next, .setup = setup,
      .threads = { wait_open_then_shielded, canceller, waker_of_two },
      .finish = woken_in_spite_of_the_cancel);

/* ---- cancel against the start -------------------------------------------- */

static void start_or_drop(int id)
{
	(void)id;
	(void)dequeue_and_claim();
	if (task_is_cancelled(&task)) {
		dropped = true;
		task_drop(&task);
		return;
	}
	task_finish(&task);
}

static void dropped_if_said_so(void)
{
	ended_once();
	MODEL_CHECK(dropped == !!(task.state & TASK_DROPPED));
}

MODEL(a_cancel_before_the_start_drops_the_task, .setup = setup,
      .threads = { start_or_drop, canceller }, .finish = dropped_if_said_so);

/* ---- the level changes meanwhile ----------------------------------------- */

static void change_level(int id)
{
	(void)id;
	(void)task_set_level(&task, 7);
}

MODEL(a_change_of_level_disturbs_nothing, .setup = setup,
      .threads = { wait_open, canceller, change_level }, .finish = ended_once);
