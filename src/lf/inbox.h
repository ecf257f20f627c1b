/* SPDX-License-Identifier: MIT */
/*
 * inbox.h - many threads put nodes in, one owner takes them all, and sleeps.
 *
 *      put ──► word ──► newest ──► ... ──► oldest ──► NULL
 *
 * The word is the newest node, or one of three marks:
 *
 *   EMPTY   no node is there; the owner is awake and will look
 *   IDLE    no node is there; the owner has parked
 *   CLOSED  no owner takes nodes any more
 *
 *   EMPTY, node -> node    [inbox_put]    the owner will see the node
 *   IDLE        -> node    [inbox_put]    the putter, and no other thread, wakes
 *                                         the owner
 *   CLOSED                 [inbox_put]    refused
 *   node        -> EMPTY   [inbox_take]   by the owner: all nodes
 *   EMPTY, seen -> IDLE    [inbox_rest]   by the owner, or on behalf of the owner,
 *                                         once the owner may be woken; fails if a
 *                                         node came
 *   EMPTY, node -> CLOSED  [inbox_close]  by the owner
 *   CLOSED      -> EMPTY   [inbox_open]   by the next owner
 *
 * So a wake-up is neither lost nor given twice: the putter that replaces IDLE has
 * the wake-up, and only the owner, awake, brings IDLE back.  That is why waking is
 * no compare-and-swap of the owner's state, and why everything that may wake the
 * owner, a deadline included, has to be a node.
 *
 * The owner can look at a single node without taking the node out (inbox_peek):
 * one read-modify-write less for an owner that gets one node at a time.  A node
 * that the owner has *seen* in that way stays in the word until the owner takes,
 * rests or closes, and must not be reused until then: if the node's memory were
 * used again for a node that is put in here, the owner could not tell the new node
 * from the seen node.
 *
 * Several nodes can be put in as one (inbox_put_chain): they are taken in their
 * order, with nothing in between, and there is one wake-up for all of them.
 *
 * A late putter, which knew an earlier owner, puts its node into the inbox of the
 * next owner, since inboxes are never freed.  Each node says which owner it is for.
 *
 * Edges:
 *
 *   B1  put swaps the word -> take, close exchange it : the node, and the struct
 *       around the node.  All puts since the last take are one release sequence
 *   B2  rest makes it IDLE -> put replaces that : the owner has parked
 *
 * Rejected: a queue whose putters exchange its tail and link afterwards (the
 * owner has to wait for a putter that was preempted in between, and cannot tell
 * "empty" from "almost there" when it is about to sleep); a flag beside the list
 * (two read-modify-writes for each message instead of one).
 */
#ifndef SLEY_LF_INBOX_H
#define SLEY_LF_INBOX_H

#include "base/assert.h"
#include "base/atomic.h"
#include "base/compiler.h"
#include "lf/push_list.h"

#include <stdbool.h>
#include <stdint.h>

#define INBOX_EMPTY ((uintptr_t)0)
#define INBOX_IDLE ((uintptr_t)1)
#define INBOX_CLOSED ((uintptr_t)2)

struct inbox {
	uintptr_t word;
};

enum inbox_answer {
	INBOX_TAKEN,   /* the owner will see the node */
	INBOX_WAKE,    /* the caller wakes the owner  */
	INBOX_REFUSED, /* the inbox is closed         */
};

/* A glance: is there no node to take? */
static inline bool inbox_quiet(const struct inbox *inbox)
{
	/* relaxed: a hint; take and rest look again. */
	return load_relaxed(&inbox->word) <= INBOX_CLOSED;
}

/*
 * Any thread: all nodes from @newest down to @oldest, which are linked in this
 * way; all of them are there, or none.  If the nodes are refused, the link of
 * @oldest is undefined.
 */
static inline must_check enum inbox_answer
inbox_put_chain(struct inbox *inbox, struct push_node *newest,
		struct push_node *oldest)
{
	/* relaxed: a guess, checked by the swap and never followed. */
	uintptr_t old = load_relaxed(&inbox->word);

	do {
		if (unlikely(old == INBOX_CLOSED))
			return INBOX_REFUSED;
		oldest->next = old <= INBOX_CLOSED ? NULL
						   : (struct push_node *)old;
	} while (chaos_says(CHAOS_LOSE) ||
		 !cas_acq_rel(&inbox->word, &old,
			      (uintptr_t)newest)); /* B1 B2 */
	return old == INBOX_IDLE ? INBOX_WAKE : INBOX_TAKEN;
}

/* The same with one node. */
static inline must_check enum inbox_answer inbox_put(struct inbox *inbox,
						     struct push_node *node)
{
	return inbox_put_chain(inbox, node, node);
}

/* The newest node, or NULL for a mark. */
static inline struct push_node *inbox_newest(uintptr_t word)
{
	return word <= INBOX_CLOSED ? NULL : (struct push_node *)word;
}

/* Turned round: oldest first, and without @seen, the oldest. */
static inline struct push_node *inbox_chain(struct push_node *node,
					    const struct push_node *seen)
{
	struct push_node *chain = NULL;

	while (node != seen) {
		struct push_node *older = node->next;

		node->next = chain;
		chain = node;
		node = older;
	}
	return chain;
}

/* The owner, awake: the only node; NULL: there is no node, or there are more. */
static inline struct push_node *inbox_peek(const struct inbox *inbox)
{
	uintptr_t word = load_acquire(&inbox->word); /* B1 */

	if (word <= INBOX_CLOSED || ((struct push_node *)word)->next)
		return NULL;
	return (struct push_node *)word;
}

/* A glance: has any node come but @seen, which may be NULL? */
static inline bool inbox_has_more(const struct inbox *inbox,
				  const struct push_node *seen)
{
	/* relaxed: a hint; take and rest look again. */
	uintptr_t word = load_relaxed(&inbox->word);

	return word > INBOX_CLOSED && word != (uintptr_t)seen;
}

/*
 * The owner, awake: all nodes, newest first, down to @seen, which may be NULL.
 * For an owner that turns the list round while reading.
 */
static inline struct push_node *inbox_grab(struct inbox *inbox,
					   const struct push_node *seen)
{
	if (!seen && inbox_quiet(inbox))
		return NULL;
	return inbox_newest(xchg_acquire(&inbox->word, INBOX_EMPTY)); /* B1 */
}

/* The same, oldest first and without @seen. */
static inline struct push_node *inbox_take(struct inbox *inbox,
					   const struct push_node *seen)
{
	return inbox_chain(inbox_grab(inbox, seen), seen);
}

/* False: a node has come since @seen, and the owner must not sleep. */
static inline must_check bool inbox_rest(struct inbox *inbox,
					 const struct push_node *seen)
{
	uintptr_t old = (uintptr_t)seen;

	return cas_release(&inbox->word, &old, INBOX_IDLE); /* B2 */
}

/* The owner, awake: as inbox_take().  No node comes any more. */
static inline struct push_node *inbox_close(struct inbox *inbox,
					    const struct push_node *seen)
{
	uintptr_t word = xchg_acquire(&inbox->word, INBOX_CLOSED); /* B1 */

	return inbox_chain(inbox_newest(word), seen);
}

/* The next owner, before any putter knows of this owner. */
static inline void inbox_open(struct inbox *inbox)
{
	/* relaxed: announcing the new owner publishes it; to a late putter the
	 * word says nothing of the new owner. */
	store_relaxed(&inbox->word, INBOX_EMPTY);
}

#endif
