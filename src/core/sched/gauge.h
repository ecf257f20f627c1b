/* SPDX-License-Identifier: MIT */
/*
 * gauge.h - how much work a worker has, and how busy it is, for other threads.
 *
 * Lengths.  The ring has its indices, the shared queue counts the tasks that were
 * pushed and taken, and the owner of the ready levels publishes their number.  The
 * two push lists have no length: the pusher counts a task before the push, and a
 * taker subtracts the tasks that it took.  So a length is never less than the number
 * of tasks in the list, and exact while nothing is on its way.
 *
 * Load.  A worker adds up the time in which it searches or sleeps.  At each look
 * the monitor compares that sum with the clock, and keeps the busy share of the
 * time, each look with a weight of its length: an exponentially weighted mean over
 * some GAUGE_MEAN_NS.  A monitor that sleeps looks at nothing: a reader adds the
 * time since the last look by itself.
 *
 * Held.  A worker that is not idle, and has ended nothing and switched to nothing for
 * GAUGE_HELD_NS, is held by one task.  The monitor says so, and how far the worker had
 * come by then: a reader sees at once when the worker has gone on.
 *
 * Nothing is published by these words, so all of them are relaxed, and the words of
 * one worker may be of different moments.  Models leave them out: a thread that
 * only counts cannot lose a task.
 *
 * Rejected: a sample of "is it awake" at each look of the monitor (a worker with
 * one short task per look would count as busy or as idle by chance); a clock at the
 * beginning and end of each task (two clocks of 20 ns for tasks of 30 ns).
 */
#ifndef SLEY_CORE_SCHED_GAUGE_H
#define SLEY_CORE_SCHED_GAUGE_H

#include "base/atomic.h"
#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

struct sley_worker_stats;
struct worker;

#define GAUGE_MEAN_NS 100000000ull
#define GAUGE_FULL (1u << 20)     /* the load of a worker that is never idle */
#define GAUGE_HELD_NS 15000000ull /* two looks of the monitor */

/* The length of a push list. */
struct gauge_length {
	uint32_t nr;
};

/* Written by the worker. */
struct gauge_idle {
	uint64_t since_ns; /* the worker is idle; 0: it is not    */
	uint64_t total_ns; /* of all idle times that have ended   */
};

/* Written by the monitor. */
struct gauge_load {
	uint64_t seen_ns;  /* the last look                       */
	uint64_t idle_ns;  /* the idle time until then            */
	uint32_t mean;     /* 0 to GAUGE_FULL                     */
	uint32_t held;     /* 1: by one task                      */
	uint64_t held_at;  /* how far the worker had come then    */
	uint64_t moved_ns; /* the last look at a worker that was not held */
};

#ifndef SLEY_MODEL

/* Before a push to the list. */
static inline void gauge_more(struct gauge_length *length)
{
	/* relaxed: a length publishes nothing; the push comes after. */
	(void)add_relaxed(&length->nr, 1);
}

/* @n tasks were taken. */
static inline void gauge_less(struct gauge_length *length, uint32_t n)
{
	if (n)
		/* relaxed: the taker has acquired the pushes, and their counts. */
		(void)sub_relaxed(&length->nr, n);
}

static inline void gauge_idle_begin(struct gauge_idle *idle, uint64_t now_ns)
{
	/* relaxed: one writer, and hints. */
	store_relaxed(&idle->since_ns, now_ns);
}

static inline void gauge_idle_end(struct gauge_idle *idle, uint64_t now_ns)
{
	/* relaxed: the worker's own words. */
	uint64_t ns = now_ns - load_relaxed(&idle->since_ns);

	/* relaxed: one writer, and hints. */
	store_relaxed(&idle->since_ns, 0);
	/* relaxed: the same. */
	store_relaxed(&idle->total_ns, load_relaxed(&idle->total_ns) + ns);
}

/* By the monitor.  The worker has done @nothing since the last look. */
void gauge_see(struct worker *worker, bool nothing, uint64_t now_ns);

#else
#define gauge_more(length) ((void)(length))
#define gauge_less(length, n) ((void)(length), (void)(n))
#define gauge_idle_begin(idle, now_ns) ((void)(idle), (void)(now_ns))
#define gauge_idle_end(idle, now_ns) ((void)(idle), (void)(now_ns))
#define gauge_see(worker, nothing, now_ns)                                     \
	((void)(worker), (void)(nothing), (void)(now_ns))
#endif

static inline void gauge_load_init(struct gauge_load *load, uint64_t now_ns)
{
	*load = (struct gauge_load){ .seen_ns = now_ns, .moved_ns = now_ns };
}

/*
 * The mean after a look at a time of @ns, in which the worker was idle for
 * @idle_ns.
 */
uint32_t gauge_mean(uint32_t mean, uint64_t ns, uint64_t idle_ns);

/* How many tasks are ready that only @worker may run. */
uint32_t gauge_bound(const struct worker *worker);

/* How many tasks are ready on @worker; forked children are not counted. */
uint32_t gauge_ready(const struct worker *worker);

/* Does one task hold @worker, for GAUGE_HELD_NS at least? */
bool gauge_is_held(const struct worker *worker);

/* 0 to GAUGE_FULL, at the time @now_ns. */
uint32_t gauge_load(const struct worker *worker, uint64_t now_ns);

void gauge_worker_stats(const struct worker *worker, uint64_t now_ns,
			struct sley_worker_stats *out);

#endif
