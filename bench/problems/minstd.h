/* SPDX-License-Identifier: MIT */
/*
 * minstd.h - the random numbers of the rows about processes.
 *
 * Park and Miller's generator: every product fits into the small integers of
 * Erlang, so that all participants draw the same numbers at about the same cost.
 */
#ifndef BENCH_MINSTD_H
#define BENCH_MINSTD_H

#include <stdint.h>

/* The number after @x, from 1 to 2147483646. */
static inline uint64_t minstd(uint64_t x)
{
	return x * 16807 % 2147483647;
}

#endif
