/* SPDX-License-Identifier: MIT */
/*
 * edge_list.h - the successors of one node: a list that is closed once.
 *
 * Any thread may add an edge while the list is open.  The owner closes the list
 * when the awaited event has happened, and gets all edges in the same step.  A
 * later adder sees that there is nothing to wait for.  So no waiter is forgotten,
 * and no waiter is told twice.
 *
 *      add ──► word: {life, newest} ──► edge ──► edge ──► 0
 *      close exchanges the word with {life, EDGES_CLOSED}, or that of the next life
 *
 * Lists are used again, and an adder may have been asleep meanwhile: the word has
 * the number of the list's life, which is checked by the same swap that adds.  The
 * edges are numbers, not pointers, to leave room for the life; 0 is no edge.
 *
 * Edges (in the other sense):
 *
 *   E1  an edge is added -> close takes it : the contents of the edge, and the
 *       waiter that the edge leads to
 *   E2  close, or a later life -> add finds it closed : the awaited event
 *
 * Rejected: a lock in each node (a line that is written twice by each thread that
 * looks, and a holder that may be preempted); counting the threads that may still
 * add (one more read-modify-write for each of these threads).
 */
#ifndef SLEY_LF_EDGE_LIST_H
#define SLEY_LF_EDGE_LIST_H

#include "base/atomic.h"
#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

#define EDGES_CLOSED UINT32_MAX

struct edge_list {
	uint64_t word; /* life << 32 | newest edge */
};

struct edge {
	uint32_t next; /* the edge that was added before */
	uint32_t to;   /* the waiter                     */
};

enum edges_added {
	EDGES_ADDED,
	EDGES_TOO_LATE, /* closed, in the life that was asked for */
	EDGES_GONE,     /* that life is over                      */
};

static inline uint32_t edges_life_of(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

static inline uint64_t edges_word(uint32_t life, uint32_t newest)
{
	return (uint64_t)life << 32 | newest;
}

/* Exact for the owner; for other threads a guess, to be checked by edges_look(). */
static inline uint32_t edges_life(const struct edge_list *list)
{
	/* relaxed: the owner's own; edges_look() orders the rest. */
	return edges_life_of(load_relaxed(&list->word));
}

/* The next life begins, and the list is open. */
static inline void edges_open(struct edge_list *list, uint32_t life)
{
	store_release(&list->word, edges_word(life, 0)); /* E2 */
}

/* A closed list: no thread needs to know of this life any more. */
static inline void edges_bury(struct edge_list *list)
{
	uint32_t life = edges_life(list) + 1;

	store_release(&list->word, edges_word(life, EDGES_CLOSED)); /* E2 */
}

/* Any thread: @edge, whose number is @id, to the list in that @life. */
static inline enum edges_added edges_add(struct edge_list *list, uint32_t life,
					 struct edge *edge, uint32_t id)
{
	uint64_t word = load_acquire(&list->word); /* E2 */

	for (;;) {
		if (edges_life_of(word) != life)
			return EDGES_GONE;
		if ((uint32_t)word == EDGES_CLOSED)
			return EDGES_TOO_LATE;
		edge->next = (uint32_t)word;
		if (!chaos_says(CHAOS_LOSE) &&
		    cas_acq_rel_acquire(&list->word, &word, /* E1, E2 */
					edges_word(life, id)))
			return EDGES_ADDED;
	}
}

/* While the list is open, and no thread adds: the newest edge, or 0. */
static inline uint32_t edges_newest(const struct edge_list *list)
{
	/* relaxed: the caller keeps adders away, and so orders it. */
	return (uint32_t)load_relaxed(&list->word);
}

/* By the owner, once: the newest edge, or 0.  @bury: this life is over, too. */
static inline uint32_t edges_close(struct edge_list *list, bool bury)
{
	uint64_t closed = edges_word(edges_life(list) + bury, EDGES_CLOSED);

	return (uint32_t)xchg_acq_rel(&list->word, closed); /* E1, E2 */
}

/* Any thread.  EDGES_ADDED: the list is open, and nothing was added. */
static inline enum edges_added edges_look(const struct edge_list *list,
					  uint32_t life)
{
	uint64_t word = load_acquire(&list->word); /* E2 */

	if (edges_life_of(word) != life)
		return EDGES_GONE;
	return (uint32_t)word == EDGES_CLOSED ? EDGES_TOO_LATE : EDGES_ADDED;
}

#endif
