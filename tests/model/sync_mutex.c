/* SPDX-License-Identifier: MIT */
/*
 * sync_mutex.c - src/sync/mutex.c and the inline paths of <sley/sync.h>, with
 * plain threads and with tasks: one at a time, handed over, tried, given up.
 *
 * The holders change `sum`, plain memory that the mutex alone orders.  The last
 * holder frees the mutex, so an unlock that touches the mutex once more is seen.  An
 * unlock of a mutex whose word names another holder is misuse, and fails a scene.
 *
 * Complete for two threads that lock once or lock and try, and for three threads
 * that lock once each, one of them perhaps with a deadline or a cancel, or only
 * trying.  The models could miss mistakes that take two waiters in front of a third,
 * as the middle of the list; the order in which three waiters get the mutex is in
 * tests/conformance/sync/mutex.c.
 */
#include "inline_paths.h"
#include "tasks_only.h"

#include "holders.h"

#include <sley/sync.h>

static struct sley_mutex *mutex;
static int sum; /* under the mutex */
static struct ledger {
	int locked;
	bool tried, gave_up;
	uint32_t inside, out;
} ledger;

static void setup_with(enum tasks_flags flags)
{
	tasks_setup(flags);
	holders_setup(false);
	mutex = model_alloc(sizeof(*mutex));
	sum = 0;
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	model_lock_word(&mutex->q.word);
	model_name(&mutex->q.word, "mutex");
	model_name(&ledger.inside, "inside");
	model_name(&ledger.out, "out");
}

static void setup(void)
{
	setup_with(0);
}

static void setup_timed(void)
{
	setup_with(TASKS_TIMED);
}

/* Plain threads that the inline paths do not know. */
static void setup_numbered(void)
{
	setup();
	holders_setup(true);
}

static void settled(void)
{
	MODEL_CHECK(mutex->q.word == 0 && !mutex->q.first);
	tasks_check();
	MODEL_CHECK(sum == ledger.locked);
	model_free(mutex);
}

/* At this scheduling point no other thread may come in. */
static void section(void)
{
	sum++;
	ledger.locked++;
	MODEL_CHECK(++ledger.inside == 1);
	model_access(&ledger.inside);
	MODEL_CHECK(ledger.inside-- == 1);
}

static void enter_and_leave(void)
{
	section();
	sley_mutex_unlock(mutex);
}

static void lock(int id)
{
	(void)id;
	sley_mutex_lock(mutex);
	enter_and_leave();
}

static void lock_for_a_while(int id)
{
	int err = sley_mutex_lock_until(mutex, LATER);

	(void)id;
	MODEL_CHECK(err == 0 || err == -ETIMEDOUT || err == -ECANCELED);
	if (!err)
		enter_and_leave();
	else
		ledger.gave_up = true;
}

static void try_once(int id)
{
	(void)id;
	if (sley_mutex_try_lock(mutex))
		enter_and_leave();
}

/* After its unlock a thread finds the mutex free, unless another thread has it. */
static void lock_and_try(int id)
{
	lock(id);
	ledger.tried = sley_mutex_try_lock(mutex);
	if (ledger.tried)
		enter_and_leave();
}

static void free_was_taken(void)
{
	MODEL_CHECK(ledger.tried || !ledger.gave_up);
	settled();
}

MODEL(one_at_a_time, .setup = setup, .threads = { lock, lock },
      .finish = settled);
MODEL(numbered_one_at_a_time, .setup = setup_numbered,
      .threads = { lock, lock }, .finish = settled);
MODEL(numbered_one_tries, .setup = setup_numbered,
      .threads = { lock, try_once }, .finish = settled);
MODEL(one_tries, .setup = setup, .threads = { lock, try_once },
      .finish = settled);
MODEL(one_gives_up, .setup = setup, .threads = { lock, lock_for_a_while },
      .finish = settled);
MODEL(three_with_one_who_gives_up, .setup = setup,
      .threads = { lock, lock_for_a_while, try_once }, .slow = true,
      .finish = settled);
