/* SPDX-License-Identifier: MIT */
/*
 * subprocess.c - functions that run in a subprocess: what goes there and comes back.
 */
#include <fcntl.h>

#include "conformance/subprocess/subprocess.h"

/* ---- calls ------------------------------------------------------------------------ */

static void call_often(void *arg)
{
	for (uint64_t i = 0; i < 50; i++)
		check_add_one(arg, i);
}

TEST(a_plain_thread_calls_a_subprocess)
{
	struct sley_subprocess *subprocess;

	begin_subprocesses();
	subprocess = subprocess_new(NULL);
	call_often(subprocess);
	CHECK_NE(sley_subprocess_pid(subprocess), 0);
	CHECK_EQ(sley_subprocess_restarts(subprocess), 0);
	sley_subprocess_destroy(subprocess);
	sley_subprocesses_exit();
}

TEST_WORKERS(s22_tasks_call_subprocesses_and_get_their_own_answers)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_subprocess *subprocesses[2];
	struct sley_task tasks[20];
	struct sley *rt;

	begin_subprocesses();
	rt = start();
	for (int i = 0; i < 2; i++)
		subprocesses[i] =
			subprocess_new(SLEY_SUBPROCESS_OPTIONS(.depth = 4));
	for (int i = 0; i < 20; i++)
		sley_spawn(&group, &tasks[i], call_often, subprocesses[i % 2]);
	sley_join(&group);
	for (int i = 0; i < 2; i++)
		sley_subprocess_destroy(subprocesses[i]);
	stop(rt);
	sley_subprocesses_exit();
}

TEST_WORKERS(s22_both_sides_may_sleep)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_subprocess *subprocess;
	struct sley_task tasks[8];
	struct sley *rt;

	begin_subprocesses();
	rt = start();
	subprocess = subprocess_new(
		SLEY_SUBPROCESS_OPTIONS(.spin_ns = SLEY_SUBPROCESS_NO_SPIN,
					.depth = 2));
	for (int i = 0; i < 8; i++)
		sley_spawn(&group, &tasks[i], call_often, subprocess);
	sley_join(&group);
	sley_subprocess_destroy(subprocess);
	stop(rt);
	sley_subprocesses_exit();
}

/* While one waits for its subprocess, its worker runs others. */
static void wait_for_subprocess(void *arg)
{
	const unsigned int ms = 250;

	CHECK_EQ(sley_subprocess_call(arg, nap, &ms, sizeof(ms), NULL), 0);
}

TEST(rs11_a_call_that_waits_holds_no_worker)
{
	struct sley_config config;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_subprocess *subprocesses[4];
	struct sley_task tasks[4];
	uint64_t start_ns;
	struct sley *rt;

	begin_subprocesses();
	config = config_of(1);
	rt = start_with(&config);
	for (int i = 0; i < 4; i++)
		subprocesses[i] = subprocess_new(NULL);
	start_ns = test_now_ns();
	for (int i = 0; i < 4; i++)
		sley_spawn(&group, &tasks[i], wait_for_subprocess,
			   subprocesses[i]);
	sley_join(&group);
	/* One after the other takes a second; they sleep. */
	if (!test_is_slow())
		CHECK_LT(test_now_ns() - start_ns, 900000000);
	for (int i = 0; i < 4; i++)
		sley_subprocess_destroy(subprocesses[i]);
	stop(rt);
	sley_subprocesses_exit();
}

/* ---- arguments and results ----------------------------------------------------------- */

TEST(s22_arguments_and_results_are_copied_up_to_their_limit)
{
	static unsigned char sent[SLEY_SUBPROCESS_DATA_MAX + 1];
	static unsigned char got[SLEY_SUBPROCESS_DATA_MAX];
	struct sley_subprocess_result result = { .data = got,
						 .size = sizeof(got) };
	struct sley_subprocess *subprocess;

	begin_subprocesses();
	subprocess = subprocess_new(NULL);
	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = (unsigned char)(i * 7 + i / 256);
	CHECK_EQ(sley_subprocess_call(subprocess, reverse, sent,
				      SLEY_SUBPROCESS_DATA_MAX, &result),
		 SLEY_SUBPROCESS_DATA_MAX);
	CHECK_EQ(result.size, SLEY_SUBPROCESS_DATA_MAX);
	for (size_t i = 0; i < sizeof(got); i++)
		CHECK_EQ(got[i], sent[sizeof(got) - 1 - i]);
	result.size = sizeof(got);
	CHECK_EQ(sley_subprocess_call(subprocess, reverse, sent, sizeof(sent),
				      &result),
		 -EMSGSIZE);
	CHECK_EQ(result.outcome, SLEY_OUTCOME_SKIPPED);
	/* Less room than there is to say. */
	result.size = 3;
	memset(got, 'x', 6);
	CHECK_EQ(sley_subprocess_call(subprocess, reverse, "abcdef", 6,
				      &result),
		 -EMSGSIZE);
	CHECK_EQ(result.outcome, SLEY_OUTCOME_FAILURE);
	CHECK_EQ(result.code, -EMSGSIZE);
	CHECK_EQ(result.size, 6);
	CHECK_EQ(memcmp(got, "xxxxxx", 6), 0);
	CHECK_STR(result.text,
		  "the result has 6 bytes, and there is room for 3");
	CHECK_EQ(sley_subprocess_call(subprocess, reverse, "abcdef", 6,
				      &result),
		 6);
	CHECK_EQ(memcmp(got, "fedcba", 6), 0);
	CHECK_EQ(sley_subprocess_call(subprocess, reverse, NULL, 0, NULL), 0);
	sley_subprocess_destroy(subprocess);
	sley_subprocesses_exit();
}

