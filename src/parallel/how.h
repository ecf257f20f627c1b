/* SPDX-License-Identifier: MIT */
/*
 * how.h - what all parallel algorithms share: their options, where they run,
 * and when they stop.
 *
 *     struct how how;
 *     int err = how_read(&how, given);        or how_default(&how)
 *
 *     if (!err)
 *             how_run(&how, all_of_it, &job);
 *
 * and in all_of_it(), and in its forked children:
 *
 *     how_fork(job->how, &child, right_half, &right);
 *     if (!how_stopped(job->how)) ...
 *     how_join(job->how, &child);
 *
 * Forking needs a task.  A caller that is a task of the right level, and migratable
 * if that is asked for, stays where it is.  Any other caller gives the work to a task and waits for the task, shielded:
 * the work is in the caller's frame.  Where there is no runtime, or the runtime
 * takes no tasks any more, the work is done in place, and a forked child is called
 * at its join.
 *
 * The pieces run as all kinds of tasks: the caller's task, a task that was spawned
 * for the caller, stolen children.  Only the caller's own task can be known to a
 * canceller, and be in a scope.  So all pieces look at the caller's task, wherever
 * they run.  Does a cancellation stop an algorithm?  (A short form never stops.)
 *
 *   of the runtime                             yes
 *   of the scope in the options                yes
 *   of the scope that the caller had open      yes
 *     when it called
 *   of the caller, for good                    yes
 *   of a scope that a piece has opened         no, even if the piece runs in place, as
 *                                              the caller's task
 *   the caller is a piece of an outer algorithm:
 *   of the scope that the outer caller had     yes, and so on outwards
 *     open, or of the outer caller, for good
 *   of the scope in the outer options          no: a piece that has begun is done to
 *                                              its end
 *
 * A caller that is a piece may run on another strand than the caller of the outer
 * algorithm.  how_enter() notes on the strand which algorithm it works for.
 */
#ifndef SLEY_PARALLEL_HOW_H
#define SLEY_PARALLEL_HOW_H

#include "base/compiler.h"
#include "core/sched/worker.h"

#include <sley/fork.h>
#include <sley/how.h>

struct how {
	struct sley *rt;             /* the caller's; NULL: there is none     */
	const struct strand *caller; /* its strand; NULL: a plain thread      */
	struct sley_scope *scope;    /* named in the options                  */
	struct sley_scope *around;   /* open in the caller                    */
	const struct how *outer;     /* the caller is its piece; or NULL      */
	size_t grain;       /* 0: automatic                                 */
	unsigned int level; /* of the tasks, unless own_level               */
	bool own_level;     /* the caller's level                           */
	bool migratable;    /* asked for; else as the caller                */
	bool ordered;
	bool stoppable; /* false for a short form                       */
	bool serial;    /* how_run() found no task that could fork      */
};

/* For the short forms: nothing special, and nothing stops the algorithm. */
void how_default(struct how *how);

/* For the others: 0, -EINVAL, -E2BIG or SLEY_EPRIORITY. */
must_check int how_read(struct how *how, const struct sley_how *given);

/* Is the caller a task that may do the work itself? */
bool how_in_place(const struct how *how);

/* May the tasks that do the work for the caller move? */
bool how_moves(const struct how *how);

/*
 * Call @fn(@arg) where @fn may use how_fork(), and return when @fn has returned.
 * @fn is called exactly once, whatever was cancelled.
 */
void how_run(struct how *how, sley_fn *fn, void *arg);

/* Shall pieces that have not begun be left out?  Looked at between pieces. */
bool how_stopped_slow(const struct how *how);

static inline bool how_stopped(const struct how *how)
{
	return how->stoppable && how_stopped_slow(how);
}

/* How many workers may take part; at least 1. */
static inline unsigned int how_workers(const struct how *how)
{
	return how->rt && how->rt->nr_workers > 1 ? how->rt->nr_workers : 1;
}

/* The state before how_enter(). */
struct how_before {
	struct strand *strand;
	const struct how *within;
};

/* First in a forked child whose functions may call algorithms. */
static inline must_check struct how_before how_enter(const struct how *how)
{
	struct worker *worker = worker_current();
	struct how_before before = { worker ? worker->strand : NULL, NULL };

	if (likely(before.strand)) {
		before.within = before.strand->within;
		before.strand->within = how;
	}
	return before;
}

static inline void how_leave(struct how_before before)
{
	if (likely(before.strand))
		before.strand->within = before.within;
}

static inline void how_fork(const struct how *how, struct sley_forked *child,
			    sley_fn *fn, void *arg)
{
	if (likely(!how->serial)) {
		sley_fork(child, fn, arg);
		return;
	}
	child->fn = fn;
	child->arg = arg;
}

static inline void how_join(const struct how *how, struct sley_forked *child)
{
	if (likely(!how->serial))
		sley_fork_join(child);
	else
		child->fn(child->arg);
}

#endif