MODEL(a_free_mutex_is_got_by_trying, .setup = setup,
      .threads = { lock_and_try, lock_for_a_while }, .finish = free_was_taken);

/* ---- three lockers ------------------------------------------------------------ */

/* One thread holds the mutex from the start: the model explores the hand-over. */
static void setup_held(void)
{
	setup();
	mutex->q.word = holder_of_model_thread(0);
}

static void setup_held_by_task(void)
{
	setup();
	mutex->q.word = (uintptr_t)&task_threads[0].strand.forks;
}

static void unlock(int id)
{
	(void)id;
	enter_and_leave();
}

static void two_of_two(void)
{
	MODEL_CHECK(ledger.locked == 3);
	settled();
}

MODEL(it_is_handed_to_both_who_wait, .setup = setup_held,
      .threads = { unlock, lock, lock }, .finish = two_of_two);
MODEL(three_at_once, .setup = setup, .threads = { lock, lock, lock },
      .slow = true, .finish = two_of_two);

/* ---- the last holder may free the mutex ------------------------------------------- */

/* A flag under the mutex: the other thread has only its unlock left. */
static void lock_and_free(int id)
{
	bool last;

	(void)id;
	sley_mutex_lock(mutex);
	section();
	last = sum == 2;
	sley_mutex_unlock(mutex);
	if (last)
		model_free(mutex);
}

static void nothing(void)
{
}

MODEL(the_last_holder_may_free_it, .setup = setup,
      .threads = { lock_and_free, lock_and_free }, .finish = nothing);

/* ---- tasks ------------------------------------------------------------------------ */

static void task_lock(int id)
{
	task_begin(id);
	lock(id);
}

static void task_lock_and_free(int id)
{
	task_begin(id);
	lock_and_free(id);
}

static void task_lock_for_a_while(int id)
{
	task_begin(id);
	lock_for_a_while(id);
}

/* Waits until cancelled. */
static void task_lock_or_end(int id)
{
	int err;

	task_begin(id);
	err = sley_mutex_lock_until(mutex, UINT64_MAX);
	MODEL_CHECK(err == 0 || err == -ECANCELED);
	if (!err)
		enter_and_leave();
}

static void task_unlock(int id)
{
	task_begin(id);
	unlock(id);
}

static void cancel_second(int id)
{
	task_begin(id);
	task_end_wait(1);
}

static void both_had_it(void)
{
	MODEL_CHECK(ledger.locked == 2);
	settled();
}

MODEL(tasks_one_at_a_time, .setup = setup, .threads = { task_lock, task_lock },
      .finish = both_had_it);
MODEL(a_task_and_a_thread, .setup = setup, .threads = { task_lock, lock },
      .finish = both_had_it);
MODEL(a_task_and_a_numbered_thread, .setup = setup_numbered,
      .threads = { task_lock, lock }, .finish = both_had_it);
MODEL(a_numbered_thread_may_free_it, .setup = setup_numbered,
      .threads = { task_lock_and_free, lock_and_free }, .finish = nothing);
MODEL(a_task_may_free_it, .setup = setup,
      .threads = { task_lock_and_free, task_lock_and_free }, .finish = nothing);
MODEL(a_cancelled_task_gives_up, .setup = setup_held_by_task,
      .threads = { task_unlock, task_lock_or_end, cancel_second },
      .finish = settled);
MODEL(a_plain_lock_is_not_cancelled, .setup = setup_held_by_task,
      .threads = { task_unlock, task_lock, cancel_second },
      .finish = both_had_it);
MODEL(hand_over_and_deadline_and_cancel, .setup = setup_timed,
      .threads = { task_lock, task_lock_for_a_while, cancel_second },
      .finish = settled);
MODEL(a_cancelled_one_leaves_it_to_the_next, .setup = setup_held_by_task,
      .threads = { task_unlock, task_lock_or_end, cancel_second, task_lock },
      .slow = true, .finish = settled);