TEST(s22_a_function_that_fails_says_why)
{
	struct sley_subprocess_result result = { .data = NULL };
	struct sley_subprocess *subprocess;
	const int line = 42;

	begin_subprocesses();
	subprocess = subprocess_new(NULL);
	CHECK_EQ(sley_subprocess_call(subprocess, complain, &line, sizeof(line),
				      &result),
		 -EDOM);
	CHECK_EQ(result.outcome, SLEY_OUTCOME_FAILURE);
	CHECK_EQ(result.code, -EDOM);
	CHECK_STR(result.text, "line 42: no such thing");
	CHECK_EQ(sley_subprocess_call(subprocess, complain_at_length, NULL, 0,
				      &result),
		 -EDOM);
	CHECK_EQ(strlen(result.text), SLEY_SUBPROCESS_TEXT_MAX - 1);
	/* It lives, and what it said is forgotten. */
	check_add_one(subprocess, 1);
	CHECK_EQ(sley_subprocess_call(subprocess, count_calls, NULL, 0,
				      &result),
		 1);
	CHECK_STR(result.text, "");
	CHECK_EQ(sley_subprocess_restarts(subprocess), 0);
	sley_subprocess_destroy(subprocess);
	sley_subprocesses_exit();
}

/* ---- functions --------------------------------------------------------------------------- */

TEST(s26_a_function_has_one_name_and_a_name_one_function)
{
	begin_subprocesses();
	CHECK_EQ(sley_subprocess_register("add_one", add_one), 0);
	CHECK_EQ(sley_subprocess_register("add_one", reverse), -EEXIST);
	CHECK_EQ(sley_subprocess_register("add_two", add_one), -EEXIST);
	sley_subprocesses_exit();
}

TEST(s26_what_is_registered_too_late_is_refused)
{
	struct sley_subprocess *subprocess;

	begin_subprocesses();
	CHECK_EQ(sley_subprocess_register("late", not_registered), -EBUSY);
	subprocess = subprocess_new(NULL);
	CHECK_EQ(sley_subprocess_call(subprocess, not_registered, NULL, 0,
				      NULL),
		 -ENOENT);
	CHECK_EQ(sley_subprocess_restarts(subprocess), 0);
	sley_subprocess_destroy(subprocess);
	sley_subprocesses_exit();
	CHECK_EQ(sley_subprocess_register("late", not_registered), 0);
	CHECK_EQ(sley_subprocesses_init(), 0);
	subprocess = subprocess_new(NULL);
	CHECK_EQ(sley_subprocess_call(subprocess, not_registered, NULL, 0,
				      NULL),
		 0);
	sley_subprocess_destroy(subprocess);
	sley_subprocesses_exit();
}

/* ---- begin and end ------------------------------------------------------------------------ */

static void *wait_a_moment(void *arg)
{
	while (!atomic_load((atomic_bool *)arg))
		test_nap_ms(1);
	return NULL;
}

TEST(s22_the_server_starts_before_any_thread)
{
	atomic_bool over = false;
	pthread_t thread;

	skip_where_fork_hurts();
	if (test_sanitizer())
		test_skip("the thread sanitizer has threads of its own, so "
			  "they are not counted");
	thread = test_thread(wait_a_moment, &over);
	CHECK_EQ(sley_subprocesses_init(), -EBUSY);
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	CHECK_EVENTUALLY(sley_subprocesses_init() == 0);
	CHECK_EQ(sley_subprocesses_init(), -EALREADY);
	sley_subprocesses_exit();
	sley_subprocesses_exit();
}

