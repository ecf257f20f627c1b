/* SPDX-License-Identifier: MIT */
/*
 * future.c - completed once, waited for by many: T14.
 */
#include <stdlib.h>

#include "conformance/bound.h"

/* ---- one thread, no runtime -------------------------------------------- */

TEST(future_has_nothing_until_it_is_set)
{
	struct sley_future future = SLEY_FUTURE_INIT;
	int x = 1;
	void *value = &x;

	CHECK(!sley_future_is_done(&future));
	CHECK_EQ(sley_future_get(&future, &value), -EINPROGRESS);
	CHECK(value == &x);
	CHECK_EQ(sley_future_wait_until(&future, 0), -ETIMEDOUT);
	CHECK_EQ(sley_future_wait_until(&future, in_ms(2)), -ETIMEDOUT);
	CHECK_EQ(sley_future_set(&future, &future), 0);
	CHECK(sley_future_is_done(&future));
	CHECK_EQ(sley_future_wait(&future), 0);
	CHECK_EQ(sley_future_wait_until(&future, 0), 0);
	CHECK_EQ(sley_future_get(&future, &value), 0);
	CHECK(value == &future);
	CHECK_EQ(sley_future_get(&future, NULL), 0);
}

TEST(future_that_failed_is_done_and_says_why)
{
	struct sley_future future;
	void *value = &future;

	memset(&future, 0, sizeof(future));
	CHECK_EQ(sley_future_fail(&future, -EIO), 0);
	CHECK(sley_future_is_done(&future));
	CHECK_EQ(sley_future_wait(&future), 0);
	CHECK_EQ(sley_future_get(&future, &value), -EIO);
	CHECK(value == &future);
	CHECK_EQ(sley_future_get(&future, NULL), -EIO);
}

TEST(t14_a_second_completion_is_refused_and_changes_nothing)
{
	struct sley_future future = SLEY_FUTURE_INIT;
	struct sley_future failed = SLEY_FUTURE_INIT;
	int x, y;
	void *value = NULL;

	CHECK_EQ(sley_future_set(&future, &x), 0);
	CHECK_EQ(sley_future_set(&future, &y), -EALREADY);
	CHECK_EQ(sley_future_fail(&future, -EIO), -EALREADY);
	CHECK_EQ(sley_future_get(&future, &value), 0);
	CHECK(value == &x);
	CHECK_EQ(sley_future_fail(&failed, -EIO), 0);
	CHECK_EQ(sley_future_fail(&failed, -ENOENT), -EALREADY);
	CHECK_EQ(sley_future_set(&failed, &x), -EALREADY);
	CHECK_EQ(sley_future_get(&failed, &value), -EIO);
}

TEST_ABORTS(future_that_fails_without_an_error_aborts,
	    "sley: misuse in sley_future_fail")
{
	struct sley_future future = SLEY_FUTURE_INIT;

	sley_future_fail(&future, 0);
}

TEST(future_any_and_all_of_none_or_too_many_are_errors)
{
	struct sley_future future = SLEY_FUTURE_INIT;
	struct sley_future *all[SLEY_FUTURE_ANY_MAX + 1];

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		all[i] = &future;
	CHECK_EQ(sley_future_wait_any_until(all, 2, in_ms(1)), -ETIMEDOUT);
	CHECK_EQ(sley_future_wait_all_until(all, 2, in_ms(1)), -ETIMEDOUT);
	sley_future_set(&future, NULL);
	CHECK_EQ(sley_future_wait_any(all, 0), -EINVAL);
	CHECK_EQ(sley_future_wait_any(all, ARRAY_SIZE(all)), -EINVAL);
	CHECK_EQ(sley_future_wait_any_until(all, 0, 0), -EINVAL);
	CHECK_EQ(sley_future_wait_all(all, 0), -EINVAL);
	CHECK_EQ(sley_future_wait_all_until(all, 0, 0), -EINVAL);
	CHECK_GE(sley_future_wait_any(all, SLEY_FUTURE_ANY_MAX), 0);
	/* All need no node each: there is no limit. */
	CHECK_EQ(sley_future_wait_all(all, ARRAY_SIZE(all)), 0);
	CHECK_EQ(sley_future_wait_all_until(all, ARRAY_SIZE(all), 0), 0);
}

