/* SPDX-License-Identifier: MIT */
/*
 * signal.h - catching SIGSEGV and SIGBUS, and the stack to do it on.
 *
 * One function of the process is asked about every fault.  If the function knows
 * the address, it has printed its last words and the process dies of the signal,
 * with the faulting instruction in the core file.  If not, the handler that had the
 * signal before is asked.  If there was no such handler, the function is told so,
 * and prints last words in that case, too.
 *
 * The function runs where the fault happened, on the thread's alternate stack: only
 * async-signal-safe calls, and os_print_error() for output.
 */
#ifndef SLEY_OS_SIGNAL_H
#define SLEY_OS_SIGNAL_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* @last: no other handler is asked.  True: the function knows the address. */
typedef bool os_fault_fn(uintptr_t address, bool last);

/*
 * The caller pairs and serialises the calls.  A signal that cannot be caught (a
 * filter of system calls may refuse) is left alone.
 */
void os_fault_catch(os_fault_fn *fn);
void os_fault_release(void);

/* The alternate signal stack of the calling thread. */
struct os_alt_stack {
	void *memory; /* NULL: the thread had a stack, or there is no memory */
	size_t size;
};

void os_alt_stack_set(struct os_alt_stack *stack);
void os_alt_stack_unset(struct os_alt_stack *stack);

void os_print_error(const char *text, size_t size);

#endif
