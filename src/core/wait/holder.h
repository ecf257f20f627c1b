/* SPDX-License-Identifier: MIT */
/*
 * holder.h - which task or thread holds a lock: one number, and its name.
 *
 *    0   address of the forks of a strand, aligned to 64
 *    0   address of the forks of a plain thread, aligned to 64
 *    1   address of a task with turns, aligned to 8
 *    └ bit 62: no address of a program has it
 *
 * The low three bits are zero: the lock's own.
 *
 * An ordinary task is the strand it runs on, from its first instruction to its
 * last.  That is what sley_forks_current points at anyway, so the inline paths of
 * <sley/sync.h> pay one load for it, and a switch pays nothing.  A plain thread
 * has a stack of forks of its own, which sley_forks_current points at once it has
 * been asked for (holder_of_thread).  Every other caller finds HOLDER_TAKES_NONE
 * in what sley_forks_current points at; no lock has that word, so it comes to the
 * slow path and asks here:
 *
 *   - a task with turns (core/task/turn.h) may have each turn on another strand, and is
 *     its own address;
 *   - a thread that is bound to a single-threaded runtime is what it was before;
 *   - a thread that serves a task in a blocking call or region is that task;
 *   - the thread that goes on in a child of fork() is what it was before.
 *
 * A strand that the task on it left without releasing a lock is taken for the
 * holder still, whatever it runs next; and so is a thread that begins where
 * another one ended.  So a name may be that of a later task; that some task has
 * broken the rule is certain.
 *
 * Rejected: the address of the task in a thread-local of its own (two
 * instructions more for each switch and each task, for a name that is better in a
 * program that is wrong already); numbers for threads that are never used again
 * (45 ns for a lock and an unlock on the slow path, in place of 14).
 */
#ifndef SLEY_CORE_WAIT_HOLDER_H
#define SLEY_CORE_WAIT_HOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sley_forks;

#define HOLDER_TAKES_NONE UINT64_MAX

/* The calling task or thread; never 0. */
uint64_t holder_current(void);

/* The calling thread, whatever it runs. */
uint64_t holder_of_thread(void);

/* The stack of forks of the calling thread, not of what it runs. */
struct sley_forks *holder_forks(void);

/* True: it was a task, and has ended.  False: nobody knows. */
bool holder_has_ended(uint64_t holder);

/* Its name for the user, as `task "name" (function f)`. */
void holder_describe(char *out, size_t size, uint64_t holder);

#endif
