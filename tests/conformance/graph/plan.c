/* SPDX-License-Identifier: MIT */
/*
 * plan.c - graphs that are recorded once and run again and again: M33, T31.
 */
#include "conformance/graph/plan.h"

/* ---- it runs, all of it, in order ------------------------------------------------ */

TEST_WORKERS(m33_a_plan_runs_as_often_as_one_likes)
{
	struct sley *rt = start();
	struct sley_plan *plan = plan_new();
	struct order order = { .nr = 0 };
	struct entry entry[4] = { { &order, 1, 0 },
				  { &order, 2, 0 },
				  { &order, 3, 0 },
				  { &order, 4, 0 } };
	sley_node a = record(plan, SLEY_NODE_SPEC(.fn = write_down,
						  .arg = &entry[0]));
	sley_node b =
		record(plan, SLEY_NODE_SPEC(.fn = write_down, .arg = &entry[1],
					    .after = &a, .nr_after = 1));
	sley_node c =
		record(plan, SLEY_NODE_SPEC(.fn = write_down, .arg = &entry[2],
					    .after = &a, .nr_after = 1));
	sley_node d = record(plan, SLEY_NODE_SPEC(.fn = write_down,
						  .arg = &entry[3]));

	CHECK_EQ(sley_plan_edge(plan, b, d), 0);
	CHECK_EQ(sley_plan_order(plan, c, d), 0);
	CHECK_EQ(sley_plan_outcome(plan, a, NULL), SLEY_OUTCOME_NONE);
	CHECK_EQ(sley_plan_seal(plan), 0);
	CHECK_EQ(sley_plan_seal(plan), 0);
	for (int i = 0; i < 100; i++) {
		atomic_store(&order.nr, 0);
		CHECK_EQ(sley_plan_run(plan, NULL), 0);
		CHECK_EQ(order.nr, 4);
		CHECK_EQ(order.what[0], 1);
		CHECK_EQ(order.what[3], 4);
		CHECK_EQ(order.what[1] + order.what[2], 5);
	}
	CHECK_EQ(sley_plan_outcome(plan, d, NULL), SLEY_OUTCOME_SUCCESS);
	CHECK_EQ(sley_plan_outcome(plan, d + 1, NULL), SLEY_OUTCOME_NONE);
	sley_plan_destroy(plan);
	stop(rt);
}

TEST_WORKERS(m33_nodes_that_are_attached_to_nothing_run_too)
{
	struct sley *rt = start();
	struct sley_plan *plan = plan_new();
	atomic_int count = 0;

	CHECK_EQ(sley_plan_seal(plan),
		 0); /* it cannot be changed; but it runs */
	CHECK_EQ(sley_plan_run(plan, NULL), 0);
	sley_plan_destroy(plan);
	plan = plan_new();
	for (int i = 0; i < 1000; i++)
		(void)plan_counts(plan, &count, NULL, 0);
	CHECK_EQ(sley_plan_seal(plan), 0);
	CHECK_EQ(sley_plan_run(plan, NULL), 0);
	CHECK_EQ(count, 1000);
	CHECK_EQ(sley_plan_run(plan, NULL), 0);
	CHECK_EQ(count, 2000);
	sley_plan_destroy(plan);
	stop(rt);
}

TEST_WORKERS(m33_who_is_named_twice_is_waited_for_once)
{
	struct sley *rt = start();
	struct sley_plan *plan = plan_new();
	struct order order = { .nr = 0 };
	struct entry entry[3] = { { &order, 1, -EIO },
				  { &order, 2, 0 },
				  { &order, 3, 0 } };
	sley_node a = record(plan, SLEY_NODE_SPEC(.fn = write_down,
						  .arg = &entry[0]));
	sley_node twice[] = { a, a, SLEY_NO_NODE, a };
	sley_node b =
		record(plan, SLEY_NODE_SPEC(.fn = write_down, .arg = &entry[1],
					    .order = twice, .nr_order = 4));
	sley_node c =
		record(plan, SLEY_NODE_SPEC(.fn = write_down, .arg = &entry[2],
					    .order = twice, .nr_order = 4,
					    .after = twice, .nr_after = 4));

	CHECK_EQ(sley_plan_order(plan, a, b), 0);
	CHECK_EQ(sley_plan_seal(plan), 0);
	for (int i = 1; i < 10; i++) {
		CHECK_EQ(sley_plan_run(plan, NULL), -EIO);
		CHECK_EQ(order.nr, 2 * i);
		CHECK_EQ(sley_plan_outcome(plan, b, NULL),
			 SLEY_OUTCOME_SUCCESS);
		CHECK_EQ(sley_plan_outcome(plan, c, NULL),
			 SLEY_OUTCOME_SKIPPED);
	}
	sley_plan_destroy(plan);
	stop(rt);
}

