/* SPDX-License-Identifier: MIT */
/*
 * sync_stress.c - a semaphore and a barrier whose waiters give up, by deadline
 * and by cancel, while others come and go.
 *
 * A unit that goes to a waiter who has given up is a unit lost: then somebody
 * without a deadline waits for ever, and the test times out.
 */
#include "stress/stress.h"

/* ---- semaphore ------------------------------------------------------------------ */

enum { UNITS = 4 };

struct room {
	struct sley_sem sem;
	atomic_uint inside;
	uint64_t end_ns;
};

static void visit(void *arg)
{
	struct room *r = arg;

	while (sley_now() < r->end_ns) {
		uint32_t n = 1 + (uint32_t)test_random(UNITS);
		int err = 0;

		if (one_in(8))
			err = sley_sem_try_acquire(&r->sem, n) ? 0 : -ETIMEDOUT;
		else
			err = sley_sem_acquire_until(
				&r->sem, n, one_in(4) ? SLEY_FOREVER : soon());
		if (err == -ECANCELED)
			return;
		if (err)
			continue;
		CHECK_LE(atomic_fetch_add(&r->inside, n) + n, UNITS);
		dawdle();
		atomic_fetch_sub(&r->inside, n);
		sley_sem_release(&r->sem, n);
	}
}

static void *visit_in_thread(void *arg)
{
	visit(arg);
	return NULL;
}

TEST(stress_a_semaphore_with_deadlines_and_cancels)
{
	struct sley_config config = stress_config();
	struct room r = { .sem = SLEY_SEM_INIT(UNITS),
			  .end_ns = in_ms(STRESS_MS) };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_with(&config);
	struct sley_task tasks[16];
	pthread_t threads[2];

	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
		sley_spawn(&group, &tasks[i], visit, &r);
	for (int i = 0; i < 2; i++)
		threads[i] = test_thread(visit_in_thread, &r);
	for (int i = 0; i < 6; i++) {
		CHECK_EQ(sley_sleep(STRESS_MS / 8 * SLEY_MSEC), 0);
		sley_cancel(&tasks[i]);
	}
	sley_join(&group);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(sley_sem_value(&r.sem), UNITS);
	CHECK(sley_sem_try_acquire(&r.sem, UNITS));
	stop(rt);
}

/* ---- barrier --------------------------------------------------------------------- */

struct meeting {
	struct sley_barrier barrier;
	atomic_int last, passed;
	uint64_t end_ns;
};

static void meet(void *arg)
{
	struct meeting *m = arg;

	while (sley_now() < m->end_ns) {
		int result = sley_barrier_wait_until(&m->barrier, soon());

		CHECK(result == 1 || result == 0 || result == -ETIMEDOUT);
		atomic_fetch_add(&m->last, result == 1);
		atomic_fetch_add(&m->passed, result == 0);
	}
}

TEST(stress_a_barrier_whose_parties_give_up)
{
	enum { PARTIES = 3 };
	struct sley_config config = stress_config();
	struct meeting m = { .barrier = SLEY_BARRIER_INIT(PARTIES),
			     .end_ns = in_ms(STRESS_MS) };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_with(&config);
	struct sley_task tasks[8];

	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
		sley_spawn(&group, &tasks[i], meet, &m);
	sley_join(&group);
	/* Nobody passes but in threes. */
	CHECK_GT(atomic_load(&m.last), 0);
	CHECK_EQ(atomic_load(&m.passed), (PARTIES - 1) * atomic_load(&m.last));
	stop(rt);
}
