/* SPDX-License-Identifier: MIT */
/*
 * sley/waitq.h - the head of every object with waiters.
 *
 * Private to the library.  It is a public header so that objects can live in
 * memory of the caller and have inline fast paths.  Bit 0 of the word locks the
 * list of waiters, the other bits belong to the object.  Zeroed memory is an
 * unlocked queue without waiters.
 */
#ifndef SLEY_WAITQ_H
#define SLEY_WAITQ_H

#include <sley/compiler.h>

struct sley_waiter; /* lives on the stack of the waiter */

struct sley_waitq {
	uint64_t word;
	struct sley_waiter *first;
};

#define SLEY_WAITQ_INIT { 0, NULL }

#endif
