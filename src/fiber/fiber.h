/* SPDX-License-Identifier: MIT */
/*
 * fiber.h - a flow of control with a stack of its own.  Mechanism only: who
 * runs when is decided elsewhere.
 *
 *   fiber_init ──► suspended ──[fiber_switch to it]──► running
 *                      ▲                                 │ │
 *                      └───[fiber_switch away from it]───┘ │
 *                                                          ▼
 *   fiber_fini ◄────────────────────[fiber_switch_last]── gone
 *
 * A fiber runs on one OS thread at a time, described by its fiber_thread, and
 * may run on another one after each switch.  It then finds there:
 *
 *   errno                  its own
 *   C++ exceptions         its own: those it has caught and not yet left
 *   rounding mode etc.     its own if save_fpu is set, at first the usual.  If
 *                          not, those of the thread it runs on, and a change
 *                          it makes is seen by the next fiber there that has
 *                          not asked either
 *   thread-locals          those of the thread it runs on, and the compiler
 *                          may have kept their addresses over the switch: use
 *                          what fiber_switch() returns, not a thread-local
 *
 * The switching thread does all of it before the switch: it stores its words
 * into @from and loads those of @to.  So nothing has to be done in the fiber
 * that goes on, and a fiber that starts is no special case.
 *
 * How a fiber ends: it calls fiber_switch_last(), which does not return.
 * After that, and on another stack, fiber_fini() is called on it; then its
 * stack may be put back.  A suspended fiber may be abandoned with fiber_fini(),
 * too: its frames are never left.
 *
 * The fiber_thread that runs it, the fiber and its stack must outlive it.
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
	uint32_t fpu[2]; /* for fibers that have none of their own */
	struct os_alt_stack alt_stack;
	struct os_guarded guarded; /* it must not end while it runs fibers */
};

/* Must end with fiber_switch_last(). */
typedef void fiber_entry(void *arg, struct fiber_thread *thread);

struct fiber {
	/* What a switch touches, in one cache line. */
	struct ctx ctx;
	void *saved_eh[2];
	uint32_t fpu[2];
	int saved_errno;
	bool save_fpu; /* may be set before the first switch */

	struct stack stack;
	const void *label; /* see base/label.h; for reports       */
	const void *code;  /* the function that it runs, the same */
	fiber_entry *entry;
	void *arg;
	struct sanitize sanitize;
};

/*
 * Once for each OS thread that switches, on that thread.  C++ exceptions are
 * kept apart if the C++ library is there by then.  Until its fini the thread is
 * not cancelled, and pthread_exit() is fatal: the stacks of others depend on it.
 */
void fiber_thread_init(struct fiber_thread *thread);
void fiber_thread_fini(struct fiber_thread *thread);

/*
 * In a child of fork(): what this thread was belongs to the parent.  It stays
 * on the stack it is on.  False: it was nothing.
 */
bool fiber_thread_forget(void);

/* The first switch to @fiber calls entry(arg, thread) on @stack. */
void fiber_init(struct fiber *fiber, const struct stack *stack,
		fiber_entry *entry, void *arg);
/* Makes @fiber stand for what the calling thread runs at the moment. */
void fiber_init_thread(struct fiber *fiber, struct fiber_thread *thread);
/* @fiber must not be running.  Its stack remains the caller's. */
void fiber_fini(struct fiber *fiber);

/*
 * The fiber that the calling OS thread runs, or NULL.  Looks it up anew each
 * time; safe in signal handlers.
 */
struct fiber *fiber_current(void);

/* The calling fiber has the words that a program starts with again. */
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
 * @thread is the one that runs the caller.  Returns when somebody switches to
 * @from: the thread that runs it now.
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
	__builtin_trap(); /* somebody switched to a fiber that is gone */
}

#endif