TEST_WORKERS(t31_a_plan_may_be_a_chain_of_a_million_nodes)
{
	struct sley *rt = start();
	struct sley_plan *plan = plan_new();
	atomic_int count = 0;
	int n = test_scale(nr_runners() > 2 ? 100000 : 1000000);
	sley_node last = SLEY_NO_NODE;

	for (int i = 0; i < n; i++)
		last = plan_counts(plan, &count, &last, 1);
	CHECK_EQ(sley_plan_seal(plan), 0);
	CHECK_EQ(sley_plan_run(plan, NULL), 0);
	CHECK_EQ(count, n);
	CHECK_EQ(sley_plan_run(plan, NULL), 0);
	CHECK_EQ(count, 2 * n);
	sley_plan_destroy(plan);
	stop(rt);
}

TEST_WORKERS(t31_one_may_let_a_million_go_and_they_one)
{
	struct sley *rt = start();
	struct sley_plan *plan = plan_new();
	atomic_int count = 0;
	int n = test_scale(nr_runners() > 2 ? 100000 : 1000000);
	sley_node root = plan_counts(plan, &count, NULL, 0);
	sley_node last = plan_counts(plan, &count, NULL, 0);

	for (int i = 0; i < n; i++) {
		sley_node node = plan_counts(plan, &count, &root, 1);

		if (i % 2)
			CHECK_EQ(sley_plan_edge(plan, node, last), 0);
	}
	CHECK_EQ(sley_plan_seal(plan), 0);
	for (int i = 1; i <= 2; i++) {
		CHECK_EQ(sley_plan_run(plan, NULL), 0);
		CHECK_EQ(count, i * (n + 2));
	}
	sley_plan_destroy(plan);
	stop(rt);
}

/* ---- circles ----------------------------------------------------------------------- */

static sley_node named(struct sley_plan *plan, const char *name)
{
	return record(plan, SLEY_NODE_SPEC(.fn = count_up, .name = name));
}

TEST_WORKERS(t31_a_cycle_is_rejected_and_named)
{
	struct sley *rt = start();
	struct sley_plan *plan = plan_new();
	sley_node before = named(plan, "before"), a = named(plan, "a");
	sley_node b = named(plan, "b"), c = named(plan, "c");
	sley_node after = named(plan, "after");
	char text[64] = "";

	CHECK_EQ(sley_plan_cycle(plan, text, sizeof(text)), -ESRCH);
	CHECK_EQ(sley_plan_edge(plan, before, a), 0);
	CHECK_EQ(sley_plan_edge(plan, a, b), 0);
	CHECK_EQ(sley_plan_order(plan, b, c), 0);
	CHECK_EQ(sley_plan_edge(plan, c, a), 0);
	CHECK_EQ(sley_plan_edge(plan, b, after), 0);
	CHECK_EQ(sley_plan_seal(plan), -ELOOP);
	CHECK_EQ(sley_plan_cycle(plan, text, sizeof(text)), 16);
	CHECK_STR(text, "a -> b -> c -> a");
	CHECK_EQ(sley_plan_cycle(plan, text, 5), 16);
	CHECK_STR(text, "a ->");
	CHECK_EQ(sley_plan_cycle(plan, NULL, 0), 16);
	CHECK_EQ(sley_plan_seal(plan), -ELOOP);
	sley_plan_destroy(plan);
	stop(rt);
}

TEST_WORKERS(t31_a_node_may_not_wait_for_itself)
{
	struct sley *rt = start();
	struct sley_plan *plan = plan_new();
	sley_node a = named(plan, NULL);
	char text[64] = "";

	CHECK_EQ(sley_plan_edge(plan, a, a), 0);
	CHECK_EQ(sley_plan_seal(plan), -ELOOP);
	CHECK_EQ(sley_plan_cycle(plan, text, sizeof(text)), 16);
	CHECK_STR(text, "node 1 -> node 1");
	sley_plan_destroy(plan);
	stop(rt);
}

