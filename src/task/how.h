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
 * and in all_of_it(), and in what it forks:
 *
 *     how_fork(job->how, &child, right_half, &right);
 *     if (!how_stopped(job->how)) ...
 *     how_join(job->how, &child);
 *
 * Forking needs a task.  Who is one, of the right level, stays where it is.  Who
 * is not gives the work to a task and waits for it, shielded: the work is in the
 * caller's frame.  Where there is no runtime to have a task, or it takes none
 * any more, the work is done in place, and a forked child is called at its join.
 *
 * The pieces run as all kinds of tasks: that of the caller, one that was spawned
 * for it, children that were stolen.  Only the caller's own can be known to who
 * cancels, and be in a scope, so that is the one they look at, wherever they are.
 * But a piece may open a scope, and that may be cancelled; and if it runs in
 * place the caller's task is, until the scope is closed.  That must not end the
 * algorithm.  So what counts is what the caller was in when it called: the scope
 * that it had open, and whether it is cancelled for good.
 *
 * A caller may itself be a piece, and run elsewhere than who opened the scope.
 * Then its strand says within which algorithm (how_enter()), and what that one's
 * caller was in counts, too.  Not the scope that was named there: of a piece that
 * has begun the rest is done.
 */
#ifndef SLEY_TASK_HOW_H
#define SLEY_TASK_HOW_H

#include "base/compiler.h"
#include "core/sched/worker.h"

#include <sley/fork.h>
#include <sley/how.h>

struct how {
	struct sley *rt;             /* the caller's; NULL: it has none    */
	const struct strand *caller; /* its code's; NULL: a plain thread     */
	struct sley_scope *scope;    /* that was named                 */
	struct sley_scope *around;   /* that the caller has open       */
	const struct how *outer;     /* whose piece the caller is; or NULL   */
	size_t grain;       /* 0: automatic                                 */
	unsigned int level; /* of the tasks, unless own_level               */
	bool own_level;     /* that of the caller                           */
	bool ordered;
	bool stoppable; /* a short form is not                           */
	bool serial;    /* how_run() found nothing that could fork       */
};

/* For the short forms: nothing special, and nothing stops it. */
void how_default(struct how *how);

/* For the others: 0, -EINVAL, -E2BIG or SLEY_EPRIORITY. */
must_check int how_read(struct how *how, const struct sley_how *given);

/* Is the caller a task that may do the work itself? */
bool how_in_place(const struct how *how);

/*
 * Call @fn(@arg) where it may use how_fork(), and return when it has returned.
 * It is called exactly once, whatever was cancelled.
 */
void how_run(struct how *how, sley_fn *fn, void *arg);

/* Shall what has not begun be left out?  Looked at between pieces. */
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

/* How it was before how_enter(). */
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
