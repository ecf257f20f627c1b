/* SPDX-License-Identifier: MIT */
/*
 * start.c - beginning and end: creating, binding, hooks, CPUs, destroying.
 */
#include "fault/sweep.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

static atomic_int nr_ran;

static void count(void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_ran, 1);
}

/* ---- start-up ------------------------------------------------------------------ */

static void start_and_stop(int workers)
{
	struct sley *rt = trial_start(workers);

	if (rt)
		trial_stop(rt);
}

SCENARIO(start_up_without_workers)
{
	struct sley *rt = trial_start(SLEY_SINGLE);

	if (!rt)
		return;
	if (TRY(sley_bind(rt), -ENOMEM))
		sley_unbind(rt);
	trial_stop(rt);
}

SCENARIO(start_up_with_one_worker)
{
	start_and_stop(1);
}

SCENARIO(start_up_with_two_workers)
{
	start_and_stop(2);
}

SCENARIO(start_up_with_four_workers)
{
	start_and_stop(4);
}

SCENARIO(start_up_with_a_worker_for_each_cpu)
{
	start_and_stop(0);
}

SCENARIO(start_up_by_the_ways_of_older_kernels)
{
	struct sley_config config = trial_config(2);
	struct sley *rt;

	config.no_membarrier = true;
	config.no_guard_advice = true;
	rt = trial_create(&config);
	if (rt)
		trial_stop(rt);
}

/* What failed may have left something that the second one trips over. */
SCENARIO(two_runtimes)
{
	struct sley *first = trial_start(1), *second;

	if (!first)
		return;
	second = trial_start(SLEY_SINGLE);
	trial_stop(first);
	if (second)
		trial_stop(second);
}

static void root(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, count, NULL);
	sley_join(&group);
	count(arg);
}

SCENARIO(sley_run_of_a_root)
{
	struct sley_config config = trial_config(2);

	if (TRY(sley_run(&config, root, NULL), -ENOMEM, -EAGAIN))
		CHECK_EQ(atomic_load(&nr_ran), 2);
	else
		CHECK_EQ(atomic_load(&nr_ran), 0);
}

/* ---- where workers run ------------------------------------------------------------- */

static void place(void *self, int worker, struct sley_cpus *cpus)
{
	int cpu = sley_cpus_next(cpus, 0);

	(void)self;
	(void)worker;
	memset(cpus, 0, sizeof(*cpus));
	CHECK(sley_cpus_add(cpus, cpu));
}

/* -EINVAL of pthread_create() means that a CPU is gone. */
static void start_placed(uint32_t placement)
{
	struct sley_config config = trial_config(2);
	struct sley *rt;

	config.placement = placement;
	config.place = place;
	if (TRY(sley_create(&rt, &config), -ENOMEM, -EAGAIN, SLEY_ECPUS))
		trial_stop(rt);
}

SCENARIO(workers_on_chosen_cpus)
{
	start_placed(SLEY_PLACE_ANY_OF);
}

SCENARIO(workers_on_a_cpu_each)
{
	start_placed(SLEY_PLACE_ONE_OF);
}

SCENARIO(workers_where_the_user_says)
{
	start_placed(SLEY_PLACE_CUSTOM);
}

/* Less is known, and nothing is wrong. */
SCENARIO(cpus_and_what_they_share)
{
	struct sley_cpu all[64];
	struct sley_cpus cpus;

	CHECK_GE(sley_cpus_usable(&cpus), 1);
	CHECK_GE(sley_cpus_count(&cpus), 1);
	CHECK_GE(sley_cpus_topology(all, 64), 1);
	CHECK_GE(all[0].core, 0);
	CHECK_GE(all[0].cache, 0);
	CHECK_GE(all[0].node, 0);
	CHECK_GE(all[0].package, 0);
}

/* ---- hooks ---------------------------------------------------------------------------- */

static atomic_int nr_hooks;

static void on_start(void *self, int worker)
{
	(void)self;
	(void)worker;
	atomic_fetch_add(&nr_hooks, 1);
}

static void on_stop(void *self, int worker)
{
	(void)self;
	(void)worker;
	atomic_fetch_sub(&nr_hooks, 1);
}

SCENARIO(hooks)
{
	struct sley_config config = trial_config(2);
	struct sley *rt;

	config.on_start = on_start;
	config.on_stop = on_stop;
	rt = trial_create(&config);
	if (rt) {
		CHECK_EQ(atomic_load(&nr_hooks), 2);
		trial_stop(rt);
	}
	CHECK_EQ(atomic_load(&nr_hooks), 0);
}

/* ---- binding ---------------------------------------------------------------------------- */

static void *bind_and_run(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[3];
	struct sley *rt = arg;

	if (!TRY(sley_bind(rt), -ENOMEM))
		return NULL;
	for (int i = 0; i < 3; i++)
		sley_spawn(&group, &tasks[i], count, NULL);
	sley_join(&group);
	sley_unbind(rt);
	return rt;
}

static void bind_threads(int workers)
{
	struct sley *rt = trial_start(workers);
	pthread_t threads[3];
	int nr_bound = 0;
	void *bound;

	if (!rt)
		return;
	for (int i = 0; i < 3; i++)
		threads[i] = test_thread(bind_and_run, rt);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], &bound);
		nr_bound += bound != NULL;
	}
	CHECK_EQ(atomic_load(&nr_ran), 3 * nr_bound);
	trial_stop(rt);
}

SCENARIO(threads_bind_to_a_runtime_without_workers)
{
	bind_threads(SLEY_SINGLE);
}

SCENARIO(threads_bind_to_a_runtime_with_workers)
{
	bind_threads(2);
}

static void yield_twice(void *arg)
{
	sley_yield();
	sley_yield();
	count(arg);
}

/* A step that cannot be made is no end. */
SCENARIO(steps)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = trial_start(SLEY_SINGLE);
	struct sley_task tasks[4];
	int result;

	if (!rt)
		return;
	if (!TRY(sley_bind(rt), -ENOMEM)) {
		trial_stop(rt);
		return;
	}
	for (int i = 0; i < 4; i++)
		sley_spawn(&group, &tasks[i], yield_twice, NULL);
	do {
		result = sley_run_one(rt);
		if (result < 0)
			result = TRY(sley_run_one(rt), -ENOMEM);
	} while (result > 0);
	sley_join(&group);
	CHECK_EQ(atomic_load(&nr_ran), 4);
	sley_unbind(rt);
	trial_stop(rt);
}
