/* SPDX-License-Identifier: MIT */
/*
 * holder.h - which task or thread holds a lock: a number, and a name for it.
 *
 *    0   address of the forks of a strand, aligned to 64
 *    0   address of the forks of a plain thread, aligned to 64
 *    1   address of a task with turns, aligned to 8
 *    └ bit 62: no address of a program has it
 *
 * The low three bits are zero: the lock uses them.
 *
 * An ordinary task is the strand that it runs on, from the first instruction of the
 * task to the last.  sley_forks_current points at that strand's forks anyway, so
 * the inline paths of <sley/sync.h> pay a single load, and a switch pays nothing.
 * A plain thread has its own stack of forks.  sley_forks_current points there after
 * the thread's first call of holder_current(), or its first fork.  For every other
 * caller, sley_forks_current points at forks whose ->unlocked is HOLDER_TAKES_NONE, a
 * value that the word of a lock never has.  So these callers come to the slow path
 * and ask here:
 *
 *   - a task with turns (core/task/turn.h) may have each turn on another strand,
 *     and is the address of the task;
 *   - a thread that is bound to a single-threaded runtime is what it was before;
 *   - a thread that serves a task in a blocking call or region is that task;
 *   - the thread that goes on in a child of fork() is what it was before.
 *
 * If a task ends without releasing a lock, its strand is still taken for the
 * holder, whatever the strand runs next.  The same holds for a thread that begins
 * where another thread ended.  So a message may name a later task.  The name may be
 * wrong; that a lock was not released is true.
 *
 * Rejected: the address of the task in a thread-local of its own (two
 * instructions more for each switch and each task, for a better name in a
 * program that is wrong already); numbers for threads that are never used again
 * (45 ns for a lock and an unlock on the slow path, in place of 14).
 */
#ifndef SLEY_CORE_WAIT_HOLDER_H
#define SLEY_CORE_WAIT_HOLDER_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sley_forks;
struct sley_task;

#define HOLDER_TAKES_NONE UINT64_MAX

/* The calling task or thread; never 0. */
uint64_t holder_current(void);

/* The calling thread, whatever task runs there. */
uint64_t holder_of_thread(void);

/* The stack of forks of the calling thread, not of the task that it runs. */
struct sley_forks *holder_forks(void);

/* The task that holds a lock now; NULL: a thread.  The caller has the lock's list. */
struct sley_task *holder_task(uint64_t holder);

/* True: the holder was a task, and the task has ended.  False: not known. */
bool holder_has_ended(uint64_t holder);

/* The holder's name for the user, as `task "name" (function f)`. */
void holder_describe(char *out, size_t size, uint64_t holder);

/* Aborts with @rule, in which %s stands for the holder's name. */
cold noreturn_fn void holder_misuse(const char *function, const char *rule,
				    uint64_t holder);

#endif
