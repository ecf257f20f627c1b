/* SPDX-License-Identifier: MIT */
/*
 * fiber_fiber.c - switching between stacks, and what goes along.
 */
#include "fiber_routine.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

/* Out of line: the compiler may keep errno's address over a switch. */
static noinline int get_errno(void)
{
	__asm__ volatile("");
	return errno;
}

static noinline void set_errno(int value)
{
	__asm__ volatile("");
	errno = value;
}

TEST(a_switch_goes_there_and_back)
{
	struct routine a, b;

	set_up();
	start(&a, count_for_ever);
	start(&b, count_for_ever);
	for (int i = 1; i <= 1000; i++) {
		resume(&a);
		CHECK_EQ(a.count, i);
		CHECK_EQ(b.count, i - 1);
		resume(&b);
		CHECK_EQ(b.count, i);
	}
	finish(&a); /* abandoned in the middle */
	finish(&b);
	tear_down();
}

static void know_myself(struct routine *self)
{
	CHECK(fiber_current() == &self->fiber);
	CHECK(self->thread == &main_thread);
	CHECK((char *)&self > self->stack.low);
	CHECK((char *)&self < self->stack.low + self->stack.size ||
	      test_sanitizer());
	pause_routine(self);
	CHECK(fiber_current() == &self->fiber);
}

TEST(the_running_fiber_is_known)
{
	struct routine a;

	CHECK(!fiber_current());
	set_up();
	start(&a, know_myself);
	resume(&a);
	CHECK(fiber_current() == &main_fiber);
	resume(&a);
	CHECK(a.has_ended);
	finish(&a);
	tear_down();
	CHECK(!fiber_current());
}

static noinline void check_alignment(struct fiber *fiber)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	/* With a frame pointer, the ABI puts it on a multiple of 16. */
	CHECK_EQ(frame % 16, 0);
	CHECK(frame > (uintptr_t)fiber->stack.low);
}

static void align_entry(void *arg, struct fiber_thread *thread)
{
	/* The compiler trusts the ABI and does not align again for 16. */
	volatile long double on_stack __attribute__((aligned(16))) = 1.5L;

	CHECK_EQ((uintptr_t)&on_stack % 16, 0);
	check_alignment(arg);
	CHECK(on_stack > 1.0L);
	fiber_switch_last(arg, &main_fiber, thread);
}

TEST(the_stack_is_aligned_at_entry_for_every_colour)
{
	struct stack stacks[STACK_NR_COLOURS];
	struct fiber fiber;

	set_up();
	for (int i = 0; i < STACK_NR_COLOURS; i++) {
		CHECK_EQ(stack_pool_get(&pool, &stacks[i]), 0);
		stacks[i].size -= (size_t)i; /* odd tops, too */
		fiber_init(&fiber, &stacks[i], align_entry, &fiber);
		fiber_switch(&main_fiber, &fiber, &main_thread);
		fiber_fini(&fiber);
	}
	for (int i = 0; i < STACK_NR_COLOURS; i++)
		stack_pool_put(&pool, &stacks[i]);
	tear_down();
}

static void compute(struct routine *self)
{
	uint64_t x[12];
	double y[12];
	long double z = 1.0L;

	/* More live values than there are registers. */
	for (int i = 0; i < 12; i++) {
		x[i] = (uint64_t)self->count + (uint64_t)i;
		y[i] = (double)x[i];
	}
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 12; i++) {
			x[i] = x[i] * 3 + (uint64_t)round;
			y[i] = y[i] + 0.5;
		}
		z += 0.25L;
		self->thread =
			fiber_switch(&self->fiber, self->resumer, self->thread);
	}
	for (int i = 0; i < 12; i++) {
		uint64_t expected = (uint64_t)self->count + (uint64_t)i;

		CHECK(y[i] == (double)expected + 50.0);
		for (int round = 0; round < 100; round++)
			expected = expected * 3 + (uint64_t)round;
		CHECK(x[i] == expected);
	}
	CHECK(z == 26.0L);
}

