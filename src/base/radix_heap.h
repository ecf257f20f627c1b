/* SPDX-License-Identifier: MIT */
/*
 * radix_heap.h - an intrusive queue of deadlines: due nodes come out in order, any
 * node can be removed, and nodes far away are hardly touched.
 *
 * The heap knows a time that has passed, `last`.  A node is in the bucket numbered
 * by the highest bit in which the node's key differs from that time: bucket 0 holds
 * the due nodes, bucket 1 the one nanosecond after `last`, and each further bucket
 * twice as long a time as the bucket before.
 *
 *   last    0110 1000
 *   bucket  1: ...1001   2: ...101x   3: ...11xx   5: 0111xxxx   8: 1xxxxxxx
 *
 * When the time of the first non-empty bucket begins, its nodes are spread over the
 * buckets below, with `last` moved up.  So a node moves a few times before it is
 * due, the more often the nearer it comes, and never if it is removed early.
 * Most nodes are removed early: a deadline is there to be met.
 *
 * Inserting and removing are a handful of stores to the node and its neighbours
 * in the bucket, O(1).  Taking is O(64) amortised.  The smallest key is not known,
 * but the heap knows a bound: no key is below the bound.  The bound is exact except
 * after the removal of the smallest key, and becomes exact again when the time of
 * the bound has come.
 *
 * @slot is the address of the only pointer that points at the node: the bucket
 * or the left neighbour's next.  NULL there says that the node is in no heap.
 * So a heap must not be moved while it holds nodes.
 *
 * radix_heap_init() makes an empty heap; a zeroed node is in no heap.  Nodes of
 * equal keys come out in no particular order.  The owner of the heap serialises.
 *
 * Rejected: a pairing heap, which we had.  Cancelling 100,000 waits in the order
 * in which the waits began makes a pairing heap compare nodes all over the memory,
 * on stacks that are cold: 350 ns each, a third of the whole wait.  A binary heap in
 * an array (the array grows, so insertion can fail, and each node needs its index
 * kept).  A timer wheel with slots of a fixed width (rounds deadlines, which we
 * promise not to, or sorts each slot in the end, and is this with more empty slots).
 */
#ifndef SLEY_BASE_RADIX_HEAP_H
#define SLEY_BASE_RADIX_HEAP_H

#include "base/assert.h"
#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RADIX_BUCKETS 65

struct radix_node {
	uint64_t key;             /* set by the insertion, then constant  */
	struct radix_node *next;  /* right neighbour                      */
	struct radix_node **slot; /* the pointer to here; NULL: in no heap */
};

struct radix_heap {
	uint64_t last;   /* keys up to this are due                      */
	uint64_t bound;  /* no key is smaller; UINT64_MAX: an empty heap */
	uint64_t filled; /* bit i: bucket i + 1 is not empty            */
	struct radix_node *bucket[RADIX_BUCKETS];
};

static inline void radix_heap_init(struct radix_heap *heap)
{
	*heap = (struct radix_heap){ .bound = UINT64_MAX };
}

static inline bool radix_heap_contains(const struct radix_node *node)
{
	return node->slot != NULL;
}

static inline unsigned int radix_bucket_of(uint64_t key, uint64_t last)
{
	if (key <= last)
		return 0;
	return 64 - (unsigned int)__builtin_clzll(key ^ last);
}

/* Put @node, whose key is set, into its bucket. */
static inline void radix_heap_place(struct radix_heap *heap,
				    struct radix_node *node)
{
	unsigned int i = radix_bucket_of(node->key, heap->last);
	struct radix_node **slot = &heap->bucket[i];

	node->next = *slot;
	if (node->next)
		node->next->slot = &node->next;
	node->slot = slot;
	*slot = node;
	if (i)
		heap->filled |= 1ull << (i - 1);
}

static inline void radix_heap_insert(struct radix_heap *heap,
				     struct radix_node *node, uint64_t key)
{
	sley_assert(!radix_heap_contains(node));
	node->key = key;
	radix_heap_place(heap, node);
	if (key < heap->bound)
		heap->bound = key;
}

/* When the first non-empty bucket begins; no node is due. */
static inline uint64_t radix_heap_begin(const struct radix_heap *heap)
{
	uint64_t bit = heap->filled & -heap->filled;

	return bit ? (heap->last | bit) & ~(bit - 1) : UINT64_MAX;
}

/* The smallest key may be gone. */
static inline void radix_heap_raise_bound(struct radix_heap *heap)
{
	uint64_t begin = heap->bucket[0] ? 0 : radix_heap_begin(heap);

	if (begin > heap->bound)
		heap->bound = begin;
}

/* @node must be in @heap. */
static inline void radix_heap_remove(struct radix_heap *heap,
				     struct radix_node *node)
{
	struct radix_node **slot = node->slot;

	sley_assert(radix_heap_contains(node));
	sley_assert(*slot == node);
	*slot = node->next;
	if (node->next)
		node->next->slot = slot;
	else if (slot > &heap->bucket[0] && slot < heap->bucket + RADIX_BUCKETS)
		heap->filled &= ~(1ull << (slot - heap->bucket - 1));
	node->slot = NULL;
	if (node->key <= heap->bound)
		radix_heap_raise_bound(heap);
}

/* The time of the first non-empty bucket has come: spread that bucket. */
static inline void radix_heap_spread(struct radix_heap *heap, uint64_t now)
{
	unsigned int first = (unsigned int)__builtin_ctzll(heap->filled);
	struct radix_node *node = heap->bucket[first + 1], *next;
	uint64_t min = UINT64_MAX;

	for (next = node; next; next = next->next) {
		if (next->key < min)
			min = next->key;
	}
	heap->bucket[first + 1] = NULL;
	heap->filled &= heap->filled - 1;
	heap->last = min < now ? min : now;
	heap->bound = min;
	for (; node; node = next) {
		next = node->next;
		radix_heap_place(heap, node);
	}
}

/* Removes and returns the smallest node if its key is not above @now; else NULL. */
static inline struct radix_node *radix_heap_take(struct radix_heap *heap,
						 uint64_t now)
{
	struct radix_node *node;

	while (!(node = heap->bucket[0])) {
		if (heap->bound <= now)
			radix_heap_raise_bound(heap);
		if (heap->bound > now || !heap->filled)
			return NULL;
		radix_heap_spread(heap, now);
	}
	radix_heap_remove(heap, node);
	return node;
}

#endif
