/* SPDX-License-Identifier: MIT */
/*
 * sley/cpus.h - sets of CPUs, and how the machine is built.
 *
 * A set is a plain value: zeroed memory is the empty set, and assignment copies
 * a set.  CPUs have the numbers that the kernel gives them, as in
 * /proc/cpuinfo.  The numbers are not 0 ... count - 1: a process that may use
 * CPUs 4 and 6 has a set of two CPUs, and neither of them is called 0 or 1.
 *
 * The fields .cpus and .placement of struct sley_config take sets, see
 * runtime.h.
 */
#ifndef SLEY_CPUS_H
#define SLEY_CPUS_H

#include <sley/compiler.h>

SLEY_BEGIN_DECLS

#define SLEY_CPUS_MAX 4096

struct sley_cpus {
	uint64_t word[SLEY_CPUS_MAX / 64];
};

/* A CPU, and the parts of the machine that it shares with other CPUs. */
struct sley_cpu {
	int32_t cpu;
	int32_t core;    /* the lowest CPU of its core: hyper-threads agree   */
	int32_t cache;   /* the lowest CPU that shares its last-level cache   */
	int32_t node;    /* the node of memory                                */
	int32_t package; /* the kernel's number of the socket                 */
	int32_t reserved[3];
};

/*
 * sley_cpus_has - is @cpu in the set @cpus?
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; false for a number that no CPU can have
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline bool
sley_cpus_has(const struct sley_cpus *cpus, int cpu)
{
	return cpu >= 0 && cpu < SLEY_CPUS_MAX &&
	       (cpus->word[cpu / 64] >> cpu % 64 & 1);
}

/*
 * sley_cpus_add - put @cpu into the set @cpus.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; false, and no change, for a number that no CPU can have
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline bool
sley_cpus_add(struct sley_cpus *cpus, int cpu)
{
	if (cpu < 0 || cpu >= SLEY_CPUS_MAX)
		return false;
	cpus->word[cpu / 64] |= 1ull << cpu % 64;
	return true;
}

/*
 * sley_cpus_remove - take @cpu out of the set @cpus.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; false if @cpu was not in the set
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline bool
sley_cpus_remove(struct sley_cpus *cpus, int cpu)
{
	if (!sley_cpus_has(cpus, cpu))
		return false;
	cpus->word[cpu / 64] &= ~(1ull << cpu % 64);
	return true;
}

/*
 * sley_cpus_count - how many CPUs are in the set @cpus.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline int
sley_cpus_count(const struct sley_cpus *cpus)
{
	int count = 0;

	for (int i = 0; i < SLEY_CPUS_MAX / 64; i++)
		count += __builtin_popcountll(cpus->word[i]);
	return count;
}

/*
 * sley_cpus_next - the lowest CPU of the set that is not below @cpu, or -1.
 *
 * To visit all CPUs of a set:
 *
 *   for (cpu = sley_cpus_next(set, 0); cpu >= 0;
 *        cpu = sley_cpus_next(set, cpu + 1))
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline int
sley_cpus_next(const struct sley_cpus *cpus, int cpu)
{
	uint64_t mask;

	if (cpu < 0)
		cpu = 0;
	mask = ~0ull << cpu % 64;
	for (int i = cpu / 64; i < SLEY_CPUS_MAX / 64; i++, mask = ~0ull) {
		if (cpus->word[i] & mask)
			return i * 64 + __builtin_ctzll(cpus->word[i] & mask);
	}
	return -1;
}

/*
 * sley_cpus_nth - the CPU of the set that has @n others below it, or -1.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline int
sley_cpus_nth(const struct sley_cpus *cpus, int n)
{
	int cpu = n < 0 ? -1 : sley_cpus_next(cpus, 0);

	while (cpu >= 0 && n-- > 0)
		cpu = sley_cpus_next(cpus, cpu + 1);
	return cpu;
}

/*
 * sley_cpus_intersect - take all CPUs out of @cpus that are not in @other.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline void
sley_cpus_intersect(struct sley_cpus *cpus, const struct sley_cpus *other)
{
	for (int i = 0; i < SLEY_CPUS_MAX / 64; i++)
		cpus->word[i] &= other->word[i];
}

/*
 * sley_cpus_unite - put all CPUs of @other into @cpus.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline void
sley_cpus_unite(struct sley_cpus *cpus, const struct sley_cpus *other)
{
	for (int i = 0; i < SLEY_CPUS_MAX / 64; i++)
		cpus->word[i] |= other->word[i];
}

/*
 * sley_cpus_usable - the CPUs that the calling thread may use.
 *
 * These are the CPUs of the thread's affinity mask, as taskset, cpusets and
 * containers set it, without CPUs that are offline.  Threads inherit the mask.
 * So the workers of a runtime that this thread creates may run on these CPUs.
 * CPUs with numbers from SLEY_CPUS_MAX on are left out.  Each call looks again:
 * a mask may change while the program runs.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; how many CPUs there are, at least 1
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_cpus_usable(struct sley_cpus *out);

/*
 * sley_cpus_topology - describe the CPUs that the calling thread may use.
 *
 * *@out gets the first @max CPUs, in the order of their numbers.  If the kernel
 * does not tell, each CPU is a core and a cache of its own, in package 0 and
 * node 0.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; how many CPUs there are, which may be more than @max
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_cpus_topology(struct sley_cpu *out, size_t max);

SLEY_END_DECLS
#endif
