/* SPDX-License-Identifier: MIT */
/*
 * fiber_exceptions.c - C++ exceptions belong to the fiber that threw them.
 * What happens inside the fibers is in fiber_exceptions.cpp.
 */
#include "fiber/fiber.h"
#include "harness/test.h"

#define NR_FIBERS 2
#define STACK_SIZE ((size_t)64 << 10)

typedef bool exception_body(void *self, int id);

void suspend_me(void *self);
bool rethrow_after_suspension(void *self, int id);
bool suspend_while_throwing(void *self, int id);
void throw_out_of_entry(void);
int nr_uncaught(void);

struct routine {
	struct fiber fiber;
	struct fiber *resumer;
	struct fiber_thread *thread;
	struct stack stack;
	exception_body *body;
	int id;
	bool result;
	bool has_ended;
};

static struct stack_pool pool;
static struct routine routines[NR_FIBERS];

void suspend_me(void *self)
{
	struct routine *routine = self;

	routine->thread = fiber_switch(&routine->fiber, routine->resumer,
				       routine->thread);
}

static void routine_entry(void *arg, struct fiber_thread *thread)
{
	struct routine *self = arg;

	self->thread = thread;
	self->result = self->body(self, self->id);
	self->has_ended = true;
	fiber_switch_last(&self->fiber, self->resumer, self->thread);
}

static void start_all(exception_body *body)
{
	CHECK_EQ(stack_pool_init(&pool, STACK_SIZE, false), 0);
	for (int i = 0; i < NR_FIBERS; i++) {
		struct routine *self = &routines[i];

		self->body = body;
		self->id = i + 1;
		CHECK_EQ(stack_pool_get(&pool, &self->stack), 0);
		fiber_init(&self->fiber, &self->stack, routine_entry, self);
	}
}

static void finish_all(void)
{
	for (int i = 0; i < NR_FIBERS; i++) {
		CHECK(routines[i].has_ended);
		CHECK(routines[i].result);
		fiber_fini(&routines[i].fiber);
		stack_pool_put(&pool, &routines[i].stack);
	}
	stack_pool_fini(&pool);
}

/* Resumes each fiber that has not ended, once, on a thread of its own. */
static void *resume_all(void *arg)
{
	struct fiber_thread thread;
	struct fiber fiber;
	bool *are_done = arg;

	fiber_thread_init(&thread);
	fiber_init_thread(&fiber, &thread);
	*are_done = true;
	for (int i = 0; i < NR_FIBERS; i++) {
		if (routines[i].has_ended)
			continue;
		routines[i].resumer = &fiber;
		fiber_switch(&fiber, &routines[i].fiber, &thread);
		CHECK_EQ(nr_uncaught(), 0);
		*are_done = false;
	}
	fiber_fini(&fiber);
	fiber_thread_fini(&thread);
	return NULL;
}

TEST(two_fibers_in_a_catch_rethrow_their_own)
{
	bool are_done = false;

	start_all(rethrow_after_suspension);
	while (!are_done)
		resume_all(&are_done);
	finish_all();
}

TEST(a_fiber_rethrows_on_another_thread_what_it_caught_on_this_one)
{
	bool are_done = false;

	start_all(rethrow_after_suspension);
	while (!are_done) {
		resume_all(&are_done);
		if (!are_done)
			pthread_join(test_thread(resume_all, &are_done), NULL);
	}
	finish_all();
}

TEST(a_destructor_may_suspend_its_fiber_while_an_exception_flies)
{
	bool are_done = false;

	start_all(suspend_while_throwing);
	while (!are_done)
		resume_all(&are_done);
	finish_all();
}

static bool throw_out(void *self, int id)
{
	(void)self;
	(void)id;
	throw_out_of_entry();
	return false;
}

TEST_ABORTS(an_exception_that_nobody_catches_ends_at_the_entry,
	    "nobody catches this")
{
	bool are_done = false;

	start_all(throw_out);
	resume_all(&are_done);
}
