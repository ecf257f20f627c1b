/* SPDX-License-Identifier: MIT */
/*
 * core_waitq.c - the waiter list of src/core/wait/waitq.h: wake against time-out
 * against cancel.
 *
 * The object is a semaphore: a post gives a unit to the first waiter, with plain
 * data for the waiter, or keeps the unit.  At the end no unit may be missing
 * or too many, whichever side won: a wake that hits a waiter that has given up would
 * be a lost unit.
 *
 * A waiter of the model is a worker with one task.  The waiter waits by the lines of
 * src/core/wait/wait.c and core/sched/switch.h, and is queued by those of
 * src/core/sched/place.c; tasks_only.h has the rest of the runtime.
 *
 * Complete for one waiter against two deciders, and for two waiters, a post and a
 * cancel with a second post; with membarrier the latter runs in TSO and RA with
 * --slow only.  The models would not see mistakes that take three waiters in one list
 * (the middle of the list; tests/unit has lists), or a waiter of two objects, which
 * is in core_wait_thread.c.
 */
#include "tasks_only.h"

#include "payload.h"

#define WAITERS 2 /* threads 0 and 1 at most */

static struct sley_waitq q;
static int units;                    /* under the lock of q           */
static struct payload unit[WAITERS]; /* where a waker puts the unit   */
static struct ledger {
	int got;
} ledger;

static void setup_with(enum tasks_flags flags)
{
	tasks_setup(flags);
	memset(&q, 0, sizeof(q));
	memset(unit, 0, sizeof(unit));
	units = 0;
	ledger.got = 0;
	model_ledger(&ledger, sizeof(ledger));
	model_lock_word(&q.word);
	model_name(&q.word, "q");
}

static void setup(void)
{
	setup_with(0);
}

static void setup_barrier(void)
{
	setup_with(TASKS_BARRIER);
}

static void setup_timed(void)
{
	setup_with(TASKS_TIMED);
}

/* True: it got a unit. */
static bool acquire(int id, uint64_t deadline_ns)
{
	struct sley_waiter node = { .slot = &unit[id] };

	task_begin(id);
	(void)waitq_lock(&q);
	if (units > 0) {
		units--;
		waitq_unlock(&q);
		return true;
	}
	if (waitq_wait(&q, &node, deadline_ns, 0) == 0) {
		payload_check(&unit[id]);
		return true;
	}
	waitq_unlock(&q);
	return false;
}

static void acquirer(int id)
{
	ledger.got += acquire(id, UINT64_MAX);
}

static void acquirer_timed(int id)
{
	ledger.got += acquire(id, LATER);
}

static void post(int id)
{
	struct waitq_woken woken;

	(void)id;
	(void)waitq_lock(&q);
	woken = waitq_wake_first(&q);
	if (woken.any)
		payload_write(woken.slot);
	else
		units++;
	waitq_unlock(&q);
	if (woken.task)
		task_enqueue(woken.task);
}

/* Once, at any moment: a timer that is started later does not fire. */
static void fire_timers(int id)
{
	(void)id;
	task_fire_timers(0);
}

static void cancel_first(int id)
{
	(void)id;
	task_end_wait(0);
}

/* So that the second waiter gets a unit in any case. */
static void cancel_first_then_post(int id)
{
	cancel_first(id);
	post(id);
}

static void check(int posted)
{
	MODEL_CHECK(ledger.got + units == posted);
	MODEL_CHECK(q.first == NULL);
	MODEL_CHECK(!(q.word & WAITQ_LOCK));
	tasks_check();
	for (int i = 0; i < WAITERS; i++) {
		uint32_t word = task_threads[i].task.state;

		MODEL_CHECK(task_state_of(word) == TASK_RUNNING);
		MODEL_CHECK(task_verdict_of(word) == VERDICT_NONE);
	}
}

static void one_unit(void)
{
	check(1);
}

static void two_units(void)
{
	check(2);
}

MODEL(a_post_wakes_the_waiter, .setup = setup, .threads = { acquirer, post },
      .finish = one_unit);

MODEL(wake_against_cancel, .setup = setup,
      .threads = { acquirer, post, cancel_first }, .finish = one_unit);

MODEL(wake_against_cancel_with_membarrier, .setup = setup_barrier,
      .threads = { acquirer, post, cancel_first }, .finish = one_unit);

MODEL(wake_against_timeout, .setup = setup_timed,
      .threads = { acquirer_timed, post, fire_timers }, .finish = one_unit);

MODEL(two_waiters_one_post_one_cancel, .setup = setup,
      .threads = { acquirer, acquirer, post, cancel_first_then_post },
      .finish = two_units);

MODEL(two_waiters_one_post_one_cancel_with_membarrier, .setup = setup_barrier,
      .threads = { acquirer, acquirer, post, cancel_first_then_post },
      .finish = two_units, .slow_modes = MODEL_TSO | MODEL_RA);
