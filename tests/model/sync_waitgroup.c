/* SPDX-License-Identifier: MIT */
/*
 * sync_waitgroup.c - src/sync/waitgroup.c over src/core/task/countdown.c, with plain
 * threads and with tasks: no waiter returns before the count was zero, no waiter is
 * left behind then, and the group can be used again at once, also while the waiters
 * are still on their way out.
 *
 * Each thread writes plain memory before its done, which the waiter reads.  Where no
 * other thread needs the group after the wait, the waiter frees the group at once.
 *
 * Complete for a waiter and one or two calls of done, two waiters and one done, a
 * second round that begins before the waiter of the first round has left, with a
 * deadline and with a cancel.  The models could miss mistakes that take a third
 * round, and counts that overflow.
 */
#include "tasks_only.h"

#include "core/task/countdown.h"

#include <sley/sync.h>

static struct sley_waitgroup *wg;
static int payload[MODEL_THREADS_MAX]; /* by the thread that is done */
static int second;                     /* of the second round        */
static struct ledger {
	int waits, gave_up, last;
	uint32_t begun; /* the second round */
} ledger;

static void setup_with(uint32_t n, enum tasks_flags flags)
{
	tasks_setup(flags);
	wg = model_alloc(sizeof(*wg));
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	memset(payload, 0, sizeof(payload));
	second = 0;
	sley_waitgroup_add(wg, n);
	model_lock_word(&wg->q.word);
	model_name(&wg->q.word, "wg");
}

static void setup_one(void)
{
	setup_with(1, 0);
}

static void setup_two(void)
{
	setup_with(2, 0);
}

static void setup_one_timed(void)
{
	setup_with(1, TASKS_TIMED);
}

/* The count is zero, and no thread waits or is inside. */
static void settled(void)
{
	MODEL_CHECK(!wg->q.word && !wg->q.first);
	model_free(wg);
}

/* ---- one round ----------------------------------------------------------------- */

static void done(int id)
{
	payload[id] = 7;
	ledger.last += sley_waitgroup_done(wg);
}

static void task_done(int id)
{
	task_begin(id);
	done(id);
}

/* Threads 1 and 2 are done. */
static void wait_for_two_and_free(int id)
{
	(void)id;
	MODEL_CHECK(sley_waitgroup_wait(wg) == 0);
	MODEL_CHECK(payload[1] == 7 && payload[2] == 7);
	ledger.waits++;
	model_free(wg);
	wg = NULL;
}

static void wait_and_free(int id)
{
	(void)id;
	MODEL_CHECK(sley_waitgroup_wait(wg) == 0);
	MODEL_CHECK(payload[1] == 7);
	ledger.waits++;
	model_free(wg);
	wg = NULL;
}

static void task_wait_and_free(int id)
{
	task_begin(id);
	wait_and_free(id);
}

static void task_wait_for_two_and_free(int id)
{
	task_begin(id);
	wait_for_two_and_free(id);
}

/* Thread 2 is done. */
static void wait_for_third(int id)
{
	(void)id;
	MODEL_CHECK(sley_waitgroup_wait(wg) == 0);
	MODEL_CHECK(payload[2] == 7);
	ledger.waits++;
}

static void task_wait_for_third(int id)
{
	task_begin(id);
	wait_for_third(id);
}

static void wait_a_while(uint64_t deadline_ns)
{
	int err = sley_waitgroup_wait_until(wg, deadline_ns);

	MODEL_CHECK(err == 0 || err == -ETIMEDOUT || err == -ECANCELED);
	MODEL_CHECK(err || payload[2] == 7);
	ledger.waits += err == 0;
	ledger.gave_up += err != 0;
}

static void wait_soon(int id)
{
	(void)id;
	wait_a_while(LATER);
}

static void task_wait_soon(int id)
{
	task_begin(id);
	wait_a_while(LATER);
}

static void task_wait_or_end(int id)
{
	task_begin(id);
	wait_a_while(UINT64_MAX);
}

static void cancel_first(int id)
{
	task_begin(id);
	task_end_wait(0);
}

static void gone(void)
{
	MODEL_CHECK(!wg && ledger.waits == 1 && ledger.last == 1);
}

static void both_returned(void)
{
	MODEL_CHECK(ledger.waits + ledger.gave_up == 2 && ledger.last == 1);
	settled();
}

static void one_returned(void)
{
	MODEL_CHECK(ledger.waits + ledger.gave_up == 1 && ledger.last == 1);
	settled();
}

MODEL(who_waited_may_free_it, .setup = setup_one,
      .threads = { wait_and_free, done }, .finish = gone);
MODEL(who_waited_for_two_may_free_it, .setup = setup_two,
      .threads = { wait_for_two_and_free, done, done }, .finish = gone);
MODEL(two_wait_for_one, .setup = setup_one,
      .threads = { wait_for_third, wait_for_third, done }, .slow = true,
      .finish = both_returned);
MODEL(two_tasks_wait_for_one, .setup = setup_one,
      .threads = { task_wait_for_third, task_wait_for_third, task_done },
      .finish = both_returned);
