/* SPDX-License-Identifier: MIT */
/*
 * futex.h - futex(2): a thread sleeps until a word changes.  Idle workers, plain
 * threads that wait, and waiters for spin locks all sleep here.
 *
 * Words are private to the process; only the words of the shared calls lie in
 * memory that processes share.  A thread that sleeps on a shared word need not be
 * able to write it: a mapping that is readable only is enough, to sleep and to wake.
 * So the owner of a page wakes the sleepers of all other processes, and the worst
 * that such a process can do to them is to wake them for nothing.  Deadlines are absolute on the clock of
 * os_now(), so that a wait resumed after a spurious return needs no arithmetic.
 * No call changes errno.
 */
#ifndef SLEY_OS_FUTEX_H
#define SLEY_OS_FUTEX_H

#include "base/compiler.h"

#include <stdbool.h>
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

#define OS_FUTEX_WORDS_MAX 128

struct os_futex_word {
	const uint32_t *word;
	uint32_t expected;
	bool is_private; /* os_futex_wake() wakes, and not os_futex_wake_shared() */
};

/*
 * Sleeps while each of the @nr @words, 1 to OS_FUTEX_WORDS_MAX, is as expected.  They are
 * shared words unless they say otherwise: os_futex_wake_shared() wakes, also where only this
 * process sees the word.
 * 0 and -ETIMEDOUT as above.  Other errors come at once, and nothing was waited for:
 * -ENOSYS: the kernel has no such call (Linux before 5.16), or a filter forbids it, and
 *          it will be so the next time
 * -ENOMEM: the kernel has no memory for the words now
 * The caller then sleeps on a single word, with a deadline.
 */
must_check int os_futex_wait_many(const struct os_futex_word *words, int nr,
				  uint64_t deadline_ns);

#endif
