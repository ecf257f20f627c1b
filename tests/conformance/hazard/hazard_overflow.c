/* SPDX-License-Identifier: MIT */
/*
 * hazard_overflow.c - fiber hazards: whatever way a task runs out of stack, it
 * is reported, with the name of the task and the stack that it had.
 *
 * Compiled with -fstack-clash-protection, as a program with large frames should
 * be: without it a frame of more than 32 KiB may step over the guard.  More in
 * stacks.c (m22_*, t27_*) and unit/fiber_overflow.c.
 */
#include <float.h>
#include <limits.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "conformance/bound.h"

TEST_PROOF("hazard")

#define SAID(name) "stack overflow in fiber \"" name "\""

static volatile int bottom = INT_MAX; /* nobody gets there */

static struct sley_config small_stacks(int workers)
{
	struct sley_config config = config_of(workers);

	config.stack_kib = test_sanitizer() ? 128 : 16;
	return config;
}

static void run_named(const struct sley_config *config, sley_fn *fn,
		      const struct sley_options *options)
{
	struct sley *rt = start_with(config);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	CHECK_EQ(sley_spawn_with(&group, &task, fn, NULL, options), 0);
	sley_join(&group);
	stop(rt);
}

/* ---- large frames ------------------------------------------------------------ */

__attribute__((noinline)) static void use_frame(size_t size)
{
	volatile char *bytes = __builtin_alloca(size);

	/* The far end only: what lies between must be probed by itself. */
	bytes[0] = 1;
	__asm__ volatile("" : : "r"(bytes) : "memory");
}

static volatile size_t mebibyte = 1 << 20;

static void use_mebibyte(void *arg)
{
	(void)arg;
	sley_yield();
	use_frame(mebibyte);
}

static void skip_own_frames(void)
{
	if (test_sanitizer())
		test_skip("the sanitizer lays out large frames in its own way");
}

/* Nothing was probed, and what was stepped on is nobody's. */
TEST_ABORTS(overflow_an_alloca_of_a_mebibyte_is_reported, SAID("glutton"))
{
	struct sley_config config = config_of(2);

	skip_own_frames();
	run_named(&config, use_mebibyte, SLEY_OPTIONS(.name = "glutton"));
}

static void use_frames_that_fit(void *arg)
{
	size_t size = test_config()->stack_kib * 512u;

	for (int i = 0; i < 10; i++) {
		use_frame(size + (size_t)i);
		sley_yield();
	}
	count_task(arg);
}

TEST_WORKERS(overflow_frames_of_variable_size_that_fit_are_fine)
{
	struct sley *rt;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[20];
	atomic_int ran = 0;

	skip_own_frames();
	rt = start();
	for (int i = 0; i < 20; i++)
		sley_spawn(&group, &task[i], use_frames_that_fit, &ran);
	sley_join(&group);
	CHECK_EQ(ran, 20);
	stop(rt);
}

/* ---- in the C library ----------------------------------------------------------- */

/* What is left of the stack, by a margin that no frame of ours jumps. */
__attribute__((noinline)) static int print_deep_down(int depth)
{
	volatile char frame[256];
	char text[32];

	frame[0] = (char)depth;
	if (depth == bottom)
		return 0;
	/* The largest number there is: it is worked out on the stack. */
	snprintf(text, sizeof(text), "%.20Lf", LDBL_MAX - depth);
	return print_deep_down(depth + 1) + frame[0] + text[0];
}

static void print_at_the_end(void *arg)
{
	(void)arg;
	print_deep_down(0);
}

TEST_ABORTS(overflow_in_printf_is_reported, SAID("printer"))
{
	struct sley_config config = small_stacks(1);

	run_named(&config, print_at_the_end, SLEY_OPTIONS(.name = "printer"));
}

static void resolve(void)
{
	struct addrinfo hints = { .ai_family = AF_INET,
				  .ai_flags = AI_NUMERICSERV };
	struct addrinfo *found = NULL;

	/* Whatever it finds: it reads files and loads libraries. */
	if (getaddrinfo("localhost", "80", &hints, &found) == 0)
		freeaddrinfo(found);
}

__attribute__((noinline)) static int resolve_deep_down(int depth)
{
	volatile char frame[512];

	frame[0] = (char)depth;
	if (depth == bottom)
		return 0;
	resolve();
	return resolve_deep_down(depth + 1) + frame[0];
}

