/* SPDX-License-Identifier: MIT */
/*
 * call_ring.h - memory shared by a program and a subprocess: a ring of calls.
 *
 * The subprocess serves one call after the other, in the order of the requests.  So
 * one ring is enough for both ways: the answer to a call is in the slot of the call.
 * Two words count, one for each side.  A side that sleeps, or wants a signal, sets a
 * bit in the word of the other side.  So "there is more" and a check for sleepers
 * are one operation, and neither side can miss the other:
 *
 *   program                             subprocess
 *   fill the slot                       asked: nothing new
 *   asked += 1, and the bits of it:     asked |= SLEEPS: still nothing new
 *   SLEEPS: wake the subprocess         sleep while asked has that value
 *
 *   done |= WATCHED: not yet            fill the slot
 *   sleep until the eventfd signals     done += 1, and the bits of it:
 *   done |= WATCHED: there it is        WATCHED: clear it, signal the eventfd
 *
 * One signal of the eventfd stands for all answers until the program looks: so
 * signals do not hold up a subprocess that answers fast.
 *
 * STOP in asked is final: no later write removes the bit.
 *
 * The subprocess may write nonsense, or die at any moment.  The program trusts
 * nothing that it reads here.  It keeps its own counts, and compares done with them.
 * The contents of a slot are copied first and then checked.  An answer has the life
 * of the subprocess and the number of the call; any other answer marks the
 * subprocess as broken.
 *
 * A restarted subprocess has the same ring: a restart needs no memory.
 *
 * Edges:
 *
 *   CR1  the program adds to asked -> the subprocess finds it : the slots, and the
 *       settings in the ring when the subprocess was started
 *   CR2  the subprocess adds to done -> the program finds it : the answers
 *   CR3  the subprocess is ready -> the program finds it : all it did before
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
	/* Written by the program: */
	uint32_t life;
	uint32_t number;
	uint32_t fn;
	uint32_t arg_size;
	/* Written by the subprocess: */
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
	uint32_t life;                /* constant in a life          */
	uint32_t depth;
	uint32_t on_start; /* function number, or 0 */
	uint64_t spin_ns;
	cache_aligned uint32_t done;  /* by the subprocess           */
	cache_aligned uint32_t begun; /* the same count: used after a death */
	uint32_t ready;               /* enum call_ring_readiness        */
	int32_t refusal;              /* the error of CALL_RING_REFUSES */
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

/* No other process uses the ring: prepares a new life, after @number calls. */
static inline void call_ring_reset(struct call_ring *ring, uint32_t life,
				   uint32_t number)
{
	ring->life = life;
	/* relaxed: the subprocess does not exist yet; spinners take no notice. */
	store_relaxed(&ring->asked, number * CALL_RING_ONE);
	store_relaxed(&ring->done, number * CALL_RING_ONE);
	store_relaxed(&ring->begun, number);
	store_relaxed(&ring->ready, CALL_RING_NOT_READY);
	ring->refusal = 0;
}

/* @nr more slots are filled.  True: call call_ring_wake(). */
static inline must_check bool call_ring_ask(struct call_ring *ring, uint32_t nr)
{
	return add_release(&ring->asked, nr * CALL_RING_ONE) &
	       CALL_RING_SLEEPS; /* CR1 */
}

static inline void call_ring_wake(struct call_ring *ring)
{
	os_futex_wake_shared(&ring->asked, 1);
}

/* The subprocess shall end when it is idle. */
static inline void call_ring_stop(struct call_ring *ring)
{
	/* relaxed: the bit is the whole message. */
	if (or_relaxed(&ring->asked, CALL_RING_STOP) & CALL_RING_SLEEPS)
		call_ring_wake(ring);
}

/* How many calls are done, according to the subprocess. */
static inline uint32_t call_ring_done(const struct call_ring *ring)
{
	return call_ring_count(load_acquire(&ring->done)); /* CR2 */
}

/* The same, and the next answer signals the eventfd. */
static inline uint32_t call_ring_watch(struct call_ring *ring)
{
	return call_ring_count(
		or_acquire(&ring->done, CALL_RING_WATCHED)); /* CR2 */
}

/* After a death: how many calls had begun, between @done and @asked. */
static inline uint32_t call_ring_begun(const struct call_ring *ring,
				       uint32_t done, uint32_t asked)
{
	/* relaxed: the subprocess was reaped, which orders its writes. */
	uint32_t begun = load_relaxed(&ring->begun) & CALL_RING_COUNT_MASK;

	return call_ring_distance(done, begun) > call_ring_distance(done, asked)
		       ? asked
		       : begun;
}

static inline uint32_t call_ring_readiness(const struct call_ring *ring)
{
	return load_acquire(&ring->ready); /* CR3 */
}

/* ---- the subprocess's side ------------------------------------------------------- */

static inline void call_ring_say_ready(struct call_ring *ring,
				       uint32_t readiness)
{
	store_release(&ring->ready, readiness); /* CR3 */
}

/* Has @asked no new call after @number, and no STOP? */
static inline bool call_ring_idle(uint32_t asked, uint32_t number)
{
	return call_ring_count(asked) == number && !(asked & CALL_RING_STOP);
}

/* Sleeps, unless there are calls after @number. */
static inline void call_ring_park(struct call_ring *ring, uint32_t number)
{
	/* relaxed: the caller looks again in any case. */
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

/* Spins, then sleeps, until there are calls after @number, or STOP.  Gives asked. */
static inline uint32_t call_ring_await(struct call_ring *ring, uint32_t number)
{
	uint64_t end_ns = ring->spin_ns ? os_now() + ring->spin_ns : 0;
	uint32_t looks = 0, asked;

	for (;;) {
		asked = load_acquire(&ring->asked); /* CR1 */
		if (!call_ring_idle(asked, number))
			return asked;
		if (!end_ns || (++looks % CALL_RING_LOOKS_PER_CLOCK == 0 &&
				os_now() > end_ns))
			call_ring_park(ring, number);
		else
			spin_hint(&ring->asked);
	}
}

/* Call @number begins, or may have begun: read after a death. */
static inline void call_ring_begin(struct call_ring *ring, uint32_t number)
{
	/* relaxed: as call_ring_begun(). */
	store_relaxed(&ring->begun, (number + 1) & CALL_RING_COUNT_MASK);
	compiler_barrier();
}

/* One more call is done, and its slot has the answer.  True: signal the eventfd. */
static inline must_check bool call_ring_answer(struct call_ring *ring)
{
	if (!(add_release(&ring->done, CALL_RING_ONE) &
	      CALL_RING_WATCHED)) /* CR2 */
		return false;
	/* relaxed: if the bit is set again meanwhile, the signal still comes. */
	(void)and_relaxed(&ring->done, ~CALL_RING_WATCHED);
	return true;
}

#endif
