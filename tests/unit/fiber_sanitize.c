/* SPDX-License-Identifier: MIT */
/*
 * fiber_sanitize.c - the sanitizers are told of every switch: M40.  That they
 * find nothing in the other tests proves little: they might see one stack.
 */
#include "fiber_routine.h"

/* What the sanitizer takes for the running fiber; NULL without one. */
static noinline void *sanitizer_identity(void)
{
	CHECK_EQ(use_stack(1), 1); /* makes AddressSanitizer's fake stack */
#if defined(SANITIZE_THREAD)
	return __tsan_get_current_fiber();
#elif defined(SANITIZE_ADDRESS)
	return __asan_get_current_fake_stack();
#else
	return NULL;
#endif
}

static void keep_identity(struct routine *self)
{
	void *identity = sanitizer_identity();

	CHECK(identity != self->identity);
	self->identity = identity;
	for (int i = 0; i < 10; i++) {
		pause_routine(self);
		CHECK(sanitizer_identity() == identity);
	}
}

TEST(m40_the_sanitizer_knows_which_fiber_runs)
{
	void *identity = sanitizer_identity();
	struct routine a, b;

	if (!identity)
		test_skip("no sanitizer");
	set_up();
	start(&a, keep_identity);
	start(&b, keep_identity);
	a.identity = identity;
	b.identity = identity;
	while (!a.has_ended) {
		resume(&a);
		CHECK(sanitizer_identity() == identity);
		resume(&b);
		CHECK(a.identity != b.identity);
	}
	finish(&a);
	finish(&b);
	tear_down();
}

#ifdef SANITIZE_ADDRESS
static noinline void end_with_red_zones(struct routine *self, size_t size)
{
	/* Its red zones are on the real stack, not on the fake one. */
	volatile char *array = __builtin_alloca(size);

	array[0] = 1;
	CHECK(__asan_region_is_poisoned(self->stack.low, self->stack.size));
	self->has_ended = true;
	fiber_switch_last(&self->fiber, self->resumer, self->thread);
}

static void leave_red_zones(struct routine *self)
{
	end_with_red_zones(self, 100);
}

TEST(m40_no_red_zones_are_left_on_the_stack_of_a_fiber_that_ended)
{
	struct routine a;

	set_up();
	start(&a, leave_red_zones);
	resume(&a);
	CHECK(a.has_ended);
	fiber_fini(&a.fiber);
	CHECK(!__asan_region_is_poisoned(a.stack.low, a.stack.size));
	stack_pool_put(&pool, &a.stack);
	tear_down();
}
#endif
