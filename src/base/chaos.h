/* SPDX-License-Identifier: MIT */
/*
 * chaos.h - a test mode that makes rare interleavings frequent: SLEY_CHAOS=seed.
 *
 * A build with -DSLEY_CHAOS (the presets for finding bugs; never a release)
 * asks, at the places where races live, whether something unlikely shall happen
 * now.  Without the define each question is a constant; with the define, and
 * without a seed in the environment, a load and a branch.
 *
 *   chaos_delay()    in base/atomic.h, before and after each ordered operation:
 *                    the thread gives up its CPU, or sleeps for a moment
 *   CHAOS_WAKE       a futex wait returns for no reason
 *   CHAOS_STEAL      a worker steals although it has work
 *   CHAOS_MOVE       a task goes to another worker than it would
 *   CHAOS_LOSE       another thread was faster: a loop around a compare-and-swap
 *                    goes round once more
 *   chaos_few()      a capacity is next to nothing
 *
 * The seed decides how likely each event is, and which events do not happen at all:
 * bugs hide behind one another, so that all events at once find fewer bugs.  Each
 * thread draws from a stream of its own, which depends on the seed and on the
 * number of the thread alone.  So a thread decides the same when it is run
 * again; which thread comes first is still the kernel's business.
 *
 * Every event here is allowed by the protocols: chaos makes no mistakes, and every
 * failure under chaos is a bug, of the library or of a test that relies on luck.
 * Yields do not move a task: nothing in the library would.
 *
 * The questions are asked from the lowest layers on, and answering takes system
 * calls, so the answers are in os/chaos.c.
 *
 * Rejected: questions at chosen places only.  Every protocol here consists of
 * ordered operations, and an author that chooses places forgets some.
 */
#ifndef SLEY_BASE_CHAOS_H
#define SLEY_BASE_CHAOS_H

#include <stdbool.h>
#include <stdint.h>

enum chaos_kind {
	CHAOS_DELAY,
	CHAOS_WAKE,
	CHAOS_STEAL,
	CHAOS_MOVE,
	CHAOS_LOSE,
	NR_CHAOS,
};

/* Streams: a worker has its index; these begin where workers end. */
#define CHAOS_STREAM_MONITOR (1u << 16)
#define CHAOS_STREAM_OTHER (1u << 17) /* + the number of earlier askers */

#if defined(SLEY_CHAOS) && !defined(SLEY_MODEL)

/* Constant once there are threads. */
struct chaos {
	bool on;
	uint64_t seed;
	uint32_t odds[NR_CHAOS]; /* 1 in so many; 0: never                 */
	uint32_t few;            /* capacities shrink to so many; 0: not   */
};

extern struct chaos sley__chaos __attribute__((visibility("hidden")));

void chaos_delay_now(void);
bool chaos_draw(enum chaos_kind kind);

/* A number below @n. */
uint32_t chaos_below(uint32_t n);

/* The calling thread draws from this stream from now on. */
void chaos_thread(uint32_t stream);

/* Begin, before there are threads; the environment does so by itself. */
void chaos_begin(uint64_t seed);

/* One line to stderr, once, if there is chaos. */
void chaos_announce(void);

static inline void chaos_delay(void)
{
	if (__builtin_expect(sley__chaos.on, 0))
		chaos_delay_now();
}

static inline bool chaos_says(enum chaos_kind kind)
{
	return __builtin_expect(sley__chaos.on, 0) && chaos_draw(kind);
}

/* @usual, or @few times a factor of the seed: at least @few. */
static inline uint64_t chaos_few(uint64_t usual, uint64_t few)
{
	if (__builtin_expect(!sley__chaos.few, 1))
		return usual;
	return few * sley__chaos.few < usual ? few * sley__chaos.few : usual;
}

static inline uint64_t chaos_delay_after(uint64_t result)
{
	chaos_delay();
	return result;
}

/* Around an operation without a result, and with an integer result. */
#define chaos_around_store(op) (chaos_delay(), (op), chaos_delay())
#define chaos_around(op)                                                       \
	({                                                                     \
		(__typeof__(op))(uintptr_t)chaos_delay_after(                  \
			(chaos_delay(), (uint64_t)(uintptr_t)(op)));           \
	})

#else

#define chaos_delay() ((void)0)
#define chaos_says(kind) false
#define chaos_below(n) 0u
#define chaos_few(usual, few) (usual)
#define chaos_thread(stream) ((void)0)
#define chaos_announce() ((void)0)
#define chaos_around_store(op) (op)
#define chaos_around(op) (op)

#endif

#endif
