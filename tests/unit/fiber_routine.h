/* SPDX-License-Identifier: MIT */
/*
 * fiber_routine.h - what the tests of fibers share: a fiber with a body, which
 * goes back to whoever resumed it when it pauses or ends.
 */
#ifndef SLEY_TESTS_UNIT_FIBER_ROUTINE_H
#define SLEY_TESTS_UNIT_FIBER_ROUTINE_H

#include "fiber/fiber.h"
#include "harness/test.h"

#include <string.h>

#define ROUTINE_STACK_SIZE ((size_t)64 << 10)

static struct stack_pool pool;
static struct fiber_thread main_thread;
static struct fiber main_fiber;

/* A fiber that returns to whoever resumed it. */
struct routine {
	struct fiber fiber;
	struct fiber *resumer;
	struct fiber_thread *thread; /* the one that runs it */
	void (*body)(struct routine *self);
	struct stack stack;
	void *identity; /* to the sanitizer */
	int count;
	bool has_ended;
};

static inline void set_up(void)
{
	CHECK_EQ(stack_pool_init(&pool, ROUTINE_STACK_SIZE, false), 0);
	fiber_thread_init(&main_thread);
	fiber_init_thread(&main_fiber, &main_thread);
}

static inline void tear_down(void)
{
	fiber_thread_fini(&main_thread);
	stack_pool_fini(&pool);
}

static noinline __attribute__((unused)) void pause_routine(struct routine *self)
{
	self->thread = fiber_switch(&self->fiber, self->resumer, self->thread);
}

static void routine_entry(void *arg, struct fiber_thread *thread)
{
	struct routine *self = arg;

	self->thread = thread;
	self->body(self);
	self->has_ended = true;
	fiber_switch_last(&self->fiber, self->resumer, self->thread);
}

static inline void start(struct routine *self, void (*body)(struct routine *))
{
	memset(self, 0, sizeof(*self));
	self->body = body;
	CHECK_EQ(stack_pool_get(&pool, &self->stack), 0);
	fiber_init(&self->fiber, &self->stack, routine_entry, self);
}

static noinline __attribute__((unused)) void
resume_on(struct routine *self, struct fiber *resumer,
	  struct fiber_thread *thread)
{
	self->resumer = resumer;
	CHECK(fiber_switch(resumer, &self->fiber, thread) == thread);
}

static inline void resume(struct routine *self)
{
	resume_on(self, &main_fiber, &main_thread);
}

static inline void finish(struct routine *self)
{
	fiber_fini(&self->fiber);
	stack_pool_put(&pool, &self->stack);
}

static inline void count_for_ever(struct routine *self)
{
	for (;;) {
		self->count++;
		pause_routine(self);
	}
}

static noinline __attribute__((unused)) int use_stack(int depth)
{
	volatile char frame[256];

	memset((void *)frame, depth, sizeof(frame));
	return depth ? use_stack(depth - 1) + frame[depth] : 0;
}

#endif
