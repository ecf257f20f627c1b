/* SPDX-License-Identifier: MIT */
/*
 * ring.h - a bounded FIFO of pointers, from which others may steal half.
 *
 * One owner pushes at the tail.  Owner and thieves alike take at the head, by
 * compare-and-swap.
 *
 *              head                              tail
 *                │                                 │
 *                ▼                                 ▼
 *      ... free [ oldest | next | ... | newest ] free ...
 *         owner and thieves                     owner
 *
 * Indices are 64 bits wide and only grow; item i lives in slot i % capacity;
 * live items are [head, tail).
 *
 * To take k items, the owner or a thief reads head, copies k slots, and moves
 * head by k with one compare-and-swap.  If the swap succeeds, head has not
 * changed since it was read: head only grows.  Slot i is overwritten only by a
 * push that has seen head beyond i, so the copies are the pushed items, and no
 * other taker got one of them.  If the swap fails, the copies may be anything
 * and are thrown away.  Therefore slots are accessed atomically, but need no
 * order of their own.
 *
 * Edges:
 *
 *   R1  push/steal stores tail  ->  steal loads tail : the slots below it are
 *                                   written, and what their items point at
 *   R2  taking moves head       ->  push/steal loads head : the slots below it
 *                                   have been read and may be overwritten
 *   R3  taking moves head       ->  steal loads head : the tail that the mover
 *                                   saw is seen too, so that head <= tail
 *
 * Every change of head is a read-modify-write, so all changes form one release
 * sequence: a thread that acquires a head has R2 and R3 with every thread that
 * has moved head.
 *
 * Why stealing half is sound here and not on a Chase-Lev deque.  There the
 * owner takes at its own end, and needs a compare-and-swap for the last item
 * only.  A thief that has read [top, bottom) and is about to take half of it
 * with one swap of top does not notice an owner that meanwhile came down past
 * the middle: top has not moved, the swap succeeds, and items are delivered
 * twice.  Here no item leaves but through head, so any change that the thief
 * has not seen makes the swap fail.  The price is one locked instruction for
 * each take by the owner, and that the owner gets the oldest item, not the
 * newest.
 *
 * Rejected: growing (an old buffer cannot be freed while a thief may still be
 * reading it; the overflow goes to the shared queue instead); 32-bit indices
 * (a thief that sleeps through 2^32 takes would succeed wrongly); a copy of
 * head for the owner on its own line (the owner takes by swap, so it has the
 * line).
 *
 * All zero is an empty ring.
 */
#ifndef SLEY_LF_RING_H
#define SLEY_LF_RING_H

#include "base/assert.h"
#include "base/atomic.h"
#include "base/chaos.h"
#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef RING_CAPACITY
#define RING_CAPACITY 1024
#endif
_Static_assert(RING_CAPACITY >= 2, "half of it must be an item");
_Static_assert((RING_CAPACITY & (RING_CAPACITY - 1)) == 0,
	       "indices become slots by masking");

struct ring {
	cache_aligned uint64_t head; /* moved by each taker           */
	cache_aligned uint64_t tail; /* moved by the owner          */
	cache_aligned void *slot[RING_CAPACITY];
};
_Static_assert(offsetof(struct ring, tail) >= CACHE_LINE, "own cache line");

static inline void **ring_slot(struct ring *ring, uint64_t index)
{
	return &ring->slot[index & (RING_CAPACITY - 1)];
}

/* How many items the ring may hold. */
static inline uint64_t ring_capacity(void)
{
	return chaos_few(RING_CAPACITY, 4);
}

/* Half of @nr, rounded up: a single item can be stolen, too. */
static inline uint64_t ring_half(uint64_t nr)
{
	return nr - nr / 2;
}

/*
 * How many items there are.  Exact for the owner while no thief steals; any
 * other thread gets a number that was never wrong by more than what moved
 * meanwhile.
 */
static inline uint32_t ring_size(const struct ring *ring)
{
	/* relaxed: a snapshot; both may have moved before the caller looks. */
	uint64_t head = load_relaxed(&ring->head);
	/* relaxed: the same; an older tail than head counts as empty. */
	uint64_t tail = load_relaxed(&ring->tail);

	if (tail <= head)
		return 0;
	return tail - head < RING_CAPACITY ? (uint32_t)(tail - head)
					   : RING_CAPACITY;
}

/* The index of the oldest item, and the index of the next push. */
static inline uint64_t ring_head(const struct ring *ring)
{
	/* relaxed: a snapshot; it only grows. */
	return load_relaxed(&ring->head);
}

static inline uint64_t ring_tail(const struct ring *ring)
{
	/* relaxed: the owner's own; for others a snapshot. */
	return load_relaxed(&ring->tail);
}

