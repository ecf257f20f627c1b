/* SPDX-License-Identifier: MIT */
/*
 * fiber.c - a flow of control with a stack of its own.
 */
#include "fiber/fiber.h"

#include "base/atomic.h"

#include <errno.h>

#ifndef SLEY_ARCH_PORTABLE_CTX_SWITCH_H /* a portable context is large */
_Static_assert(offsetof(struct fiber, stack) <= CACHE_LINE,
	       "what a switch touches fits one cache line");
#endif

/*
 * Of the C++ library, if there is one: two words for each thread, the
 * exceptions being handled and the number being thrown.
 */
extern void *__cxa_get_globals(void) __attribute__((weak));

/* For the handler of faults; all other code gets a pointer handed down. */
static __thread struct fiber_thread *this_thread
	__attribute__((tls_model("initial-exec")));

/*
 * pthread_exit() on the stack of a fiber unwinds to the fiber's first frame and
 * jumps to the thread's own stack from there: the thread ends unnoticed.
 */
static void thread_lost(void)
{
	const struct fiber *fiber = fiber_current();
	const char *name = fiber ? label_name(fiber->label) : NULL;

	if (fiber && fiber->stack.low)
		sley_fatal("the thread of task \"%s\" ended: a task must not "
			   "call pthread_exit()",
			   name ? name : "unnamed");
	sley_fatal("a thread that serves a runtime ended: do not call "
		   "pthread_exit() in a blocking call, or in a bound thread "
		   "before sley_unbind()");
}

void fiber_thread_init(struct fiber_thread *thread)
{
	sley_assert(!this_thread);
	*thread = (struct fiber_thread){
		.errno_location = &errno,
		.eh_globals = __cxa_get_globals ? __cxa_get_globals() : NULL,
	};
	fpu_save(thread->fpu);
	os_alt_stack_set(&thread->alt_stack);
	this_thread = thread;
	os_thread_guard(&thread->guarded, thread_lost);
}

void fiber_thread_fini(struct fiber_thread *thread)
{
	sley_assert(this_thread == thread);
	this_thread = NULL;
	os_thread_unguard(&thread->guarded);
	os_alt_stack_unset(&thread->alt_stack);
}

bool fiber_thread_forget(void)
{
	struct fiber_thread *thread = this_thread;

	this_thread = NULL;
	if (thread)
		os_thread_unguard(&thread->guarded);
	return thread;
}

/*
 * Not inlined and not pure to the compiler: the caller may run on another
 * thread at the next call.
 */
noinline struct fiber *fiber_current(void)
{
	struct fiber_thread *thread = this_thread;

	compiler_barrier();
	return thread ? thread->current : NULL;
}

static void fiber_start(void *arg, void *pass)
{
	struct fiber *fiber = arg;

	sanitize_enter(&fiber->sanitize);
	fiber->entry(fiber->arg, pass);
	sley_bug("the entry function of a fiber returned");
}

void fiber_init(struct fiber *fiber, const struct stack *stack,
		fiber_entry *entry, void *arg)
{
	fiber->saved_eh[0] = NULL;
	fiber->saved_eh[1] = NULL;
	fiber->saved_errno = 0;
	fiber->save_fpu = false;
	fiber->stack = *stack;
	/* relaxed: read by reports only. */
	store_relaxed(&fiber->label, NULL);
	fiber->entry = entry;
	fiber->arg = arg;
	fpu_init(fiber->fpu);
	sanitize_begin(&fiber->sanitize, stack->low, stack->size);
	ctx_init(&fiber->ctx, stack->low, stack->size, fiber_start, fiber);
}

void fiber_init_thread(struct fiber *fiber, struct fiber_thread *thread)
{
	*fiber = (struct fiber){ .label = "thread" };
	sanitize_begin_thread(&fiber->sanitize);
	thread->current = fiber;
}

void fiber_fini(struct fiber *fiber)
{
	/* A thread's own stack is not ours to forget. */
	if (fiber->stack.low)
		sanitize_end(&fiber->sanitize);
}

void fiber_reset_fpu(void)
{
	uint32_t now[2], usual[2];

	fpu_init(usual);
	fpu_swap(now, usual);
}

void fiber_swap_fpu(struct fiber *from, struct fiber *to,
		    struct fiber_thread *thread)
{
	fpu_swap(from->save_fpu ? from->fpu : thread->fpu,
		 to->save_fpu ? to->fpu : thread->fpu);
}
