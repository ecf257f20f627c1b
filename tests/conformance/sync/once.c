/* SPDX-License-Identifier: MIT */
/*
 * once.c - a function that is called once, whoever comes first.
 */
#include "conformance/bound.h"

TEST(once_calls_the_function_once)
{
	struct sley_once_flag once = SLEY_ONCE_INIT;
	atomic_int calls = 0;

	CHECK(!sley_once_done(&once));
	sley_once(&once, count_task, &calls);
	CHECK(sley_once_done(&once));
	sley_once(&once, count_task, &calls);
	CHECK_EQ(sley_once_until(&once, count_task, &calls, 0), 0);
	CHECK_EQ(atomic_load(&calls), 1);
}

TEST(once_until_calls_it_although_the_deadline_has_passed)
{
	struct sley_once_flag once = SLEY_ONCE_INIT;
	atomic_int calls = 0;

	CHECK_EQ(sley_once_until(&once, count_task, &calls, 0), 0);
	CHECK_EQ(atomic_load(&calls), 1);
}

/* ---- many callers ------------------------------------------------------------- */

enum { ROUNDS = 64 };

struct slow {
	struct sley_once_flag once[ROUNDS];
	int value[ROUNDS]; /* plain: written in the function */
};

struct entry {
	struct slow *slow;
	int i;
};

static void set_slowly(void *arg)
{
	struct entry *e = arg;

	if (sley_current())
		CHECK_EQ(sley_sleep(20 * SLEY_USEC), 0);
	sley_yield();
	e->slow->value[e->i]++;
}

static void come_to_all(void *arg)
{
	struct slow *slow = arg;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		struct entry e = { slow, i };

		sley_once(&slow->once[i], set_slowly, &e);
		CHECK_EQ(slow->value[i], 1);
	}
}

static void *come_in_thread(void *arg)
{
	come_to_all(arg);
	return NULL;
}

TEST_WORKERS(once_nobody_returns_before_the_function_has)
{
	static struct slow slow;
	struct sley *rt = start();
	pthread_t threads[2];
	int i;

	memset(&slow, 0, sizeof(slow));
	for (i = 0; i < 2; i++)
		threads[i] = test_thread(come_in_thread, &slow);
	run_tasks(8, come_to_all, &slow);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	stop(rt);
}

/* ---- waiting, and giving up ------------------------------------------------------ */

struct scene {
	struct sley_once_flag once;
	struct sley_event entered, leave;
	atomic_int calls;
	atomic_int result;
	bool shielded;
};

static void wait_inside(void *arg)
{
	struct scene *s = arg;

	atomic_fetch_add(&s->calls, 1);
	sley_event_set(&s->entered);
	CHECK_EQ(sley_event_wait(&s->leave), 0);
}

static void go_first(void *arg)
{
	struct scene *s = arg;

	sley_once(&s->once, wait_inside, s);
}

static void go_second(void *arg)
{
	struct scene *s = arg;

	if (s->shielded)
		sley_once(&s->once, wait_inside, s);
	else
		s->result =
			sley_once_until(&s->once, wait_inside, s, SLEY_FOREVER);
}

static int go_second_as_process(void *arg)
{
	go_second(arg);
	return 0;
}

static bool is_blocked(sley_pid pid)
{
	struct sley_process_info info;

	CHECK_EQ(sley_process_inspect(pid, &info), 0);
	return info.state == SLEY_PROCESS_BLOCKED;
}

/* The second caller is a process: one can see that it waits. */
TEST_WORKERS(once_until_gives_up_while_another_is_in_the_function)
{
	struct scene s = { .result = 1 };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct sley_task first;
	uint64_t deadline;
	sley_pid second;

	sley_spawn(&group, &first, go_first, &s);
	CHECK_EQ(sley_event_wait(&s.entered), 0);
	deadline = in_ms(5);
	CHECK_EQ(sley_once_until(&s.once, wait_inside, &s, deadline),
		 -ETIMEDOUT);
	CHECK_GE(sley_now(), deadline);
	CHECK_EQ(sley_actor_spawn(&second, go_second_as_process, &s, NULL), 0);
	CHECK_SOON(is_blocked(second));
	CHECK_EQ(sley_process_cancel(second, -ECANCELED), 0);
	CHECK_SOON(!sley_process_alive(second));
	CHECK_EQ(s.result, -ECANCELED);
	sley_event_set(&s.leave);
	sley_join(&group);
	CHECK_EQ(atomic_load(&s.calls), 1);
	stop(rt);
}

TEST(once_a_cancel_ends_the_wait_of_once_until_and_not_that_of_once)
{
	struct sley_config config = config_of(SLEY_SINGLE);
	struct scene s = { .shielded = true };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_with(&config);
	struct sley_task first, second, third;

	sley_spawn(&group, &first, go_first, &s);
	sley_spawn(&group, &second, go_second, &s);
	run_all(rt);
	s.shielded = false;
	sley_spawn(&group, &third, go_second, &s);
	run_all(rt);
	sley_cancel(&second);
	sley_cancel(&third);
	run_all(rt);
	CHECK_EQ(s.result, -ECANCELED);
	CHECK_EQ(sley_task_status(&second), -EINPROGRESS);
	CHECK_EQ(sley_task_status(&third), 0);
	sley_event_set(&s.leave);
	sley_join(&group);
	CHECK_EQ(atomic_load(&s.calls), 1);
	stop(rt);
}

/* Cancelled, but the function is out before it has run to give up. */
TEST(once_a_function_that_has_returned_wins_over_a_cancel)
{
	struct sley_config config = config_of(SLEY_SINGLE);
	struct scene s = { .result = 1 };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_with(&config);
	struct sley_task first, second;

	sley_spawn(&group, &first, go_first, &s);
	sley_spawn(&group, &second, go_second, &s);
	run_all(rt);
	sley_event_set(&s.leave);
	sley_cancel(&second);
	sley_join(&group);
	CHECK_EQ(s.result, 0);
	CHECK_EQ(atomic_load(&s.calls), 1);
	stop(rt);
}

/* ---- misuse ------------------------------------------------------------------------ */

static void come_back(void *arg)
{
	sley_once(arg, come_back, arg);
}

TEST_ABORTS(once_a_function_that_comes_back_to_its_own_once_aborts,
	    "calls the same once again")
{
	struct sley_once_flag once = SLEY_ONCE_INIT;

	sley_once(&once, come_back, &once);
}

static void come_back_in_task(void *arg)
{
	sley_once(arg, come_back, arg);
}

TEST_ABORTS(once_a_task_that_comes_back_aborts_and_does_not_hang,
	    "calls the same once again")
{
	struct sley_config config = config_of(2);
	struct sley_once_flag once = SLEY_ONCE_INIT;

	(void)start_with(&config);
	run_task(come_back_in_task, &once);
}
