/* SPDX-License-Identifier: MIT */
/*
 * fiber_overflow.c - what is said when a fiber runs out of stack, and that
 * other faults are left to others.
 */
#include "fiber/fiber.h"
#include "fiber/overflow.h"
#include "harness/test.h"
#include "os/map.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>

#define STACK_SIZE ((size_t)64 << 10)

static struct fiber_thread main_thread;
static struct fiber main_fiber;

static noinline int recurse(int depth)
{
	volatile char frame[200];

	frame[0] = (char)depth;
	if (depth < 0)
		return 0;
	return recurse(depth + 1) + frame[0];
}

static void recurse_for_ever(void *arg, struct fiber_thread *thread)
{
	recurse(0);
	fiber_switch_last(arg, &main_fiber, thread);
}

static noinline int use_large_frame(void)
{
	volatile char frame[24 << 10];

	/* Keeps the compiler from leaving out what nobody looks at. */
	__asm__ volatile("" : : "r"(frame) : "memory");
	frame[0] = 1; /* the far end first: in the guard, if not beyond it */
	return frame[0];
}

static noinline int leave_little(const struct fiber *fiber, size_t room)
{
	volatile char frame[512];
	char *here = (char *)&frame[0];

	frame[1] = 1;
	if ((size_t)(here - fiber->stack.low) > room)
		return leave_little(fiber, room) + frame[1];
	return use_large_frame() + frame[1];
}

static void step_into_the_guard(void *arg, struct fiber_thread *thread)
{
	leave_little(arg, 8 << 10);
	fiber_switch_last(arg, &main_fiber, thread);
}

/* Does not return. */
static void overflow(fiber_entry *entry, const char *name, bool no_guard_advice)
{
	static struct fiber fiber;
	static struct stack_pool pool;
	struct stack stack;

	CHECK_EQ(stack_pool_init(&pool, STACK_SIZE, no_guard_advice), 0);
	CHECK_EQ(stack_pool_get(&pool, &stack), 0);
	fiber_overflow_install();
	fiber_thread_init(&main_thread);
	fiber_init_thread(&main_fiber, &main_thread);
	fiber_init(&fiber, &stack, entry, &fiber);
	fiber.label = name;
	fiber_switch(&main_fiber, &fiber, &main_thread);
}

TEST_ABORTS(an_overflow_names_the_fiber_and_its_size,
	    "stack overflow in fiber \"glutton\": its stack has 64 KiB and it "
	    "needs more than 64 KiB: set .stack_kib to at least 128\n")
{
	overflow(recurse_for_ever, "glutton", false);
}

TEST_ABORTS(an_overflow_hits_a_protected_guard_too,
	    "stack overflow in fiber \"glutton\": its stack has 64 KiB")
{
	overflow(recurse_for_ever, "glutton", true);
}

TEST_ABORTS(an_overflow_of_a_fiber_without_a_name_is_reported,
	    "stack overflow in fiber \"unnamed\"")
{
	overflow(recurse_for_ever, NULL, false);
}

TEST_ABORTS(a_large_frame_is_caught_by_the_guard,
	    "stack overflow in fiber \"large\"")
{
	/* Frames have another layout under a sanitizer: only recurse. */
	overflow(test_sanitizer() ? recurse_for_ever : step_into_the_guard,
		 "large", false);
}

static void *overflow_elsewhere(void *arg)
{
	overflow(recurse_for_ever, arg, false);
	return NULL;
}

TEST_ABORTS(an_overflow_is_reported_from_any_thread,
	    "stack overflow in fiber \"far away\"")
{
	static char name[] = "far away";

	pthread_join(test_thread(overflow_elsewhere, name), NULL);
}

static sigjmp_buf after_fault;
static volatile sig_atomic_t nr_caught;

static void catch_fault(int number)
{
	(void)number;
	nr_caught++;
	siglongjmp(after_fault, 1);
}

static volatile sig_atomic_t nr_seen;

static void see_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	nr_seen++;
}

TEST(a_fault_elsewhere_goes_to_the_handler_before_us)
{
	struct sigaction action = { .sa_handler = catch_fault };
	size_t page_size = os_page_size();
	volatile char *page = os_map(page_size);

	CHECK(page);
	CHECK_EQ(os_guard_protect((void *)page, page_size), 0);
	CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
	fiber_overflow_install();
	fiber_thread_init(&main_thread);
	fiber_init_thread(&main_fiber, &main_thread);
	if (sigsetjmp(after_fault, 1) == 0) {
		page[0] = 1;
		CHECK(false); /* the page can be written */
	}
	CHECK_EQ(nr_caught, 1);
	fiber_thread_fini(&main_thread);
	fiber_overflow_uninstall();
	os_unmap((void *)page, page_size);
}

TEST(a_signal_that_was_sent_goes_to_the_handler_before_us)
{
	struct sigaction action = { .sa_sigaction = see_signal,
				    .sa_flags = SA_SIGINFO };

	CHECK_EQ(sigaction(SIGBUS, &action, NULL), 0);
	fiber_overflow_install();
	raise(SIGBUS);
	CHECK_EQ(nr_seen, 1);
	fiber_overflow_uninstall();
}

TEST(the_last_uninstall_restores_the_handler)
{
	struct sigaction before, between, after;

	CHECK_EQ(sigaction(SIGSEGV, NULL, &before), 0);
	fiber_overflow_install();
	fiber_overflow_install();
	fiber_overflow_uninstall();
	CHECK_EQ(sigaction(SIGSEGV, NULL, &between), 0);
	CHECK(between.sa_sigaction != before.sa_sigaction);
	fiber_overflow_uninstall();
	CHECK_EQ(sigaction(SIGSEGV, NULL, &after), 0);
	CHECK(after.sa_sigaction == before.sa_sigaction);
}

TEST(an_alternate_stack_of_the_thread_is_left_alone)
{
	static char own[64 << 10];
	stack_t mine = { .ss_sp = own, .ss_size = sizeof(own) };
	stack_t now;

	CHECK_EQ(sigaltstack(&mine, NULL), 0);
	fiber_thread_init(&main_thread);
	CHECK_EQ(sigaltstack(NULL, &now), 0);
	CHECK(now.ss_sp == (void *)own);
	fiber_thread_fini(&main_thread);
	CHECK_EQ(sigaltstack(NULL, &now), 0);
	CHECK(now.ss_sp == (void *)own);
	mine.ss_flags = SS_DISABLE;
	CHECK_EQ(sigaltstack(&mine, NULL), 0);
}
