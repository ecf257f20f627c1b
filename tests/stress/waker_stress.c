/* SPDX-License-Identifier: MIT */
/*
 * waker_stress.c - wakes by number against ends, deadlines, cancels and new
 * tenants.
 *
 * A wake that is lost leaves somebody without a deadline waiting for ever.  One
 * that hits the next tenant shows as a wake too many.
 */
#include "stress/stress.h"

/* ---- wake against the end of the task ------------------------------------- */

enum { NR_SLOTS = 16 };

struct board {
	atomic_uint_least64_t id[NR_SLOTS]; /* of wakers, most of them stale */
	atomic_uint_least64_t nr_woken;
	atomic_bool over;
};

/* Lives for a moment; wakes come at any time, also after its end. */
static void mayfly(void *arg)
{
	struct board *b = arg;
	struct sley_waker self;

	CHECK_EQ(sley_waker_self(&self), 0);
	atomic_store(&b->id[test_random(NR_SLOTS)], self.id);
	if (one_in(2)) {
		int err = sley_suspend_until(soon());

		CHECK(err == 0 || err == -ETIMEDOUT ||
		      (err == -ECANCELED && sley_cancelled()));
	}
	dawdle();
	/* Its own last wake cannot be lost, whatever else comes. */
	if (!sley_cancelled()) {
		CHECK_EQ(sley_wake(&self), 0);
		CHECK_EQ(sley_suspend(), 0);
	}
}

static void poke_somebody(struct board *b)
{
	uint64_t id = atomic_load(&b->id[test_random(NR_SLOTS)]);
	int err;

	if (one_in(4))
		err = sley_set_priority_id(id, (int)test_random(64) - 32);
	else
		err = sley_wake_id(id);
	CHECK(err == 0 || err == -ESRCH);
	atomic_fetch_add(&b->nr_woken, err == 0);
}

static void *poke_in_thread(void *arg)
{
	struct board *b = arg;

	while (!atomic_load(&b->over))
		poke_somebody(b);
	return NULL;
}

static void spawn_mayflies(struct board *b)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[24];
	struct sley_waker waker;

	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		CHECK_EQ(sley_spawn_with(&group, &tasks[i], mayfly, b,
					 SLEY_OPTIONS(.waker = &waker)),
			 0);
		atomic_store(&b->id[test_random(NR_SLOTS)], waker.id);
		if (one_in(4))
			sley_cancel(&tasks[i]);
		poke_somebody(b);
	}
	sley_join(&group);
}

static void wake_against_end(struct sley_config config)
{
	struct board b = { .over = false };
	struct sley *rt = start_with(&config);
	uint64_t end_ns = stress_end();
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		threads[i] = test_thread(poke_in_thread, &b);
	while (sley_now() < end_ns)
		spawn_mayflies(&b);
	atomic_store(&b.over, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	CHECK_GT(atomic_load(&b.nr_woken), 0);
	test_count(atomic_load(&b.nr_woken));
	CHECK_EQ(sley_nr_wakers(), 0);
	stop(rt);
}

TEST(stress_wakes_come_at_and_after_the_end_of_tasks)
{
	wake_against_end(stress_config());
}

TEST(stress_wakes_come_at_and_after_the_end_of_migratable_tasks)
{
	wake_against_end(stress_config_migratable());
}

/* ---- keys --------------------------------------------------------------------- */

struct ring_of_keys {
	atomic_uint_least64_t key[4];
	atomic_int_least64_t woken, got; /* wakes that said 1; waits that did */
	atomic_bool over;
};

static void keep_waiting(void *arg)
{
	struct ring_of_keys *r = arg;

	while (!atomic_load(&r->over)) {
		uint64_t key = atomic_load(&r->key[test_random(4)]);
		int err = sley_key_wait_until(key, soon());

		CHECK(err == 0 || err == -ETIMEDOUT || err == -ESRCH ||
		      err == -EIDRM);
		atomic_fetch_add(&r->got, err == 0);
		dawdle();
	}
}

static void *keep_waking(void *arg)
{
	struct ring_of_keys *r = arg;

	while (!atomic_load(&r->over)) {
		int i = (int)test_random(4);
		uint64_t key = atomic_load(&r->key[i]), fresh;

		if (one_in(8)) {
			CHECK_EQ(sley_key_create(&fresh), 0);
			CHECK_EQ(sley_key_destroy(
					 atomic_exchange(&r->key[i], fresh)),
				 0);
		} else {
			int woken = sley_key_wake(key);

			CHECK(woken == 0 || woken == 1 || woken == -ESRCH);
			atomic_fetch_add(&r->woken, woken == 1);
		}
	}
	return NULL;
}

TEST(stress_keys_are_destroyed_while_they_are_woken_and_waited_for)
{
	struct sley_config config = stress_config();
	struct sley_group group = SLEY_GROUP_INIT;
	struct ring_of_keys r = { .over = false };
	struct sley *rt = start_with(&config);
	struct sley_task tasks[12];
	pthread_t threads[2];
	uint64_t key;

	for (int i = 0; i < 4; i++) {
		CHECK_EQ(sley_key_create(&key), 0);
		atomic_store(&r.key[i], key);
	}
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
		sley_spawn(&group, &tasks[i], keep_waiting, &r);
	for (int i = 0; i < 2; i++)
		threads[i] = test_thread(keep_waking, &r);
	CHECK_EQ(sley_sleep_until(stress_end()), 0);
	atomic_store(&r.over, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	sley_join(&group);
	/* Each wake that said so has let one go, the others one at most. */
	CHECK_GE(atomic_load(&r.got), atomic_load(&r.woken));
	test_count((uint64_t)atomic_load(&r.got));
	for (int i = 0; i < 4; i++)
		CHECK_EQ(sley_key_destroy(atomic_load(&r.key[i])), 0);
	CHECK_EQ(sley_nr_wakers(), 0);
	stop(rt);
}
