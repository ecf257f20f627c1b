/* SPDX-License-Identifier: MIT */
/*
 * core_waitq.c - the waiter list of src/core/wait/waitq.h: wake against time-out
 * against cancel.
 *
 * The object is a semaphore: a post gives a unit to the first waiter, with plain
 * data in the waiter's frame, or keeps the unit.  At the end no unit may be missing
 * or too many, whichever side won: a wake that hits a waiter that has given up would
 * be a lost unit.
 *
 * A waiter of the model is a worker with one task.  The waiter waits as
 * core/wait/wait.c does: links its node, leaves its stack, parks, unlocks; is queued
 * by the decider, claimed, stops its timer, and unlinks its node under the lock if
 * it was not woken.
 *
 * Complete for one waiter against two deciders, and for two waiters, a post and a
 * cancel with a second post.  The models would not see mistakes that take three
 * waiters in one list (the middle of the list; tests/unit has lists), or a waiter of
 * two objects, which is in core_wait_thread.c.
 */
#include "payload.h"
#include "selves.h"

#include "core/sched/place.h"
#include "core/wait/timer.h"
#include "core/wait/waitq.h"

#include <string.h>

#define WAITERS 2

static struct sley_waitq q;
static int units; /* under the lock of q */
static struct ledger {
	int got;
} ledger;
static struct side {
	struct sley_task task;
	struct sley_waiter node;
	struct payload unit; /* where a waker puts the unit */
	struct timer timer;
	uint32_t queued; /* 1: READY, to be claimed */
} sides[WAITERS];
static struct timers timers;

static void setup(void)
{
	memset(&q, 0, sizeof(q));
	memset(sides, 0, sizeof(sides));
	selves_set(&(struct self){ 0 });
	timers_init(&timers);
	units = 0;
	ledger.got = 0;
	model_ledger(&ledger, sizeof(ledger));
	model_lock_word(&q.word);
	model_lock_word(&timers.lock.word);
	model_name(&q.word, "q");
	model_name(&timers.lock.word, "timers.lock");
	for (int i = 0; i < WAITERS; i++) {
		task_build_running(&sides[i].task, 0, 0);
		model_name(&sides[i].task.state, "task%d", i);
		model_name(&sides[i].queued, "queued%d", i);
	}
}

/* As core/sched/place.c does with a task whose wait was decided. */
static void enqueue(struct sley_task *task)
{
	struct side *side = container_of(task, struct side, task);

	MODEL_CHECK(xchg_acq_rel(&side->queued, 1) == 0);
}

static enum task_verdict leave_stack_and_wait(struct side *side)
{
	bool blocked = task_park(&side->task, 0);

	waitq_unlock(&q);
	if (!blocked)
		enqueue(&side->task);
	while (!xchg_acq_rel(&side->queued, 0))
		spin_hint(&side->queued);
	return task_verdict_of(task_claim(&side->task));
}

/* True: it got a unit. */
static bool acquire(struct side *side, bool timed)
{
	enum task_verdict verdict;

	(void)waitq_lock(&q);
	if (units > 0) {
		units--;
		waitq_unlock(&q);
		return true;
	}
	side->node.task = &side->task;
	side->node.index = 0;
	side->node.slot = &side->unit;
	waitq_link(&q, &side->node);
	if (timed) {
		task_announce_wait(&side->task);
		timer_start(&timers, &side->timer, &side->task, 1);
	}
	verdict = leave_stack_and_wait(side);
	if (timed)
		(void)timer_stop(&side->timer);
	MODEL_CHECK(verdict != VERDICT_NONE);
	if (verdict == VERDICT_WOKEN) {
		payload_check(&side->unit);
		return true;
	}
	(void)waitq_lock(&q);
	if (side->node.linked)
		waitq_unlink(&side->node);
	waitq_unlock(&q);
	return false;
}

static void acquirer(int id)
{
	ledger.got += acquire(&sides[id], false);
}

static void acquirer_timed(int id)
{
	ledger.got += acquire(&sides[id], true);
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
		enqueue(woken.task);
}

/* As the timers do with tasks whose deadline has come. */
void task_enqueue_chain(struct sley_task *chain)
{
	while (chain) {
		struct sley_task *task = chain;

		chain = chain->next;
		enqueue(task);
	}
}

/* Once, at any moment: a timer that is started later does not fire. */
static void fire_timers(int id)
{
	(void)id;
	timers_fire(&timers, 1);
}

static void cancel_first(int id)
{
	(void)id;
	if (task_cancel(&sides[0].task))
		enqueue(&sides[0].task);
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
	for (int i = 0; i < WAITERS; i++) {
		uint32_t word = sides[i].task.state;

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

MODEL(wake_against_timeout, .setup = setup,
      .threads = { acquirer_timed, post, fire_timers }, .finish = one_unit);

MODEL(two_waiters_one_post_one_cancel, .setup = setup,
      .threads = { acquirer, acquirer, post, cancel_first_then_post },
      .finish = two_units);
