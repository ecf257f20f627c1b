/* SPDX-License-Identifier: MIT */
/*
 * victims.c - see victims.h, and docs/adr/0013-victims-by-distance.md.
 */
#include "core/sched/victims.h"

#include "os/cpus.h"

#include <errno.h>

#define NR_MIN 3

_Static_assert(SLEY_CPUS_MAX <= PLACE_CACHE, "a place has room for its parts");

/* How many different numbers the places of @cpus have at @unit. */
static int count_units(const struct victims *victims,
		       const struct sley_cpus *cpus, uint64_t unit)
{
	struct sley_cpus units = { { 0 } };

	for (int i = sley_cpus_next(cpus, 0); i >= 0;
	     i = sley_cpus_next(cpus, i + 1)) {
		uint64_t number = victims->cpu_place[i] / unit % PLACE_CACHE;

		(void)sley_cpus_add(&units, (int)number);
	}
	return sley_cpus_count(&units);
}

/* A border counts if there are CPUs on both sides. */
static uint32_t find_borders(const struct victims *victims,
			     const struct sley_cpus *cpus)
{
	int nr_cpus = sley_cpus_count(cpus);
	int nr_cores = count_units(victims, cpus, PLACE_CORE);
	int nr_caches = count_units(victims, cpus, PLACE_CACHE);
	int nr_nodes = count_units(victims, cpus, PLACE_NODE);
	uint32_t borders = 0;

	if (nr_cores > 1 && nr_cores < nr_cpus)
		borders |= 1u << RING_CORE;
	if (nr_caches > 1 && nr_caches < nr_cores)
		borders |= 1u << RING_CACHE;
	if (nr_nodes > 1 && (nr_nodes != nr_caches || nr_caches == nr_cores))
		borders |= 1u << RING_NODE;
	return borders;
}

static unsigned int end_of(const struct sley_cpus *cpus)
{
	unsigned int end = 0;

	for (int i = sley_cpus_next(cpus, 0); i >= 0;
	     i = sley_cpus_next(cpus, i + 1))
		end = (unsigned int)i + 1;
	return end;
}

/* With few victims, or few CPUs, no victim is nearer than another. */
static bool has_distances(const struct victims *victims,
			  const struct sley_cpus *cpus)
{
	return victims->nr_workers >= NR_MIN && sley_cpus_count(cpus) >= NR_MIN;
}

static size_t size_of(const struct victims *victims)
{
	return (victims->nr_workers + victims->nr_cpus) * sizeof(uint64_t);
}

int victims_init(struct victims *victims, struct mem *mem, const char *root,
		 unsigned int nr_workers, const struct sley_cpus *cpus)
{
	victims->nr_workers = nr_workers;
	if (has_distances(victims, cpus))
		victims->nr_cpus = end_of(cpus);
	victims->place = mem_alloc(mem, size_of(victims));
	if (!victims->place)
		return -ENOMEM;
	victims->cpu_place = victims->place + nr_workers;
	if (victims->nr_cpus) {
		os_cpu_distance_read(root, cpus, victims->cpu_place);
		victims->borders = find_borders(victims, cpus);
	}
	return 0;
}

void victims_fini(struct victims *victims, struct mem *mem)
{
	mem_free(mem, victims->place, size_of(victims));
}

bool victims_place(struct victims *victims, unsigned int worker,
		   const struct sley_cpus *cpus)
{
	if (!victims->borders)
		return false;
	if (!cpus || sley_cpus_count(cpus) > 1)
		return true;
	victims_see(victims, worker, sley_cpus_next(cpus, 0));
	return false;
}

void victims_see(struct victims *victims, unsigned int worker, int cpu)
{
	uint64_t *place = &victims->place[worker];
	uint64_t seen;

	/* The worker may have been given another CPU since. */
	if (cpu < 0 || (unsigned int)cpu >= victims->nr_cpus)
		return;
	seen = victims->cpu_place[cpu];
	/* relaxed: a hint, which only the worker of the place writes. */
	if (seen != PLACE_UNKNOWN && seen != load_relaxed(place))
		/* relaxed: as above. */
		store_relaxed(place, seen);
}

void victims_look_around(struct victims *victims, unsigned int worker)
{
	victims_see(victims, worker, os_cpu_current());
}
