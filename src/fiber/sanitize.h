/* SPDX-License-Identifier: MIT */
/*
 * sanitize.h - what AddressSanitizer, ThreadSanitizer and Valgrind must be
 * told when the stack changes.
 *
 *   sanitize_begin    a fiber gets its stack
 *   sanitize_leave    immediately before the switch, on the old stack
 *   sanitize_enter    immediately after the switch, on the new stack
 *   sanitize_end      the fiber is gone, its stack may be used for other things
 *
 * All are inlined: ThreadSanitizer keeps a shadow of the call stack for each
 * fiber, and a function that is entered in one fiber and left in another would
 * pop a frame it has not pushed.  For the same reason no instrumented code may
 * stand between sanitize_leave() and the switch; and no code with a local in
 * memory, because AddressSanitizer keeps the locals of the leaving function on a
 * fake stack, which is gone when a fiber leaves for good.
 *
 * ThreadSanitizer sees a switch as an order between the two fibers.  That is
 * true: the fibers run one after the other on one thread.
 */
#ifndef SLEY_FIBER_SANITIZE_H
#define SLEY_FIBER_SANITIZE_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZE_ADDRESS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZE_ADDRESS 1
#endif
#endif

/* Sources of models are compiled as for ThreadSanitizer, which is not there. */
#if defined(SLEY_MODEL)
#elif defined(__SANITIZE_THREAD__)
#define SANITIZE_THREAD 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SANITIZE_THREAD 1
#endif
#endif

#ifdef SANITIZE_ADDRESS
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#ifdef SANITIZE_THREAD
#include <sanitizer/tsan_interface.h>
#endif

#if defined(__has_include) && !defined(SLEY_MODEL)
#if __has_include(<valgrind/valgrind.h>)
#define SANITIZE_VALGRIND 1
#include <valgrind/valgrind.h>
#endif
#endif

#define sanitize_inline static inline __attribute__((always_inline))

struct sanitize {
#ifdef SANITIZE_ADDRESS
	const void *low;
	size_t size;
	void *fake_stack; /* of a fiber that does not run */
#endif
#ifdef SANITIZE_THREAD
	void *tsan_fiber;
#endif
	unsigned int valgrind_id;
};

sanitize_inline void sanitize_begin(struct sanitize *s, void *low, size_t size)
{
	(void)s, (void)low, (void)size;
#ifdef SANITIZE_ADDRESS
	s->low = low;
	s->size = size;
	s->fake_stack = NULL;
#endif
#ifdef SANITIZE_THREAD
	s->tsan_fiber = __tsan_create_fiber(0);
#endif
#ifdef SANITIZE_VALGRIND
	s->valgrind_id = VALGRIND_STACK_REGISTER(low, (char *)low + size);
#endif
}

/* The same for the stack that a thread was born with. */
sanitize_inline void sanitize_begin_thread(struct sanitize *s)
{
	(void)s;
#ifdef SANITIZE_ADDRESS
	pthread_attr_t attr;
	void *low = NULL;

	s->size = 0;
	if (!pthread_getattr_np(pthread_self(), &attr)) {
		pthread_attr_getstack(&attr, &low, &s->size);
		pthread_attr_destroy(&attr);
	}
	s->low = low;
	s->fake_stack = NULL;
#endif
#ifdef SANITIZE_THREAD
	s->tsan_fiber = __tsan_get_current_fiber();
#endif
}

sanitize_inline void sanitize_leave(struct sanitize *from, struct sanitize *to,
				    bool for_good)
{
	(void)from, (void)to, (void)for_good;
#ifdef SANITIZE_ADDRESS
	/* No place to save the fake stack means: free it. */
	__sanitizer_start_switch_fiber(for_good ? NULL : &from->fake_stack,
				       to->low, to->size);
#endif
#ifdef SANITIZE_THREAD
	__tsan_switch_to_fiber(to->tsan_fiber, 0);
#endif
}

sanitize_inline void sanitize_enter(struct sanitize *s)
{
	(void)s;
#ifdef SANITIZE_ADDRESS
	__sanitizer_finish_switch_fiber(s->fake_stack, NULL, NULL);
#endif
}

sanitize_inline void sanitize_end(struct sanitize *s)
{
	(void)s;
#ifdef SANITIZE_ADDRESS
	/* The last frames never returned; their red zones are still there. */
	__asan_unpoison_memory_region(s->low, s->size);
#endif
#ifdef SANITIZE_THREAD
	__tsan_destroy_fiber(s->tsan_fiber);
#endif
#ifdef SANITIZE_VALGRIND
	VALGRIND_STACK_DEREGISTER(s->valgrind_id);
#endif
}

#endif
