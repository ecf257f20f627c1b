/* SPDX-License-Identifier: MIT */
/*
 * config.c - what a runtime may be asked for, and what it says when it cannot.
 */
#include <sched.h>

#include <stdio.h>

#include "conformance/bound.h"

static int create_and_destroy(const struct sley_config *config)
{
	struct sley *rt = NULL;
	int err = sley_create(&rt, config);

	if (err)
		CHECK(rt == NULL);
	else
		CHECK_EQ(sley_destroy(rt), 0);
	return err;
}

TEST_WORKERS(a_runtime_may_be_created_and_destroyed_again_and_again)
{
	int i;

	for (i = 0; i < test_scale(40); i++)
		CHECK_EQ(create_and_destroy(test_config()), 0);
}

/* marl dies of a null pointer at 300. */
TEST(m11_any_number_of_workers_up_to_the_limit_works)
{
	struct sley_config config = config_of(300);
	struct sley *rt = start_with(&config);
	atomic_int ran = 0;

	CHECK_EQ(sley_nr_workers(rt), 300);
	run_tasks(3000, count_task, &ran);
	CHECK_EQ(ran, 3000);
	stop(rt);
}

TEST(m11_more_workers_than_the_limit_is_an_error)
{
	struct sley_config config = config_of(SLEY_WORKERS_MAX + 1);

	CHECK_EQ(create_and_destroy(&config), SLEY_EWORKERS);
	config.workers = INT32_MAX;
	CHECK_EQ(create_and_destroy(&config), SLEY_EWORKERS);
	config.workers = -2;
	CHECK_EQ(create_and_destroy(&config), SLEY_EWORKERS);
}

TEST(a_stack_of_an_impossible_size_is_an_error)
{
	struct sley_config config = config_of(1);

	config.stack_kib = 15;
	CHECK_EQ(create_and_destroy(&config), SLEY_ESTACK);
	config.stack_kib = 1024 * 1024 + 1;
	CHECK_EQ(create_and_destroy(&config), SLEY_ESTACK);
	config.stack_kib = UINT32_MAX;
	CHECK_EQ(create_and_destroy(&config), SLEY_ESTACK);
}

TEST(a_tick_has_limits_and_a_default)
{
	static const uint32_t bad[] = { 1, 99, 10001, UINT32_MAX };
	struct sley_config config = *test_config(), effective = config;
	struct sley *rt;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		config.tick_us = bad[i];
		CHECK_EQ(sley_create(&rt, &config), -EINVAL);
	}
	for (uint32_t us = 0; us <= 10000; us += 100) {
		config.tick_us = us;
		CHECK_EQ(sley_create(&rt, &config), 0);
		CHECK_EQ(sley_get_config(rt, &effective), 0);
		CHECK_EQ(effective.tick_us, us ? us : 1000);
		CHECK_EQ(sley_destroy(rt), 0);
	}
}

TEST(a_limit_on_blocking_threads_has_a_default)
{
	static const size_t limit[] = { 0, 1, 512, 100000, SLEY_UNBOUNDED };
	struct sley_config config = *test_config(), effective = config;
	struct sley *rt;

	for (size_t i = 0; i < ARRAY_SIZE(limit); i++) {
		config.blocking_max = limit[i];
		CHECK_EQ(sley_create(&rt, &config), 0);
		CHECK_EQ(sley_get_config(rt, &effective), 0);
		CHECK_EQ(effective.blocking_max, limit[i] ? limit[i] : 512);
		CHECK_EQ(sley_destroy(rt), 0);
	}
}

TEST(a_watchdog_has_a_default_and_may_be_off)
{
	static const uint64_t ms[] = { 0, 1, 100, 1ull << 60, SLEY_NEVER };
	struct sley_config config = *test_config(), effective = config;
	struct sley *rt;

	for (size_t i = 0; i < ARRAY_SIZE(ms); i++) {
		config.watchdog_ms = ms[i];
		CHECK_EQ(sley_create(&rt, &config), 0);
		CHECK_EQ(sley_get_config(rt, &effective), 0);
		CHECK_EQ(effective.watchdog_ms, ms[i] ? ms[i] : 100);
		CHECK_EQ(sley_destroy(rt), 0);
	}
}

/* ---- .io --------------------------------------------------------------------- */

static char last_line[256];

static void keep_line(void *self, const char *line)
{
	(void)self;
	snprintf(last_line, sizeof(last_line), "%s", line);
}

/* What a runtime with @config has in .io, or -errno. */
static int64_t io_of(struct sley_config *config)
{
	struct sley_config effective = { .size = sizeof(effective) };
	struct sley *rt;
	int err;

	config->report = keep_line;
	err = sley_create(&rt, config);
	if (err)
		return err;
	CHECK_EQ(sley_get_config(rt, &effective), 0);
	CHECK_EQ(sley_destroy(rt), 0);
	CHECK_EQ(effective.no_io_uring, effective.io != SLEY_IO_URING);
	return (int64_t)effective.io;
}

