/* SPDX-License-Identifier: MIT */
/*
 * futex.h - the one place where a thread sleeps.
 *
 * Words are private to the process.  Deadlines are absolute on the clock of
 * os_now(), so that a wait resumed after a spurious return needs no arithmetic.
 * Neither call changes errno.
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

/* Wakes at most @nr sleepers of @word.  Who sleeps later is not woken. */
void os_futex_wake(const uint32_t *word, int nr);

#endif