/* ---- many -------------------------------------------------------------- */

#define NR_WAITERS 10
#define NR_COMPLETERS 6

struct seen {
	int status;
	void *value;
};

struct race {
	struct sley_future future;
	atomic_int waiting, won;
	struct seen seen[NR_WAITERS];
	int winner;
};

struct completer {
	struct sley_task task;
	struct race *race;
	int index;
};

static void wait_and_get(void *arg)
{
	struct race *race = arg;
	struct seen *seen = &race->seen[atomic_fetch_add(&race->waiting, 1)];

	CHECK_EQ(sley_future_wait(&race->future), 0);
	seen->status = sley_future_get(&race->future, &seen->value);
}

static void *wait_in_thread(void *arg)
{
	wait_and_get(arg);
	return NULL;
}

/* Once all are waiting: the even ones set, the odd ones fail. */
static void complete(void *arg)
{
	struct completer *c = arg;
	struct race *race = c->race;
	int err;

	while (atomic_load(&race->waiting) < NR_WAITERS)
		sley_yield();
	if (c->index % 2)
		err = sley_future_fail(&race->future, -1 - c->index);
	else
		err = sley_future_set(&race->future, c);
	CHECK(err == 0 || err == -EALREADY);
	if (err == 0) {
		race->winner = c->index;
		atomic_fetch_add(&race->won, 1);
	}
}

static void check_seen(const struct race *race, struct completer *winner)
{
	CHECK_EQ(race->won, 1);
	for (int i = 0; i < NR_WAITERS; i++) {
		const struct seen *seen = &race->seen[i];

		if (winner->index % 2) {
			CHECK_EQ(seen->status, -1 - winner->index);
			CHECK(seen->value == NULL);
		} else {
			CHECK_EQ(seen->status, 0);
			CHECK(seen->value == winner);
		}
	}
}

TEST_WORKERS(t14_of_many_who_complete_one_wins_and_all_see_its_result)
{
	struct sley *rt = start();
	int rounds = test_scale(40);

	for (int round = 0; round < rounds; round++) {
		struct race race = { .future = SLEY_FUTURE_INIT };
		struct completer completers[NR_COMPLETERS];
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task waiters[NR_WAITERS];
		pthread_t thread;

		for (int i = 1; i < NR_WAITERS; i++)
			sley_spawn(&group, &waiters[i], wait_and_get, &race);
		thread = test_thread(wait_in_thread, &race);
		for (int i = 0; i < NR_COMPLETERS; i++) {
			completers[i] =
				(struct completer){ .race = &race, .index = i };
			sley_spawn(&group, &completers[i].task, complete,
				   &completers[i]);
		}
		sley_join(&group);
		pthread_join(thread, NULL);
		check_seen(&race, &completers[race.winner]);
	}
	stop(rt);
}

struct request {
	struct sley_task task;
	struct sley_future *future;
	int index;
	bool slow;
};

static void answer(void *arg)
{
	struct request *r = arg;

	if (r->slow)
		CHECK_EQ(sley_sleep(test_random(200 * SLEY_USEC)), 0);
	if (r->index % 3 == 2)
		CHECK_EQ(sley_future_fail(r->future, -1 - r->index), 0);
	else
		CHECK_EQ(sley_future_set(r->future, r), 0);
}

static void check_answer(const struct request *r)
{
	void *value = NULL;

	if (r->index % 3 == 2) {
		CHECK_EQ(sley_future_get(r->future, &value), -1 - r->index);
	} else {
		CHECK_EQ(sley_future_get(r->future, &value), 0);
		CHECK(value == r);
	}
}

