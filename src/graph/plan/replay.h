/* SPDX-License-Identifier: MIT */
/*
 * replay.h - one run of a plan: a step for each node, with a count of predecessors.
 *
 * A step is a task in turns (core/task/turn.h), like a node of a graph.  But its
 * successors are known: a slice of an array.  So there is no list to close, and no
 * lock.  Each step counts its missing predecessors.  The predecessor that counts
 * to 0 resets the count for the next run, and queues the step:
 *
 *      end:  for each successor:  nr_missing -= 1;
 *                                 0:  nr_missing = nr_predecessors, queue the step
 *
 * Every step has its turn in every run, also if it is skipped.  So a run leaves all
 * counts as before, whatever happened, and there is no pass over the steps in
 * between.  The other trace of a failure (the cause) is cleared by the waiter for
 * the run, in the steps that failed or were skipped.
 *
 * A run is over when all sinks have ended, the steps without successors: every other
 * step has ended before one of the sinks.  Each worker counts the sinks that it has
 * ended in its own tally, and passes the number on when its next task is not of this
 * run.  A chain or a wavefront has one sink, and counts nothing.
 *
 * A step releases at most RELEASE_MAX successors in a turn, then queues itself behind
 * them for the rest, so that they do not flood the shared queue.  The state of a step
 * says what its next turn is for:
 *
 *      STEP_CALLS       calls the function or skips it, and releases successors
 *      STEP_RELEASES    only releases successors
 *
 *                     the turn leaves successors for later
 *      STEP_CALLS  ─────────────────────────────────────────►  STEP_RELEASES
 *                  ◄─────────────────────────────────────────
 *                     the turn is about to release the last
 *
 * Node 0 has no function and stays in STEP_RELEASES.  Only the worker that has the
 * turn reads and writes the state.  The next worker gets the state by the queue, and
 * the next run by the successors that are released last: so the state is set before
 * that (replay.c, release_some).
 *
 * Edges, in the sense of memory orders:
 *
 *   MI1  see graph/node/missing.h
 *   FA2  see graph/node/failures.h
 *   Y1  a turn has begun, then reads cancelled <-> a canceller sets it, then looks
 *       which turns have begun
 *
 * Rejected: a counter of all steps in place of the sinks (one more store for each
 * step, and one counter of all runs in the runtime); queueing each source (from a
 * foreign thread that is two read-modify-writes and a lock for each, in place of one
 * task).
 */
#ifndef SLEY_GRAPH_PLAN_REPLAY_H
#define SLEY_GRAPH_PLAN_REPLAY_H

#include "core/task/countdown.h"
#include "core/task/turn.h"
#include "graph/node/missing.h"
#include "graph/plan/plan.h"

#define STEP_EDGES 4 /* edges in the step itself */

enum step_state { STEP_CALLS, STEP_RELEASES };

struct step {
	struct sley_task task; /* arg: the user's */
	sley_node_fn *fn;
	struct replay *run;
	uint32_t nr_missing;
	uint32_t nr_predecessors;
	struct failure failure;
	uint32_t rules; /* the flags of the task                             */
	uint32_t next : 24; /* in the list of failed steps                   */
	uint32_t state : 8; /* enum step_state; set_state() alone writes it  */
	uint32_t nr_edges;
	union {
		uint32_t edge[STEP_EDGES];
		struct { /* with more edges */
			const uint32_t *edges;
			uint32_t nr_released; /* so far */
		};
	};
};

_Static_assert(sizeof(struct step) == 128, "");
_Static_assert(PLAN_MAX_NODES <= 1u << 24,
	       "the number of a step fits into next");

/* Of one worker: sinks that have ended, but are not yet counted off. */
struct tally {
	cache_aligned uint32_t nr;
};

struct replay {
	struct sley_plan *plan;
	struct list link; /* plan->idle or plan->running (its lock)           */
	void *param;
	struct step *step; /* step of node 0; the others follow               */
	uint32_t nr;       /* steps                                           */
	uint32_t nr_tally;
	uint32_t cancelled; /* skip all steps                                  */
	uint32_t failed;    /* failed or skipped steps: chained by next       */
	uint32_t first;     /* the first step that failed                     */
	cache_aligned struct sley_waitq pending; /* sinks                     */
	struct tally tally[];
};

static inline struct step *step_of(struct sley_task *task)
{
	return (struct step *)(void *)task;
}

static inline uint32_t step_index(const struct step *step)
{
	return (uint32_t)(step - step->run->step);
}

static inline const uint32_t *step_edges(const struct step *step)
{
	return unlikely(step->nr_edges > STEP_EDGES) ? step->edges : step->edge;
}

static inline struct step *step_to(struct step *step, uint32_t edge)
{
	return step + ((int32_t)edge >> EDGE_SHIFT);
}

/* No predecessor is missing, no other thread has @step; queueing publishes this. */
static inline void step_ready(struct step *step)
{
	/* relaxed: read in the next run, which begins after the end of this run. */
	store_relaxed(&step->nr_missing, step->nr_predecessors);
	task_turn_ready(&step->task);
	/* A canceller looks for steps that run. */
	task_turn_reset_flags(&step->task, step->rules);
}

/* By a predecessor that has ended.  True: @step may start; the caller queues it. */
static inline bool step_count_off(struct step *step)
{
	if (!missing_count_off(&step->nr_missing))
		return false;
	step_ready(step);
	return true;
}

/* Creates all steps of @plan, which is compiled; NULL: no memory. */
must_check struct replay *replay_create(struct sley_plan *plan);
void replay_destroy(struct replay *run);

/* The run that @task is a step of; NULL: @task is no step. */
struct replay *replay_of(struct sley_task *task);

/* Any thread: 0 or an error. */
must_check int replay_start(struct replay *run);

/* Skips steps that have not started, cancels steps that run.  (lock of the plan) */
void replay_cancel(struct replay *run);

#endif