/* ---- parameters --------------------------------------------------------------------- */

struct sum {
	atomic_int total;
	int factor;
};

static int add_times(void *arg)
{
	struct sum *sum = sley_plan_param();

	CHECK(sum != NULL);
	if (*(int *)arg % 100 == 7)
		(void)sley_yield();
	CHECK(sley_plan_param() == sum);
	atomic_fetch_add(&sum->total, *(int *)arg * sum->factor);
	return 0;
}

/* 1 to 1000, each by a node of its own, in layers of 10. */
static struct sley_plan *plan_sum(void)
{
	struct sley_plan *plan = plan_new();
	sley_node last[10] = { 0 };

	for (int i = 1; i <= 1000; i++) {
		last[i % 10] = record(
			plan, SLEY_NODE_SPEC(.fn = add_times, .arg = &i,
					     .arg_size = sizeof(i),
					     .after = last, .nr_after = 10));
	}
	CHECK_EQ(sley_plan_seal(plan), 0);
	return plan;
}

TEST_WORKERS(m33_each_run_has_a_parameter_of_its_own)
{
	struct sley *rt = start();
	struct sley_plan *plan = plan_sum();

	CHECK(sley_plan_param() == NULL);
	for (int i = 0; i < 20; i++) {
		struct sum sum = { .factor = i };

		CHECK_EQ(sley_plan_run(plan, &sum), 0);
		CHECK_EQ(sum.total, 500500 * i);
	}
	sley_plan_destroy(plan);
	stop(rt);
}

static void run_sums(void *arg)
{
	for (int i = 0; i < 20; i++) {
		struct sum sum = { .factor = i };

		CHECK_EQ(sley_plan_run(arg, &sum), 0);
		CHECK_EQ(sum.total, 500500 * i);
	}
}

TEST_WORKERS(t31_a_plan_runs_concurrently_with_itself)
{
	struct sley *rt = start();
	struct sley_plan *plan = plan_sum();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[8];

	for (int i = 0; i < 8; i++)
		sley_spawn(&group, &task[i], run_sums, plan);
	sley_join(&group);
	sley_plan_destroy(plan);
	stop(rt);
}

static void *run_sums_thread(void *arg)
{
	run_sums(arg);
	return NULL;
}

TEST_WORKERS(m33_tasks_and_plain_threads_run_one_plan)
{
	struct sley *rt = start();
	struct sley_plan *plan = plan_sum();

	if (is_single())
		run_sums(plan);
	else
		run_beside(run_sums, run_sums_thread, plan);
	sley_plan_destroy(plan);
	stop(rt);
}

static void *run_for_nobody(void *plan)
{
	CHECK_EQ(sley_plan_run(plan, NULL), SLEY_ENOWORKER);
	return NULL;
}

TEST_WORKERS(a_plain_thread_does_not_run_what_bound_threads_run)
{
	struct sley *rt = start();
	struct sley_plan *plan = plan_sum();

	if (is_single())
		pthread_join(test_thread(run_for_nobody, plan), NULL);
	run_sums(plan);
	sley_plan_destroy(plan);
	stop(rt);
}

struct nested {
	struct sley_plan *plan;
	atomic_int depth;
};

static int run_inner(void *arg)
{
	struct nested *nested = arg;
	struct sum sum = { .factor = 3 };

	CHECK_EQ(sley_plan_run(nested->plan, &sum), 0);
	CHECK_EQ(sum.total, 3 * 500500);
	atomic_fetch_add(&nested->depth, 1);
	return 0;
}

TEST_WORKERS(m33_a_node_may_run_a_plan)
{
	struct sley *rt = start();
	struct nested nested = { .plan = plan_sum() };
	struct sley_plan *outer = plan_new();

	for (int i = 0; i < 5; i++)
		(void)record(outer,
			     SLEY_NODE_SPEC(.fn = run_inner, .arg = &nested));
	CHECK_EQ(sley_plan_seal(outer), 0);
	CHECK_EQ(sley_plan_run(outer, NULL), 0);
	CHECK_EQ(nested.depth, 5);
	sley_plan_destroy(outer);
	sley_plan_destroy(nested.plan);
	stop(rt);
}

/* ---- memory --------------------------------------------------------------------------- */