TEST(live_values_survive_interleaved_switches)
{
	struct routine a, b;

	set_up();
	start(&a, compute);
	start(&b, compute);
	a.count = 1000;
	b.count = 77;
	while (!a.has_ended || !b.has_ended) {
		if (!a.has_ended)
			resume(&a);
		if (!b.has_ended)
			resume(&b);
	}
	finish(&a);
	finish(&b);
	tear_down();
}

/* A frame of a size known late: its locals hang on the frame pointer. */
static noinline void keep_late_frame(struct routine *self, size_t size)
{
	volatile char *late = __builtin_alloca(size);
	int sum = 0;

	for (int round = 0; round < 100; round++) {
		late[size - 1] = (char)round;
		self->thread =
			fiber_switch(&self->fiber, self->resumer, self->thread);
		sum += late[size - 1];
	}
	CHECK_EQ(sum, 99 * 100 / 2);
}

static void keep_frame(struct routine *self)
{
	keep_late_frame(self, (size_t)self->count);
}

TEST(a_frame_of_a_size_known_late_survives_switches)
{
	struct routine a, b;

	if (test_sanitizer())
		test_skip("sanitizers align such frames, see arch/ctx.h");
	set_up();
	start(&a, keep_frame);
	start(&b, keep_frame);
	a.count = 100;
	b.count = 3000;
	while (!a.has_ended) {
		resume(&a);
		resume(&b);
	}
	CHECK(b.has_ended);
	finish(&a);
	finish(&b);
	tear_down();
}

static void keep_errno(struct routine *self)
{
	CHECK_EQ(get_errno(), 0);
	for (int i = 0; i < 100; i++) {
		set_errno(self->count + i);
		pause_routine(self);
		CHECK_EQ(get_errno(), self->count + i);
	}
}

TEST(each_fiber_has_its_own_errno)
{
	struct routine a, b;

	set_up();
	start(&a, keep_errno);
	start(&b, keep_errno);
	a.count = 1000;
	b.count = 2000;
	set_errno(7);
	while (!a.has_ended) {
		resume(&a);
		CHECK_EQ(get_errno(), 7);
		resume(&b);
		CHECK_EQ(get_errno(), 7);
	}
	CHECK(b.has_ended);
	finish(&a);
	finish(&b);
	tear_down();
}

struct pair {
	struct routine routine;
	sem_t turn[2];
	int nr_rounds;
};

static void move(struct routine *self)
{
	struct fiber_thread *before = NULL;

	for (int i = 0; i < self->count; i++) {
		CHECK(self->thread != before); /* it did move */
		CHECK(fiber_current() == &self->fiber);
		before = self->thread;
		set_errno(i + 100);
		pause_routine(self);
		CHECK_EQ(get_errno(), i + 100);
	}
}

static void take_turns(struct pair *pair, int me, struct fiber *fiber,
		       struct fiber_thread *thread)
{
	set_errno(50 + me);
	for (int i = 0; i < pair->nr_rounds; i++) {
		sem_wait(&pair->turn[me]);
		CHECK_EQ(get_errno(), 50 + me);
		if (!pair->routine.has_ended)
			resume_on(&pair->routine, fiber, thread);
		CHECK_EQ(get_errno(), 50 + me);
		sem_post(&pair->turn[!me]);
	}
}

static void *other_thread(void *arg)
{
	struct fiber_thread thread;
	struct fiber fiber;

	fiber_thread_init(&thread);
	fiber_init_thread(&fiber, &thread);
	take_turns(arg, 1, &fiber, &thread);
	fiber_fini(&fiber);
	fiber_thread_fini(&thread);
	return NULL;
}