/* Owner only.  False: full, and @item is still the caller's. */
static inline must_check bool ring_push(struct ring *ring, void *item)
{
	/* relaxed: only the owner, the caller, writes tail. */
	uint64_t tail = load_relaxed(&ring->tail);
	uint64_t head = load_acquire(&ring->head); /* R2 */

	sley_assert(item);
	sley_assert(tail - head <= RING_CAPACITY);
	if (tail - head >= ring_capacity())
		return false;
	/* relaxed: R1 publishes it. */
	store_relaxed(ring_slot(ring, tail), item);
	store_release(&ring->tail, tail + 1); /* R1 */
	return true;
}

/* Owner only.  The oldest item; NULL when empty. */
static inline void *ring_take(struct ring *ring)
{
	/* relaxed: only the owner, the caller, writes tail. */
	uint64_t tail = load_relaxed(&ring->tail);
	/* relaxed: the caller wrote all items above head. */
	uint64_t head = load_relaxed(&ring->head);

	while (head != tail) {
		/* relaxed: the caller wrote it; worthless if the swap fails. */
		void *item = load_relaxed(ring_slot(ring, head));

		if (!chaos_says(CHAOS_LOSE) &&
		    cas_release(&ring->head, &head, head + 1)) /* R2 R3 */
			return item;
	}
	return NULL;
}

/*
 * Owner only.  Moves the older half, rounded up, but at most @max items, to
 * @out, oldest first, and returns how many.  Makes room when a push failed.
 */
static inline uint32_t ring_take_half(struct ring *ring, void **out,
				      uint32_t max)
{
	/* relaxed: only the owner, the caller, writes tail. */
	uint64_t tail = load_relaxed(&ring->tail);
	/* relaxed: the caller wrote all items above head. */
	uint64_t head = load_relaxed(&ring->head);

	for (;;) {
		uint64_t nr = ring_half(tail - head);

		if (nr > max)
			nr = max;
		if (nr == 0)
			return 0;
		for (uint64_t i = 0; i < nr; i++) {
			/* relaxed: the caller wrote it. */
			out[i] = load_relaxed(ring_slot(ring, head + i));
		}
		if (!chaos_says(CHAOS_LOSE) &&
		    cas_release(&ring->head, &head, head + nr)) /* R2 R3 */
			return (uint32_t)nr;
	}
}

/*
 * Copies @nr items of @from, from index @head on, to behind the tail of @into.
 */
static inline void ring_copy(struct ring *from, uint64_t head,
			     struct ring *into, uint64_t tail, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++) {
		/* relaxed: R1 published it; worthless if the swap fails. */
		void *item = load_relaxed(ring_slot(from, head + i));

		/* relaxed: no thread looks behind the tail until R1 moves it. */
		store_relaxed(ring_slot(into, tail + i), item);
	}
}

/*
 * Steals the older half of @from, rounded up, for the owner of @into, the
 * caller.  Returns the oldest and appends the others to @into in their order;
 * takes no more than fit.  NULL: @from was empty.  Tries again only after
 * another thread took an item, so some thread always gets on.
 *
 * head is read before tail; the other way round head could lie beyond the tail
 * just read.  This way tail may be too young for head, even by more than the
 * capacity; then head has moved meanwhile, and the swap fails.
 */
static inline void *ring_steal_half(struct ring *from, struct ring *into)
{
	/* relaxed: only the owner of @into, the caller, writes its tail. */
	uint64_t into_tail = load_relaxed(&into->tail);
	uint64_t into_head = load_acquire(&into->head); /* R2 */
	uint64_t room = ring_capacity() - (into_tail - into_head);

	sley_assert(from != into);
	sley_assert(room <= RING_CAPACITY);
	for (;;) {
		uint64_t head = load_acquire(&from->head); /* R3 */
		uint64_t tail = load_acquire(&from->tail); /* R1 */
		uint64_t nr = ring_half(tail - head);
		void *first;

		sley_assert(head <= tail);
		if (head == tail)
			return NULL;
		if (nr > room + 1)
			nr = room + 1;
		/* relaxed: R1 published it; worthless if the swap fails. */
		first = load_relaxed(ring_slot(from, head));
		ring_copy(from, head + 1, into, into_tail, nr - 1);
		if (chaos_says(CHAOS_LOSE) ||
		    !cas_release(&from->head, &head, head + nr)) /* R2 R3 */
			continue;
		if (nr > 1)
			store_release(&into->tail, into_tail + nr - 1); /* R1 */
		return first;
	}
}

/*
 * The oldest item, for a thief that has no ring; NULL: @from was empty.  As
 * ring_steal_half() of one item.
 */
static inline void *ring_steal_one(struct ring *from)
{
	for (;;) {
		uint64_t head = load_acquire(&from->head); /* R3 */
		uint64_t tail = load_acquire(&from->tail); /* R1 */
		void *first;

		sley_assert(head <= tail);
		if (head == tail)
			return NULL;
		/* relaxed: R1 published it; worthless if the swap fails. */
		first = load_relaxed(ring_slot(from, head));
		if (!chaos_says(CHAOS_LOSE) &&
		    cas_release(&from->head, &head, head + 1)) /* R2 R3 */
			return first;
	}
}

#endif
