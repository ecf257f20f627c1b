/* SPDX-License-Identifier: MIT */
/*
 * sync_semaphore.c - src/sync/semaphore.c and its inline paths, with plain threads
 * and with tasks: no unit is lost or doubled, whichever thread wins; no waiter is
 * left beside free units; the thread that takes the last unit may free the
 * semaphore, and sees the writes before the release of that unit.
 *
 * Complete for two threads with one operation each, and for three threads: two
 * acquire and one releases, or the other way round, with a deadline or a cancel for
 * one of them.  The models could miss: mistakes that take a third waiter, such as a
 * wrong link in the middle of the list (core/wait/waitq.h has unit tests for that),
 * and counts near SLEY_SEM_MAX.
 */
#include "inline_paths.h"
#include "tasks_only.h"

#include <sley/semaphore.h>

static struct sley_sem *sem;
static int payload[MODEL_THREADS_MAX]; /* written before the release */
static struct ledger {
	uint32_t got, refused;
} ledger;

static void setup_with(enum tasks_flags flags)
{
	tasks_setup(flags);
	sem = model_alloc(sizeof(*sem));
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	memset(payload, 0, sizeof(payload));
	model_lock_word(&sem->q.word);
	model_name(&sem->q.word, "sem");
}

static void setup(void)
{
	setup_with(0);
}

static void setup_timed(void)
{
	setup_with(TASKS_TIMED);
}

static void setup_barrier(void)
{
	setup_with(TASKS_BARRIER);
}

static void acquire(uint32_t n)
{
	MODEL_CHECK(sley_sem_acquire(sem, n) == 0);
	ledger.got += n;
}

static void acquire_soon(uint32_t n)
{
	int err = sley_sem_acquire_until(sem, n, LATER);

	MODEL_CHECK(err == 0 || err == -ETIMEDOUT || err == -ECANCELED);
	ledger.got += err ? 0 : n;
	ledger.refused += err != 0;
}

static void release(int id, uint32_t n)
{
	payload[id] = 7;
	sley_sem_release(sem, n);
}

/* ---- plain threads ---------------------------------------------------------- */

/* Thread 1 has released. */
static void acquire_and_free(int id)
{
	(void)id;
	acquire(1);
	MODEL_CHECK(payload[1] == 7);
	model_free(sem);
	sem = NULL;
}

static void acquire_one(int id)
{
	(void)id;
	acquire(1);
}

/* Threads 1 and 2 have released one each. */
static void acquire_two(int id)
{
	(void)id;
	acquire(2);
	MODEL_CHECK(payload[1] == 7 && payload[2] == 7);
}

static void acquire_one_soon(int id)
{
	(void)id;
	acquire_soon(1);
}

static void acquire_two_soon(int id)
{
	(void)id;
	acquire_soon(2);
}

static void try_one(int id)
{
	(void)id;
	ledger.got += sley_sem_try_acquire(sem, 1);
}

/* Thread 1 releases. */
static void glance(int id)
{
	(void)id;
	if (sley_sem_value(sem) == 1)
		MODEL_CHECK(payload[1] == 7);
}

static void release_one(int id)
{
	release(id, 1);
}

static void release_two(int id)
{
	release(id, 2);
}

static void check(uint32_t released)
{
	MODEL_CHECK(ledger.got + sley_sem_value(sem) == released);
	MODEL_CHECK(!sem->q.first);
	tasks_check();
	MODEL_CHECK(!(sem->q.word & SLEY_SEM_BUSY));
	model_free(sem);
}

static void one_released(void)
{
	check(1);
}

static void two_released(void)
{
	check(2);
}

static void gone(void)
{
	MODEL_CHECK(ledger.got == 1 && !sem);
}

MODEL(the_taker_of_the_last_unit_may_free_it, .setup = setup,
      .threads = { acquire_and_free, release_one }, .finish = gone);

MODEL(who_counts_a_unit_sees_what_was_before, .setup = setup,
      .threads = { glance, release_one }, .finish = one_released);

MODEL(a_unit_is_taken_or_stays_when_the_deadline_comes, .setup = setup,
      .threads = { acquire_one_soon, try_one, release_one },
      .finish = one_released);

/* The large request may be first, and give up: the small request must go on. */
MODEL(a_head_that_gives_up_lets_the_next_one_in, .setup = setup,
      .threads = { acquire_two_soon, acquire_one, release_one },
      .finish = one_released);

MODEL(two_releases_serve_one_large_request, .setup = setup,
      .threads = { acquire_two, release_one, release_one },
      .finish = two_released);

MODEL(one_release_serves_two_requests, .setup = setup,
      .threads = { acquire_one, acquire_one, release_two },
      .finish = two_released);

/* ---- tasks -------------------------------------------------------------------- */

static void task_acquire_and_free(int id)
{
	task_begin(id);
	acquire_and_free(id);
}

static void task_acquire_one(int id)
{
	task_begin(id);
	acquire_one(id);
}

static void task_acquire_soon(int id)
{
	task_begin(id);
	acquire_soon(1);
}

/* The task may be cancelled. */
static void task_acquire(uint32_t n)
{
	int err = sley_sem_acquire(sem, n);

	MODEL_CHECK(err == 0 || err == -ECANCELED);
	ledger.got += err ? 0 : n;
	ledger.refused += err != 0;
}

static void task_acquire_or_end(int id)
{
	task_begin(id);
	task_acquire(1);
}

static void task_acquire_two_or_end(int id)
{
	task_begin(id);
	task_acquire(2);
}

static void task_release_one(int id)
{
	task_begin(id);
	release(id, 1);
}

static void cancel_first(int id)
{
	task_begin(id);
	task_end_wait(0);
}

static void cancel_first_and_release(int id)
{
	cancel_first(id);
	release(id, 1);
}

static void fire_first(int id)
{
	task_begin(id);
	task_fire_timers(0);
}

static void small_one_was_served(void)
{
	MODEL_CHECK(ledger.refused == 1);
	one_released();
}

MODEL(a_task_may_free_it_too, .setup = setup,
      .threads = { task_acquire_and_free, release_one }, .finish = gone);

MODEL(a_unit_is_taken_or_stays_when_a_cancel_comes, .setup = setup,
      .threads = { task_acquire_or_end, task_release_one, cancel_first },
      .finish = one_released);

MODEL(a_unit_is_taken_or_stays_when_a_cancel_comes_by_membarrier,
      .setup = setup_barrier,
      .threads = { task_acquire_or_end, task_release_one, cancel_first },
      .finish = one_released);

MODEL(a_task_and_its_own_deadline, .setup = setup_timed,
      .threads = { task_acquire_soon, task_release_one },
      .finish = one_released);

MODEL(a_deadline_that_the_monitor_sees, .setup = setup_timed,
      .threads = { task_acquire_soon, task_release_one, fire_first },
      .finish = one_released);

MODEL(wake_and_deadline_and_cancel, .setup = setup_timed,
      .threads = { task_acquire_soon, task_release_one, cancel_first },
      .finish = one_released);

MODEL(a_head_that_is_cancelled_lets_the_next_one_in, .setup = setup,
      .threads = { task_acquire_two_or_end, task_acquire_one,
		   cancel_first_and_release },
      .finish = small_one_was_served);