/* The futures are gone as soon as the wait is over, as on a stack. */
TEST_WORKERS(future_may_vanish_when_the_wait_returns)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int rounds = test_scale(1000);

	for (int i = 0; i < rounds; i++) {
		struct sley_future *future = calloc(1, sizeof(*future));
		struct request r = { .future = future, .slow = i % 2 };

		sley_spawn(&group, &r.task, answer, &r);
		if (i % 4 < 2)
			CHECK_EQ(sley_future_wait(future), 0);
		else
			while (!sley_future_is_done(future))
				sley_yield();
		check_answer(&r);
		memset(future, 0xee, sizeof(*future));
		free(future);
		sley_join(&group);
	}
	stop(rt);
}

#define NR_REQUESTS 12

static void ask(struct request *requests, struct sley_future *futures,
		struct sley_group *group)
{
	memset(futures, 0, NR_REQUESTS * sizeof(*futures));
	for (int i = 0; i < NR_REQUESTS; i++) {
		requests[i] = (struct request){ .future = &futures[i],
						.index = i,
						.slow = i % 4 };
		sley_spawn(group, &requests[i].task, answer, &requests[i]);
	}
}

TEST_WORKERS(future_any_gives_each_once_if_what_came_is_left_out)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_future futures[NR_REQUESTS];
	struct request requests[NR_REQUESTS];

	for (int round = 0; round < 20; round++) {
		struct sley_future *left[NR_REQUESTS];
		int nr = NR_REQUESTS;

		ask(requests, futures, &group);
		for (int i = 0; i < nr; i++)
			left[i] = &futures[i];
		while (nr) {
			int i = sley_future_wait_any(left, (size_t)nr);

			CHECK(i >= 0 && i < nr);
			check_answer(&requests[left[i] - futures]);
			left[i] = left[--nr];
		}
		sley_join(&group);
	}
	stop(rt);
}

TEST_WORKERS(future_all_waits_for_the_last_and_not_for_the_first_error)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_future futures[NR_REQUESTS], *all[NR_REQUESTS + 1];
	struct sley_future never = SLEY_FUTURE_INIT;
	struct request requests[NR_REQUESTS];

	for (int round = 0; round < 20; round++) {
		uint64_t deadline;

		ask(requests, futures, &group);
		for (int i = 0; i < NR_REQUESTS; i++)
			all[i] = &futures[i];
		all[NR_REQUESTS] = &never;
		CHECK_EQ(sley_future_wait_all(all, NR_REQUESTS), 0);
		for (int i = 0; i < NR_REQUESTS; i++)
			check_answer(&requests[i]);
		deadline = in_ms(1);
		CHECK_EQ(sley_future_wait_all_until(all, NR_REQUESTS + 1,
						    deadline),
			 -ETIMEDOUT);
		CHECK_GE(sley_now(), deadline);
		sley_join(&group);
	}
	stop(rt);
}

struct cancelled {
	struct sley_future never;
	atomic_int waiting;
	int one, any, all;
};

static void wait_to_be_cancelled(void *arg)
{
	struct cancelled *c = arg;
	struct sley_future *list[] = { &c->never, &c->never };

	atomic_fetch_add(&c->waiting, 1);
	c->one = sley_future_wait(&c->never);
	c->any = sley_future_wait_any(list, 2);
	c->all = sley_future_wait_all(list, 2);
}

TEST_WORKERS(future_waits_can_be_cancelled_and_leave_nothing)
{
	struct cancelled c = { .never = SLEY_FUTURE_INIT };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, wait_to_be_cancelled, &c);
	CHECK_EQ(sley_join_until(&group, in_ms(2)), -ETIMEDOUT);
	while (!atomic_load(&c.waiting))
		sley_yield();
	sley_cancel(&task);
	sley_join(&group);
	CHECK_EQ(c.one, -ECANCELED);
	CHECK_EQ(c.any, -ECANCELED);
	CHECK_EQ(c.all, -ECANCELED);
	CHECK_EQ(sley_future_set(&c.never, NULL), 0);
	stop(rt);
}
