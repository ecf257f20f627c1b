/* SPDX-License-Identifier: MIT */
/*
 * inherit_known.c - an urgent task lends its level to a task that is known to do what
 * the urgent task waits for: to complete a future, to end, to answer a call: R-U9.
 * inherit.h has the scenes.
 */
#include "conformance/sync/inherit.h"

/* ---- tasks that were spawned with a promise --------------------------------------------- */

static struct sley_future result;

static void complete_late(void *arg)
{
	struct scene *s = arg;

	spawn_hogs(s);
	yield_some(s);
	CHECK_EQ(sley_future_set(&result, s), 0);
}

static void wait_for_the_result(void *arg)
{
	struct scene *s = arg;

	CHECK_EQ(sley_future_wait(&result), 0);
	atomic_store(&s->done, true);
}

TEST_WORKERS(ru9_the_task_that_completes_a_future_gets_the_level_of_its_waiter)
{
	struct scene s = { .urgent_fn = wait_for_the_result };
	struct sley *rt = start();

	CHECK_EQ(sley_spawn_with(&s.group, &s.low, complete_late, &s,
				 SLEY_OPTIONS(.priority = LOW,
					      .future = &result)),
		 0);
	sley_join(&s.group);
	stop(rt);
}

static struct sley_group members;

static void end_late(void *arg)
{
	struct scene *s = arg;

	if (atomic_fetch_add(&s->progress, 1) == 0) {
		spawn_hogs(s);
		yield_some(s);
	}
	for (int i = 0; i < 100; i++)
		sley_yield();
}

static void join_members(void *arg)
{
	struct scene *s = arg;

	sley_join(&members);
	finish(s);
}

/* The second has not started when the urgent task joins. */
TEST_WORKERS(ru9_the_tasks_of_a_group_get_the_level_of_the_task_that_joins)
{
	struct scene s = { .urgent_fn = join_members };
	struct sley *rt = start();

	for (int i = 0; i < 2; i++)
		CHECK_EQ(sley_spawn_with(&members, &s.extra[i], end_late, &s,
					 SLEY_OPTIONS(.priority = LOW,
						      .inherits = true)),
			 0);
	/* Not by a join: this thread would lend its level, too. */
	CHECK_EQ(sley_event_wait(&s.event), 0);
	sley_join(&members);
	sley_join(&s.group);
	stop(rt);
}

static void wait_a_while(void *arg)
{
	struct scene *s = arg;

	CHECK_EQ(sley_future_wait_until(&result, in_ms(50)), -ETIMEDOUT);
	CHECK(atomic_load(&s->progress) > 1);
	check_holder_stays(s);
	atomic_store(&s->done, true);
}

TEST(ru9_a_waiter_of_a_future_that_times_out_takes_its_level_back)
{
	struct scene s = { .urgent_fn = wait_a_while };
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);

	CHECK_EQ(sley_spawn_with(&s.group, &s.low, hold_and_count, &s,
				 SLEY_OPTIONS(.priority = LOW,
					      .future = &result)),
		 0);
	sley_join(&s.group);
	stop(rt);
}

/* ---- calls ------------------------------------------------------------------------------- */

static sley_pid callee;

/* Blocked when the urgent task comes, and yields before it answers and ends. */
static int answer_late(void *arg)
{
	struct sley_msg *msg;

	spawn_hogs(arg);
	atomic_store(&((struct scene *)arg)->stage, 1);
	CHECK_EQ(sley_receive(&msg), 0);
	yield_some(arg);
	CHECK_EQ(sley_reply(msg, 1, NULL, 0), 0);
	CHECK_EQ(sley_receive(&msg), 0);
	yield_some(arg);
	return 0;
}

static void play_call(struct scene *s, sley_fn *urgent_fn, bool joinable)
{
	struct sley *rt = start();
	struct sley_process_options options = { .size = sizeof(options),
						.priority = LOW,
						.joinable = joinable };

	s->urgent_fn = urgent_fn;
	CHECK_EQ(sley_actor_spawn(&callee, answer_late, s, &options), 0);
	/* Not for its end: this thread would lend its level, too. */
	CHECK_EQ(sley_event_wait(&s->event), 0);
	sley_join(&s->group);
	stop(rt);
}

static void call_twice(void *arg)
{
	struct scene *s = arg;

	CHECK_EQ(sley_call(callee, 1, NULL, 0, NULL), 0);
	/* The end of the callee is its second answer. */
	CHECK_LT(sley_call(callee, 1, NULL, 0, NULL), 0);
	finish(s);
}

TEST_WORKERS(ru9_a_process_that_is_called_gets_the_level_of_its_caller)
{
	struct scene s = { .rounds = 0 };

	play_call(&s, call_twice, false);
}

static void call_and_finish_later(void *arg)
{
	struct sley_pending_call call;
	struct scene *s = arg;

	CHECK_EQ(sley_call_start(&call, callee, 1, NULL, 0), 0);
	CHECK_EQ(sley_call_finish(&call, NULL), 0);
	CHECK_EQ(sley_send(callee, 1, NULL, 0), 0);
	CHECK_EQ(sley_process_wait(callee, NULL), 0);
	finish(s);
}

TEST_WORKERS(ru9_a_process_whose_end_is_awaited_gets_the_level_of_its_waiter)
{
	struct scene s = { .rounds = 0 };

	play_call(&s, call_and_finish_later, true);
}

static void call_in_vain(void *arg)
{
	struct scene *s = arg;

	CHECK_EQ(sley_call_until(callee, 1, NULL, 0, NULL, in_ms(50)),
		 -ETIMEDOUT);
	CHECK(atomic_load(&s->progress) > 1);
	check_holder_stays(s);
	finish(s);
}

static int never_answer(void *arg)
{
	struct sley_msg *msg;

	spawn_hogs(arg);
	atomic_store(&((struct scene *)arg)->stage, 1);
	CHECK_EQ(sley_receive(&msg), 0);
	while (!atomic_load(&((struct scene *)arg)->done)) {
		atomic_fetch_add(&((struct scene *)arg)->progress, 1);
		sley_yield();
	}
	return 0;
}

TEST(ru9_a_caller_that_times_out_takes_its_level_back)
{
	struct scene s = { .urgent_fn = call_in_vain };
	struct sley_process_options options = { .size = sizeof(options),
						.priority = LOW };
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);

	CHECK_EQ(sley_actor_spawn(&callee, never_answer, &s, &options), 0);
	CHECK_EQ(sley_event_wait(&s.event), 0);
	sley_join(&s.group);
	stop(rt);
}