TEST(the_environment_chooses_how_to_wait_unless_the_config_does)
{
	static const char *const name[] = { "", "uring", "epoll", "threads" };

	for (uint64_t io = SLEY_IO_URING; io <= SLEY_IO_THREADS; io++) {
		struct sley_config config = *test_config();

		CHECK_EQ(setenv("SLEY_IO", name[io], 1), 0);
		CHECK_EQ(io_of(&config), io);
		config.io = SLEY_IO_EPOLL;
		CHECK_EQ(io_of(&config), SLEY_IO_EPOLL);
		config.io = SLEY_IO_DEFAULT;
		config.no_io_uring = true;
		CHECK_EQ(io_of(&config),
			 io == SLEY_IO_URING ? SLEY_IO_EPOLL : (int64_t)io);
	}
	CHECK_EQ(setenv("SLEY_IO", "", 1), 0);
	CHECK_EQ(io_of(&(struct sley_config){
			 .size = sizeof(struct sley_config), .workers = 1 }),
		 SLEY_IO_URING);
}

TEST(an_unknown_way_to_wait_is_refused_in_a_sentence)
{
	struct sley_config config = *test_config();

	CHECK_EQ(setenv("SLEY_IO", "kqueue", 1), 0);
	CHECK_EQ(io_of(&config), -EINVAL);
	CHECK_STR(last_line, "sley_create(): SLEY_IO=kqueue is unknown: unset "
			     "it, or use uring, epoll or threads");
	config.io = SLEY_IO_THREADS + 1;
	CHECK_EQ(io_of(&config), -EINVAL);
	CHECK_STR(last_line, "sley_create(): .io is 4: use a value of enum "
			     "sley_io");
}

TEST(a_config_without_its_size_is_an_error)
{
	struct sley_config config = config_of(1);

	config.size = 0;
	CHECK_EQ(create_and_destroy(&config), -EINVAL);
}

/* A program built against a later library: more fields at the end. */
TEST(a_later_config_is_accepted_unless_it_uses_what_we_do_not_know)
{
	struct {
		struct sley_config config;
		uint64_t later;
	} c = { .config = config_of(1), .later = 0 };

	c.config.size = sizeof(c);
	CHECK_EQ(create_and_destroy(&c.config), 0);
	c.later = 1;
	CHECK_EQ(create_and_destroy(&c.config), -E2BIG);
}

/* A program built against an earlier library: its config ends sooner. */
TEST(an_earlier_shorter_config_is_accepted)
{
	struct sley_config config = config_of(1);

	config.size = offsetof(struct sley_config, allocator);
	/* Behind its end there is whatever the program keeps there. */
	config.placement = 99;
	CHECK_EQ(create_and_destroy(&config), 0);
	config.size = sizeof(config);
	CHECK_EQ(create_and_destroy(&config), -EINVAL);
}

TEST(destroying_nothing_does_nothing)
{
	CHECK_EQ(sley_destroy(NULL), 0);
}

TEST(every_error_has_a_text)
{
	static const int errors[] = { SLEY_ENORUNTIME, SLEY_ENOWORKER,
				      SLEY_EWORKERS,   SLEY_EPRIORITY,
				      SLEY_ESTACK,     SLEY_EFORKED,
				      SLEY_ECPUS,      -ENOMEM,
				      -ETIMEDOUT };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		CHECK(sley_strerror(errors[i]));
		CHECK(strcmp(sley_strerror(errors[i]), "unknown error") != 0);
	}
	CHECK_STR(sley_strerror(-9999), "unknown error");
	CHECK_STR(sley_version(), SLEY_VERSION);
}

/* The sum over all allocations a creation makes: each of them may fail. */
TEST(t30_every_failing_allocation_of_a_creation_is_reported)
{
	static const int workers[] = { SLEY_SINGLE, 1, 3 };
	size_t w;
	int n, err;

	for (w = 0; w < ARRAY_SIZE(workers); w++) {
		struct sley_config config = config_of(workers[w]);

		for (n = 0, err = -ENOMEM; err; n++) {
			CHECK_LT(n, 1000);
			test_fail_allocation_after(n);
			err = create_and_destroy(&config);
			CHECK(err == 0 || err == -ENOMEM);
			if (err)
				CHECK_EQ(test_allocated(), 0);
		}
		test_fail_allocation_after(-1);
		CHECK_GT(n, 1);
	}
}

