/* SPDX-License-Identifier: MIT */
/*
 * fiber_unwind.c - walking and leaving the frames of one fiber.
 */
#include "fiber_routine.h"

#include <execinfo.h>
#include <setjmp.h>
#include <unwind.h>

struct walk {
	int nr_frames;
	uintptr_t last;
};

static _Unwind_Reason_Code walk_frame(struct _Unwind_Context *context,
				      void *arg)
{
	struct walk *walk = arg;

	if (_Unwind_GetIP(context)) /* zero stands for the end */
		walk->last = _Unwind_GetIP(context);
	return ++walk->nr_frames < 100 ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

static noinline void walk_stack(struct routine *self, int depth)
{
	struct walk walk = { 0 };
	void *frames[100];

	if (depth) {
		walk_stack(self, depth - 1);
		pause_routine(self);
		return;
	}
	CHECK_EQ(_Unwind_Backtrace(walk_frame, &walk), _URC_END_OF_STACK);
	CHECK_GE(walk.nr_frames, 8);
	CHECK_LT(walk.nr_frames, 20);
#ifndef SLEY_PORTABLE_CTX
	CHECK_GT(walk.last, (uintptr_t)sley__ctx_start);
	CHECK_LT(walk.last, (uintptr_t)sley__ctx_start + 32);
#endif
	CHECK_LT(backtrace(frames, 100), 25);
}

static void walk_from_below(struct routine *self)
{
	walk_stack(self, 5);
}

TEST(a_backtrace_ends_at_the_entry)
{
	struct routine a;

	set_up();
	start(&a, walk_from_below);
	while (!a.has_ended)
		resume(&a);
	finish(&a);
	tear_down();
}

static jmp_buf landing;

static noinline int jump_from(int depth)
{
	volatile char frame[64];

	frame[0] = (char)depth;
	if (depth == 0)
		longjmp(landing, 1);
	return use_stack(depth) > 0 ? jump_from(depth - 1) + frame[0] : 0;
}

static void jump_inside(struct routine *self)
{
	if (setjmp(landing) == 0) {
		pause_routine(self);
		CHECK_EQ(jump_from(10), -1); /* does not return */
	}
	CHECK(fiber_current() == &self->fiber);
}

TEST(longjmp_works_inside_a_fiber)
{
	struct routine a;

	set_up();
	start(&a, jump_inside);
	resume(&a);
	resume(&a);
	CHECK(a.has_ended);
	finish(&a);
	tear_down();
}