static void resolve_at_the_end(void *arg)
{
	(void)arg;
	resolve_deep_down(0);
}

TEST_ABORTS(overflow_in_getaddrinfo_is_reported, SAID("resolver"))
{
	struct sley_config config = small_stacks(1);

	run_named(&config, resolve_at_the_end,
		  SLEY_OPTIONS(.name = "resolver"));
}

static void resolve_once(void *arg)
{
	resolve();
	count_task(arg);
}

/* With the stack that every task has unless told otherwise. */
TEST_WORKERS(overflow_no_getaddrinfo_needs_more_than_the_default_stack)
{
	struct sley_config config = *test_config();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[4];
	atomic_int ran = 0;
	struct sley *rt;

	config.stack_kib = 0;
	rt = start_with(&config);
	for (int i = 0; i < 4; i++)
		sley_spawn(&group, &task[i], resolve_once, &ran);
	sley_join(&group);
	CHECK_EQ(ran, 4);
	stop(rt);
}

/* ---- wherever the task is ---------------------------------------------------------- */

__attribute__((noinline)) static int dig(int depth)
{
	volatile char frame[200];

	frame[0] = (char)depth;
	if (depth == bottom)
		return 0;
	return dig(depth + 1) + frame[0];
}

static void dig_in_region(void *arg)
{
	(void)arg;
	CHECK_EQ(sley_blocking_begin(), 0);
	dig(0);
}

TEST_ABORTS(overflow_in_a_blocking_region_is_reported, SAID("in a region"))
{
	struct sley_config config = small_stacks(2);

	run_named(&config, dig_in_region, SLEY_OPTIONS(.name = "in a region"));
}

static void dig_now(void *arg)
{
	(void)arg;
	sley_yield();
	dig(0);
}

TEST_ABORTS(overflow_of_a_stack_of_its_own_is_reported,
	    SAID("own stack") ": its stack has 512 KiB and it needs more than "
			      "512 KiB: set .stack_kib to at least 1024")
{
	struct sley_config config = small_stacks(2);

	run_named(&config, dig_now,
		  SLEY_OPTIONS(.name = "own stack", .stack_kib = 512));
}

static void dig_after_moves(void *arg)
{
	(void)arg;
	for (int i = 0; i < 100; i++)
		CHECK_EQ(sley_sleep(10 * SLEY_USEC), 0);
	dig(0);
}

TEST_ABORTS(overflow_of_a_task_that_moves_is_reported, SAID("nomad"))
{
	struct sley_config config = small_stacks(4);

	config.migratable = true;
	run_named(&config, dig_after_moves, SLEY_OPTIONS(.name = "nomad"));
}

/* Others run and switch meanwhile: the name is that of the culprit. */
static void yield_for_ever(void *arg)
{
	(void)arg;
	while (!sley_cancelled())
		sley_yield();
}

static void dig_among_others(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[20];

	for (int i = 0; i < 20; i++)
		CHECK_EQ(sley_spawn_with(&group, &task[i], yield_for_ever, arg,
					 SLEY_OPTIONS(.name = "innocent")),
			 0);
	for (int i = 0; i < 100; i++)
		sley_yield();
	dig(0);
}

TEST_ABORTS(overflow_among_others_names_the_right_task, SAID("culprit"))
{
	struct sley_config config = small_stacks(4);

	run_named(&config, dig_among_others,
		  SLEY_OPTIONS(.name = "culprit",
			       .stack_kib = test_sanitizer() ? 256 : 64));
}

/* A handler without SA_ONSTACK runs on the stack of the fiber. */
static void dig_in_handler(int number)
{
	dig(number);
}

static void raise_on_fiber(void *arg)
{
	struct sigaction action = { .sa_handler = dig_in_handler };

	(void)arg;
	CHECK_EQ(sigaction(SIGFPE, &action, NULL), 0);
	raise(SIGFPE);
}

TEST_ABORTS(overflow_of_a_signal_handler_on_a_fiber_is_reported,
	    SAID("signalled"))
{
	struct sley_config config = small_stacks(1);

	if (test_sanitizer())
		test_skip("the sanitizer runs handlers later");
	run_named(&config, raise_on_fiber, SLEY_OPTIONS(.name = "signalled"));
}
