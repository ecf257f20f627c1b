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
 * One owner, the task that forks.  The owner pushes a child with plain stores
 * and, in the usual case, joins the child with plain loads and stores: children
 * above the split belong to the owner alone.  Both are inline in
 * <sley/fork_stack.h>.  {tail, split} is one word.  A thief takes the child at the
 * tail, the oldest and largest, by moving the tail with a compare-and-swap.  The
 * thief reads the slot after the swap has succeeded.  That is safe because the owner
 * cannot reuse a slot before the child in the slot has been joined.  The owner takes
 * the newest public child back by moving the split down.
 *
 * How private children become public:
 *
 *   - A thief that finds nothing asks: it sets the limit to 0.  The next fork
 *     gets to the limit, like a fork that fills the storage, and goes on with
 *     the slow path, which moves the split up to the middle of the private
 *     children.  The owner moves the head and then reads the limit; a thief that is
 *     about to sleep writes the limit, lets os_membarrier() pass and reads the head.
 *   - The owner is suspended: all children become public.
 *   - The owner neither forks nor is suspended for long: the thief *seizes*.  The
 *     thief moves the split up and marks the word SEIZED, which keeps other thieves
 *     off; lets os_membarrier() pass; and reads the head.
 *
 *       owner's pop                     thief
 *       1. head - 1                     1. split := head it saw, SEIZED
 *       2. (compiler barrier)           2. os_membarrier()
 *       3. read the split:              3. read the head: children below it are
 *          below the head: call it         still there.  Take the tail, leave
 *          else: compare-and-swap          the rest public: compare-and-swap
 *
 *     The barrier falls somewhere between the steps of each pop.  If after
 *     step 1 of the pop, the thief's step 3 sees the smaller head.  If before, the
 *     owner's step 3 sees the new split and goes the slow way, which takes SEIZED
 *     away: then the thief's compare-and-swap fails.  So if the thief's swap
 *     succeeds, no child below the head that the thief read was popped.  Some
 *     children may have been pushed after others were popped; reading the head
 *     acquired the new children.
 *
 *     One thief at a time (the caller sees to it): the word that the thief left is
 *     then either still there or was changed by the owner, and never there again.
 *
 * Where the kernel has no membarrier no thief seizes: the limit stays 0, so that
 * each fork makes its child public.
 *
 * A child's own word, its state, is the address of its function until the child
 * ends: one store less in each fork.  Then the state is DONE.  A parent that waits
 * moves the function elsewhere and puts the parent's address in, AWAITED; the
 * finisher exchanges the word for DONE, touches the child no more, and wakes the
 * parent that was in the word.  A child in no stack is LOOSE, and is called at the
 * join; or GIVEN, if a task of its own runs the child.
 *
 * Joins in another order: a child in the middle that is not stolen is taken out,
 * and the children above move down.  A stolen child leaves a hole, NULL, that goes
 * when the head comes down to the hole.
 *
 * The storage grows.  Outgrown storage is kept until the end, since a thief may
 * still read there.  There is always room for one more child: the slow path sees to
 * that, so that a fork need not check before the push.
 *
 * Edges:
 *
 *   F1  owner, or seizing thief, moves the split up -> thief moves the tail : the
 *       child and its slot are written
 *   F2  finisher stores DONE -> owner's join sees it : what the child did
 *   F3  parent puts its address in -> finisher takes it out : the parent has left
 *       its stack
 *   F4  owner replaces the storage -> thief reads it : the slots are copied
 *   F5  owner moves the head (also in <sley/fork_stack.h>) -> a seizing thief reads
 *       it : the children below the head and their slots are written
 */
#ifndef SLEY_LF_FORK_STACK_H
#define SLEY_LF_FORK_STACK_H

#include "base/assert.h"
#include "base/atomic.h"
#include "base/compiler.h"

#include <sley/fork_stack.h>

#define FORK_DONE 1u
#define FORK_LOOSE 2u
#define FORK_GIVEN 3u
#define FORK_AWAITED (1ull << 63)

/* Storage after the first few slots, which are in the stack itself. */
struct fork_storage {
	struct fork_storage *older; /* outgrown, freed with this storage  */
	uint32_t capacity;
	struct sley_forked *slot[];
};

_Static_assert(offsetof(struct sley_forks, word) == CACHE_LINE,
	       "what the owner writes is not where thieves look");

/* ---- the word ------------------------------------------------------------- */

#define FORK_SEIZED (1ull << 31)

static inline uint32_t fork_tail(uint64_t word)
{
	return (uint32_t)(word & (FORK_SEIZED - 1));
}

