/* SPDX-License-Identifier: MIT */
/*
 * overflow.h - the report of a fiber that ran out of stack.
 *
 * A fault in the guard of the running fiber's stack prints one line with the
 * fiber's name, the size it had and the size that would do, and the process
 * dies of the signal.  Other faults go to the handler that had the signal before.
 *
 * fiber_thread_init() gives each thread the stack that the handler runs on.
 */
#ifndef SLEY_FIBER_OVERFLOW_H
#define SLEY_FIBER_OVERFLOW_H

/*
 * Counted: the last uninstall of a process undoes the first install.  Where
 * signals cannot be caught, overflows kill without a word.
 */
void fiber_overflow_install(void);
void fiber_overflow_uninstall(void);

#endif
