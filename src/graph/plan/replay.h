/* SPDX-License-Identifier: MIT */
/*
 * replay.h - one run of a plan: a step for each node, and what it counts.
 *
 * A step is a task in turns (core/task/turn.h) of one turn, as the node of a graph is, but
 * who waits for it is known: a slice of an array.  So nothing is closed or locked.
 * Each step counts who is missing; the one that counts it to 0 sets the count to what
 * it was, for the next run, and queues the step:
 *
 *      end:  for each consumer:  nr_missing -= 1;  0:  nr_missing = nr_producers,
 *                                                      queue it
 *
 * Every step has its turn in every run, also if it is skipped.  So a run leaves all
 * counts as it found them, whatever happened, and there is no pass over the steps in
 * between.  What else a failure leaves behind (its cause) is taken back by who waited
 * for the run, in the steps that it concerns.
 *
 * A run is over when all sinks have ended, the steps that nobody waits for: everybody
 * else has ended before one of them.  Each worker counts the sinks it has ended in a
 * tally of its own, and gives the number away when the next thing it does is not of
 * this run.  A chain or a wavefront has one sink, and counts nothing.
 *
 * Edges (in the other sense):
 *
 *   F1  see graph/node/missing.h
 *   Y1  a turn has begun, then cancelled <-> who cancels sets that, then looks which
 *       turns have begun
 *
 * Rejected: a counter of all steps in place of the sinks (one more store for each
 * step, and one of all runs in the runtime); queueing each source (from a foreign
 * thread that is two read-modify-writes and a lock for each, in place of one task).
 */
#ifndef SLEY_GRAPH_PLAN_REPLAY_H
#define SLEY_GRAPH_PLAN_REPLAY_H

#include "core/task/countdown.h"
#include "core/task/turn.h"
#include "graph/node/missing.h"
#include "graph/plan/plan.h"

#define STEP_EDGES 4 /* that are in the step itself */

struct step {
	struct sley_task task; /* its arg is the user's */
	sley_node_fn *fn;
	struct replay *run;
	uint32_t nr_missing;
	uint32_t nr_producers;
	int32_t code;     /* what it returned, or that of its cause          */
	uint32_t cause;   /* the step that took it along, or 0               */
	uint32_t outcome; /* enum sley_outcome, if the code is negative      */
	uint32_t rules;   /* the flags of its task                           */
	uint32_t next;    /* of those that have failed                       */
	uint32_t nr_edges;
	union {
		uint32_t edge[STEP_EDGES];
		struct { /* if there are more */
			const uint32_t *edges;
			uint32_t nr_released; /* so far */
		};
	};
};

_Static_assert(sizeof(struct step) == 128, "");

/* Of one worker: sinks that have ended and are not counted off. */
struct tally {
	cache_aligned uint32_t nr;
};

struct replay {
	struct sley_plan *plan;
	struct list link; /* plan->idle or plan->running (its lock)           */
	void *param;
	struct step *step; /* of node 0; the others follow                    */
	uint32_t nr;       /* steps                                           */
	uint32_t nr_tally;
	uint32_t cancelled; /* skip all                                        */
	uint32_t failed;    /* a step, or skipped: chained by next            */
	uint32_t first;     /* the first one to fail                          */
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

/* Nobody has it, it waits for nobody: whoever queues it publishes this. */
static inline void step_ready(struct step *step)
{
	/* relaxed: read in the next run, which begins after the end of this. */
	store_relaxed(&step->nr_missing, step->nr_producers);
	turn_ready(&step->task);
	/* relaxed: who cancels looks for those that run. */
	store_relaxed(&step->task.flags, step->rules);
}

/* By a producer that has ended.  True: it may start, and is the caller's. */
static inline bool step_count_off(struct step *step)
{
	if (!missing_count_off(&step->nr_missing))
		return false;
	step_ready(step);
	return true;
}

/* All steps of @plan, which is compiled; NULL: no memory. */
must_check struct replay *replay_create(struct sley_plan *plan);
void replay_destroy(struct replay *run);

/* A task of one turn: calls the function of its node. */
void replay_turn(void *task);

/* Any thread: 0, or why it did not. */
must_check int replay_start(struct replay *run);

/* Skip what has not started, ask what runs to end.  With the lock of the plan. */
void replay_cancel(struct replay *run);

#endif
