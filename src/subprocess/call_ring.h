/* SPDX-License-Identifier: MIT */
/*
 * call_ring.h - what a program and one of its children share: a ring of calls.
 *
 * The child serves one call after the other, in the order in which they were
 * asked, so one ring is enough for both ways: the answer to a call is in its slot.
 * Two words count, one for each side; what a side sleeps on, or wants to be told, is
 * a bit in the word of the other one.  So saying "there is more" and finding out that
 * somebody sleeps is one operation, and neither can miss the other:
 *
 *   program                             child
 *   fill the slot                       asked: nothing new
 *   asked += 1, and the bits of it:     asked |= SLEEPS: still nothing new
 *   SLEEPS: wake it                     sleep while asked is what that left
 *
 *   done |= WATCHED: not yet            fill the slot
 *   sleep until the bell rings          done += 1, and the bits of it:
 *   done |= WATCHED: there it is        WATCHED: take it out, ring the bell
 *
 * The bell is rung once for all that are done until somebody looks: who answers fast
 * is not held up by it.
 *
 * STOP in asked is there to stay: no later write takes it back.
 *
 * The child may be mad, or dead in the middle of anything.  The program believes
 * nothing it reads here: its own counts are its own, done is compared with them, what
 * is in a slot is copied first and then checked.  An answer says which life of the
 * child it is from, and to which call; any other makes the child a liar.
 *
 * A restarted child has the same ring: a restart needs no memory.
 *
 * Edges:
 *
 *   K1  the program adds to asked -> the child finds it : the slots, and what the
 *       ring said when the child was started
 *   K2  the child adds to done -> the program finds it : the answers
 *   K3  the child is ready -> the program finds it : what it did before
 */
#ifndef SLEY_SUBPROCESS_CALL_RING_H
#define SLEY_SUBPROCESS_CALL_RING_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/clock.h"
#include "os/futex.h"

#include <sley/child.h>

#define CHILD_SLEEPS 1u  /* in asked */
#define CHILD_STOP 2u    /* in asked */
#define CHILD_WATCHED 1u /* in done  */
#define CHILD_ONE 4u     /* a call   */
#define CHILD_COUNT_MASK (UINT32_MAX / CHILD_ONE)

#define CHILD_LOOKS_PER_CLOCK 32

struct child_slot {
	/* The program says: */
	uint32_t life;
	uint32_t number;
	uint32_t fn;
	uint32_t arg_size;
	/* The child answers: */
	uint32_t answer_life;
	uint32_t answer_number;
	int32_t code;
	uint32_t result_size;
	unsigned char arg[SLEY_CHILD_DATA_MAX];
	unsigned char result[SLEY_CHILD_DATA_MAX];
	char text[SLEY_CHILD_TEXT_MAX]; /* if code is below 0 */
};

enum child_readiness { CHILD_NOT_READY, CHILD_READY, CHILD_REFUSES };

struct child_ring {
	cache_aligned uint32_t asked; /* by the program; a futex     */
	uint32_t life;                /* constant while it runs      */
	uint32_t depth;
	uint32_t on_start; /* its place in the table, or 0 */
	uint64_t spin_ns;
	cache_aligned uint32_t done;  /* by the child                */
	cache_aligned uint32_t begun; /* the same count: for when it dies */
	uint32_t ready;               /* enum child_readiness        */
	int32_t refusal;              /* why it is not               */
	cache_aligned struct child_slot slot[];
};

static inline size_t child_ring_size(uint32_t depth)
{
	return sizeof(struct child_ring) + depth * sizeof(struct child_slot);
}

static inline uint32_t child_count(uint32_t word)
{
	return word / CHILD_ONE;
}

/* Counts wrap at CHILD_COUNT_MASK. */
static inline uint32_t child_distance(uint32_t from, uint32_t to)
{
	return (to - from) & CHILD_COUNT_MASK;
}

static inline struct child_slot *child_slot(struct child_ring *ring,
					    uint32_t depth, uint32_t number)
{
	return &ring->slot[number % depth];
}

/* ---- the program's side -------------------------------------------------------- */

/* Nobody else uses it: a child begins, that has seen @number calls. */
static inline void child_ring_reset(struct child_ring *ring, uint32_t life,
				    uint32_t number)
{
	ring->life = life;
	/* relaxed: the child is not there yet; spinners take no notice. */
	store_relaxed(&ring->asked, number * CHILD_ONE);
	store_relaxed(&ring->done, number * CHILD_ONE);
	store_relaxed(&ring->begun, number);
	store_relaxed(&ring->ready, CHILD_NOT_READY);
	ring->refusal = 0;
}

