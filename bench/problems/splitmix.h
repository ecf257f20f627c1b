/* SPDX-License-Identifier: MIT */
/*
 * splitmix.h - the well-known mixing function: all 64 bits of the result
 * depend on all 64 bits of the argument.
 */
#ifndef BENCH_SPLITMIX_H
#define BENCH_SPLITMIX_H

#include <stdint.h>

#define SPLITMIX_STEP 0x9e3779b97f4a7c15u

static inline uint64_t splitmix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

#endif
