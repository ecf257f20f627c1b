/* SPDX-License-Identifier: MIT */
/*
 * skynet.h - the problem `skynet`: a tree in which each node has ten children,
 * and a million leaves that count themselves.  The sum goes up the tree.
 *
 * The time is per child, so the number of turns does not matter, and slow peers
 * take a few turns only.
 */
#ifndef BENCH_SKYNET_H
#define BENCH_SKYNET_H

#include "../measure.h"

#define SKYNET_WAYS 10
#define SKYNET_LEAVES 1000000
#define SKYNET_QUICK 1000
#define SKYNET_TURNS 50
#define SKYNET_TURNS_SLOW 2

/* Times @turns of @skynet(first leaf, leaves) and checks the sums. */
static inline void skynet_measure(const struct measure *m, const char *metric,
				  int turns,
				  long (*skynet)(long first, long leaves))
{
	volatile long leaves = m->quick ? SKYNET_QUICK : SKYNET_LEAVES;
	uint64_t children = 0, start = measure_now();

	for (int i = 0; i < turns; i++)
		MEASURE_CHECK(m,
			      skynet(0, leaves) == leaves * (leaves - 1) / 2);
	for (long level = leaves; level > 1; level /= SKYNET_WAYS)
		children += (uint64_t)level;
	measure_report_each(metric, start, (uint64_t)turns * children);
}

#endif
