/* SPDX-License-Identifier: MIT */
/*
 * fiber_told.c - what the sanitizers are told, in a build without one: M40.
 *
 * fiber_sanitize.c asks the real ones, and is skipped in such a build.  Here
 * fiber.c is compiled as for both of them, and their calls are functions of this
 * test, which keep a book of what they were told.
 */
#define SANITIZE_ADDRESS 1
#define SANITIZE_THREAD 1

/* Names of their own: the library has these functions, too. */
#define fiber_thread_init told_thread_init
#define fiber_thread_fini told_thread_fini
#define fiber_thread_forget told_thread_forget
#define fiber_current told_current
#define fiber_init told_init
#define fiber_init_thread told_init_thread
#define fiber_fini told_fini
#define fiber_swap_fpu told_swap_fpu
#define fiber_reset_fpu told_reset_fpu

#include "fiber/fiber.c"

#include "fiber_routine.h"

static struct {
	char fiber[8]; /* the first one is that of the thread */
	int nr_fibers;
	void *current;   /* of the fibers, for ThreadSanitizer           */
	void *destroyed; /* the last one                                 */
	const char *low; /* the stack to go to, for AddressSanitizer     */
	size_t size;
	bool switching; /* between start and finish                      */
	bool for_good;  /* it left without a place to save a fake stack  */
	const volatile void *unpoisoned; /* the last stack that was cleared */
	size_t unpoisoned_size;
} book = { .nr_fibers = 1, .current = book.fiber };

void *__tsan_get_current_fiber(void)
{
	return book.current;
}

void *__tsan_create_fiber(unsigned int flags)
{
	(void)flags;
	CHECK_LT(book.nr_fibers, (int)sizeof(book.fiber));
	return &book.fiber[book.nr_fibers++];
}

void __tsan_destroy_fiber(void *fiber)
{
	CHECK(fiber != book.current);
	book.destroyed = fiber;
}

void __tsan_switch_to_fiber(void *fiber, unsigned int flags)
{
	(void)flags;
	CHECK(fiber != book.current);
	book.current = fiber;
}

void __sanitizer_start_switch_fiber(void **save, const void *low, size_t size)
{
	CHECK(!book.switching);
	book.switching = true;
	book.for_good = !save;
	book.low = low;
	book.size = size;
}

/*
 * The emulator with large pages does not list the first thread's stack in
 * /proc/self/maps, where libc looks for it.
 */
static bool libc_knows_this_stack(void)
{
	pthread_attr_t attr;

	if (pthread_getattr_np(pthread_self(), &attr))
		return false;
	pthread_attr_destroy(&attr);
	return true;
}

/* On the stack that was announced. */
void __sanitizer_finish_switch_fiber(void *fake, const void **low, size_t *size)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	(void)fake, (void)low, (void)size;
	CHECK(book.switching);
	book.switching = false;
	if (book.current == book.fiber && !libc_knows_this_stack())
		CHECK(!book.low && !book.size);
	else
		CHECK(here - (uintptr_t)book.low < book.size);
}

void __asan_unpoison_memory_region(const volatile void *low, size_t size)
{
	book.unpoisoned = low;
	book.unpoisoned_size = size;
}

static void look_in_the_book(struct routine *self)
{
	for (int i = 0; i < 10; i++) {
		CHECK(!book.switching);
		CHECK(!book.for_good);
		CHECK(book.current == self->fiber.sanitize.tsan_fiber);
		CHECK(book.low == self->stack.low);
		pause_routine(self);
	}
}

static void resume_and_look(struct routine *self)
{
	resume(self);
	CHECK(!book.switching);
	CHECK(book.current == book.fiber);
	CHECK_EQ(book.for_good, self->has_ended);
}

TEST(m40_the_sanitizers_are_told_of_each_switch)
{
	struct routine a, b;

	set_up();
	start(&a, look_in_the_book);
	start(&b, look_in_the_book);
	CHECK(a.fiber.sanitize.tsan_fiber != b.fiber.sanitize.tsan_fiber);
	while (!a.has_ended) {
		resume_and_look(&a);
		resume_and_look(&b);
	}
	fiber_fini(&a.fiber);
	CHECK(book.destroyed == a.fiber.sanitize.tsan_fiber);
	CHECK(book.unpoisoned == a.stack.low);
	CHECK_EQ(book.unpoisoned_size, a.stack.size);
	stack_pool_put(&pool, &a.stack);
	finish(&b);
	tear_down();
}
