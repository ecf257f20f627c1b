/* SPDX-License-Identifier: MIT */
/*
 * heap.h - an intrusive pairing heap: smallest key first, any node removable.
 *
 *              root                  Every node is no smaller than its parent.
 *               │ child              Children hang in a singly linked row.
 *               ▼
 *               a ──next──► b ──next──► c
 *               │                       │
 *               ▼                       ▼
 *               d                       e ──next──► f
 *
 * @slot is the address of the one pointer that points at the node: the root
 * pointer, its parent's child or its left sibling's next.  That makes cutting
 * a node out the same three lines everywhere, and NULL there says that the
 * node is in no heap.  It also ties the heap to its place: a struct heap must
 * not be moved while it holds nodes.
 *
 * Insertion melds two trees, O(1).  Removal cuts the node out and melds its
 * children in two passes, O(log n) amortised: left to right in pairs, then
 * the pairs right to left.  The second pass is what keeps rows short; melding
 * them one after the other would be O(n) for sorted input.  Both passes are
 * loops, so that a row of a million timers does not need a million frames.
 *
 * All zero is an empty heap, or a node in no heap.  Nodes of equal keys come
 * out in no particular order.  Whoever owns the heap serialises.
 *
 * Rejected: a binary heap in an array (it grows, so insertion can fail, and
 * each node needs its index kept); a timer wheel (rounds its deadlines, which
 * we promise not to); a red-black tree (same bounds, insertion O(log n), and
 * most timers are removed before they get near the front, where the pairing
 * heap has hardly sorted them yet).
 */
#ifndef SLEY_BASE_HEAP_H
#define SLEY_BASE_HEAP_H

#include "base/assert.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_node {
	uint64_t key;            /* set by heap_insert(), then constant */
	struct heap_node *child; /* first of the row below              */
	struct heap_node *next;  /* right sibling                       */
	struct heap_node **slot; /* what points here; NULL: in no heap  */
};

struct heap {
	struct heap_node *root;
};

static inline bool heap_contains(const struct heap_node *node)
{
	return node->slot != NULL;
}

/* Puts @node, with all that hangs below it, where @slot is. */
static inline void heap_hang(struct heap_node **slot, struct heap_node *node)
{
	*slot = node;
	if (node)
		node->slot = slot;
}

/*
 * Melds two trees into one; the larger root becomes the other's first child.
 * Sets neither next nor slot of the result: the caller knows where it goes.
 */
static inline struct heap_node *heap_meld(struct heap_node *a,
					  struct heap_node *b)
{
	struct heap_node *small = b->key < a->key ? b : a;
	struct heap_node *large = small == a ? b : a;

	heap_hang(&large->next, small->child);
	heap_hang(&small->child, large);
	return small;
}

/* Melds a row of siblings into one tree; NULL for an empty row. */
static inline struct heap_node *heap_meld_row(struct heap_node *row)
{
	struct heap_node *pairs = NULL; /* linked by next, rightmost first */
	struct heap_node *tree = NULL;

	while (row) {
		struct heap_node *a = row, *b = row->next;

		row = b ? b->next : NULL;
		if (b)
			a = heap_meld(a, b);
		a->next = pairs;
		pairs = a;
	}
	while (pairs) {
		struct heap_node *pair = pairs;

		pairs = pair->next;
		tree = tree ? heap_meld(tree, pair) : pair;
	}
	return tree;
}

/* Melds @tree into the heap. */
static inline void heap_add_tree(struct heap *heap, struct heap_node *tree)
{
	if (heap->root)
		tree = heap_meld(heap->root, tree);
	tree->next = NULL;
	heap_hang(&heap->root, tree);
}

static inline void heap_insert(struct heap *heap, struct heap_node *node,
			       uint64_t key)
{
	sley_assert(!heap_contains(node));
	node->key = key;
	node->child = NULL;
	heap_add_tree(heap, node);
}

/* @node must be in @heap; it need not be the smallest. */
static inline void heap_remove(struct heap *heap, struct heap_node *node)
{
	struct heap_node *tree;

	sley_assert(heap_contains(node));
	sley_assert(*node->slot == node);
	heap_hang(node->slot, node->next);
	tree = heap_meld_row(node->child);
	if (tree)
		heap_add_tree(heap, tree);
	node->slot = NULL;
}

/* NULL when empty. */
static inline struct heap_node *heap_min(const struct heap *heap)
{
	return heap->root;
}

/* Removes and returns the smallest; NULL when empty. */
static inline struct heap_node *heap_take_min(struct heap *heap)
{
	struct heap_node *min = heap->root;

	if (min)
		heap_remove(heap, min);
	return min;
}

#endif
