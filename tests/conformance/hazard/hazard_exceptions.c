/* SPDX-License-Identifier: MIT */
/*
 * hazard_exceptions.c - fiber hazards: C++ exceptions in tasks.  What the tasks
 * do is in hazard_exceptions.cpp; bare fibers are in unit/fiber_exceptions.c.
 */
#include "conformance/bound.h"

TEST_PROOF("hazard")

/* In hazard_exceptions.cpp. */
extern atomic_int nr_right, nr_destroyed;

sley_fn rethrow_after_waits, throw_through_waits, throw_in_region, throw_out;
sley_fn use_thread_local, forget_exception;

static struct sley_config movable(void)
{
	struct sley_config config = *test_config();

	config.migratable = true;
	/* Unwinding takes some room. */
	config.stack_kib = test_sanitizer() ? 512 : 128;
	return config;
}

static void run_many(sley_fn *fn, int n)
{
	static struct sley_task task[100];
	struct sley_config config = movable();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_with(&config);

	for (intptr_t i = 0; i < n; i++)
		sley_spawn(&group, &task[i], fn, (void *)(i + 1));
	sley_join(&group);
	CHECK_EQ(nr_right, n);
	stop(rt);
}

TEST_WORKERS(exceptions_each_task_rethrows_its_own_after_waits)
{
	run_many(rethrow_after_waits, 40);
}

TEST_WORKERS(exceptions_in_flight_are_counted_for_each_task)
{
	run_many(throw_through_waits, 40);
}

TEST_WORKERS(exceptions_are_caught_on_the_threads_for_blocking_calls)
{
	run_many(throw_in_region, 20);
}

/* One that is still being handled when the task ends is nobody else's. */
TEST_WORKERS(exceptions_of_a_task_do_not_show_in_the_next)
{
	run_many(forget_exception, 100);
}

/* ---- nobody catches it ------------------------------------------------------- */

static void throw_out_with(int workers)
{
	struct sley_config config = movable();

	config.workers = workers;
	(void)!sley_run(&config, throw_out, NULL);
}

TEST_ABORTS(unwinding_an_exception_out_of_a_task_ends_the_program, "too far")
{
	throw_out_with(2);
}

TEST_ABORTS(unwinding_an_exception_out_of_a_bound_task_ends_the_program,
	    "too far")
{
	throw_out_with(SLEY_SINGLE);
}

static void throw_in_call(void *arg)
{
	CHECK_EQ(sley_blocking_call(throw_out, arg), 0);
}

TEST_ABORTS(unwinding_an_exception_out_of_a_blocking_call_ends_the_program,
	    "too far")
{
	struct sley_config config = movable();

	(void)!sley_run(&config, throw_in_call, NULL);
}

/* ---- thread_local -------------------------------------------------------------- */

TEST_WORKERS(threads_destroy_their_cxx_thread_locals_when_the_worker_ends)
{
	struct sley_config config = *test_config();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[20];
	struct sley *rt;

	if (is_single())
		test_skip("there are no worker threads");
	rt = start_with(&config);
	for (int i = 0; i < 20; i++)
		sley_spawn(&group, &task[i], use_thread_local, NULL);
	sley_join(&group);
	CHECK_EQ(nr_destroyed, 0);
	stop(rt);
	CHECK_GE(nr_right, 1);
	CHECK_EQ(nr_destroyed, nr_right);
}
