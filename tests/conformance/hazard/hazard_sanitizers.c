/* SPDX-License-Identifier: MIT */
/*
 * hazard_sanitizers.c - fiber hazards: the sanitizers still see mistakes, though
 * the stack changes under them.  That they see none where there is none is the
 * whole suite, run under them.
 */
#include "conformance/bound.h"
#include "fiber/sanitize.h"

TEST_PROOF("hazard")

static void run_in_task(sley_fn *fn, void *arg)
{
	struct sley_config config = config_of(2);
	struct sley *rt = start_with(&config);

	run_task(fn, arg);
	stop(rt);
}

/* ---- AddressSanitizer -------------------------------------------------------- */

static void only_address(void)
{
#ifndef SANITIZE_ADDRESS
	test_skip("this is for AddressSanitizer");
#endif
}

static volatile char *leaked;

__attribute__((noinline)) static void leak_frame(void)
{
	volatile char frame[64];

	frame[0] = 1;
	leaked = frame;
	sley_yield(); /* the frame is on the fake stack of this fiber */
	frame[1] = leaked[0];
}

static void use_after_return(void *arg)
{
	(void)arg;
	leak_frame();
	sley_yield();
	leaked[0] = 2;
}

TEST_ABORTS(asan_use_after_return_in_a_task_is_seen, "stack-use-after-return")
{
	only_address();
	run_in_task(use_after_return, NULL);
}

static volatile int index_beyond = 64;

static void write_beyond(void *arg)
{
	volatile char frame[64], *bytes = frame;

	(void)arg;
	sley_yield();
	bytes[index_beyond] = 1;
	CHECK_EQ(bytes[index_beyond], 1);
}

TEST_ABORTS(asan_overflow_of_an_array_in_a_task_is_seen,
	    "stack-buffer-overflow")
{
	only_address();
	run_in_task(write_beyond, NULL);
}

/* ---- ThreadSanitizer ----------------------------------------------------------- */

static void only_thread(void)
{
#ifndef SANITIZE_THREAD
	test_skip("this is for ThreadSanitizer");
#endif
}

struct race {
	atomic_int there, through; /* relaxed: orders nothing */
	int data;
};

static void meet(atomic_int *count)
{
	atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
	while (atomic_load_explicit(count, memory_order_relaxed) < 2)
		;
}

/*
 * Both hold their workers until both are there, and through: of a task that has
 * ended the sanitizer may know no stack, and says nothing then.
 */
static void write_at_once(void *arg)
{
	struct race *r = arg;

	meet(&r->there);
	for (int i = 0; i < 1000; i++)
		(*(volatile int *)&r->data)++;
	meet(&r->through);
}

/* It keeps silent, too, where the other task's steps are being written down. */
static void race_in_tasks(void *arg)
{
	(void)arg;
	for (int i = 0; i < 200; i++) {
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task task[2];
		struct race r = { 0 };

		sley_spawn(&group, &task[0], write_at_once, &r);
		sley_spawn(&group, &task[1], write_at_once, &r);
		sley_join(&group);
	}
}

TEST_ABORTS(tsan_a_race_of_two_tasks_is_seen, "data race")
{
	only_thread();
	run_in_task(race_in_tasks, NULL);
}