TEST(the_server_leaves_all_other_descriptors_alone)
{
	int before[3];

	skip_where_fork_hurts();
	for (int i = 0; i < 3; i++)
		before[i] = fcntl(i, F_GETFD);
	CHECK_EQ(sley_subprocesses_init(), 0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(fcntl(i, F_GETFD), before[i]);
	sley_subprocesses_exit();
	for (int i = 0; i < 3; i++)
		CHECK_EQ(fcntl(i, F_GETFD), before[i]);
}

TEST(without_a_server_there_are_no_subprocesses)
{
	struct sley_subprocess *subprocess = NULL;

	CHECK_EQ(sley_subprocess_create(&subprocess, NULL), -ENOENT);
	CHECK(subprocess == NULL);
	sley_subprocess_destroy(NULL);
	sley_subprocesses_exit();
}

TEST(options_that_make_no_sense_are_refused)
{
	struct sley_subprocess_options none = { .size = 0 };
	struct sley_subprocess *subprocess = NULL;

	begin_subprocesses();
	CHECK_EQ(sley_subprocess_create(&subprocess, &none), -EINVAL);
	CHECK_EQ(sley_subprocess_create(&subprocess,
					SLEY_SUBPROCESS_OPTIONS(.reserved[1] =
									1)),
		 -E2BIG);
	CHECK_EQ(sley_subprocess_create(
			 &subprocess, SLEY_SUBPROCESS_OPTIONS(.depth = 100000)),
		 -EINVAL);
	CHECK_EQ(sley_subprocess_create(
			 &subprocess,
			 SLEY_SUBPROCESS_OPTIONS(.on_start = not_registered)),
		 -EINVAL);
	CHECK(subprocess == NULL);
	sley_subprocesses_exit();
}

TEST_ABORTS(a_server_that_has_subprocesses_is_not_stopped,
	    "destroy all subprocesses before sley_subprocesses_exit()")
{
	begin_subprocesses();
	(void)subprocess_new(NULL);
	sley_subprocesses_exit();
}

/* ---- given up --------------------------------------------------------------------------------- */

TEST_WORKERS(a_call_is_given_up_at_its_deadline_and_the_subprocess_goes_on)
{
	struct sley_subprocess_result result = { .data = NULL };
	const unsigned int ms = 100;
	struct sley_subprocess *subprocess;
	uint64_t start_ns;
	struct sley *rt;

	begin_subprocesses();
	rt = start();
	subprocess = subprocess_new(NULL);
	start_ns = test_now_ns();
	CHECK_EQ(sley_subprocess_call_until(subprocess, nap, &ms, sizeof(ms),
					    &result, in_ms(30)),
		 -ETIMEDOUT);
	CHECK_EQ(result.outcome, SLEY_OUTCOME_SKIPPED);
	/* What comes next waits for it. */
	check_add_one(subprocess, 5);
	CHECK_GE(test_now_ns() - start_ns, 100000000);
	CHECK_EQ(sley_subprocess_restarts(subprocess), 0);
	sley_subprocess_destroy(subprocess);
	stop(rt);
	sley_subprocesses_exit();
}

TEST(what_was_given_up_in_the_queue_is_never_begun)
{
	const unsigned int ms = 60;
	struct sley_subprocess *subprocess;

	begin_subprocesses();
	subprocess = subprocess_new(SLEY_SUBPROCESS_OPTIONS(.depth = 1));
	CHECK_EQ(sley_subprocess_call_until(subprocess, nap, &ms, sizeof(ms),
					    NULL, sley_now() + SLEY_MSEC),
		 -ETIMEDOUT);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(sley_subprocess_call_until(subprocess, count_calls,
						    NULL, 0, NULL, sley_now()),
			 -ETIMEDOUT);
	CHECK_EQ(sley_subprocess_call(subprocess, count_calls, NULL, 0, NULL),
		 1);
	sley_subprocess_destroy(subprocess);
	sley_subprocesses_exit();
}

TEST(a_subprocess_that_is_busy_in_vain_is_killed_when_it_is_destroyed)
{
	struct sley_subprocess *subprocess;
	uint64_t start_ns;
	int pid;

	begin_subprocesses();
	subprocess = subprocess_new(NULL);
	pid = sley_subprocess_pid(subprocess);
	CHECK_EQ(sley_subprocess_call_until(subprocess, hang, NULL, 0, NULL,
					    in_ms(30)),
		 -ETIMEDOUT);
	start_ns = test_now_ns();
	sley_subprocess_destroy(subprocess);
	CHECK_GE(test_now_ns() - start_ns, 900000000);
	CHECK_EQ(kill(pid, 0), -1);
	sley_subprocesses_exit();
}
