/* SPDX-License-Identifier: MIT */
/*
 * core_countdown.c - the counter of groups and wait groups,
 * src/core/task/countdown.c: a waiter returns when the count is zero and not before,
 * no thread touches the object afterwards, and the object can be used again at once.
 *
 * The waiters are plain threads: see core_wait_thread.c.  Each thread that counts
 * down has written plain data before, which the waiter reads.
 *
 * Complete for two threads that count down and one or two waiters, where one waiter
 * may have a deadline; for an object that is freed by its waiter, or by a later
 * waiter that does not sleep; and for two rounds of one object.  Not seen: a cancel
 * of the waiter, which takes the same path as a deadline, and a waiter of the first
 * round that is still on its way out while the second round is counted down and a
 * third begins.
 */
#include "payload.h"
#include "threads_only.h"

#include "core/task/countdown.h"

#include <errno.h>
#include <string.h>

#define THINGS 2

static struct sley_waitq *q;
static struct payload
	payload[THINGS]; /* written before done, read after the wait */
static uint32_t second_round;
static struct ledger {
	int waited, timed_out, last;
} ledger;

static void setup(void)
{
	q = model_alloc(sizeof(*q));
	memset(payload, 0, sizeof(payload));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	second_round = 0;
	model_name(&q->word, "q");
	model_name(&second_round, "second_round");
}

static void setup_one(void)
{
	setup();
	countdown_add(q, 1);
}

static void setup_two(void)
{
	setup();
	countdown_add(q, 2);
}

static void done(int thing)
{
	enum countdown_result result;

	payload_write(&payload[thing]);
	result = countdown_done(q);
	MODEL_CHECK(result != COUNTDOWN_BAD);
	ledger.last += result == COUNTDOWN_LAST;
}

static void done_first(int id)
{
	(void)id;
	done(0);
}

static void done_second(int id)
{
	(void)id;
	done(1);
}

static void waits(int things)
{
	MODEL_CHECK(countdown_wait(q, UINT64_MAX, 0) == 0);
	for (int i = 0; i < things; i++)
		payload_check(&payload[i]);
	ledger.waited++;
}

static void waiter_timed(int id)
{
	int err = countdown_wait(q, 2000000000, 0);

	(void)id;
	MODEL_CHECK(err == 0 || err == -ETIMEDOUT);
	for (int i = 0; !err && i < THINGS; i++)
		payload_check(&payload[i]);
	ledger.waited += !err;
	ledger.timed_out += err != 0;
}

static void waiter_frees_one(int id)
{
	(void)id;
	waits(1);
	model_free(q);
	q = NULL;
}

static void waiter_frees(int id)
{
	(void)id;
	waits(THINGS);
	model_free(q);
	q = NULL;
}

static void is_zero(void)
{
	MODEL_CHECK(ledger.last == 1);
	MODEL_CHECK(!q || (q->word == 0 && !q->first));
	model_free(q);
}

MODEL(a_waiter_frees_what_one_counted_down, .setup = setup_one,
      .threads = { waiter_frees_one, done_first }, .finish = is_zero);

MODEL(a_waiter_frees_what_two_counted_down, .setup = setup_two,
      .threads = { waiter_frees, done_first, done_second }, .finish = is_zero);

static void done_both(int id)
{
	(void)id;
	done(0);
	done(1);
}

MODEL(a_waiter_times_out_or_not, .setup = setup_two,
      .threads = { waiter_timed, done_both }, .finish = is_zero);

MODEL(a_waiter_times_out_or_two_count_down, .setup = setup_two,
      .threads = { waiter_timed, done_first, done_second }, .finish = is_zero,
      .slow = true);

static void waiter_of_one(int id)
{
	(void)id;
	waits(1);
}

MODEL(two_waiters_are_woken_by_one, .setup = setup_one,
      .threads = { waiter_of_one, waiter_of_one, done_first },
      .finish = is_zero, .slow = true);

/* ---- a waiter may free the object, also a waiter that is not woken -------------- */

/*
 * The other waiter waits already.  This waiter may find zero while the other is
 * still being woken.
 */
static void comes_later_and_frees(int id)
{
	if (load_acquire(&q->word) & COUNTDOWN_WAITERS)
		waiter_frees_one(id);
}

MODEL(who_comes_later_frees_it, .setup = setup_one,
      .slow_modes = MODEL_TSO | MODEL_RA,
      .threads = { waiter_of_one, done_first, comes_later_and_frees },
      .finish = is_zero);

/* ---- once more ------------------------------------------------------------------- */

/*
 * The waiter begins the second round right after its return, though the thread that
 * counted down may still be on its way out.
 */
static void wait_and_begin_again(int id)
{
	(void)id;
	waits(1);
	countdown_add(q, 1);
	store_release(&second_round, 1);
}

static void wait_and_do_it_again(int id)
{
	wait_and_begin_again(id);
	done(1);
	model_free(q);
}

static void wait_twice(int id)
{
	wait_and_begin_again(id);
	MODEL_CHECK(countdown_wait(q, UINT64_MAX, 0) == 0);
	payload_check(&payload[1]);
	model_free(q);
}

static void done_in_the_second_round(int id)
{
	(void)id;
	while (!load_acquire(&second_round))
		spin_hint(&second_round);
	done(1);
}

static void was_zero_twice(void)
{
	MODEL_CHECK(ledger.last == 2);
}

MODEL(it_is_used_again_at_once, .setup = setup_one,
      .threads = { wait_and_do_it_again, done_first },
      .finish = was_zero_twice);

MODEL(it_is_used_again_by_a_third, .setup = setup_one,
      .threads = { wait_twice, done_first, done_in_the_second_round },
      .finish = was_zero_twice, .slow = true);

/* A waiter of the first round may find the second round under way, and waits. */
static void counts_up_again(int id)
{
	(void)id;
	done(0);
	countdown_add(q, 1);
	done(1);
}

static void waits_for_either_round(int id)
{
	(void)id;
	MODEL_CHECK(countdown_wait(q, UINT64_MAX, 0) == 0);
	payload_check(&payload[0]);
	ledger.waited++;
}

static void was_zero_twice_at_the_end(void)
{
	MODEL_CHECK(ledger.last == 2 && ledger.waited == 1);
	MODEL_CHECK(q->word == 0 && !q->first);
	model_free(q);
}

MODEL(a_round_begins_beside_the_waiter, .setup = setup_one,
      .threads = { waits_for_either_round, counts_up_again },
      .finish = was_zero_twice_at_the_end);

/* By a thread that does not know whether the first round is over. */
static void counts_up_and_down(int id)
{
	(void)id;
	countdown_add(q, 1);
	done(1);
}

static void was_zero(void)
{
	MODEL_CHECK(ledger.last >= 1 && ledger.waited == 1);
	MODEL_CHECK(q->word == 0 && !q->first);
	model_free(q);
}

MODEL(it_is_counted_up_by_a_third, .setup = setup_one,
      .threads = { waits_for_either_round, done_first, counts_up_and_down },
      .finish = was_zero);