MODEL(one_of_two_gives_up, .setup = setup_one,
      .threads = { wait_soon, wait_for_third, done }, .slow = true,
      .finish = both_returned);
MODEL(a_task_may_free_it, .setup = setup_one,
      .threads = { task_wait_and_free, task_done }, .finish = gone);
MODEL(a_task_that_waited_for_two_may_free_it, .setup = setup_two,
      .threads = { task_wait_for_two_and_free, task_done, task_done },
      .finish = gone);

/* Thread 1 cancels, thread 2 is done. */
MODEL(a_cancelled_task_leaves, .setup = setup_one,
      .threads = { task_wait_or_end, cancel_first, task_done },
      .finish = one_returned);
MODEL(wake_and_deadline_and_cancel, .setup = setup_one_timed,
      .threads = { task_wait_soon, cancel_first, task_done },
      .finish = one_returned);

static void cancel_first_and_done(int id)
{
	cancel_first(id);
	done(id);
}

MODEL(a_cancelled_one_does_not_take_another_with_it, .setup = setup_one,
      .threads = { task_wait_or_end, task_wait_for_third,
		   cancel_first_and_done },
      .slow = true, .finish = both_returned);

/* ---- again, at once ---------------------------------------------------------------- */

/* The thread that was done may still be inside when the next round begins. */
static void two_rounds(int id)
{
	(void)id;
	MODEL_CHECK(sley_waitgroup_wait(wg) == 0);
	MODEL_CHECK(payload[1] == 7);
	sley_waitgroup_add(wg, 1);
	ledger.waits++;
	second = 1;
	ledger.last += sley_waitgroup_done(wg);
	MODEL_CHECK(sley_waitgroup_wait(wg) == 0);
	ledger.waits++;
}

static void task_two_rounds(int id)
{
	task_begin(id);
	two_rounds(id);
}

/* Counts up while the waiter of the first round may be on its way out. */
static void done_and_again(int id)
{
	payload[id] = 7;
	ledger.last += sley_waitgroup_done(wg);
	sley_waitgroup_add(wg, 1);
	second = 1;
	ledger.last += sley_waitgroup_done(wg);
}

static void task_done_and_again(int id)
{
	task_begin(id);
	done_and_again(id);
}

static void two_were_last(void)
{
	MODEL_CHECK(ledger.waits == 2 && ledger.last == 2);
	settled();
}

/* The wait may see the first zero or the second. */
static void wait_once(int id)
{
	(void)id;
	MODEL_CHECK(sley_waitgroup_wait(wg) == 0);
	MODEL_CHECK(payload[1] == 7);
	ledger.waits++;
}

static void task_wait_once(int id)
{
	task_begin(id);
	wait_once(id);
}

static void returned_from_one_of_two(void)
{
	MODEL_CHECK(ledger.waits == 1 && ledger.last == 2);
	MODEL_CHECK(second == 1);
	settled();
}

MODEL(the_waiter_uses_it_again, .setup = setup_one,
      .threads = { two_rounds, done }, .finish = two_were_last);
MODEL(a_task_uses_it_again, .setup = setup_one,
      .threads = { task_two_rounds, task_done }, .finish = two_were_last);
MODEL(it_is_counted_up_under_who_leaves, .setup = setup_one,
      .threads = { wait_once, done_and_again },
      .finish = returned_from_one_of_two);
MODEL(it_is_counted_up_under_a_task_that_leaves, .setup = setup_one,
      .threads = { task_wait_once, task_done_and_again },
      .finish = returned_from_one_of_two);

/* ---- a second round while the first is still being woken ------------------------ */

/* Comes with a round of its own, whatever the other threads do. */
static void add_and_done(int id)
{
	task_begin(id);
	sley_waitgroup_add(wg, 1);
	ledger.last += sley_waitgroup_done(wg);
}

static void all_was_counted(void)
{
	MODEL_CHECK(ledger.waits == 1 && ledger.last >= 1 && ledger.last <= 2);
	settled();
}

MODEL(it_is_counted_up_under_who_wakes, .setup = setup_one,
      .threads = { task_wait_once, task_done, add_and_done },
      .finish = all_was_counted);

/* Waits for its own round, whether the first round is over or not. */
static void begin_second_round(int id)
{
	task_begin(id);
	sley_waitgroup_add(wg, 1);
	store_release(&ledger.begun, 1);
	MODEL_CHECK(sley_waitgroup_wait(wg) == 0);
	MODEL_CHECK(second == 7);
	ledger.waits++;
}

static void end_both_rounds(int id)
{
	task_begin(id);
	done(id);
	while (!load_acquire(&ledger.begun))
		spin_hint(&ledger.begun);
	second = 7;
	ledger.last += sley_waitgroup_done(wg);
}

static void both_waits_returned(void)
{
	MODEL_CHECK(ledger.waits == 2);
	settled();
}

MODEL(who_waits_in_the_second_round_is_not_woken_by_the_first,
      .setup = setup_one,
      .threads = { task_wait_once, end_both_rounds, begin_second_round },
      .slow = true, .finish = both_waits_returned);