TEST(a_fiber_that_moves_between_threads_keeps_its_errno)
{
	struct pair pair = { .nr_rounds = test_scale(2000) };
	pthread_t thread;

	set_up();
	start(&pair.routine, move);
	pair.routine.count = 2 * pair.nr_rounds - 1;
	sem_init(&pair.turn[0], 0, 1);
	sem_init(&pair.turn[1], 0, 0);
	thread = test_thread(other_thread, &pair);
	take_turns(&pair, 0, &main_fiber, &main_thread);
	pthread_join(thread, NULL);
	CHECK(pair.routine.has_ended);
	finish(&pair.routine);
	tear_down();
}

#ifdef __x86_64__
#define MXCSR_ROUND_UP 0x4000u
#define X87_ROUND_UP 0x0800u
#define ROUND_UP (MXCSR_ROUND_UP | X87_ROUND_UP)

static unsigned int get_rounding(void)
{
	uint16_t x87;

	__asm__ volatile("fnstcw %0" : "=m"(x87));
	return (__builtin_ia32_stmxcsr() & 0x6000u) | (x87 & 0x0c00u);
}

static void set_rounding_up(void)
{
	uint16_t x87;

	__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | MXCSR_ROUND_UP);
	__asm__ volatile("fnstcw %0" : "=m"(x87));
	x87 |= X87_ROUND_UP;
	__asm__ volatile("fldcw %0" : : "m"(x87));
}
#elif defined(__aarch64__)
#define ROUND_UP 0x400000u /* in FPCR */

static unsigned int get_rounding(void)
{
	uint64_t fpcr;

	__asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
	return (unsigned int)fpcr & 0xc00000u;
}

static void set_rounding_up(void)
{
	__asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)ROUND_UP));
}
#endif

static void round_up_always(struct routine *self)
{
	CHECK_EQ(get_rounding(), 0);
	set_rounding_up();
	for (int i = 0; i < 10; i++) {
		pause_routine(self);
		CHECK_EQ(get_rounding(), ROUND_UP);
	}
}

static void round_as_usual(struct routine *self)
{
	for (int i = 0; i < 10; i++) {
		CHECK_EQ(get_rounding(), 0);
		pause_routine(self);
	}
}

TEST(a_fiber_that_asked_keeps_its_rounding_mode_to_itself)
{
	struct routine up, usual, plain;

	set_up();
	start(&up, round_up_always);
	start(&usual, round_as_usual);
	start(&plain, round_as_usual); /* has not asked */
	up.fiber.save_fpu = true;
	usual.fiber.save_fpu = true;
	while (!up.has_ended) {
		resume(&up);
		CHECK_EQ(get_rounding(), 0);
		if (!usual.has_ended)
			resume(&usual);
		if (!plain.has_ended)
			resume(&plain);
	}
	finish(&up);
	finish(&usual);
	finish(&plain);
	tear_down();
}

static void end_deep_down(struct routine *self)
{
	volatile char red_zone_around_me[100] = { 0 };

	self->count = use_stack(20) + red_zone_around_me[0];
	self->has_ended = true;
	fiber_switch_last(&self->fiber, self->resumer, self->thread);
}

TEST(a_stack_is_used_again_after_its_fiber_ended_anywhere)
{
	struct routine a;
	char *first = NULL;

	set_up();
	for (int i = 0; i < test_scale(4000); i++) {
		start(&a, i % 2 ? end_deep_down : count_for_ever);
		if (!first)
			first = a.stack.low;
		CHECK(a.stack.low == first);
		resume(&a);
		CHECK_EQ(a.has_ended, i % 2);
		finish(&a);
	}
	tear_down();
}

static void return_from_entry(void *arg, struct fiber_thread *thread)
{
	(void)arg;
	(void)thread;
}

TEST_ABORTS(an_entry_that_returns_is_reported,
	    "sley: internal error: the entry function of a fiber returned")
{
	struct stack stack;
	struct fiber fiber;

	set_up();
	CHECK_EQ(stack_pool_get(&pool, &stack), 0);
	fiber_init(&fiber, &stack, return_from_entry, NULL);
	fiber_switch(&main_fiber, &fiber, &main_thread);
}
