/* SPDX-License-Identifier: MIT */
/*
 * stacks.c - what a fiber stands on: M22, M23, M24, T26, T27.
 *
 * T28 (sanitizers) is the whole suite run under them.  C++ exceptions across
 * a switch need a C++ test.
 */
#include <execinfo.h>
#include <fenv.h>
#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include "conformance/bound.h"

/* ---- M22, T27: guards and overflow ------------------------------------- */

static volatile int bottom = INT_MAX;

__attribute__((noinline)) static int dig(volatile char *above, int depth)
{
	volatile char frame[512];

	if (depth == bottom)
		return depth;
	frame[0] = above ? above[0] : 1;
	frame[511] = (char)depth;
	return dig(frame, depth + 1) + frame[511];
}

static void dig_task(void *arg)
{
	(void)arg;
	dig(NULL, 0);
}

static void overflow_in(struct sley_config *config)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_with(config);
	struct sley_task task;

	CHECK_EQ(sley_spawn_with(&group, &task, dig_task, NULL,
				 SLEY_OPTIONS(.name = "deep_digger")),
		 0);
	sley_join(&group);
	stop(rt);
}

/* Not any crash, in memory that happened to be missing: the guard was hit. */
#define OVERFLOW_IN(name) "sley: stack overflow in fiber \"" name "\""

/* marl has guards in debug builds only. */
TEST_ABORTS(m22_a_stack_overflow_is_caught_and_names_the_task,
	    OVERFLOW_IN("deep_digger"))
{
	struct sley_config config = config_of(1);

	overflow_in(&config);
}

TEST_ABORTS(m22_a_stack_overflow_says_what_it_is, "overflow")
{
	struct sley_config config = config_of(1);

	overflow_in(&config);
}

/* A task without a name is found by where it was spawned. */
TEST_ABORTS(m22_a_stack_overflow_says_where_the_task_was_spawned,
	    ", spawned at ")
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);

	run_task(dig_task, NULL);
	stop(rt);
}

TEST_ABORTS(m22_the_fallback_guard_catches_it_too, OVERFLOW_IN("deep_digger"))
{
	struct sley_config config = config_of(1);

	config.no_guard_advice = true;
	overflow_in(&config);
}

TEST_ABORTS(m22_single_threaded_fibers_are_guarded_as_well,
	    OVERFLOW_IN("deep_digger"))
{
	struct sley_config config = config_of(SLEY_SINGLE);

	overflow_in(&config);
}

static void dig_after_blocking(void *arg)
{
	sley_yield();
	CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	dig_task(arg);
}

TEST_ABORTS(t27_a_fiber_that_has_blocked_is_named_too,
	    OVERFLOW_IN("late_digger"))
{
	struct sley_config config = config_of(2);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_with(&config);
	struct sley_task task;

	CHECK_EQ(sley_spawn_with(&group, &task, dig_after_blocking, NULL,
				 SLEY_OPTIONS(.name = "late_digger")),
		 0);
	sley_join(&group);
	stop(rt);
}

/* Half of the stack is there to be used. */
__attribute__((noinline)) static void use_half(size_t half)
{
	char *bytes = __builtin_alloca(half);

	memset(bytes, 1, half);
	__asm__ volatile("" : : "r"(bytes) : "memory");
}

static void use_half_task(void *arg)
{
	size_t half = *(size_t *)arg;

	use_half(half);
	sley_yield();
	use_half(half);
}

TEST_WORKERS(m22_the_configured_stack_can_be_used)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[20];
	struct sley *rt = start();
	size_t half = test_config()->stack_kib * 512u, big = 512 * 1024, i;

	for (i = 0; i < 10; i++)
		sley_spawn(&group, &tasks[i], use_half_task, &half);
	/* And one of its own size for a task that asks. */
	for (; i < 20; i++)
		CHECK_EQ(sley_spawn_with(&group, &tasks[i], use_half_task, &big,
					 SLEY_OPTIONS(.stack_kib = 1024)),
			 0);
	sley_join(&group);
	CHECK_EQ(sley_spawn_with(&group, &tasks[0], use_half_task, &half,
				 SLEY_OPTIONS(.stack_kib = 8)),
		 SLEY_ESTACK);
	stop(rt);
}

