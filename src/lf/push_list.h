/* SPDX-License-Identifier: MIT */
/*
 * push_list.h - many threads push single nodes, any thread takes all at once.
 *
 *      push ──► head ──► newest ──► ... ──► oldest ──► NULL
 *      take_all exchanges head with NULL and turns the chain round: FIFO
 *
 * Pushing never waits for room and allocates nothing: the node is the caller's
 * own.  Since nodes leave only all together, the usual trap of lock-free
 * stacks (a head that was popped and pushed again meanwhile, with another
 * successor) does not exist: a pusher that finds the head it has read links
 * its node to the true top, whatever happened in between.
 *
 * Edges:
 *
 *   PU1  push swaps head  ->  take_all exchanges head : the node's link, and
 *                                                      the struct around it
 *
 * The pushes since the last take_all are read-modify-writes, one release
 * sequence, so acquiring the head acquires from every pusher, not from the
 * last pusher alone.
 *
 * Per pusher the order is kept; between pushers it is that of their swaps.
 * All zero is an empty list.
 *
 * Rejected: an intrusive queue with one consumer (a consumer that must wait
 * for a preempted pusher's link, and thieves could not help themselves); a
 * bounded lane (a push to a full lane must wait, and the pusher may be the
 * very thread that would empty the lane).
 */
#ifndef SLEY_LF_PUSH_LIST_H
#define SLEY_LF_PUSH_LIST_H

#include "base/assert.h"
#include "base/atomic.h"

#include <stdbool.h>
#include <stddef.h>

struct push_node {
	struct push_node *next;
};

struct push_list {
	struct push_node *head; /* the newest */
};

/* A glance, from any thread: without an edge the answer may be outdated. */
static inline bool push_list_empty(const struct push_list *list)
{
	/* relaxed: a hint; take_all's exchange decides. */
	return load_relaxed(&list->head) == NULL;
}

/* Any thread.  True: the list was empty, so perhaps no thread knows of it yet. */
static inline bool push_list_push(struct push_list *list,
				  struct push_node *node)
{
	/* relaxed: a guess, checked by the swap and never followed. */
	struct push_node *top = load_relaxed(&list->head);

	do {
		sley_assert(top != node);
		node->next = top;
	} while (chaos_says(CHAOS_LOSE) ||
		 !cas_release(&list->head, &top, node)); /* PU1 */
	return top == NULL;
}

/* Any thread.  All nodes as a chain, oldest first; NULL when empty. */
static inline struct push_node *push_list_take_all(struct push_list *list)
{
	struct push_node *chain = NULL, *node;

	/* An empty list is the usual case: looking does not take the line. */
	if (push_list_empty(list))
		return NULL;
	node = xchg_acquire(&list->head, NULL); /* PU1 */
	while (node) {
		struct push_node *older = node->next;

		node->next = chain;
		chain = node;
		node = older;
	}
	return chain;
}

#endif
