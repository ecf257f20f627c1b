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

#include <sley/subprocess.h>

#define CALL_RING_SLEEPS 1u  /* in asked */
#define CALL_RING_STOP 2u    /* in asked */
#define CALL_RING_WATCHED 1u /* in done  */
#define CALL_RING_ONE 4u     /* a call   */
#define CALL_RING_COUNT_MASK (UINT32_MAX / CALL_RING_ONE)

#define CALL_RING_LOOKS_PER_CLOCK 32

struct call_slot {
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
	unsigned char arg[SLEY_SUBPROCESS_DATA_MAX];
	unsigned char result[SLEY_SUBPROCESS_DATA_MAX];
	char text[SLEY_SUBPROCESS_TEXT_MAX]; /* if code is below 0 */
};

enum call_ring_readiness {
	CALL_RING_NOT_READY,
	CALL_RING_READY,
	CALL_RING_REFUSES
};

struct call_ring {
	cache_aligned uint32_t asked; /* by the program; a futex     */
	uint32_t life;                /* constant while it runs      */
	uint32_t depth;
	uint32_t on_start; /* its place in the table, or 0 */
	uint64_t spin_ns;
	cache_aligned uint32_t done;  /* by the child                */
	cache_aligned uint32_t begun; /* the same count: for when it dies */
	uint32_t ready;               /* enum call_ring_readiness        */
	int32_t refusal;              /* why it is not               */
	cache_aligned struct call_slot slot[];
};

static inline size_t call_ring_size(uint32_t depth)
{
	return sizeof(struct call_ring) + depth * sizeof(struct call_slot);
}

static inline uint32_t call_ring_count(uint32_t word)
{
	return word / CALL_RING_ONE;
}

/* Counts wrap at CALL_RING_COUNT_MASK. */
static inline uint32_t call_ring_distance(uint32_t from, uint32_t to)
{
	return (to - from) & CALL_RING_COUNT_MASK;
}

static inline struct call_slot *call_slot(struct call_ring *ring,
					  uint32_t depth, uint32_t number)
{
	return &ring->slot[number % depth];
}

/* ---- the program's side -------------------------------------------------------- */

/* Nobody else uses it: a child begins, that has seen @number calls. */
static inline void call_ring_reset(struct call_ring *ring, uint32_t life,
				   uint32_t number)
{
	ring->life = life;
	/* relaxed: the child is not there yet; spinners take no notice. */
	store_relaxed(&ring->asked, number * CALL_RING_ONE);
	store_relaxed(&ring->done, number * CALL_RING_ONE);
	store_relaxed(&ring->begun, number);
	store_relaxed(&ring->ready, CALL_RING_NOT_READY);
	ring->refusal = 0;
}

/* So many slots more are filled.  True: call call_ring_wake(). */
static inline must_check bool call_ring_ask(struct call_ring *ring, uint32_t nr)
{
	return add_release(&ring->asked, nr * CALL_RING_ONE) &
	       CALL_RING_SLEEPS; /* K1 */
}

static inline void call_ring_wake(struct call_ring *ring)
{
	os_futex_wake_shared(&ring->asked, 1);
}

/* It shall end when it has nothing to do. */
static inline void call_ring_stop(struct call_ring *ring)
{
	/* relaxed: it says all there is to say. */
	if (or_relaxed(&ring->asked, CALL_RING_STOP) & CALL_RING_SLEEPS)
		call_ring_wake(ring);
}

/* How many were done, as it says. */
static inline uint32_t call_ring_done(const struct call_ring *ring)
{
	return call_ring_count(load_acquire(&ring->done)); /* K2 */
}

/* The same, and the next one that is done rings the bell. */
static inline uint32_t call_ring_watch(struct call_ring *ring)
{
	return call_ring_count(
		or_acquire(&ring->done, CALL_RING_WATCHED)); /* K2 */
}

/* It has ended: how many it had begun, between @done and @asked. */
static inline uint32_t call_ring_begun(const struct call_ring *ring,
				       uint32_t done, uint32_t asked)
{
	/* relaxed: the end of a process is an order of its own. */
	uint32_t begun = load_relaxed(&ring->begun) & CALL_RING_COUNT_MASK;

	return call_ring_distance(done, begun) > call_ring_distance(done, asked)
		       ? asked
		       : begun;
}

static inline uint32_t call_ring_readiness(const struct call_ring *ring)
{
	return load_acquire(&ring->ready); /* K3 */
}

/* ---- the child's side ------------------------------------------------------------ */

static inline void call_ring_say_ready(struct call_ring *ring,
				       uint32_t readiness)
{
	store_release(&ring->ready, readiness); /* K3 */
}

/* Is there nothing to be done in @asked but what is done? */
static inline bool call_ring_idle(uint32_t asked, uint32_t number)
{
	return call_ring_count(asked) == number && !(asked & CALL_RING_STOP);
}

/* Sleeps, unless there is more than @number. */
static inline void call_ring_park(struct call_ring *ring, uint32_t number)
{
	/* relaxed: the caller looks again, whatever it says. */
	uint32_t asked = or_relaxed(&ring->asked, CALL_RING_SLEEPS) |
			 CALL_RING_SLEEPS;

	if (call_ring_idle(asked, number)) {
		/* relaxed: the caller looks again. */
		while (load_relaxed(&ring->asked) == asked)
			(void)os_futex_wait_shared(&ring->asked, asked,
						   UINT64_MAX);
	}
	/* relaxed: the same. */
	(void)and_relaxed(&ring->asked, ~CALL_RING_SLEEPS);
}

/* Looks for a while, then sleeps, until there is more than @number: asked. */
static inline uint32_t call_ring_await(struct call_ring *ring, uint32_t number)
{
	uint64_t end_ns = ring->spin_ns ? os_now() + ring->spin_ns : 0;
	uint32_t looks = 0, asked;

	for (;;) {
		asked = load_acquire(&ring->asked); /* K1 */
		if (!call_ring_idle(asked, number))
			return asked;
		if (!end_ns || (++looks % CALL_RING_LOOKS_PER_CLOCK == 0 &&
				os_now() > end_ns))
			call_ring_park(ring, number);
		else
			spin_hint(&ring->asked);
	}
}

/* It begins with call @number, or may have: for who asks when it is dead. */
static inline void call_ring_begin(struct call_ring *ring, uint32_t number)
{
	/* relaxed: as call_ring_begun(). */
	store_relaxed(&ring->begun, (number + 1) & CALL_RING_COUNT_MASK);
	compiler_barrier();
}

/* One more is done, its slot has the answer.  True: ring the bell. */
static inline must_check bool call_ring_answer(struct call_ring *ring)
{
	if (!(add_release(&ring->done, CALL_RING_ONE) &
	      CALL_RING_WATCHED)) /* K2 */
		return false;
	/* relaxed: who sets it again meanwhile hears the bell all the same. */
	(void)and_relaxed(&ring->done, ~CALL_RING_WATCHED);
	return true;
}

#endif
