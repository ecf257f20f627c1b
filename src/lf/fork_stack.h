/* SPDX-License-Identifier: MIT */
/*
 * fork_stack.h - the forked, not yet joined children of one fiber.
 *
 *            tail          split           head
 *             │              │               │
 *   ┌────┬────┼────┬────┬────┼────┬────┬─────┤
 *   │stolen   │  public      │  private      │ free
 *   └────┴────┴────┴────┴────┴────┴────┴─────┘
 *      thieves ─►                   ◄─ owner pushes and joins here
 *
 * One owner, the task that forks.  It pushes a child with plain stores and, in
 * the usual case, joins it with plain loads: what lies above the split is its
 * alone.  {tail, split} is one word, changed by read-modify-write only.  A
 * thief takes the child at the tail, the oldest and largest, by moving the
 * tail; it reads the slot after it has won, which is safe because the owner
 * cannot reuse a slot before it has joined the child in it.  The owner takes
 * its newest public child back by moving the split down.
 *
 * A child's own word says how it ends: PENDING, DONE, or the address of the
 * parent that waits for it.  The finisher exchanges it for DONE and touches the
 * child no more; if it found a parent there, it wakes it.
 *
 * The storage grows; what it grows out of is kept until the end, since a thief
 * may still read there.
 *
 * Edges:
 *
 *   F1  owner publishes by moving the split up -> thief moves the tail : the
 *       child and its slot are written
 *   F2  finisher stores DONE -> owner's join sees it : what the child did
 *   F3  parent puts its address in -> finisher takes it out : it has left its
 *       stack
 *   F4  owner replaces the storage -> thief reads it : the slots are copied
 */
#ifndef SLEY_LF_FORK_STACK_H
#define SLEY_LF_FORK_STACK_H

#include "base/assert.h"
#include "base/atomic.h"
#include "base/compiler.h"

#include <sley/fork.h>

#define FORK_PENDING 0u
#define FORK_DONE 1u

#ifndef FORK_STACK_FIRST
#define FORK_STACK_FIRST 64
#endif

struct fork_storage {
	struct fork_storage *older; /* grown out of, freed with this one */
	uint32_t capacity;
	struct sley_fork *slot[];
};

struct fork_stack {
	uint64_t word; /* tail | split << 32            */
	uint32_t head; /* owner only                    */
	struct fork_storage *storage;
};

static inline uint32_t fork_tail(uint64_t word)
{
	return (uint32_t)word;
}

