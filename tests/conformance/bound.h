/* SPDX-License-Identifier: MIT */
/*
 * bound.h - what nearly every conformance test starts and ends with.
 */
#ifndef SLEY_TESTS_CONFORMANCE_BOUND_H
#define SLEY_TESTS_CONFORMANCE_BOUND_H

#include <errno.h>
#include <sley/sley.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/test.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* A runtime with the fixture's configuration, this thread bound to it. */
static inline struct sley *start_with(const struct sley_config *config)
{
	struct sley *rt = NULL;

	CHECK_EQ(sley_create(&rt, config), 0);
	CHECK(rt != NULL);
	CHECK_EQ(sley_bind(rt), 0);
	return rt;
}

static inline struct sley *start(void)
{
	return start_with(test_config());
}

/* A runtime without workers: this thread runs its tasks. */
static inline struct sley *start_single(void)
{
	struct sley_config config = *test_config();

	config.workers = SLEY_SINGLE;
	return start_with(&config);
}

static inline void stop(struct sley *rt)
{
	sley_unbind(rt);
	CHECK_EQ(sley_destroy(rt), 0);
}

/* The fixture's configuration with another number of workers. */
static inline struct sley_config config_of(int workers)
{
	struct sley_config config = *test_config();

	config.workers = workers;
	return config;
}

static inline bool is_single(void)
{
	return test_config()->workers == SLEY_SINGLE;
}

static inline struct sley_stats stats_of(struct sley *rt)
{
	struct sley_stats stats;

	sley_get_stats(rt, &stats);
	return stats;
}

/* How many threads run tasks. */
static inline int nr_runners(void)
{
	return is_single() ? 1 : test_config()->workers;
}

/* Skips the test where fewer than @n threads are workers. */
static inline void need_workers(int n)
{
	if (is_single() || nr_runners() < n)
		test_skip("not enough workers");
}

/* Deadlines. */
static inline uint64_t in_ms(unsigned int ms)
{
	return sley_now() + ms * SLEY_MSEC;
}

static inline int ms_since(uint64_t start_ns)
{
	return (int)((sley_now() - start_ns) / SLEY_MSEC);
}

/*
 * A gate holds whole OS threads, as a task does that makes a system call: its
 * worker can do nothing else meanwhile.
 */
struct gate {
	atomic_int held; /* threads that came to the gate so far */
	atomic_bool open;
};

static inline void gate_hold(struct gate *gate)
{
	atomic_fetch_add(&gate->held, 1);
	while (!atomic_load(&gate->open))
		test_nap_ms(1);
}

static inline void gate_task(void *arg)
{
	gate_hold(arg);
}

static inline void gate_open(struct gate *gate)
{
	atomic_store(&gate->open, true);
}

static inline void gate_open_when_held(void *arg)
{
	struct gate *gate = arg;

	while (!atomic_load(&gate->held))
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	gate_open(gate);
}

/*
 * @hold, a task, holds some thread at a gate that another task opens.  With one
 * worker that ends only if the worker goes on meanwhile.
 */
static inline void check_worker_goes_on(sley_fn *hold)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct gate gate = { 0 };
	struct sley_task holder, opener;

	sley_spawn(&group, &holder, hold, &gate);
	sley_spawn(&group, &opener, gate_open_when_held, &gate);
	sley_join(&group);
	stop(rt);
}

static inline void *lock_in_thread(void *mutex)
{
	sley_mutex_lock(mutex);
	return NULL;
}

/* A thread that has ended holds it: no caller gets it, and none releases it. */
static inline void lock_for_ever(struct sley_mutex *mutex)
{
	pthread_join(test_thread(lock_in_thread, mutex), NULL);
}

/* Without workers: runs all tasks that are ready, and those they make ready. */
static inline void run_all(struct sley *rt)
{
	while (sley_run_one(rt) > 0)
		;
}

/* @fn in a task, until it ends. */
static inline void run_task(sley_fn *fn, void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, fn, arg);
	sley_join(&group);
}

/* @fn in each of @nr tasks, until all end. */
static inline void run_tasks(int nr, sley_fn *fn, void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task *tasks = calloc((size_t)nr, sizeof(*tasks));

	CHECK(tasks != NULL);
	for (int i = 0; i < nr; i++)
		sley_spawn(&group, &tasks[i], fn, arg);
	sley_join(&group);
	free(tasks);
}

/* @fn in each of @nr plain threads, until all end. */
static inline void run_threads(int nr, void *(*fn)(void *), void *arg)
{
	pthread_t *threads = calloc((size_t)nr, sizeof(*threads));

	CHECK(threads != NULL);
	for (int i = 0; i < nr; i++)
		threads[i] = test_thread(fn, arg);
	for (int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

/* Overwrites what no caller may use from here on, and the compiler keeps it so. */
static inline void spoil(void *memory, size_t size)
{
	memset(memory, 0xff, size);
	__asm__ volatile("" : : "r"(memory) : "memory");
}

/* @task in eight tasks and @thread in four plain threads, until all end. */
static inline void run_beside(sley_fn *task, void *(*thread)(void *), void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[8];
	pthread_t threads[4];

	for (int i = 0; i < 8; i++)
		sley_spawn(&group, &tasks[i], task, arg);
	for (int i = 0; i < 4; i++)
		threads[i] = test_thread(thread, arg);
	sley_join(&group);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static inline void count_task(void *arg)
{
	atomic_fetch_add((atomic_int *)arg, 1);
}

/* As CHECK_EVENTUALLY(), but a bound thread that runs tasks does so meanwhile. */
#define CHECK_SOON(expr)                                                       \
	do {                                                                   \
		uint64_t soon_end_ = in_ms(10000);                             \
		while (!(expr)) {                                              \
			if (sley_now() > soon_end_)                            \
				test_failed(TEST_PLACE(#expr),                 \
					    "not even after 10 s");            \
			(void)!sley_sleep(SLEY_MSEC / 5);                      \
		}                                                              \
	} while (0)

#endif
