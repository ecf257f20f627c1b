/* SPDX-License-Identifier: MIT */
/*
 * fiber.h - a flow of control with a stack of its own.  Mechanism only: which
 * fiber runs when is decided elsewhere.
 *
 *   fiber_init ──► suspended ──[fiber_switch to it]──► running
 *                      ▲                                 │ │
 *                      └───[fiber_switch away from it]───┘ │
 *                                                          ▼
 *   fiber_fini ◄────────────────────[fiber_switch_last]── gone
 *
 * A fiber runs on one OS thread at a time, described by a fiber_thread, and
 * may run on another thread after each switch.  The fiber then finds there:
 *
 *   errno                  the fiber's own
 *   C++ exceptions         the fiber's own: caught and not yet left
 *   rounding mode etc.     the fiber's own if save_fpu is set, at first the usual
 *                          mode.  If not, the mode of the thread; the next fiber
 *                          there without save_fpu sees any change
 *   thread-locals          the thread's own, and the compiler may have kept the
 *                          addresses over the switch: use the result of
 *                          fiber_switch(), not a thread-local
 *
 * The switching thread does all of that before the switch: it stores the words of
 * the thread into @from and loads the words of @to.  So the fiber that goes on has
 * nothing to do, and a fiber that starts is no special case.
 *
 * How a fiber ends: the fiber calls fiber_switch_last(), which does not return.
 * After that, and on another stack, fiber_fini() is called for the fiber; then the
 * stack may be put back.  A suspended fiber may be abandoned with fiber_fini(),
 * too: the frames of such a fiber are never left.
 *
 * The fiber_thread, the struct fiber and the stack must outlive the running fiber.
 */
#ifndef SLEY_FIBER_FIBER_H
#define SLEY_FIBER_FIBER_H

#include "arch/ctx.h"
#include "arch/fpu.h"
#include "base/assert.h"
#include "base/compiler.h"
#include "base/label.h"
#include "fiber/sanitize.h"
#include "mem/stack.h"
#include "os/signal.h"
#include "os/thread.h"

#include <stdbool.h>
#include <stdint.h>

struct fiber_thread {
	int *errno_location;
	void **eh_globals; /* two words; NULL: a program without C++ */
	struct fiber *current;
	uint32_t fpu[2]; /* for fibers without save_fpu */
	struct os_alt_stack alt_stack;
	struct os_guarded guarded; /* a thread with fibers must not end */
};

/* Must end with fiber_switch_last(). */
typedef void fiber_entry(void *arg, struct fiber_thread *thread);

struct fiber {
	/* Touched by a switch, in one cache line. */
	struct ctx ctx;
	void *saved_eh[2];
	uint32_t fpu[2];
	int saved_errno;
	bool save_fpu; /* may be set before the first switch */

	struct stack stack;
	const void *label; /* see base/label.h; for reports       */
	const void *code;  /* the function that runs, the same */
	fiber_entry *entry;
	void *arg;
	struct sanitize sanitize;
};

/*
 * Once for each OS thread that switches, on that thread.  C++ exceptions are
 * kept apart if the C++ library is there by then.  Until fiber_thread_fini() the
 * thread is not cancelled, and pthread_exit() is fatal: the stacks of other fibers
 * depend on the thread.
 */
void fiber_thread_init(struct fiber_thread *thread);
void fiber_thread_fini(struct fiber_thread *thread);

/*
 * In a child of fork(): the fiber_thread of this thread belongs to the parent.  The
 * thread stays on the stack it is on.  False: there was no fiber_thread.
 */
bool fiber_thread_forget(void);

/* The first switch to @fiber calls entry(arg, thread) on @stack. */
void fiber_init(struct fiber *fiber, const struct stack *stack,
		fiber_entry *entry, void *arg);
/* Makes @fiber stand for the code that the calling thread runs at the moment. */
void fiber_init_thread(struct fiber *fiber, struct fiber_thread *thread);
/* @fiber must not be running.  The stack remains the caller's. */
void fiber_fini(struct fiber *fiber);

/*
 * The fiber that the calling OS thread runs, or NULL.  Looked up anew each
 * time; safe in signal handlers.
 */
struct fiber *fiber_current(void);

/* Gives the calling fiber the words that a program starts with. */
void fiber_reset_fpu(void);

cold void fiber_swap_fpu(struct fiber *from, struct fiber *to,
			 struct fiber_thread *thread);

static inline __attribute__((always_inline)) void
fiber_swap_words(struct fiber *from, struct fiber *to,
		 struct fiber_thread *thread)
{
	int *errno_location = thread->errno_location;
	void **eh_globals = thread->eh_globals;

	sley_assert(thread->current == from);
	thread->current = to;
	from->saved_errno = *errno_location;
	*errno_location = to->saved_errno;
	if (eh_globals) {
		from->saved_eh[0] = eh_globals[0];
		from->saved_eh[1] = eh_globals[1];
		eh_globals[0] = to->saved_eh[0];
		eh_globals[1] = to->saved_eh[1];
	}
	if (unlikely(from->save_fpu | to->save_fpu))
		fiber_swap_fpu(from, to, thread);
}

/*
 * fiber_switch - suspend @from, which is running, and go on with @to.
 *
 * @thread runs the caller.  Returns after the next switch to @from: the thread
 * that runs @from now.
 */
static inline __attribute__((always_inline)) struct fiber_thread *
fiber_switch(struct fiber *from, struct fiber *to, struct fiber_thread *thread)
{
	fiber_swap_words(from, to, thread);
	sanitize_leave(&from->sanitize, &to->sanitize, false);
	thread = ctx_switch(&from->ctx, &to->ctx, thread);
	sanitize_enter(&from->sanitize);
	return thread;
}

/*
 * fiber_switch_last - leave @from for good and go on with @to.
 *
 * From the moment @to runs, the only thing to be done with @from is
 * fiber_fini().
 */
static inline __attribute__((always_inline, noreturn)) void
fiber_switch_last(struct fiber *from, struct fiber *to,
		  struct fiber_thread *thread)
{
	fiber_swap_words(from, to, thread);
	sanitize_leave(&from->sanitize, &to->sanitize, true);
	ctx_switch(&from->ctx, &to->ctx, thread);
	__builtin_trap(); /* switched to a fiber that is gone */
}

#endif
