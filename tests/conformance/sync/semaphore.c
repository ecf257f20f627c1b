/* SPDX-License-Identifier: MIT */
/*
 * semaphore.c - units that are taken and given back.
 */
#include "conformance/bound.h"

TEST(semaphore_units_are_counted)
{
	struct sley_sem sem = SLEY_SEM_INIT(3);

	CHECK_EQ(sley_sem_value(&sem), 3);
	CHECK_EQ(sley_sem_acquire(&sem, 2), 0);
	CHECK(!sley_sem_try_acquire(&sem, 2));
	CHECK(sley_sem_try_acquire(&sem, 1));
	CHECK(!sley_sem_try_acquire(&sem, 1));
	CHECK(sley_sem_try_acquire(&sem, 0));
	sley_sem_release(&sem, 5);
	sley_sem_release(&sem, 0);
	CHECK_EQ(sley_sem_value(&sem), 5);
	sley_sem_init(&sem, SLEY_SEM_MAX);
	CHECK_EQ(sley_sem_value(&sem), SLEY_SEM_MAX);
	CHECK_EQ(sley_sem_acquire(&sem, SLEY_SEM_MAX), 0);
	CHECK_EQ(sley_sem_value(&sem), 0);
}

TEST(semaphore_zeroed_memory_is_one_without_units)
{
	struct sley_sem sem;

	memset(&sem, 0, sizeof(sem));
	CHECK(!sley_sem_try_acquire(&sem, 1));
	sley_sem_release(&sem, 1);
	CHECK(sley_sem_try_acquire(&sem, 1));
}

TEST(semaphore_a_deadline_takes_nothing_and_loses_to_units)
{
	struct sley_sem sem = SLEY_SEM_INIT(1);
	uint64_t deadline = in_ms(5);

	CHECK_EQ(sley_sem_acquire_until(&sem, 2, deadline), -ETIMEDOUT);
	CHECK_GE(sley_now(), deadline);
	CHECK_EQ(sley_sem_acquire_until(&sem, 2, 0), -ETIMEDOUT);
	CHECK_EQ(sley_sem_value(&sem), 1);
	/* Back to the state it began in. */
	CHECK_EQ(sley_sem_acquire_until(&sem, 1, 0), 0);
	CHECK_EQ(sley_sem_value(&sem), 0);
}

TEST_ABORTS(semaphore_more_units_than_it_can_hold_is_misuse,
	    "a semaphore holds at most SLEY_SEM_MAX units")
{
	struct sley_sem sem = SLEY_SEM_INIT(SLEY_SEM_MAX);

	sley_sem_release(&sem, 1);
}

/* ---- who is served when ---------------------------------------------------- */

struct line {
	struct sley_sem sem;
	struct sley_group group;
	char order[16];
	int n;
};

struct customer {
	struct sley_task task;
	struct line *line;
	uint32_t wants;
	uint64_t deadline;
	char name;
	int result;
};

static void stand_in_line(void *arg)
{
	struct customer *c = arg;

	c->result =
		sley_sem_acquire_until(&c->line->sem, c->wants, c->deadline);
	if (c->result == 0)
		c->line->order[c->line->n++] = c->name;
}

static void spawn_customer(struct line *line, struct customer *c, char name,
			   uint32_t wants)
{
	*c = (struct customer){ .line = line,
				.name = name,
				.wants = wants,
				.deadline = SLEY_FOREVER };
	sley_spawn(&line->group, &c->task, stand_in_line, c);
}

TEST(semaphore_a_large_request_is_not_overtaken)
{
	struct sley *rt = start_single();
	struct line line = { .n = 0 };
	struct customer c[3];

	spawn_customer(&line, &c[0], 'a', 3);
	spawn_customer(&line, &c[1], 'b', 1);
	spawn_customer(&line, &c[2], 'c', 1);
	run_all(rt);
	sley_sem_release(&line.sem, 2);
	run_all(rt);
	CHECK_STR(line.order, "");
	/* There are two, and still nobody may pass by those who wait. */
	CHECK_EQ(sley_sem_value(&line.sem), 2);
	CHECK(!sley_sem_try_acquire(&line.sem, 1));
	sley_sem_release(&line.sem, 3);
	sley_join(&line.group);
	CHECK_STR(line.order, "abc");
	CHECK_EQ(sley_sem_value(&line.sem), 0);
	stop(rt);
}