static inline uint32_t fork_split(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

static inline uint64_t fork_word(uint32_t tail, uint32_t split)
{
	return tail | (uint64_t)split << 32;
}

/* Is there a child to take?  Not while another thief seizes. */
static inline bool fork_has_public(uint64_t word)
{
	return !(word & FORK_SEIZED) && fork_tail(word) < fork_split(word);
}

/* Any thread: is there a child to steal?  A glance. */
static inline bool fork_stack_has_public(const struct sley_forks *forks)
{
	/* relaxed: a hint; the thief's CAS decides. */
	return fork_has_public(load_relaxed(&forks->word));
}

/*
 * What other threads read as the head.  A join lowers the head before the check
 * for the child.  The join of a child that is in no stack may find the stack empty:
 * then the head is below 0.
 */
static inline uint32_t fork_head_seen(uint64_t head)
{
	return (int64_t)head < 0 ? 0 : (uint32_t)head;
}

/* Any thread: is there a child to seize?  A glance. */
static inline bool fork_stack_has_private(const struct sley_forks *forks)
{
	/* relaxed: a hint; seizing reads both again. */
	return fork_head_seen(load_relaxed(&forks->head)) >
	       fork_split(load_relaxed(&forks->word));
}

/* ---- the owner: storage ------------------------------------------------------ */

static inline uint32_t fork_head(const struct sley_forks *forks)
{
	/* relaxed: only the owner, the caller, writes it. */
	return (uint32_t)load_relaxed(&forks->head);
}

/* Owner: forked and not joined. */
static inline bool fork_stack_empty(const struct sley_forks *forks)
{
	return fork_head(forks) == 0;
}

/* No other thread knows @forks yet; the rest is zero. */
static inline void fork_stack_init(struct sley_forks *forks)
{
	forks->slot = forks->first;
}

/* Owner: where the children are; NULL: in the first few slots. */
static inline struct fork_storage *fork_storage(const struct sley_forks *forks)
{
	/* relaxed: only the owner, the caller, writes it. */
	struct sley_forked **slot = load_relaxed(&forks->slot);

	return slot == forks->first
		       ? NULL
		       : container_of(slot, struct fork_storage, slot);
}

static inline uint32_t fork_capacity(const struct sley_forks *forks)
{
	const struct fork_storage *storage = fork_storage(forks);

	return storage ? storage->capacity
		       : (uint32_t)chaos_few(SLEY_FORKS_FIRST, 2);
}

/* Owner: grow from here on; a few slots are left in case there is no memory. */
static inline uint32_t fork_fill(const struct sley_forks *forks)
{
	uint32_t capacity = fork_capacity(forks);

	return capacity - (capacity + 3) / 4;
}

static inline bool fork_stack_full(const struct sley_forks *forks)
{
	return fork_head(forks) >= fork_fill(forks);
}

static inline struct sley_forked *fork_slot(const struct sley_forks *forks,
					    uint32_t i)
{
	/* relaxed: the owner's own. */
	return load_relaxed(&load_relaxed(&forks->slot)[i]);
}

static inline void fork_set_slot(struct sley_forks *forks, uint32_t i,
				 struct sley_forked *child)
{
	/* relaxed: F1 or F5 publishes it. */
	store_relaxed(&load_relaxed(&forks->slot)[i], child);
}

/* Owner: go on in @storage, which is larger and keeps the old storage. */
static inline void fork_stack_grow(struct sley_forks *forks,
				   struct fork_storage *storage)
{
	struct fork_storage *older = fork_storage(forks);
	uint32_t head = fork_head(forks);

	storage->older = older;
	for (uint32_t i = 0; i < head; i++)
		/* relaxed: F4 publishes the copy. */
		store_relaxed(&storage->slot[i], fork_slot(forks, i));
	store_release(&forks->slot, storage->slot); /* F4 */
}

/* ---- the owner: the limit ------------------------------------------------------ */

/*
 * Owner: from now on a fork is slow only if a thief asks, or the storage is full.
 * This may take a request away: look for sleepers afterwards.
 */
static inline void fork_stack_raise_limit(struct sley_forks *forks)
{
	/* relaxed: a sleeper looks again after os_membarrier(). */
	store_relaxed(&forks->limit, fork_fill(forks));
	compiler_barrier();
}

/* Owner: every fork is slow, as at first. */
static inline void fork_stack_drop_limit(struct sley_forks *forks)
{
	/* relaxed: the owner's own wish; a thief's is the same. */
	if (unlikely(load_relaxed(&forks->limit)))
		store_relaxed(&forks->limit, 0);
}

/* Owner: are forks fast, but for a thread that asks right now? */
static inline bool fork_stack_is_raised(const struct sley_forks *forks)
{
	/* relaxed: the owner's own; a thread that asks only drops it. */
	return load_relaxed(&forks->limit);
}

/* Thief: let the next fork be slow.  False: already asked. */
static inline bool fork_stack_ask(struct sley_forks *forks)
{
	/* relaxed: a wish; a sleeper looks again after os_membarrier(). */
	if (!load_relaxed(&forks->limit))
		return false;
	/* relaxed: as above. */
	store_relaxed(&forks->limit, 0);
	return true;
}

/* ---- the owner: push and pop ---------------------------------------------------- */

/*
 * Owner: let all children below @split be stolen.  True if that is news.  A thief
 * may have moved the tail further meanwhile.
 */
static inline bool fork_stack_publish_to(struct sley_forks *forks,
					 uint32_t split)
{
	/* relaxed: the CAS checks it. */
	uint64_t word = load_relaxed(&forks->word);
	uint32_t tail;

	do {
		tail = fork_tail(word);
		if (!(word & FORK_SEIZED) && fork_split(word) >= split)
			return false;
	} while (chaos_says(CHAOS_LOSE) ||
		 !cas_release(&forks->word, &word, /* F1 */
			      fork_word(tail, split > tail ? split : tail)));
	return true;
}

/* Owner: let all children be stolen. */
static inline bool fork_stack_publish(struct sley_forks *forks)
{
	return fork_stack_publish_to(forks, fork_head(forks));
}

/* Owner: let the older half of the private children be stolen. */
static inline bool fork_stack_share(struct sley_forks *forks)
{
	/* relaxed: only the owner moves the split down. */
	uint32_t split = fork_split(load_relaxed(&forks->word));
	uint32_t head = fork_head(forks);

	if (split >= head) /* all are public, or a thief seizes */
		return fork_stack_publish(forks);
	return fork_stack_publish_to(forks, split + (head - split + 1) / 2);
}

enum fork_pop {
	FORK_POP_OWN,    /* the child is the owner's again: call it      */
	FORK_POP_STOLEN, /* wait for the child, then fork_stack_forget() */
};

/*
 * Owner: make child @i and all children above private, if @i is not stolen: the
 * head is @i then.
 */
static inline must_check enum fork_pop
fork_stack_take_from(struct sley_forks *forks, uint32_t i)
{
	uint32_t head = fork_head(forks);
	uint64_t word;

	store_release(&forks->head, i); /* F5 */
	compiler_barrier();
	/* relaxed: ordered by the seizing thief's barrier, or the CAS checks it. */
	word = load_relaxed(&forks->word);
	if (fork_split(word) <= i)
		return FORK_POP_OWN;
	while (fork_tail(word) <= i) {
		if (chaos_says(CHAOS_LOSE))
			continue;
		/* Seized children become public; the thief's swap will fail. */
		if (cas_release(&forks->word, &word, /* F1 */
				fork_word(fork_tail(word), i)))
			return FORK_POP_OWN;
	}
	store_release(&forks->head, head); /* F5 */
	return FORK_POP_STOLEN;
}

/* Owner: take child @i back, and out, unless the child was stolen. */
static inline must_check enum fork_pop fork_stack_pop(struct sley_forks *forks,
						      uint32_t i)
{
	uint32_t head = fork_head(forks);

	sley_assert(i < head);
	if (fork_stack_take_from(forks, i) == FORK_POP_STOLEN)
		return FORK_POP_STOLEN;
	for (uint32_t above = i + 1; above < head; above++)
		fork_set_slot(forks, above - 1, fork_slot(forks, above));
	store_release(&forks->head, head - 1); /* F5 */
	return FORK_POP_OWN;
}

/* Owner: remove the holes on top. */
static inline void fork_stack_trim(struct sley_forks *forks)
{
	uint32_t head = fork_head(forks);

	if (!head || fork_slot(forks, head - 1))
		return;
	while (head > 0 && !fork_slot(forks, head - 1))
		head--;
	/* relaxed: all below are stolen, a thief can take nothing. */
	store_relaxed(&forks->head, head);
	/* relaxed: as above; a seizing thief saw an earlier head. */
	store_relaxed(&forks->word, fork_word(head, head));
}

/* Owner: child @i was stolen and has ended. */
static inline void fork_stack_forget(struct sley_forks *forks, uint32_t i)
{
	fork_set_slot(forks, i, NULL);
	fork_stack_trim(forks);
}

/* Owner: the index of @child; or -1. */
static inline int64_t fork_stack_find(const struct sley_forks *forks,
				      const struct sley_forked *child)
{
	int64_t i = fork_head(forks);

	while (--i >= 0 && fork_slot(forks, (uint32_t)i) != child)
		;
	return i;
}

/* ---- the thief ---------------------------------------------------------------------- */

/* The thief has won child @i. */
static inline struct sley_forked *fork_stolen(const struct sley_forks *forks,
					      uint32_t i)
{
	struct sley_forked **slot = load_acquire(&forks->slot); /* F4 */

	/* relaxed: F1 or F5 published it. */
	return load_relaxed(&slot[i]);
}

/* Thief: the oldest public child, or NULL. */
static inline struct sley_forked *fork_stack_steal(struct sley_forks *forks)
{
	/* relaxed: a guess; the CAS checks it. */
	uint64_t word = load_relaxed(&forks->word);

	do {
		if (!fork_has_public(word))
			return NULL;
	} while (
		chaos_says(CHAOS_LOSE) ||
		!cas_acquire(&forks->word, &word, /* F1 */
			     fork_word(fork_tail(word) + 1, fork_split(word))));
	return fork_stolen(forks, fork_tail(word));
}

/*
 * Thief: step 1 of seizing; 0: no child is private, or a child is public.
 * os_membarrier() has to follow, and then fork_stack_seize() with the result.
 */
static inline must_check uint64_t
fork_stack_seize_begin(struct sley_forks *forks)
{
	/* relaxed: a guess; the CAS checks it. */
	uint64_t word = load_relaxed(&forks->word), seized;
	/* relaxed: as above; step 3 reads it again. */
	uint32_t head = fork_head_seen(load_relaxed(&forks->head));

	if (word & FORK_SEIZED || fork_tail(word) != fork_split(word) ||
	    head <= fork_split(word))
		return 0;
	seized = fork_word(fork_tail(word), head) | FORK_SEIZED;
	/* relaxed: it publishes nothing yet. */
	return cas_relaxed(&forks->word, &word, seized) ? seized : 0;
}

/* Thief: step 3.  The oldest child, which was private; or NULL. */
static inline struct sley_forked *fork_stack_seize(struct sley_forks *forks,
						   uint64_t seized)
{
	uint32_t head = fork_head_seen(load_acquire(&forks->head)); /* F5 */
	uint32_t tail = fork_tail(seized), split = fork_split(seized);
	uint64_t word = seized;

	if (split > head)
		split = head;
	if (split <= tail) {
		/* relaxed: it publishes nothing. */
		(void)cas_relaxed(&forks->word, &word, fork_word(tail, tail));
		return NULL;
	}
	if (!cas_release(&forks->word, &word, /* F1 */
			 fork_word(tail + 1, split)))
		return NULL;
	return fork_stolen(forks, tail);
}

/* ---- the child's own word ------------------------------------------------ */

static inline uint64_t fork_state(const struct sley_forked *child)
{
	return load_acquire(&child->state); /* F2 F3 */
}

static inline bool fork_is_done(const struct sley_forked *child)
{
	return fork_state(child) == FORK_DONE;
}

/* Is the child in a stack, with no waiting parent?  Then @state is the function. */
static inline bool fork_is_plain(uint64_t state)
{
	return state > FORK_GIVEN && !(state & FORK_AWAITED);
}

/* The thread that runs @child: call the function. */
static inline void fork_call(const struct sley_forked *child)
{
	uint64_t state = fork_state(child);

	if (likely(fork_is_plain(state)))
		((sley_fn *)(uintptr_t)state)(child->arg);
	else
		child->fn(child->arg);
}

/* Owner, instead of a push: @child is in no stack, but LOOSE or GIVEN. */
static inline void fork_mark(struct sley_forked *child, uint64_t mark)
{
	/* relaxed: the owner's own. */
	child->fn = (sley_fn *)(uintptr_t)load_relaxed(&child->state);
	/* relaxed: the owner's own; queueing its task publishes it. */
	store_relaxed(&child->state, mark);
}

/* Finisher.  Returns the waiting parent, or NULL; touches @child no more. */
static inline must_check void *fork_finish(struct sley_forked *child)
{
	uint64_t old = xchg_acq_rel(&child->state, FORK_DONE); /* F2 F3 */

	if (!(old & FORK_AWAITED))
		return NULL;
	return (void *)(uintptr_t)(old & ~FORK_AWAITED);
}

/* For a parent that has left its stack.  False: the child is done already. */
static inline must_check bool fork_await(struct sley_forked *child,
					 void *parent)
{
	uint64_t old = fork_state(child);

	if (fork_is_plain(old))
		child->fn = (sley_fn *)(uintptr_t)old;
	return old != FORK_DONE &&
	       cas_acq_rel_acquire(&child->state, &old, /* F2 F3 */
				   (uint64_t)(uintptr_t)parent | FORK_AWAITED);
}

#endif