/* ---- M23, T27: how many, and what becomes of them ---------------------- */

struct blocked {
	struct sley_event event;
	atomic_int waiting;
};

static void block(void *arg)
{
	struct blocked *b = arg;

	atomic_fetch_add(&b->waiting, 1);
	CHECK_EQ(sley_event_wait(&b->event), 0);
}

static void block_and_release(struct sley *rt, struct sley_task *tasks, int n,
			      void (*look)(void *), void *arg)
{
	struct blocked b = { SLEY_EVENT_INIT, 0 };
	struct sley_group group = SLEY_GROUP_INIT;
	int i;

	for (i = 0; i < n; i++)
		sley_spawn(&group, &tasks[i], block, &b);
	if (is_single())
		run_all(rt);
	CHECK_EVENTUALLY(atomic_load(&b.waiting) == n);
	if (look)
		look(arg);
	sley_event_set(&b.event);
	sley_join(&group);
}

TEST_WORKERS(m23_fibers_are_used_again)
{
	static struct sley_task tasks[500];
	struct sley_config config = config_of(test_config()->workers);
	struct sley *rt;
	struct sley_stats stats;
	int round;

	/* Many workers may keep more idle ones than the rounds ever need. */
	if (nr_runners() > 8)
		config.stack_cache = 8;
	rt = start_with(&config);
	for (round = 0; round < 10; round++)
		block_and_release(rt, tasks, 500, NULL, NULL);
	sley_get_stats(rt, &stats);
	/* Ten rounds need no more than two at once would. */
	CHECK_LE(stats.fibers, 1000 + 3 * (nr_runners() + 1));
	stop(rt);
}

static void no_idle_left(void *rt)
{
	struct sley_stats stats;

	sley_get_stats(rt, &stats);
	CHECK_EQ(stats.fibers_idle, 0);
	CHECK_LE(stats.fibers, 500 + 3);
}

/* On one worker: those that the rounds before have left are taken first. */
TEST(m23_no_fiber_is_made_while_another_one_is_idle)
{
	static struct sley_task tasks[500];
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);

	for (int round = 0; round < 3; round++)
		block_and_release(rt, tasks, 500, no_idle_left, rt);
	stop(rt);
}

static long rss_kib(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long size, resident;

	CHECK(file);
	CHECK_EQ(fscanf(file, "%ld %ld", &size, &resident), 2);
	fclose(file);
	return resident * 4;
}

static void note_rss(void *arg)
{
	*(long *)arg = rss_kib();
}

/* marl keeps 12 KB for each of them for ever. */
TEST(t27_a_hundred_thousand_stacks_and_their_memory_comes_back)
{
	struct sley_config config = config_of(2);
	/* Under qemu-user a guard takes two mappings of at most 65,530. */
	int n = test_sanitizer() ? 2000 : test_emulated() ? 20000 : 100000;
	struct sley_task *tasks = calloc((size_t)n, sizeof(*tasks));
	struct sley *rt;
	/* Its notes on mappings are counted with them, and stay. */
	int share = test_emulated() ? 2 : 4;
	long before, peak;
	atomic_int ran = 0;

	CHECK(tasks);
	memset(tasks, 1, (size_t)n * sizeof(*tasks));
	config.stack_cache = 64;
	rt = start_with(&config);
	before = rss_kib();
	block_and_release(rt, tasks, n, note_rss, &peak);
	CHECK_GE(peak - before, n * 4);
	/* Chaos keeps each descriptor in memory of its own. */
	if (!test_sanitizer() && !test_is_chaotic()) {
		/* Some work now and then lets the trim happen. */
		CHECK_EVENTUALLY(
			(CHECK(sley_schedule(count_task, &ran) == 0),
			 rss_kib() - before < (peak - before) / share));
	}
	stop(rt);
	free(tasks);
}