TEST_WORKERS(m33_a_run_allocates_nothing)
{
	struct sley *rt = start();
	struct sley_plan *plan = plan_sum();
	int64_t before;

	run_sums(plan);
	before = test_allocated();
	test_fail_allocation_after(0);
	run_sums(plan);
	test_fail_allocation_after(-1);
	CHECK_EQ(test_allocated(), before);
	sley_plan_destroy(plan);
	stop(rt);
}

TEST_WORKERS(m33_what_does_not_fit_is_not_recorded)
{
	struct sley *rt = start();
	struct sley_plan *plan;
	atomic_int count = 0;
	int n, err = -ENOMEM;

	for (n = 0; err; n++) {
		sley_node last = SLEY_NO_NODE;

		atomic_store(&count, 0);
		test_fail_allocation_after(n);
		err = sley_plan_create(&plan, NULL);
		for (int i = 0; i < 200 && !err; i++)
			err = sley_plan_add(
				plan, &last,
				SLEY_NODE_SPEC(.fn = count_up, .arg = &count,
					       .after = &last, .nr_after = 1));
		if (!err)
			err = sley_plan_seal(plan);
		test_fail_allocation_after(-1);
		CHECK(err == 0 || err == -ENOMEM);
		if (err && plan) { /* what is there can be sealed later */
			CHECK_EQ(sley_plan_seal(plan), 0);
			CHECK_EQ(sley_plan_run(plan, NULL), 0);
		}
		sley_plan_destroy(plan);
		CHECK_LT(n, 100);
	}
	CHECK_GT(n, 2); /* some have failed */
	stop(rt);
}

/* ---- nodes that block, fail, are cancelled ------------------------------------------ */

static int sleeps(void *arg)
{
	CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	return count_up(arg);
}

TEST_WORKERS(t31_a_node_of_a_plan_may_block)
{
	struct sley *rt = start();
	struct sley_plan *plan = plan_new();
	atomic_int count = 0;
	sley_node last = SLEY_NO_NODE;

	for (int i = 0; i < 100; i++)
		last = record(plan, SLEY_NODE_SPEC(.fn = sleeps, .arg = &count,
						   .after = &last,
						   .nr_after = i % 10 != 0));
	CHECK_EQ(sley_plan_seal(plan), 0);
	for (int i = 1; i <= 3; i++) {
		CHECK_EQ(sley_plan_run(plan, NULL), 0);
		CHECK_EQ(count, 100 * i);
	}
	sley_plan_destroy(plan);
	stop(rt);
}

/* Fails if the run's parameter says so. */
static int may_fail(void *arg)
{
	const int *says = sley_plan_param();

	(void)arg;
	return *says;
}

TEST_WORKERS(
	t31_an_error_in_a_node_ends_those_that_need_it_and_the_next_run_is_clean)
{
	struct sley *rt = start();
	struct sley_plan *plan = plan_new();
	atomic_int needs = 0, anyway = 0, beside = 0;
	sley_node a =
		record(plan, SLEY_NODE_SPEC(.fn = may_fail, .name = "read"));
	sley_node b = record(plan, SLEY_NODE_SPEC(.fn = count_up, .arg = &needs,
						  .name = "mesh", .after = &a,
						  .nr_after = 1));
	sley_node c = record(plan, SLEY_NODE_SPEC(.fn = count_up, .arg = &needs,
						  .name = "solve", .after = &b,
						  .nr_after = 1));
	sley_node d =
		record(plan, SLEY_NODE_SPEC(.fn = count_up, .arg = &anyway,
					    .order = (sley_node[]){ a, c },
					    .nr_order = 2));
	sley_node e =
		record(plan, SLEY_NODE_SPEC(.fn = count_up, .arg = &beside));
	char text[128];
	int code;

	CHECK_EQ(sley_plan_seal(plan), 0);
	for (int i = 1; i <= 20; i++) {
		int says = i % 2 ? -ENOENT : 0;

		CHECK_EQ(sley_plan_run(plan, &says), says);
		CHECK_EQ(needs, i / 2 * 2);
		CHECK_EQ(anyway, i);
		CHECK_EQ(beside, i);
		CHECK_EQ(sley_plan_outcome(plan, a, &code),
			 says ? SLEY_OUTCOME_FAILURE : SLEY_OUTCOME_SUCCESS);
		CHECK_EQ(code, says);
		CHECK_EQ(sley_plan_outcome(plan, c, &code),
			 says ? SLEY_OUTCOME_SKIPPED : SLEY_OUTCOME_SUCCESS);
		CHECK_EQ(code, says);
		CHECK_EQ(sley_plan_outcome(plan, d, NULL),
			 SLEY_OUTCOME_SUCCESS);
		CHECK_EQ(sley_plan_outcome(plan, e, NULL),
			 SLEY_OUTCOME_SUCCESS);
		CHECK_EQ(sley_plan_explain(plan, e, text, sizeof(text)),
			 -ESRCH);
		if (!says) {
			CHECK_EQ(sley_plan_explain(plan, c, text, sizeof(text)),
				 -ESRCH);
			continue;
		}
		CHECK_GT(sley_plan_explain(plan, c, text, sizeof(text)), 0);
		CHECK_STR(text, "solve was skipped <- mesh was skipped <- read "
				"failed: No such file or directory");
	}
	sley_plan_destroy(plan);
	stop(rt);
}

