/* SPDX-License-Identifier: MIT */
/*
 * sync_semaphore.c - src/sync/semaphore.c and its inline paths, with plain
 * threads: no unit is lost or doubled, whoever wins; nobody is left waiting for
 * units that are there; who takes the last unit may free the semaphore.
 *
 * Complete, the inline paths included.  It does not see tasks: their side of the wait is core_waitq.c.
 */
#include "threads_only.h"

#include "inline_paths.h"

#include <sley/semaphore.h>

#define SOON 2000000000 /* a deadline in virtual time: at any moment */

static struct sley_sem *sem;
static uint32_t got;

static void setup(void)
{
	sem = model_alloc(sizeof(*sem));
	got = 0;
	model_lock_word(&sem->q.word);
	model_name(&sem->q.word, "sem");
}

static void acquire_and_free(int id)
{
	(void)id;
	MODEL_CHECK(sley_sem_acquire(sem, 1) == 0);
	got++;
	model_free(sem);
	sem = NULL;
}

static void acquire_one(int id)
{
	(void)id;
	MODEL_CHECK(sley_sem_acquire(sem, 1) == 0);
	got++;
}

static void acquire_two(int id)
{
	(void)id;
	MODEL_CHECK(sley_sem_acquire(sem, 2) == 0);
	got += 2;
}

static void acquire_one_soon(int id)
{
	int err = sley_sem_acquire_until(sem, 1, SOON);

	(void)id;
	MODEL_CHECK(err == 0 || err == -ETIMEDOUT);
	got += err == 0;
}

static void acquire_two_soon(int id)
{
	int err = sley_sem_acquire_until(sem, 2, SOON);

	(void)id;
	MODEL_CHECK(err == 0 || err == -ETIMEDOUT);
	got += err == 0 ? 2 : 0;
}

static void try_one(int id)
{
	(void)id;
	got += sley_sem_try_acquire(sem, 1);
}

static void release_one(int id)
{
	(void)id;
	sley_sem_release(sem, 1);
}

static void release_two(int id)
{
	(void)id;
	sley_sem_release(sem, 2);
}

static void check(uint32_t released)
{
	MODEL_CHECK(got + sley_sem_value(sem) == released);
	MODEL_CHECK(!sem->q.first);
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
	MODEL_CHECK(got == 1 && !sem);
}

MODEL(the_taker_of_the_last_unit_may_free_it, .setup = setup,
      .threads = { acquire_and_free, release_one }, .finish = gone);

MODEL(a_unit_is_taken_or_stays_when_the_deadline_comes, .setup = setup,
      .threads = { acquire_one_soon, try_one, release_one },
      .finish = one_released);

/* The large one may be first, and give up: the small one must not be stuck. */
MODEL(a_head_that_gives_up_lets_the_next_one_in, .setup = setup,
      .threads = { acquire_two_soon, acquire_one, release_one },
      .finish = one_released);

MODEL(two_releases_serve_one_large_request, .setup = setup,
      .threads = { acquire_two, release_one, release_one },
      .finish = two_released);

MODEL(one_release_serves_two_requests, .setup = setup,
      .threads = { acquire_one, acquire_one, release_two },
      .finish = two_released);