TEST(semaphore_a_cancelled_head_lets_the_next_in)
{
	struct sley *rt = start_single();
	struct line line = { .sem = SLEY_SEM_INIT(1) };
	struct customer c[3];

	spawn_customer(&line, &c[0], 'a', 3);
	spawn_customer(&line, &c[1], 'b', 1);
	spawn_customer(&line, &c[2], 'c', 1);
	run_all(rt);
	CHECK_STR(line.order, "");
	sley_cancel(&c[0].task);
	run_all(rt);
	CHECK_EQ(c[0].result, -ECANCELED);
	CHECK_STR(line.order, "b");
	sley_sem_release(&line.sem, 1);
	sley_join(&line.group);
	CHECK_STR(line.order, "bc");
	CHECK_EQ(sley_sem_value(&line.sem), 0);
	stop(rt);
}

TEST_WORKERS(semaphore_a_head_that_times_out_lets_the_next_in)
{
	struct sley *rt = start();
	struct line line = { .sem = SLEY_SEM_INIT(1) };
	struct customer c[2];

	c[0] = (struct customer){
		.line = &line, .name = 'a', .wants = 2, .deadline = in_ms(20)
	};
	sley_spawn(&line.group, &c[0].task, stand_in_line, &c[0]);
	spawn_customer(&line, &c[1], 'b', 1);
	sley_join(&line.group);
	CHECK_EQ(c[0].result, -ETIMEDOUT);
	CHECK_EQ(c[1].result, 0);
	CHECK_EQ(sley_sem_value(&line.sem), 0);
	stop(rt);
}

/* ---- many hands -------------------------------------------------------------- */

enum { UNITS = 3 };

struct room {
	struct sley_sem sem;
	atomic_uint inside;
	int rounds;
};

static void visit(void *arg)
{
	struct room *room = arg;
	int i;

	for (i = 0; i < room->rounds; i++) {
		uint32_t n = 1 + (uint32_t)test_random(UNITS);

		CHECK_EQ(sley_sem_acquire(&room->sem, n), 0);
		CHECK_LE(atomic_fetch_add(&room->inside, n) + n, UNITS);
		if (i % 8 == 0)
			sley_yield();
		atomic_fetch_sub(&room->inside, n);
		sley_sem_release(&room->sem, n);
	}
}

static void *visit_in_thread(void *arg)
{
	visit(arg);
	return NULL;
}

TEST_WORKERS(semaphore_threads_and_fibers_share_one)
{
	struct room room = { .sem = SLEY_SEM_INIT(UNITS),
			     .rounds = test_scale(400) };
	struct sley *rt = start();
	pthread_t threads[2];
	int i;

	for (i = 0; i < 2; i++)
		threads[i] = test_thread(visit_in_thread, &room);
	run_tasks(8, visit, &room);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(sley_sem_value(&room.sem), UNITS);
	stop(rt);
}

static void release_one(void *arg)
{
	sley_sem_release(arg, 1);
}

/* The semaphore is gone as soon as the acquire has returned. */
static void wait_on_the_stack(void *arg)
{
	int i, n = *(int *)arg;

	for (i = 0; i < n; i++) {
		struct sley_sem sem = SLEY_SEM_INIT(0);

		CHECK_EQ(sley_schedule(release_one, &sem), 0);
		CHECK_EQ(sley_sem_acquire(&sem, 1), 0);
		memset(&sem, 0xff, sizeof(sem));
	}
}

TEST_WORKERS(semaphore_may_vanish_when_the_acquire_has_returned)
{
	struct sley *rt = start();
	int n = test_scale(500);

	run_tasks(4, wait_on_the_stack, &n);
	stop(rt);
}
