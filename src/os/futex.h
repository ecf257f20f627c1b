/* SPDX-License-Identifier: MIT */
/*
 * futex.h - futex(2): a thread sleeps until a word changes.  Idle workers, plain
 * threads that wait, and waiters for spin locks all sleep here.
 *
 * Words are private to the process; only the words of the shared calls lie in
 * memory that processes share.  Deadlines are absolute on the clock of
 * os_now(), so that a wait resumed after a spurious return needs no arithmetic.
 * No call changes errno.
 */
#ifndef SLEY_OS_FUTEX_H
#define SLEY_OS_FUTEX_H

#include "base/compiler.h"

#include <stdint.h>

/*
 * Sleeps while *@word is @expected.  Returns 0 when woken, when the word was
 * different, or for no reason (a signal): the caller looks again in any case.
 * Returns -ETIMEDOUT once os_now() >= @deadline_ns; UINT64_MAX never comes.
 */
int os_futex_wait(const uint32_t *word, uint32_t expected,
		  uint64_t deadline_ns);

/* Wakes at most @nr sleepers of @word.  Later sleepers are not woken. */
void os_futex_wake(const uint32_t *word, int nr);

/* The same for words that other processes wait for, and wake. */
#ifdef SLEY_MODEL /* one memory, one kind of word */
#define os_futex_wait_shared os_futex_wait
#define os_futex_wake_shared os_futex_wake
#else
int os_futex_wait_shared(const uint32_t *word, uint32_t expected,
			 uint64_t deadline_ns);
void os_futex_wake_shared(const uint32_t *word, int nr);
#endif

#endif
