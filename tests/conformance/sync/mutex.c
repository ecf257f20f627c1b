/* SPDX-License-Identifier: MIT */
/*
 * mutex.c - the mutex that blocks fibers.  (M29 asks marl for one in vain.)
 */
#include "conformance/sync/lock.h"

static void lock_mutex(union lock *lock)
{
	sley_mutex_lock(&lock->mutex);
}

static void unlock_mutex(union lock *lock)
{
	sley_mutex_unlock(&lock->mutex);
}

static const struct way locking = { lock_mutex, unlock_mutex };

struct counter {
	struct sley_mutex mutex;
	long value; /* under mutex */
	int inside; /* under mutex */
	int rounds;
};

static void count_locked(void *arg)
{
	struct counter *c = arg;
	int i;

	for (i = 0; i < c->rounds; i++) {
		sley_mutex_lock(&c->mutex);
		CHECK_EQ(c->inside++, 0);
		c->value++;
		if (i % 16 == 0)
			sley_yield();
		CHECK_EQ(--c->inside, 0);
		sley_mutex_unlock(&c->mutex);
	}
}

static void *count_in_thread(void *arg)
{
	count_locked(arg);
	return NULL;
}

TEST(mutex_try_lock_takes_a_free_one_only)
{
	struct sley_mutex mutex = SLEY_MUTEX_INIT;

	CHECK(sley_mutex_try_lock(&mutex));
	CHECK(!sley_mutex_try_lock(&mutex));
	sley_mutex_unlock(&mutex);
	CHECK(sley_mutex_try_lock(&mutex));
	sley_mutex_unlock(&mutex);
}

TEST(mutex_lock_until_times_out_and_takes_a_free_one_at_any_deadline)
{
	struct sley_mutex mutex = SLEY_MUTEX_INIT, taken = SLEY_MUTEX_INIT;
	uint64_t deadline;

	lock_for_ever(&taken);
	CHECK_EQ(sley_mutex_lock_until(&taken, 0), -ETIMEDOUT);
	deadline = in_ms(5);
	CHECK_EQ(sley_mutex_lock_until(&taken, deadline), -ETIMEDOUT);
	CHECK_GE(sley_now(), deadline);
	CHECK(!sley_mutex_try_lock(&taken));
	CHECK_EQ(sley_mutex_lock_until(&mutex, 0), 0);
	sley_mutex_unlock(&mutex);
	CHECK_EQ(sley_mutex_lock_until(&mutex, SLEY_FOREVER), 0);
	sley_mutex_unlock(&mutex);
	/* Back to the state it began in. */
	CHECK(sley_mutex_try_lock(&mutex));
}

TEST_ABORTS(mutex_unlock_of_one_that_nobody_holds_aborts,
	    "sley: misuse in sley_mutex_unlock: the mutex is not held")
{
	struct sley_mutex mutex = SLEY_MUTEX_INIT;

	sley_mutex_lock(&mutex);
	sley_mutex_unlock(&mutex);
	sley_mutex_unlock(&mutex);
}

TEST_ABORTS(mutex_condition_wait_without_the_mutex_aborts, "sley: misuse in ")
{
	struct sley_mutex mutex = SLEY_MUTEX_INIT;
	struct sley_cond cond = SLEY_COND_INIT;
	int err = sley_cond_wait_until(&cond, &mutex, in_ms(1));

	(void)err;
}

TEST_WORKERS(mutex_keeps_tasks_apart)
{
	struct counter c = { .rounds = test_scale(1000) };
	struct sley *rt = start();

	run_tasks(16, count_locked, &c);
	CHECK_EQ(c.value, 16L * c.rounds);
	stop(rt);
}

TEST(t05_plain_threads_use_it_without_any_runtime)
{
	struct counter c = { .rounds = test_scale(5000) };

	run_threads(4, count_in_thread, &c);
	CHECK_EQ(c.value, 4L * c.rounds);
}

TEST_WORKERS(t05_threads_and_fibers_share_one_mutex)
{
	struct counter c = { .rounds = test_scale(1000) };
	struct sley *rt = start();

	run_beside(count_locked, count_in_thread, &c);
	CHECK_EQ(c.value, 12L * c.rounds);
	stop(rt);
}

static bool is_locked(union lock *lock)
{
	bool was_free = sley_mutex_try_lock(&lock->mutex);

	if (was_free)
		sley_mutex_unlock(&lock->mutex);
	return !was_free;
}

TEST_WORKERS(m29_waiting_for_a_mutex_suspends_the_fiber_and_not_the_worker)
{
	check_waiters_suspend(&locking, &locking, &locking, is_locked);
}

struct line {
	struct sley_mutex mutex;
	char order[16];
	int n;
};

struct place {
	struct sley_task task;
	struct line *line;
	char name;
};

static void stand_in_line(void *arg)
{
	struct place *p = arg;

	sley_mutex_lock(&p->line->mutex);
	p->line->order[p->line->n++] = p->name;
	sley_mutex_unlock(&p->line->mutex);
}

TEST(mutex_goes_to_the_waiter_that_came_first)
{
	struct sley *rt = start_single();
	struct sley_group group = SLEY_GROUP_INIT;
	struct line line = { .n = 0 };
	struct place p[8];
	int i;

	sley_mutex_lock(&line.mutex);
	for (i = 0; i < 8; i++) {
		p[i] = (struct place){ .line = &line, .name = (char)('a' + i) };
		sley_spawn(&group, &p[i].task, stand_in_line, &p[i]);
		CHECK_EQ(sley_run_one(rt), 1);
	}
	sley_mutex_unlock(&line.mutex);
	sley_join(&group);
	CHECK_STR(line.order, "abcdefgh");
	stop(rt);
}

/* A release hands the mutex over. */
TEST_WORKERS(mutex_is_not_kept_by_one_that_comes_again_and_again)
{
	check_no_starvation(&locking, &locking);
}

TEST_WORKERS(mutex_may_stand_on_a_stack_that_returns)
{
	check_on_a_stack_that_returns(&locking, &locking);
}