static inline uint32_t fork_split(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

static inline uint64_t fork_word(uint32_t tail, uint32_t split)
{
	return tail | (uint64_t)split << 32;
}

/* Anybody: is there something to steal?  A glance. */
static inline bool fork_stack_has_public(const struct fork_stack *forks)
{
	/* relaxed: a hint; the thief's CAS decides. */
	uint64_t word = load_relaxed(&forks->word);

	return fork_tail(word) < fork_split(word);
}

/* Owner: forked and not joined. */
static inline bool fork_stack_empty(const struct fork_stack *forks)
{
	return forks->head == 0;
}

/* Owner: where its children are. */
static inline struct fork_storage *fork_storage(const struct fork_stack *forks)
{
	/* relaxed: only the owner, the caller, writes it. */
	return load_relaxed(&forks->storage);
}

/* Owner: the storage must be replaced before the next push. */
static inline bool fork_stack_full(const struct fork_stack *forks)
{
	const struct fork_storage *storage = fork_storage(forks);

	return !storage || forks->head == storage->capacity;
}

/* Owner: go on in @storage, which is larger.  The old one hangs below it. */
static inline void fork_stack_grow(struct fork_stack *forks,
				   struct fork_storage *storage)
{
	struct fork_storage *older = fork_storage(forks);

	storage->older = older;
	for (uint32_t i = 0; i < forks->head; i++)
		/* relaxed: the owner's own, both; F4 publishes the copy. */
		store_relaxed(&storage->slot[i], load_relaxed(&older->slot[i]));
	store_release(&forks->storage, storage); /* F4 */
}

/* Owner.  The stack must not be full. */
static inline void fork_stack_push(struct fork_stack *forks,
				   struct sley_fork *child)
{
	sley_assert(!fork_stack_full(forks));
	/* relaxed: F1 publishes it. */
	store_relaxed(&child->state, FORK_PENDING);
	/* relaxed: F1 publishes it. */
	store_relaxed(&fork_storage(forks)->slot[forks->head], child);
	forks->head++;
}

/* Owner: let everything be stolen.  True if that is news. */
static inline bool fork_stack_publish(struct fork_stack *forks)
{
	/* relaxed: the split is the owner's; the CAS checks the tail. */
	uint64_t word = load_relaxed(&forks->word);

	if (fork_split(word) == forks->head)
		return false;
	while (chaos_says(CHAOS_LOSE) ||
	       !cas_release(&forks->word, &word, /* F1 */
			    fork_word(fork_tail(word), forks->head)))
		;
	return true;
}

enum fork_pop {
	FORK_POP_OWN,    /* it is the owner's again: call it           */
	FORK_POP_STOLEN, /* wait for it, then fork_stack_forget()      */
};

/* Owner: take the newest child back, if nobody has it. */
static inline must_check enum fork_pop fork_stack_pop(struct fork_stack *forks)
{
	/* relaxed: the split is the owner's; the CAS checks the tail. */
	uint64_t word = load_relaxed(&forks->word);

	sley_assert(forks->head > 0);
	if (likely(fork_split(word) < forks->head)) {
		forks->head--;
		return FORK_POP_OWN;
	}
	while (fork_tail(word) < fork_split(word)) {
		/* relaxed: the owner wrote what it takes back. */
		if (cas_relaxed(&forks->word, &word,
				fork_word(fork_tail(word),
					  fork_split(word) - 1))) {
			forks->head--;
			return FORK_POP_OWN;
		}
	}
	return FORK_POP_STOLEN;
}

/* Owner: the newest child was stolen and has ended. */
static inline void fork_stack_forget(struct fork_stack *forks)
{
	/* relaxed: nothing is public, so no thief changes the word. */
	uint64_t word = load_relaxed(&forks->word);

	sley_assert(fork_tail(word) == fork_split(word));
	sley_assert(fork_tail(word) == forks->head);
	forks->head--;
	/* relaxed: as above. */
	store_relaxed(&forks->word, fork_word(forks->head, forks->head));
}

/* Thief: the oldest public child, or NULL. */
static inline struct sley_fork *fork_stack_steal(struct fork_stack *forks)
{
	/* relaxed: a guess; the CAS checks it. */
	uint64_t word = load_relaxed(&forks->word);
	struct fork_storage *storage;

	do {
		if (fork_tail(word) >= fork_split(word))
			return NULL;
	} while (
		chaos_says(CHAOS_LOSE) ||
		!cas_acquire(&forks->word, &word, /* F1 */
			     fork_word(fork_tail(word) + 1, fork_split(word))));
	storage = load_acquire(&forks->storage); /* F4 */
	/* relaxed: F1 published it. */
	return load_relaxed(&storage->slot[fork_tail(word)]);
}

/* ---- the child's own word ------------------------------------------------ */

/* Finisher.  Returns the parent that waits, or NULL; touches nothing after. */
static inline must_check void *fork_finish(struct sley_fork *child)
{
	uint64_t old = xchg_acq_rel(&child->state, FORK_DONE); /* F2 F3 */

	return old == FORK_PENDING ? NULL : (void *)(uintptr_t)old;
}

static inline bool fork_is_done(const struct sley_fork *child)
{
	return load_acquire(&child->state) == FORK_DONE; /* F2 */
}

/* On behalf of a parent that has left its stack.  False: it is done already. */
static inline must_check bool fork_await(struct sley_fork *child, void *parent)
{
	uint64_t old = FORK_PENDING;

	return cas_acq_rel_acquire(&child->state, &old, /* F2 F3 */
				   (uint64_t)(uintptr_t)parent);
}

#endif
