/* SPDX-License-Identifier: MIT */
/*
 * mutex.c - the mutex that blocks fibers.  (M29 asks marl for one in vain.)
 */
#include "conformance/bound.h"

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
	struct sley_task tasks[16];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int i;

	for (i = 0; i < 16; i++)
		sley_spawn(&group, &tasks[i], count_locked, &c);
	sley_join(&group);
	CHECK_EQ(c.value, 16L * c.rounds);
	stop(rt);
}

TEST(t05_plain_threads_use_it_without_any_runtime)
{
	struct counter c = { .rounds = test_scale(5000) };
	pthread_t threads[4];
	int i;

	for (i = 0; i < 4; i++)
		threads[i] = test_thread(count_in_thread, &c);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
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

struct holder {
	struct sley_mutex mutex;
	atomic_int others;
	atomic_bool held;
};

static void sleep_while_holding(void *arg)
{
	struct holder *h = arg;

	sley_mutex_lock(&h->mutex);
	atomic_store(&h->held, true);
	/* Goes on only when others have run on this very worker. */
	while (atomic_load(&h->others) < 10)
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	sley_mutex_unlock(&h->mutex);
}

static void wait_for_holder(void *arg)
{
	struct holder *h = arg;

	sley_mutex_lock(&h->mutex);
	CHECK_EQ(h->others, 10);
	sley_mutex_unlock(&h->mutex);
}

TEST_WORKERS(m29_waiting_for_a_mutex_suspends_the_fiber_and_not_the_worker)
{
	struct holder h = { .others = 0 };
	struct sley_task tasks[30];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int i;

	sley_spawn(&group, &tasks[0], sleep_while_holding, &h);
	if (is_single())
		CHECK_EQ(sley_run_one(rt), 1);
	CHECK_EVENTUALLY(atomic_load(&h.held));
	for (i = 1; i < 20; i++)
		sley_spawn(&group, &tasks[i], wait_for_holder, &h);
	for (; i < 30; i++)
		sley_spawn(&group, &tasks[i], count_task, &h.others);
	sley_join(&group);
	stop(rt);
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
	struct sley_config config = config_of(SLEY_SINGLE);
	struct sley *rt = start_with(&config);
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

/*
 * Somebody who comes again and again may not overtake those who wait: a
 * release hands the mutex over.
 */
struct greedy {
	struct sley_mutex mutex;
	atomic_bool done;
	atomic_int patient;
};

static void lock_all_the_time(void *arg)
{
	struct greedy *g = arg;

	while (!atomic_load(&g->done)) {
		sley_mutex_lock(&g->mutex);
		sley_yield();
		sley_mutex_unlock(&g->mutex);
	}
}

static void lock_patiently(void *arg)
{
	struct greedy *g = arg;
	int i;

	for (i = 0; i < 50; i++) {
		sley_mutex_lock(&g->mutex);
		atomic_fetch_add(&g->patient, 1);
		sley_mutex_unlock(&g->mutex);
	}
	atomic_store(&g->done, true);
}

TEST_WORKERS(mutex_is_not_kept_by_one_that_comes_again_and_again)
{
	struct greedy g = { .patient = 0 };
	struct sley_task tasks[3];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;

	sley_spawn(&group, &tasks[0], lock_all_the_time, &g);
	sley_spawn(&group, &tasks[1], lock_all_the_time, &g);
	sley_spawn(&group, &tasks[2], lock_patiently, &g);
	sley_join(&group);
	CHECK_EQ(g.patient, 50);
	stop(rt);
}

struct brief {
	struct sley_mutex mutex;
	struct sley_group group;
	struct sley_task task;
};

static void lock_once(void *arg)
{
	struct brief *b = arg;

	sley_mutex_lock(&b->mutex);
	sley_mutex_unlock(&b->mutex);
}

/* The last unlock touches nothing once the other side may have returned. */
TEST_WORKERS(mutex_may_stand_on_a_stack_that_returns)
{
	struct sley *rt = start();
	int i;

	for (i = 0; i < test_scale(3000); i++) {
		struct brief b = { .mutex = SLEY_MUTEX_INIT };

		sley_mutex_lock(&b.mutex);
		sley_spawn(&b.group, &b.task, lock_once, &b);
		if (i % 2)
			sley_yield();
		sley_mutex_unlock(&b.mutex);
		sley_join(&b.group);
		memset((void *)&b, 0xff, sizeof(b));
		__asm__ volatile("" : : "r"(&b) : "memory");
	}
	stop(rt);
}