/* So many slots more are filled.  True: call child_ring_wake(). */
static inline must_check bool child_ring_ask(struct child_ring *ring,
					     uint32_t nr)
{
	return add_release(&ring->asked, nr * CHILD_ONE) &
	       CHILD_SLEEPS; /* K1 */
}

static inline void child_ring_wake(struct child_ring *ring)
{
	os_futex_wake_shared(&ring->asked, 1);
}

/* It shall end when it has nothing to do. */
static inline void child_ring_stop(struct child_ring *ring)
{
	/* relaxed: it says all there is to say. */
	if (or_relaxed(&ring->asked, CHILD_STOP) & CHILD_SLEEPS)
		child_ring_wake(ring);
}

/* How many were done, as it says. */
static inline uint32_t child_ring_done(const struct child_ring *ring)
{
	return child_count(load_acquire(&ring->done)); /* K2 */
}

/* The same, and the next one that is done rings the bell. */
static inline uint32_t child_ring_watch(struct child_ring *ring)
{
	return child_count(or_acquire(&ring->done, CHILD_WATCHED)); /* K2 */
}

/* It has ended: how many it had begun, between @done and @asked. */
static inline uint32_t child_ring_begun(const struct child_ring *ring,
					uint32_t done, uint32_t asked)
{
	/* relaxed: the end of a process is an order of its own. */
	uint32_t begun = load_relaxed(&ring->begun) & CHILD_COUNT_MASK;

	return child_distance(done, begun) > child_distance(done, asked)
		       ? asked
		       : begun;
}

static inline uint32_t child_ring_readiness(const struct child_ring *ring)
{
	return load_acquire(&ring->ready); /* K3 */
}

/* ---- the child's side ------------------------------------------------------------ */

static inline void child_ring_say_ready(struct child_ring *ring,
					uint32_t readiness)
{
	store_release(&ring->ready, readiness); /* K3 */
}

/* Is there nothing to be done in @asked but what is done? */
static inline bool child_ring_idle(uint32_t asked, uint32_t number)
{
	return child_count(asked) == number && !(asked & CHILD_STOP);
}

/* Sleeps, unless there is more than @number. */
static inline void child_ring_park(struct child_ring *ring, uint32_t number)
{
	/* relaxed: the caller looks again, whatever it says. */
	uint32_t asked = or_relaxed(&ring->asked, CHILD_SLEEPS) | CHILD_SLEEPS;

	if (child_ring_idle(asked, number)) {
		/* relaxed: the caller looks again. */
		while (load_relaxed(&ring->asked) == asked)
			(void)os_futex_wait_shared(&ring->asked, asked,
						   UINT64_MAX);
	}
	/* relaxed: the same. */
	(void)and_relaxed(&ring->asked, ~CHILD_SLEEPS);
}

/* Looks for a while, then sleeps, until there is more than @number: asked. */
static inline uint32_t child_ring_await(struct child_ring *ring,
					uint32_t number)
{
	uint64_t end_ns = ring->spin_ns ? os_now() + ring->spin_ns : 0;
	uint32_t looks = 0, asked;

	for (;;) {
		asked = load_acquire(&ring->asked); /* K1 */
		if (!child_ring_idle(asked, number))
			return asked;
		if (!end_ns ||
		    (++looks % CHILD_LOOKS_PER_CLOCK == 0 && os_now() > end_ns))
			child_ring_park(ring, number);
		else
			spin_hint(&ring->asked);
	}
}

/* It begins with call @number, or may have: for who asks when it is dead. */
static inline void child_ring_begin(struct child_ring *ring, uint32_t number)
{
	/* relaxed: as child_ring_begun(). */
	store_relaxed(&ring->begun, (number + 1) & CHILD_COUNT_MASK);
	compiler_barrier();
}

/* One more is done, its slot has the answer.  True: ring the bell. */
static inline must_check bool child_ring_answer(struct child_ring *ring)
{
	if (!(add_release(&ring->done, CHILD_ONE) & CHILD_WATCHED)) /* K2 */
		return false;
	/* relaxed: who sets it again meanwhile hears the bell all the same. */
	(void)and_relaxed(&ring->done, ~CHILD_WATCHED);
	return true;
}

#endif
