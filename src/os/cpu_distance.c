/* SPDX-License-Identifier: MIT */
/*
 * cpu_distance.c - see cpu_distance.h.
 *
 * Each file of /sys is an open, a read and a close, some 10 us, and a machine
 * of 256 CPUs has ten files about each CPU.  So a list is read once for all CPUs
 * in the list: about as many files as there are cores.  Only CPUs that no list
 * names (the list was too long, or the machine has no lists) are asked for one by
 * one.
 *
 * Rejected: core_id and the like, see cpus.c; reading again when CPUs come
 * and go: a wrong place costs a longer way, nothing else.
 */
#include "os/cpu_distance.h"

#include "os/cpus.h"

#include <errno.h>

typedef bool read_sharers(const char *root, int cpu, struct sley_cpus *out);

/* All of @sharers get the number of the lowest, and are taken from @left. */
static void put_lowest(const struct sley_cpus *sharers, struct sley_cpus *left,
		       uint64_t *place, uint64_t unit)
{
	uint64_t lowest = (uint64_t)sley_cpus_next(sharers, 0);

	for (int i = sley_cpus_next(sharers, 0); i >= 0;
	     i = sley_cpus_next(sharers, i + 1)) {
		if (sley_cpus_remove(left, i))
			place[i] += lowest * unit;
	}
}

/* Without a list: a core of its own; a cache shared with the same core only. */
static void put_shared(const char *root, const struct sley_cpus *cpus,
		       uint64_t *place, uint64_t unit, read_sharers *sharers_of)
{
	struct sley_cpus left = *cpus, sharers;
	int cpu;

	while ((cpu = sley_cpus_next(&left, 0)) >= 0) {
		if (sharers_of(root, cpu, &sharers) &&
		    sley_cpus_has(&sharers, cpu)) {
			put_lowest(&sharers, &left, place, unit);
			continue;
		}
		(void)sley_cpus_remove(&left, cpu);
		place[cpu] += unit == PLACE_CORE
				      ? (uint64_t)cpu
				      : place[cpu] % PLACE_CACHE * unit;
	}
}

/* A core is on one node: the lowest CPU is asked for all CPUs of the core. */
static void put_node(const char *root, const struct sley_cpus *cpus, int cpu,
		     uint64_t *place)
{
	int lowest = (int)(place[cpu] % PLACE_CACHE);
	uint64_t node;

	if (lowest < cpu && sley_cpus_has(cpus, lowest))
		node = place[lowest] / PLACE_NODE;
	else
		node = (uint64_t)os_cpu_node(root, cpu);
	place[cpu] += node * PLACE_NODE;
}

void os_cpu_distance_read(const char *root, const struct sley_cpus *cpus,
			  uint64_t *place)
{
	int saved = errno, end = 0;

	for (int cpu = sley_cpus_next(cpus, 0); cpu >= 0;
	     cpu = sley_cpus_next(cpus, cpu + 1)) {
		while (end < cpu)
			place[end++] = PLACE_UNKNOWN;
		place[end++] = 0;
	}
	put_shared(root, cpus, place, PLACE_CORE, os_cpu_core_cpus);
	put_shared(root, cpus, place, PLACE_CACHE, os_cpu_cache_cpus);
	for (int cpu = sley_cpus_next(cpus, 0); cpu >= 0;
	     cpu = sley_cpus_next(cpus, cpu + 1))
		put_node(root, cpus, cpu, place);
	errno = saved;
}