TEST(t29_the_default_number_of_workers_follows_the_affinity_mask)
{
	struct sley_config config = config_of(0);
	struct sley *rt = NULL;
	cpu_set_t all, one;
	int cpu = 0, nr;

	CHECK_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
	CHECK_EQ(sley_create(&rt, &config), 0);
	nr = sley_nr_workers(rt);
	CHECK_GE(nr, 1);
	CHECK_LE(nr, CPU_COUNT(&all));
	CHECK_EQ(sley_destroy(rt), 0);

	/* The last set bit: on most machines not CPU 0. */
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &all))
			cpu = i;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
	CHECK_EQ(sley_create(&rt, &config), 0);
	CHECK_EQ(sley_nr_workers(rt), 1);
	CHECK_EQ(sley_destroy(rt), 0);
}

/* ---- several runtimes -------------------------------------------------- */

struct two {
	struct sley *a, *b;
	atomic_int in_a, in_b;
};

static void run_in_b(void *arg)
{
	struct two *two = arg;

	CHECK(sley_current() == two->b);
	atomic_fetch_add(&two->in_b, 1);
}

static void run_in_a(void *arg)
{
	struct two *two = arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	CHECK(sley_current() == two->a);
	/* A task of one runtime waits for a task of the other. */
	CHECK_EQ(sley_spawn_on(two->b, &group, &task, run_in_b, two, NULL), 0);
	sley_join(&group);
	CHECK(sley_current() == two->a);
	atomic_fetch_add(&two->in_a, 1);
}

TEST_WORKERS(two_runtimes_live_in_one_process)
{
	struct sley_config config = config_of(2);
	struct two two = { .a = start() };

	CHECK_EQ(sley_create(&two.b, &config), 0);
	run_tasks(200, run_in_a, &two);
	CHECK_EQ(two.in_a, 200);
	CHECK_EQ(two.in_b, 200);
	stop(two.a);
	CHECK_EQ(sley_destroy(two.b), 0);
}

/* ---- sley_run, sley_run_one, statistics ----------------------------------- */

static void grow(void *arg)
{
	atomic_int *left = arg;

	if (atomic_fetch_sub(left, 1) > 0) {
		CHECK_EQ(sley_schedule(grow, left), 0);
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	}
}

TEST_WORKERS(run_returns_when_all_that_came_of_the_root_has_ended)
{
	atomic_int left = 20;

	CHECK_EQ(sley_run(test_config(), grow, &left), 0);
	CHECK_EQ(left, -1); /* each task but the last left another one */
	CHECK(sley_current() == NULL);
}

TEST(run_reports_what_creating_reports)
{
	struct sley_config config = config_of(SLEY_WORKERS_MAX + 1);
	atomic_int ran = 0;

	CHECK_EQ(sley_run(&config, count_task, &ran), SLEY_EWORKERS);
	CHECK_EQ(ran, 0);
}

TEST(step_runs_one_task_until_it_ends_or_blocks)
{
	struct sley *rt = start_single();
	atomic_int ran = 0;

	CHECK_EQ(sley_run_one(rt), 0);
	CHECK_EQ(sley_schedule(count_task, &ran), 0);
	CHECK_EQ(sley_schedule(count_task, &ran), 0);
	CHECK_EQ(sley_run_one(rt), 1);
	CHECK_EQ(ran, 1);
	CHECK_EQ(sley_run_one(rt), 1);
	CHECK_EQ(ran, 2);
	CHECK_EQ(sley_run_one(rt), 0);
	stop(rt);
}

struct order {
	struct sley_task task[40];
	char seen[80];
	atomic_int n;
};

struct ordered {
	struct order *order;
	char name;
};

static void note_twice(void *arg)
{
	struct ordered *o = arg;

	o->order->seen[o->order->n++] = o->name;
	sley_yield();
	o->order->seen[o->order->n++] = o->name;
}

static void run_stepwise(struct order *order)
{
	struct sley_config config = config_of(SLEY_SINGLE);
	struct sley_group group = SLEY_GROUP_INIT;
	struct ordered o[40];
	struct sley *rt;
	int i;

	config.seed = 1234;
	rt = start_with(&config);
	for (i = 0; i < 40; i++) {
		o[i] = (struct ordered){ order, (char)('0' + i) };
		sley_spawn(&group, &order->task[i], note_twice, &o[i]);
	}
	run_all(rt);
	CHECK_EQ(order->n, 80);
	sley_join(&group);
	stop(rt);
}

TEST(step_with_one_seed_makes_the_same_choices_every_time)
{
	static struct order first, second;

	run_stepwise(&first);
	run_stepwise(&second);
	CHECK(memcmp(first.seen, second.seen, sizeof(first.seen)) == 0);
}

TEST_WORKERS(statistics_count_what_happened)
{
	struct sley *rt = start();
	struct sley_stats stats = { 0 };
	atomic_int ran = 0;

	run_tasks(500, count_task, &ran);
	CHECK_EVENTUALLY((sley_get_stats(rt, &stats), stats.finished == 500));
	CHECK_EQ(stats.spawned, 500);
	CHECK_GT(stats.allocated, 0);
	CHECK_LE(stats.allocated, test_allocated());
	stop(rt);
}