TEST(t27_the_cache_of_idle_fibers_is_bounded)
{
	static struct sley_task tasks[2000];
	struct sley_config config = config_of(2);
	struct sley_stats stats;
	struct sley *rt;
	atomic_int ran = 0;

	config.stack_cache = 8;
	rt = start_with(&config);
	block_and_release(rt, tasks, 2000, NULL, NULL);
	CHECK_EVENTUALLY((CHECK(sley_schedule(count_task, &ran) == 0),
			  sley_get_stats(rt, &stats),
			  stats.fibers_idle <= 3 * 8 + 8));
	stop(rt);
}

/* ---- M24, T26: what a switch keeps ------------------------------------- */

static void check_registers(void *arg)
{
	volatile uint64_t zero = 0;
	uint64_t a = zero + 1, b = a * 3, c = b * 5, d = c * 7, e = d * 11;
	double x = (double)a / 3, y = (double)c / 7;
	int i;

	for (i = 0; i < 200; i++) {
		sley_yield();
		a = b + c;
		b = c ^ d;
		c = d + e;
		d = e ^ a;
		e = a + (uint64_t)i;
		x = x * 1.0000001 + y;
		y = y * 0.9999999 - x / 1e6;
	}
	*(uint64_t *)arg = a ^ b ^ c ^ d ^ e ^ (uint64_t)(x * 1e6 + y);
}

TEST_WORKERS(m24_registers_survive_a_switch)
{
	struct sley_task tasks[64];
	uint64_t results[64];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	size_t i;

	for (i = 0; i < 64; i++)
		sley_spawn(&group, &tasks[i], check_registers, &results[i]);
	sley_join(&group);
	for (i = 1; i < 64; i++)
		CHECK_EQ(results[i], results[0]);
	stop(rt);
}

static void round_upward(void *arg)
{
	CHECK_EQ(fegetround(), FE_TONEAREST);
	CHECK_EQ(fesetround(FE_UPWARD), 0);
	sley_event_set(arg);
	CHECK_EQ(sley_sleep(5 * SLEY_MSEC), 0);
	/* And it ends with that: the next one on this fiber must not see it. */
	CHECK_EQ(fegetround(), FE_UPWARD);
}

/* Never waits: it shares a fiber with those before and after it. */
static void end_rounding_upward(void *arg)
{
	CHECK_EQ(fegetround(), FE_TONEAREST);
	CHECK_EQ(fesetround(FE_UPWARD), 0);
	count_task(arg);
}

static void fork_rounding_upward(void *arg)
{
	struct sley_forked child;

	sley_fork(&child, end_rounding_upward, arg);
	test_nap_ms(1);
	sley_fork_join(&child);
}

static int member_rounding_upward(void *arg)
{
	end_rounding_upward(arg);
	return 0;
}

static enum sley_step step_rounding_upward(void *self,
					   struct sley_msg *const *msg,
					   size_t nr, struct sley_out *out)
{
	static atomic_int steps;

	(void)self;
	(void)msg;
	(void)nr;
	end_rounding_upward(&steps);
	return atomic_load(&steps) < 20 ? SLEY_CONTINUE : sley_out_done(out, 0);
}

static const struct sley_behaviour rounding = { .step = step_rounding_upward };

static void round_as_usual(void *arg)
{
	CHECK_EQ(sley_event_wait(arg), 0);
	CHECK_EQ(fegetround(), FE_TONEAREST);
	CHECK_EQ(sley_sleep(10 * SLEY_MSEC), 0);
	CHECK_EQ(fegetround(), FE_TONEAREST);
}

/* Without .save_fpu the rounding mode may leak, as the manual says. */
TEST_WORKERS(t26_floating_point_modes_are_per_fiber_on_request)
{
	struct sley_config config = *test_config();
	struct sley_event event = SLEY_EVENT_INIT;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[21];
	struct sley *rt;

	config.save_fpu = true;
	rt = start_with(&config);
	/* From the second round on, a task gets the fiber that rounded upward. */
	for (int round = 0; round < 3; round++) {
		sley_event_clear(&event);
		for (size_t i = 0; i < 20; i++)
			sley_spawn(&group, &tasks[i], round_as_usual, &event);
		sley_spawn(&group, &tasks[20], round_upward, &event);
		sley_join(&group);
	}
	stop(rt);
}

