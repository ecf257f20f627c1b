/* SPDX-License-Identifier: MIT */
/*
 * side.h - one direction of a descriptor: how many edges it had, and which tasks wait.
 *
 *   word:  number of edges << 32 | SPECIAL | lock of the list
 *
 * The number changes under the lock only, and is read without it: io/ready.h says why
 * no edge is missed.
 *
 * Empty.  A call that got less than it asked for from a TCP socket has emptied it, and
 * so has a call that got -EAGAIN.  The caller notes the number of step 1.  As long as
 * the number is the same, the next caller need not try: one system call less for each
 * request of a server.  But the end of a stream, an error, and urgent data come
 * without another edge, if they came before the short read.  An edge that tells of any
 * of these is *special*: from then on every call is tried.
 *
 * Edges:
 *
 *   W1  see core/wait/waitq.h; here from the reactor that counts an edge to the caller
 *       that reads the number
 */
#ifndef SLEY_IO_SIDE_H
#define SLEY_IO_SIDE_H

#include "base/atomic.h"
#include "core/wait/waitq.h"

struct io_side {
	struct sley_waitq q;
	uint32_t empty; /* 1 + the number at which there was nothing; 0: unknown */
};

#define SIDE_SPECIAL 2ull
#define SIDE_EDGE (1ull << 32)

/* A side, as a caller saw it before its try. */
struct side_look {
	uint32_t number;
	bool empty; /* there is no need to try */
};

static inline uint32_t side_number(uint64_t word)
{
	return (uint32_t)(word / SIDE_EDGE);
}

static inline struct side_look side_look(const struct io_side *side)
{
	/* Acquires for what follows: the kernel is asked after this look. */
	uint64_t word = load_acquire(&side->q.word); /* W1 */
	uint32_t number = side_number(word);

	/* relaxed: an old number is another number. */
	return (struct side_look){ number,
				   load_relaxed(&side->empty) == number + 1 &&
					   !(word & SIDE_SPECIAL) };
}

/* The kernel had nothing left after @look. */
static inline void side_note_empty(struct io_side *side,
				   const struct side_look *look)
{
	/* relaxed: says nothing about memory of this process. */
	store_relaxed(&side->empty, look->number + 1);
}

/* The next file begins: nothing is known of it.  The number goes on. */
static inline void side_renew(struct io_side *side)
{
	uint64_t word = waitq_lock(&side->q);

	/* relaxed: under the lock; and the number has no user now. */
	store_relaxed(&side->empty, 0);
	waitq_unlock_as(&side->q, word & ~SIDE_SPECIAL);
}

#endif
