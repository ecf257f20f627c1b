/* SPDX-License-Identifier: MIT */
/*
 * call_ring.h - memory shared by a program and a subprocess: a ring of calls.
 *
 * The subprocess serves one call after the other, in the order of the requests.  So
 * one ring is enough for both ways: the answer to a call is in the slot of the call.
 * Two words count, one for each side, and carry the sleep of the other side:
 * shm/count_word.h has the protocol.
 *
 *   asked   by the program; the subprocess sleeps on the word
 *   done    by the subprocess; the program sleeps until an eventfd signals
 *
 * Two kinds of readers sleep for done, each with an eventfd and a bit of its own: the
 * collector (collector.h) and workers (listener.h).  So an answer that a worker hears
 * does not wake the collector.
 *
 * One signal of an eventfd stands for all answers until its reader looks: so signals
 * do not hold up a subprocess that answers fast.
 *
 * An argument or a result that fits no slot is in a crate (crate.h): the slot says
 * where.
 *
 * STOP in asked: the subprocess shall end when it is idle.
 *
 * The subprocess may write nonsense, or die at any moment.  The program trusts
 * nothing that it reads here.  It keeps its own counts, and compares done with them.
 * The contents of a slot are copied first and then checked.  An answer has the life
 * of the subprocess and the number of the call; any other answer marks the
 * subprocess as broken.
 *
 * A restarted subprocess has the same ring: a restart needs no memory.  Before a life
 * has a call, the first slot has the argument of on_start.
 *
 * Edges:
 *
 *   CR1  the subprocess is ready -> the program finds it : all it did before
 *
 * CW1 of shm/count_word.h, by asked: the slots, and the settings in the ring when the
 * subprocess was started.  By done: the answers.
 */
#ifndef SLEY_SUBPROCESS_CALL_RING_H
#define SLEY_SUBPROCESS_CALL_RING_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/clock.h"
#include "shm/count_word.h"

#include <sley/subprocess.h>

#define CALL_RING_LOOKS_PER_CLOCK 32

/* Before the argument: what the library itself adds to a call. */
#define CALL_HEAD_MAX 32

/* In done: whose eventfd the next answer signals. */
#define CALL_RING_COLLECTOR COUNT_WORD_WATCHED
#define CALL_RING_WORKER COUNT_WORD_SLEEPS
#define CALL_RING_SIGNALS (CALL_RING_COLLECTOR | CALL_RING_WORKER)

struct call_slot {
	/* Written by the program: */
	uint32_t life;
	uint32_t number;
	uint32_t fn;
	uint32_t reserved;
	uint64_t arg_size;
	uint64_t crate_end; /* in the file of crates; 0: there is no crate */
	uint64_t arg_at;    /* the same; 0: it is in the slot              */
	uint64_t result_at; /* the same                                    */
	/* Written by the subprocess: */
	uint32_t answer_life;
	uint32_t answer_number;
	uint64_t result_size;
	int32_t code;
	uint32_t answer_reserved[3];
	unsigned char arg[CALL_HEAD_MAX + SLEY_SUBPROCESS_DATA_MAX];
	unsigned char result[SLEY_SUBPROCESS_DATA_MAX];
	char text[SLEY_SUBPROCESS_TEXT_MAX]; /* if code is below 0 */
};

_Static_assert(offsetof(struct call_slot, arg) % 16 == 0 &&
		       sizeof(struct call_slot) % 16 == 0,
	       "an argument is aligned as memory of malloc() is");

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
	count_word_reset(&ring->asked, number);
	count_word_reset(&ring->done, number);
	/* relaxed: the subprocess does not exist yet; spinners take no notice. */
	store_relaxed(&ring->begun, number);
	store_relaxed(&ring->ready, CALL_RING_NOT_READY);
	ring->refusal = 0;
}

/* @nr more slots are filled.  True: call call_ring_wake(). */
static inline must_check bool call_ring_ask(struct call_ring *ring, uint32_t nr)
{
	return count_word_add(&ring->asked, nr) & COUNT_WORD_SLEEPS;
}

static inline void call_ring_wake(struct call_ring *ring)
{
	count_word_wake(&ring->asked, 1);
}

/* The subprocess shall end when it is idle. */
static inline void call_ring_stop(struct call_ring *ring)
{
	if (count_word_stop(&ring->asked) & COUNT_WORD_SLEEPS)
		call_ring_wake(ring);
}

/* How many calls are done, according to the subprocess. */
static inline uint32_t call_ring_done(const struct call_ring *ring)
{
	return count_word_count(count_word_load(&ring->done));
}

/* The same, and the next answer signals the eventfds of @bits. */
static inline uint32_t call_ring_watch(struct call_ring *ring, uint32_t bits)
{
	return count_word_count(count_word_ask(&ring->done, bits));
}

/* After a death: how many calls had begun, between @done and @asked. */
static inline uint32_t call_ring_begun(const struct call_ring *ring,
				       uint32_t done, uint32_t asked)
{
	/* relaxed: the subprocess was reaped, which orders its writes. */
	uint32_t begun = load_relaxed(&ring->begun) & COUNT_WORD_MASK;

	return count_word_distance(done, begun) >
			       count_word_distance(done, asked)
		       ? asked
		       : begun;
}

static inline uint32_t call_ring_readiness(const struct call_ring *ring)
{
	return load_acquire(&ring->ready); /* CR1 */
}

/* ---- the subprocess's side ------------------------------------------------------- */

static inline void call_ring_say_ready(struct call_ring *ring,
				       uint32_t readiness)
{
	store_release(&ring->ready, readiness); /* CR1 */
}

/* Has @asked no new call after @number, and no STOP? */
static inline bool call_ring_idle(uint32_t asked, uint32_t number)
{
	return count_word_count(asked) == number && !(asked & COUNT_WORD_STOP);
}

/* Sleeps, unless there are calls after @number. */
static inline void call_ring_park(struct call_ring *ring, uint32_t number)
{
	uint32_t asked = count_word_ask(&ring->asked, COUNT_WORD_SLEEPS);

	if (call_ring_idle(asked, number))
		count_word_sleep(&ring->asked, asked);
	count_word_clear(&ring->asked, COUNT_WORD_SLEEPS);
}

/* Spins, then sleeps, until there are calls after @number, or STOP.  Gives asked. */
static inline uint32_t call_ring_await(struct call_ring *ring, uint32_t number)
{
	uint64_t end_ns = ring->spin_ns ? os_now() + ring->spin_ns : 0;
	uint32_t looks = 0, asked;

	for (;;) {
		asked = count_word_load(&ring->asked);
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
	store_relaxed(&ring->begun, (number + 1) & COUNT_WORD_MASK);
	compiler_barrier();
}

/*
 * One more call is done, and its slot has the answer.  Gives the bits of the eventfds
 * to signal.
 */
static inline must_check uint32_t call_ring_answer(struct call_ring *ring)
{
	uint32_t bits = count_word_add(&ring->done, 1) & CALL_RING_SIGNALS;

	if (!bits)
		return 0;
	/* If a bit is set again meanwhile, the signal still comes. */
	count_word_clear(&ring->done, bits);
	return bits;
}

#endif