TEST_WORKERS(m33_one_that_fails_takes_a_thousand_along)
{
	struct sley *rt = start();
	struct sley_plan *plan = plan_new();
	atomic_int needs = 0, anyway = 0;
	sley_node root = record(plan, SLEY_NODE_SPEC(.fn = may_fail));
	sley_node some = SLEY_NO_NODE;

	for (int i = 0; i < 1000; i++) {
		some = plan_counts(plan, &needs, &root, 1);
		(void)record(plan,
			     SLEY_NODE_SPEC(.fn = count_up, .arg = &anyway,
					    .order = &root, .nr_order = 1));
	}
	CHECK_EQ(sley_plan_seal(plan), 0);
	for (int i = 1; i <= 10; i++) {
		int says = i % 2 ? -EIO : 0;

		CHECK_EQ(sley_plan_run(plan, &says), says);
		CHECK_EQ(sley_plan_outcome(plan, some, NULL),
			 says ? SLEY_OUTCOME_SKIPPED : SLEY_OUTCOME_SUCCESS);
		CHECK_EQ(needs, i / 2 * 1000);
		CHECK_EQ(anyway, i * 1000);
	}
	sley_plan_destroy(plan);
	stop(rt);
}

struct waits {
	struct sley_event event;
	atomic_int waiting, cancelled;
};

static int wait_for_event(void *arg)
{
	struct waits *waits = arg;
	int err;

	atomic_fetch_add(&waits->waiting, 1);
	err = sley_event_wait_until(&waits->event, SLEY_FOREVER);
	if (err == -ECANCELED)
		atomic_fetch_add(&waits->cancelled, 1);
	return err;
}

/* Three that wait, and one after each. */
static struct sley_plan *plan_waits(struct waits *waits, atomic_int *count)
{
	struct sley_plan *plan = plan_new();

	for (int i = 0; i < 3; i++) {
		sley_node node =
			record(plan, SLEY_NODE_SPEC(.fn = wait_for_event,
						    .arg = waits));

		(void)plan_counts(plan, count, &node, 1);
	}
	CHECK_EQ(sley_plan_seal(plan), 0);
	return plan;
}

struct cancel_all {
	struct sley *rt;
	struct waits *waits;
};

static void *cancel_all_when_all_wait(void *arg)
{
	struct cancel_all *scene = arg;

	CHECK_SOON(atomic_load(&scene->waits->waiting) == 3);
	sley_cancel_all(scene->rt);
	return NULL;
}

/* Whichever worker takes those that only come after what was cancelled. */
TEST_WORKERS(m33_a_runtime_that_is_cancelled_starts_no_node)
{
	struct sley *rt = start();
	struct waits waits = { .waiting = 0 };
	struct cancel_all scene = { rt, &waits };
	struct sley_plan *plan = plan_new();
	atomic_int count = 0;
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		sley_node node =
			record(plan, SLEY_NODE_SPEC(.fn = wait_for_event,
						    .arg = &waits));

		for (int j = 0; j < 100; j++)
			(void)record(plan, SLEY_NODE_SPEC(.fn = count_up,
							  .arg = &count,
							  .order = &node,
							  .nr_order = 1));
	}
	CHECK_EQ(sley_plan_seal(plan), 0);
	thread = test_thread(cancel_all_when_all_wait, &scene);
	CHECK_EQ(sley_plan_run(plan, NULL), -ECANCELED);
	pthread_join(thread, NULL);
	CHECK_EQ(count, 0);
	sley_plan_destroy(plan);
	stop(rt);
}