TEST_WORKERS(m24_a_task_does_not_hand_its_floating_point_modes_to_the_next)
{
	struct sley_config config = *test_config();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[40], members[20];
	struct sley_scope scope;
	atomic_int ended = 0;
	struct sley *rt;

	config.save_fpu = true;
	rt = start_with(&config);
	for (size_t i = 0; i < 40; i++)
		sley_spawn(&group, &tasks[i],
			   i % 2 ? end_rounding_upward : fork_rounding_upward,
			   &ended);
	sley_join(&group);
	sley_scope_open(&scope);
	for (size_t i = 0; i < 20; i++)
		sley_scope_spawn(&scope, &members[i], member_rounding_upward,
				 &ended);
	CHECK_EQ(sley_scope_close(&scope), 0);
	CHECK_EQ(ended, 60);
	CHECK_EQ(sley_process_spawn(NULL, &rounding, NULL, 0, NULL), 0);
	CHECK_SOON(sley_process_count() == 0);
	/* Nor to the thread that waits for them. */
	CHECK_EQ(fegetround(), FE_TONEAREST);
	stop(rt);
}

static void check_alignment(void *arg)
{
	/* The frame pointer of a function that was called as the ABI says. */
	CHECK_EQ((uintptr_t)__builtin_frame_address(0) % 16, 0);
	sley_yield();
	count_task(arg);
}

TEST_WORKERS(t26_a_task_starts_on_an_aligned_stack)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[50];
	struct sley *rt = start();
	atomic_int ran = 0;
	size_t i;

	for (i = 0; i < 50; i++)
		CHECK_EQ(sley_spawn_with(
				 &group, &tasks[i], check_alignment, &ran,
				 SLEY_OPTIONS(.stack_kib = i % 2 ? 512 : 0)),
			 0);
	sley_join(&group);
	CHECK_EQ(ran, 50);
	stop(rt);
}

static void keep_errno(void *arg)
{
	int own = (int)(intptr_t)arg, i;

	for (i = 0; i < 20; i++) {
		errno = own;
		sley_yield();
		CHECK_EQ(errno, own);
	}
}

TEST_WORKERS(t26_errno_belongs_to_the_fiber)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[50];
	struct sley *rt = start();
	intptr_t i;

	for (i = 0; i < 50; i++)
		sley_spawn(&group, &tasks[i], keep_errno, (void *)(i + 1));
	sley_join(&group);
	stop(rt);
}

static void jump_inside(void *arg)
{
	jmp_buf buf;
	volatile int rounds = 0;

	if (setjmp(buf) < 3) {
		sley_yield();
		rounds++;
		longjmp(buf, rounds);
	}
	CHECK_EQ(rounds, 3);
	count_task(arg);
}

TEST_WORKERS(t26_longjmp_works_inside_one_fiber)
{
	struct sley *rt = start();
	atomic_int ran = 0;

	run_tasks(20, jump_inside, &ran);
	CHECK_EQ(ran, 20);
	stop(rt);
}

static void unwind(void *arg)
{
	void *frames[100];
	int n;

	sley_yield();
	n = backtrace(frames, 100);
	/* It came to an end by itself, and not at once. */
	CHECK_GE(n, 2);
	CHECK_LT(n, 40);
	count_task(arg);
}

TEST_WORKERS(t26_unwinding_stops_at_the_base_of_the_fiber)
{
	struct sley *rt = start();
	atomic_int ran = 0;
	void *frame;

	/* The first call loads a library: not on a small stack. */
	CHECK_GE(backtrace(&frame, 1), 1);
	run_tasks(10, unwind, &ran);
	CHECK_EQ(ran, 10);
	stop(rt);
}

static void look_at_maps(void *arg)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[512];

	(void)arg;
	CHECK(file);
	while (fgets(line, sizeof(line), file))
		CHECK(!strstr(line, " rwx"));
	fclose(file);
}

/* marl's assembly files ask for an executable stack without wanting one. */
TEST(m24_no_memory_is_both_writable_and_executable)
{
	static struct sley_task tasks[100];
	struct sley *rt = start();

	block_and_release(rt, tasks, 100, look_at_maps, NULL);
	stop(rt);
}
