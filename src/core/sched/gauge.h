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
#define GAUGE_FULL (1u << 20) /* the load of a worker that is never idle */

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
	uint64_t seen_ns; /* the last look                       */
	uint64_t idle_ns; /* the idle time until then            */
	uint32_t mean;    /* 0 to GAUGE_FULL                     */
	uint32_t held;    /* 1: by one task, since the look before */
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

/* By the monitor.  @held: the worker has done nothing since the last look. */
void gauge_see(struct worker *worker, bool held, uint64_t now_ns);

#else
#define gauge_more(length) ((void)(length))
#define gauge_less(length, n) ((void)(length), (void)(n))
#define gauge_idle_begin(idle, now_ns) ((void)(idle), (void)(now_ns))
#define gauge_idle_end(idle, now_ns) ((void)(idle), (void)(now_ns))
#define gauge_see(worker, held, now_ns)                                        \
	((void)(worker), (void)(held), (void)(now_ns))
#endif

static inline void gauge_load_init(struct gauge_load *load, uint64_t now_ns)
{
	*load = (struct gauge_load){ .seen_ns = now_ns };
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

/*
 * Does one task hold the worker, as the monitor saw at its last look, 10 ms ago at
 * most?  A worker that has just been released is still said to be held.
 */
static inline bool gauge_is_held(const struct gauge_load *load)
{
	/* relaxed: a hint. */
	return load_relaxed(&load->held);
}

/* 0 to GAUGE_FULL, at the time @now_ns. */
uint32_t gauge_load(const struct worker *worker, uint64_t now_ns);

void gauge_worker_stats(const struct worker *worker, uint64_t now_ns,
			struct sley_worker_stats *out);

#endif