static void cancel_when_all_wait(void *arg)
{
	struct {
		struct sley_plan *plan;
		struct waits *waits;
	} *scene = arg;

	CHECK_SOON(atomic_load(&scene->waits->waiting) == 3);
	sley_plan_cancel(scene->plan);
}

TEST_WORKERS(m33_a_run_can_be_cancelled_and_the_next_one_is_clean)
{
	struct sley *rt = start();
	struct waits waits = { .waiting = 0 };
	atomic_int count = 0;
	struct sley_plan *plan = plan_waits(&waits, &count);
	struct {
		struct sley_plan *plan;
		struct waits *waits;
	} scene = { plan, &waits };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_plan_cancel(plan); /* none goes on */
	for (int i = 1; i <= 3; i++) {
		atomic_store(&waits.waiting, 0);
		sley_spawn(&group, &task, cancel_when_all_wait, &scene);
		CHECK_EQ(sley_plan_run(plan, NULL), -ECANCELED);
		sley_join(&group);
		CHECK_EQ(waits.cancelled, 3 * i);
		CHECK_EQ(count, 0);
	}
	sley_event_set(&waits.event);
	CHECK_EQ(sley_plan_run(plan, NULL), 0);
	CHECK_EQ(count, 3);
	sley_plan_destroy(plan);
	stop(rt);
}

TEST_WORKERS(m33_a_run_that_is_given_up_ends_before_the_call)
{
	struct sley *rt = start();
	struct waits waits = { .waiting = 0 };
	atomic_int count = 0;
	struct sley_plan *plan = plan_waits(&waits, &count);

	CHECK_EQ(sley_plan_run_until(plan, NULL, in_ms(5)), -ETIMEDOUT);
	CHECK_EQ(waits.cancelled, waits.waiting);
	CHECK_EQ(count, 0);
	sley_event_set(&waits.event);
	CHECK_EQ(sley_plan_run_until(plan, NULL, in_ms(10000)), 0);
	CHECK_EQ(count, 3);
	sley_plan_destroy(plan);
	stop(rt);
}

/* ---- what is refused ---------------------------------------------------------------------- */

TEST_WORKERS(what_is_wrong_with_a_node_is_said_when_it_is_recorded)
{
	struct sley *rt = start();
	struct sley_plan *plan = plan_new();
	sley_node later = 1, node = 5;

	CHECK_EQ(sley_plan_add(plan, &node, NULL), -EINVAL);
	CHECK_EQ(node, SLEY_NO_NODE);
	CHECK_EQ(sley_plan_add(plan, &node, SLEY_NODE_SPEC(.fn = NULL)),
		 -EINVAL);
	CHECK_EQ(sley_plan_add(plan, &node,
			       SLEY_NODE_SPEC(.fn = count_up, .after = &later,
					      .nr_after = 1)),
		 -EINVAL);
	CHECK_EQ(sley_plan_add(plan, &node,
			       SLEY_NODE_SPEC(.fn = count_up, .order = &later,
					      .nr_order = 1)),
		 -EINVAL);
	CHECK_EQ(sley_plan_add(plan, &node,
			       SLEY_NODE_SPEC(.fn = count_up, .priority = 32)),
		 SLEY_EPRIORITY);
	node = named(plan, "a");
	CHECK_EQ(sley_plan_edge(plan, node, node + 1), -EINVAL);
	CHECK_EQ(sley_plan_edge(plan, SLEY_NO_NODE, node), -EINVAL);
	CHECK_EQ(sley_plan_order(plan, node, SLEY_NO_NODE), -EINVAL);
	sley_plan_destroy(plan);
	sley_plan_destroy(NULL);
	stop(rt);
}

TEST_ABORTS(running_a_plan_that_is_not_sealed_aborts,
	    "call sley_plan_seal() before the plan runs")
{
	(void)start();
	(void)!sley_plan_run(plan_new(), NULL);
}

TEST_ABORTS(recording_in_a_plan_that_is_sealed_aborts, "the plan is sealed")
{
	struct sley_plan *plan;

	(void)start();
	plan = plan_new();
	CHECK_EQ(sley_plan_seal(plan), 0);
	(void)named(plan, "late");
}
