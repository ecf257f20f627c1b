/* SPDX-License-Identifier: MIT */
/*
 * cpu_distance.h - how far CPUs are from each other.
 *
 * A *place* is a word: the numbers of a CPU's memory node, last-level cache
 * and core, from the top down.  The exclusive or of two places shows what the two
 * CPUs share: 0 on one core, below PLACE_CACHE behind one cache, below PLACE_NODE
 * on one node.  So a single comparison tells the distance.
 *
 * The number of a core or cache is its lowest CPU.  A cache that several nodes
 * share (sub-NUMA clusters) counts as one cache for each node.
 */
#ifndef SLEY_OS_CPU_DISTANCE_H
#define SLEY_OS_CPU_DISTANCE_H

#include <sley/cpus.h>

#define PLACE_CORE 1ull
#define PLACE_CACHE (1ull << 16)
#define PLACE_NODE (1ull << 32)
#define PLACE_END (1ull << 48)
#define PLACE_UNKNOWN UINT64_MAX

static inline uint64_t place_of(int node, int cache, int core)
{
	return (uint64_t)node * PLACE_NODE + (uint64_t)cache * PLACE_CACHE +
	       (uint64_t)core;
}

/*
 * The places of @cpus, into @place, by the number of the CPU; @place has room for
 * the highest.  Other CPUs get PLACE_UNKNOWN.  Without /sys each CPU is a core of
 * its own, without a shared cache, and there is one node.  @root is put in
 * front of /sys; tests bring their own tree.
 */
void os_cpu_distance_read(const char *root, const struct sley_cpus *cpus,
			  uint64_t *place);

#endif
