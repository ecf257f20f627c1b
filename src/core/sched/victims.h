/* SPDX-License-Identifier: MIT */
/*
 * victims.h - from which workers a thief steals first.
 *
 * Victims on the thief's own core come first, then victims behind the same
 * last-level cache, then victims of its memory node, then the rest: four *rings*
 * around the thief.  Within a ring the order is random, and different for each
 * look, so that thieves spread over the victims and the victims over the thieves.
 * If a ring is empty on this machine, or the same as the next ring, thieves pass
 * over it.  On a machine with one cache and one thread per core there is a single
 * ring, and a search has just the order of that ring.
 *
 * The order is not stored.  Each worker has a place (os/cpu_distance.h) in one table
 * for all, eight bytes each, which every thief reads and workers rarely write.
 * A thief goes through the table in a random permutation, once per ring, and
 * looks only at victims whose place is in that ring.  Until the thief looks at a
 * victim, it touches nothing of that victim.  The permutation is a start and a
 * stride: strides are primes above SLEY_WORKERS_MAX, so that any stride visits all.
 *
 * Where a worker is: a worker that may use one CPU only is there, for ever.  All
 * others *wander*: they see where the kernel put them when they begin to search, and
 * when they wake up.  So a thief sees where a victim was when the victim last had
 * nothing to do.  The kernel moves busy threads rarely.
 *
 * Places are hints.  If a place changes in the middle of a walk, the worker of that
 * place may be visited twice or not at all.  No worker sleeps because of that: a
 * worker that is about to park looks at all others in any case (search.c).
 */
#ifndef SLEY_CORE_SCHED_VICTIMS_H
#define SLEY_CORE_SCHED_VICTIMS_H

#include "base/atomic.h"
#include "base/bits.h"
#include "base/compiler.h"
#include "base/rand.h"
#include "mem/alloc.h"
#include "os/cpu_distance.h"

#include <sley/runtime.h>

/* The outer borders of the rings; beyond the last border is the rest. */
enum victim_ring { RING_CORE, RING_CACHE, RING_NODE, NR_RINGS };

struct victims {
	uint64_t *place;         /* of each worker                          */
	unsigned int nr_workers; /* that have a place                       */
	uint32_t borders;        /* bits by enum victim_ring; 0: one ring   */
	uint64_t *cpu_place;     /* of each CPU, in the same memory         */
	unsigned int nr_cpus;    /* 0: distances do not matter              */
};

/*
 * In zeroed memory: workers that will use @cpus, on a machine whose /sys is
 * below @root.  -ENOMEM; victims_fini() is due in any case.
 */
must_check int victims_init(struct victims *victims, struct mem *mem,
			    const char *root, unsigned int nr_workers,
			    const struct sley_cpus *cpus);
void victims_fini(struct victims *victims, struct mem *mem);

/*
 * Before @worker starts: @worker may use @cpus, or whatever the kernel likes
 * (NULL).  True: @worker has to tell from now on where it is.
 */
bool victims_place(struct victims *victims, unsigned int worker,
		   const struct sley_cpus *cpus);

/* @worker runs on @cpu, as it has seen. */
void victims_see(struct victims *victims, unsigned int worker, int cpu);

/* The same for the calling thread, wherever it is. */
void victims_look_around(struct victims *victims, unsigned int worker);

/* ---- a look at all victims, the nearest first ------------------------------- */

struct victim_walk {
	const uint64_t *place;
	uint64_t here;
	uint64_t from, to;   /* this ring: the distances from .. to - 1     */
	uint32_t borders;    /* of the rings that follow                    */
	unsigned int nr;     /* workers                                     */
	unsigned int self;   /* the thief                                   */
	unsigned int index;  /* the next to be visited                      */
	unsigned int stride; /* from a victim to the next                   */
	unsigned int left;   /* of this ring                                */
};

/* Primes above SLEY_WORKERS_MAX: no prime has a factor that @nr has, too. */
static inline unsigned int victims_stride(uint64_t dice, unsigned int nr)
{
	static const uint16_t prime[] = {
		4099, 4111, 4127, 4129, 4133, 4139, 4153, 4157,
		4159, 4177, 4201, 4211, 4217, 4219, 4229, 4231,
	};

	return prime[dice % array_size(prime)] % nr;
}
_Static_assert(SLEY_WORKERS_MAX < 4099, "strides are above it");

/* Go on to the next ring. */
static inline void victims_widen(struct victim_walk *walk)
{
	walk->from = walk->to;
	walk->to = PLACE_END;
	if (walk->borders) {
		walk->to = 1ull << 16 * bits_first(walk->borders);
		walk->borders &= walk->borders - 1;
	}
	walk->left = walk->nr;
}

/* @nr workers, at least 2; @self is the thief. */
static inline struct victim_walk victims_walk(const struct victims *victims,
					      unsigned int self,
					      unsigned int nr,
					      struct rand *rand)
{
	uint64_t dice = rand_next(rand);
	struct victim_walk walk = {
		.place = victims->place,
		/* relaxed: constant, but for tests that bring a machine. */
		.borders = load_relaxed(&victims->borders),
		.nr = nr,
		.self = self,
		.index = (unsigned int)(((dice >> 32) * nr) >> 32),
		.stride = victims_stride(dice, nr),
	};

	if (walk.borders)
		/* relaxed: the thief's own place. */
		walk.here = load_relaxed(&walk.place[self]);
	else
		walk.place = NULL;
	victims_widen(&walk);
	return walk;
}

static inline bool victims_in_ring(const struct victim_walk *walk,
				   unsigned int index)
{
	uint64_t distance;

	if (!walk->place)
		return true;
	/* relaxed: a hint. */
	distance = load_relaxed(&walk->place[index]) ^ walk->here;
	return distance >= walk->from && distance < walk->to;
}

/* The next victim to look at; negative: there are no more. */
static inline int victims_next(struct victim_walk *walk)
{
	for (;;) {
		unsigned int index = walk->index;

		if (!walk->left) {
			if (walk->to == PLACE_END)
				return -1;
			victims_widen(walk);
		}
		walk->left--;
		walk->index += walk->stride;
		if (walk->index >= walk->nr)
			walk->index -= walk->nr;
		if (index != walk->self && victims_in_ring(walk, index))
			return (int)index;
	}
}

#endif
