/* SPDX-License-Identifier: MIT */
/*
 * rand.h - small, fast and replayable random numbers (splitmix64).
 *
 * A counter advanced by an odd constant, then scrambled.  The state is one
 * word, every seed is good, zero included, and each of the 2^64 values comes
 * exactly once per period.  The generator picks victims and drives tests; one
 * number is enough to predict all others.
 */
#ifndef SLEY_BASE_RAND_H
#define SLEY_BASE_RAND_H

#include "base/assert.h"

#include <stdint.h>

struct rand {
	uint64_t s;
};

static inline void rand_seed(struct rand *rand, uint64_t seed)
{
	rand->s = seed;
}

static inline uint64_t rand_next(struct rand *rand)
{
	uint64_t x = rand->s += 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/*
 * A number in [0, @n).  Scales the upper half instead of dividing; the bias is
 * below n / 2^32, too little to notice when picking one of 4096 victims.
 */
static inline uint32_t rand_below(struct rand *rand, uint32_t n)
{
	sley_assert(n > 0);
	return (uint32_t)(((rand_next(rand) >> 32) * n) >> 32);
}

/*
 * The same evenly spread instead of at random: the plain counter.  The counter
 * advances by the golden ratio, so each number comes at least once in 2 * @n, or in
 * 3 * @n for a caller that sees only every second or third number.  A processor
 * can learn the sequence, and then mispredicts nothing.
 */
static inline uint32_t rand_spread_below(struct rand *rand, uint32_t n)
{
	sley_assert(n > 0);
	rand->s += 0x9e3779b97f4a7c15u;
	return (uint32_t)(((rand->s >> 32) * n) >> 32);
}

#endif
