/* SPDX-License-Identifier: MIT */
/*
 * watchdog.c - see watchdog.h.
 *
 * Edges:
 *
 *   S1  see core/sched/worker.h
 */
#include "core/sched/watchdog.h"

#include "core/sched/gauge.h"
#include "core/sched/source.h"
#include "core/sched/worker.h"
#include "core/trace/report.h"
#include "core/wait/holder.h"
#include "os/map.h"

#include <stdio.h>

#define NS_PER_MS 1000000ull
#define DEAF_TIMES 10       /* config.watchdog_ms, see is_deaf()            */
#define MS_MAX (1ull << 40) /* 35 years, and still a number of nanoseconds */

void watchdog_init(struct watchdog *watchdog, const struct sley_config *config)
{
	uint64_t ms = config->watchdog_ms;

	*watchdog = (struct watchdog){
		.patience_ns = ms < MS_MAX ? ms * NS_PER_MS : UINT64_MAX,
	};
}

uint64_t watchdog_found(const struct watchdog *watchdog)
{
	/* relaxed: statistics. */
	return load_relaxed(&watchdog->nr_found);
}

/* ---- the report ------------------------------------------------------------------ */

/* May a line be written now? */
static bool may_write(struct watchdog *watchdog, uint64_t now_ns)
{
	if (now_ns - watchdog->window_ns >= WATCHDOG_WINDOW_NS) {
		watchdog->window_ns = now_ns;
		watchdog->nr_lines = 0;
	}
	if (watchdog->nr_lines >= WATCHDOG_LINES)
		return false;
	watchdog->nr_lines++;
	return true;
}

/* Without its name, where the kernel does not read as a debugger does. */
static void describe(char *out, size_t size, const struct strand *strand)
{
	char probe = 0, seen;

	if (os_peek(&seen, &probe, sizeof(probe)))
		holder_describe(out, size, (uintptr_t)&strand->forks);
	else
		(void)snprintf(out, size, "a task");
}

/* What waits may be pinned; in a migratable runtime nothing else waits. */
static const char *other_advice(const struct sley *rt)
{
	return rt->nr_workers > 1 && !rt->migratable
		       ? "make them .migratable if they are not pinned, "
		       : "";
}

/*
 * Have tasks held all workers for so long, and may work come from outside?  No worker looks
 * for it then, though no task waits that the gauges count.  Whether there is such work is not
 * known here, so the watchdog has more patience: a computation on all workers is no mistake.
 */
static bool is_deaf(struct sley *rt, uint64_t now_ns)
{
	uint64_t patience_ns = rt->watchdog.patience_ns;

	patience_ns = patience_ns < UINT64_MAX / DEAF_TIMES
			      ? patience_ns * DEAF_TIMES
			      : UINT64_MAX;
	for (unsigned int i = 0; i < rt->nr_workers; i++) {
		if (now_ns - rt->worker[i]->watch.since_ns < patience_ns)
			return false;
	}
	return sources_are_due(rt, false);
}

/* @nr_waiting tasks, or work from outside. */
static void write_line(struct worker *worker, const char *name,
		       unsigned int nr_waiting, uint64_t now_ns)
{
	struct watchdog *watchdog = &worker->rt->watchdog;
	uint64_t ms = (now_ns - worker->watch.since_ns) / NS_PER_MS;
	char more[64] = "", waiting[80];

	if (!may_write(watchdog, now_ns)) {
		watchdog->nr_left_out++;
		return;
	}
	if (watchdog->nr_left_out)
		(void)snprintf(more, sizeof(more),
			       " (%u more such tasks were not reported)",
			       watchdog->nr_left_out);
	watchdog->nr_left_out = 0;
	if (nr_waiting)
		(void)snprintf(waiting, sizeof(waiting),
			       "%u task(s) that only this worker may run wait "
			       "behind it",
			       nr_waiting);
	report(worker->rt,
	       "%s has held worker %u for %llu ms, and %s: %swrap the long "
	       "call in sley_blocking_call(), or call sley_yield() now and "
	       "then%s",
	       name, worker->index, (unsigned long long)ms,
	       nr_waiting ? waiting
			  : "no worker is free for work from outside, such as "
			    "requests of clients",
	       nr_waiting ? other_advice(worker->rt) : "", more);
}

/* @worker has been held for so long that it is worth a look. */
static void look_closely(struct worker *worker, uint64_t now_ns)
{
	struct watchdog *watchdog = &worker->rt->watchdog;
	struct watchdog_sight *sight = &worker->watch;
	const struct strand *strand = load_acquire(&worker->strand); /* S1 */
	const void *task = strand ? strand_task(strand) : NULL;
	unsigned int nr_waiting;
	char name[160];

	/* A worker without a task looks for one, or for memory. */
	if (!task)
		return;
	nr_waiting = gauge_bound(worker);
	if (!nr_waiting && !is_deaf(worker->rt, now_ns))
		return;
	describe(name, sizeof(name), strand);
	if (!monitor_is_held(worker))
		return;
	sight->told = true;
	/* The same task, which has waited in between: once is enough. */
	if (task == sight->task && strand == sight->strand)
		return;
	sight->task = task;
	sight->strand = strand;
	/* relaxed: statistics; the monitor is the only writer. */
	store_relaxed(&watchdog->nr_found, watchdog->nr_found + 1);
	write_line(worker, name, nr_waiting, now_ns);
}

void watchdog_look(struct worker *worker, bool held, uint64_t now_ns)
{
	struct watchdog_sight *sight = &worker->watch;

	/*
	 * Strands are never unmapped.  A task that has begun on the same strand
	 * since the last look, with the same memory, is taken for the same task:
	 * a loop that spawns long tasks gets one line.
	 */
	if (sight->task && strand_task(sight->strand) != sight->task)
		sight->task = NULL;
	if (!held || !sight->since_ns) {
		sight->since_ns = now_ns;
		sight->told = false;
	} else if (!sight->told && now_ns - sight->since_ns >=
					   worker->rt->watchdog.patience_ns) {
		look_closely(worker, now_ns);
	}
}
