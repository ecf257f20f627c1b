/* SPDX-License-Identifier: MIT */
/*
 * cost.h - how long a method takes, learned from its runs; and the load of workers.
 *
 * Each container learns for each method how long one *unit* takes: a request is one
 * unit, and one more for each COST_UNIT_SIZE bytes that it moves, as far as is known.
 * One run in some 64 is measured, which costs two looks at the clock: a method may take
 * less than such a look.  A measured run moves the estimate by a part of the difference:
 * the learning rate of the router, a fifth by default.
 *
 *   wall   from the beginning to the end of the method, waits included
 *   busy   the same of runs in which the method did not wait
 *
 * The prediction is the busy time, if there is one, or else the wall time.
 *
 * The load of a worker is the sum of the predictions of the requests that were sent
 * to it and are not complete, whichever worker runs them.  The submitter adds, before
 * the request is queued, and the completer subtracts the same number: the sum is never
 * below 0.  A request that is moved takes its number along.
 *
 * Everything is an unsigned integer with a limit, so nothing is negative or no number.
 * All words are relaxed: they publish nothing.  Of two measured runs that end at the
 * same moment one may be lost.  The load is exact when no request is under way.
 *
 * Rejected: the processor time of the thread (a system call of 600 ns, twice); a clock
 * at each run; floating point (one division by zero, and all later predictions are no
 * numbers); a sum for each pair of workers in place of a read-modify-write (memory
 * that grows with the square).
 */
#ifndef SLEY_ROUTE_COST_H
#define SLEY_ROUTE_COST_H

#include "base/atomic.h"
#include "base/compiler.h"

#include <sley/request.h>
#include <stdbool.h>
#include <stdint.h>

struct sley_router;

#define COST_UNIT_SIZE 4096
/* A learning rate of 1: a new measurement counts alone.  By default it counts 1 / 5. */
#define COST_LEARN_ALL 1000000u
#define COST_LEARN_DEFAULT (COST_LEARN_ALL / 5)
#define COST_FRACTION 256 /* the estimates are in parts of nanoseconds */
#define COST_MAX_NS (1ull << 36)

/* Of one method in one container. */
struct method_cost {
	uint64_t busy;    /* of a unit, in ns / COST_FRACTION; 0: not known   */
	uint64_t wall;    /* the same                                         */
	uint32_t nr_runs; /* that were measured                            */
};

/* Of one worker, for one router. */
struct route_load {
	cache_aligned uint64_t ns;
};

/* How many units are @io_size bytes? */
static inline uint64_t cost_units(uint64_t io_size)
{
	return 1 + io_size / COST_UNIT_SIZE;
}

/* From a number above 0 and up to 1, or 0: the default; 0: it is none of these. */
must_check uint32_t cost_rate(double rate);

/*
 * A run of @units took @ns, and counts @rate / COST_LEARN_ALL; @waited: not all of the
 * time on a worker.
 */
void cost_learn(struct method_cost *cost, uint32_t rate, uint64_t units,
		uint64_t ns, bool waited);

/* What @units cost, in nanoseconds, COST_MAX_NS at most; 0: not known. */
uint64_t cost_busy(const struct method_cost *cost, uint64_t units);
uint64_t cost_wall(const struct method_cost *cost, uint64_t units);
uint64_t cost_predict(const struct method_cost *cost, uint64_t units);

/* Calls the method of @request, and learns from it. */
must_check int cost_run(struct sley_request *request);

/* @request is sent to request->worker: that worker has more to do. */
void cost_add(struct sley_router *router, struct sley_request *request);

/* @request, which has added something, is complete, or goes elsewhere. */
void cost_take_back(struct sley_router *router, struct sley_request *request);

/* Forgets what was learned of @nr methods, which no thread runs. */
void cost_forget(struct method_cost *cost, uint32_t nr);

#endif
