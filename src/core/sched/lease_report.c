/* SPDX-License-Identifier: MIT */
/*
 * lease_report.c - what other processes are told of the workers: see lease.h.
 *
 * Edges:
 *
 *   S1  see core/sched/worker.h
 */
#include "core/sched/lease.h"

#include "core/sched/worker.h"
#include "os/map.h"

uint64_t lease_levels_bound(const struct sley *rt)
{
	uint64_t levels = 0;

	for (unsigned int i = 0; i < rt->nr_workers; i++)
		/* relaxed: a hint. */
		levels |= load_relaxed(&rt->worker[i]->levels_hint);
	return levels;
}

/*
 * The task may end meanwhile, and its memory be gone: read as a debugger does.  A level
 * that was read there all the same is a hint like any other.
 */
static unsigned int level_of_task(const struct worker *worker)
{
	const struct strand *strand = load_acquire(&worker->strand); /* S1 */
	const struct sley_task *task = strand ? strand_task(strand) : NULL;
	uint32_t flags;

	if (!task)
		return LEASE_NO_LEVEL;
	if (!os_peek(&flags, &task->flags, sizeof(flags)))
		return LEVEL_DEFAULT;
	return task_level_of(flags);
}

unsigned int lease_runs_of(const struct sley *rt, unsigned int i)
{
	const struct worker *worker = rt->worker[i];

	/* relaxed: a hint. */
	if (load_relaxed(&worker->lease.core) == LEASE_NO_CORE)
		return LEASE_NO_LEVEL;
	return level_of_task(worker);
}

unsigned int lease_runs(const struct sley *rt)
{
	unsigned int runs = LEASE_NO_LEVEL;

	for (unsigned int i = 0; i < rt->nr_workers; i++) {
		unsigned int level = lease_runs_of(rt, i);

		if (level != LEASE_NO_LEVEL &&
		    (runs == LEASE_NO_LEVEL || level > runs))
			runs = level;
	}
	return runs;
}

static uint64_t read_counter(const uint64_t *counter)
{
	/* relaxed: statistics. */
	return load_relaxed(counter);
}

void lease_read_counters(const struct sley *rt, struct lease_counters *out)
{
	const struct lease_counters *counters = &rt->lease.counters;

	*out = (struct lease_counters){
		.taken = read_counter(&counters->taken),
		.in_vain = read_counter(&counters->in_vain),
		.looks = read_counter(&counters->looks),
		.given = read_counter(&counters->given),
		.lost = read_counter(&counters->lost),
		.passed = read_counter(&counters->passed),
		.waits = read_counter(&counters->waits),
		.overtook = read_counter(&counters->overtook),
	};
}
