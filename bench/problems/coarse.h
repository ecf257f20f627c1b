/* SPDX-License-Identifier: MIT */
/*
 * coarse.h - the problem `coarse`: two halves of about a second each.
 *
 * A half is a chain of operations; each operation needs the result of the operation
 * before.  A half does not call the scheduler.
 */
#ifndef BENCH_COARSE_H
#define BENCH_COARSE_H

#include "../measure.h"
#include "splitmix.h"

#define COARSE_STEPS 300000000
#define COARSE_QUICK 30000000
#define COARSE_LEFT 1 /* seeds */
#define COARSE_RIGHT 2

/* The length of one half. */
static inline uint64_t coarse_steps(const struct measure *m)
{
	return m->quick ? COARSE_QUICK : COARSE_STEPS;
}

static __attribute__((noinline, unused)) uint64_t coarse_half(uint64_t seed,
							      uint64_t steps)
{
	for (uint64_t i = 0; i < steps; i++)
		seed = splitmix(seed);
	return seed;
}

/* Reports the time since @start, if the results of both halves are right. */
static inline void coarse_report(const struct measure *m, uint64_t start,
				 uint64_t left, uint64_t right)
{
	uint64_t ns = measure_now() - start;

	MEASURE_CHECK(m, left == (m->quick ? 0x4ac782f9239d5f88u
					   : 0xc5e4213e32a659eau));
	MEASURE_CHECK(m, right == (m->quick ? 0xd5cf2e490d23414au
					    : 0x903e5dbd102aaeafu));
	measure_report("ms", (double)ns / 1e6);
}

#endif
