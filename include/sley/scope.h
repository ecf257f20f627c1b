/* SPDX-License-Identifier: MIT */
/*
 * sley/scope.h - tasks that succeed, fail and end together.
 *
 *	sley_scope_open_until(&scope, sley_after(2 * SLEY_SEC));
 *	for (i = 0; i < nr; i++)
 *		sley_scope_spawn(&scope, &page[i].task, fetch, &page[i]);
 *	err = sley_scope_close(&scope);
 *
 * A scope is opened and closed by one function, and lives in its frame.  What
 * is spawned in between are its members.  Closing waits for all of them, so none
 * outlives the frame.  Each returns 0 or what went wrong; the first failure is
 * kept and cancels the rest.
 *
 * A scope is cancelled by the first of these, which is its cause and what
 * sley_scope_close() returns:
 *
 *   a member returns below 0, or sley_scope_fail()   that number
 *   sley_scope_cancel()                              -ECANCELED
 *   its deadline comes                               -ETIMEDOUT
 *   the scope around it is cancelled                 -ECANCELED; -ETIMEDOUT if
 *                                                    that was by its deadline
 *   the task that opened it is cancelled             -ECANCELED
 *   a member is cancelled before it starts           -ECANCELED
 *
 * From then on, for each of its members: one that has not started never does;
 * in one that runs, sley_cancelled() is true; if one is blocked, its wait
 * returns -ECANCELED, and so does every later one, but for those that no cancel
 * cuts short (sley_mutex_lock(), sley_join(), ...).  The same goes for the scopes
 * that members have opened and for their members, at any depth.
 *
 * The task that opened the scope is inside of it, too: until it closes the
 * scope, its waits return -ECANCELED and sley_cancelled() is true.  A scope that
 * it opened within, or opens then, is cancelled.  After sley_scope_close() it
 * goes on as before.  A plain thread can open a scope; its own waits are not cut
 * short.  (Who is bound to a single-threaded runtime counts as a task here.)
 *
 * A forked child counts as a part of what its parent is doing.  If another worker
 * took it while the parent was in a scope, it is cancelled whenever the parent
 * is, and as long; but not by a scope that the parent opens later.  Elsewhere a
 * sley_cancel() of the parent shows in the child's sley_cancelled(), but does not
 * cut its waits short.
 *
 * What must outlive the frame is not for scopes: sley_schedule() is for tasks
 * that nobody waits for.
 */
#ifndef SLEY_SCOPE_H
#define SLEY_SCOPE_H

#include <sley/compiler.h>
#include <sley/task.h>

SLEY_BEGIN_DECLS

/* What a member does: returns 0, or what went wrong, below 0. */
typedef int sley_job(void *arg);

/*
 * A scope.  Caller-owned from the open until the close has returned, and may be
 * opened again then.  The fields are private; needs no initialisation.
 */
struct sley_scope {
	struct sley_group group;  /* the members that have not ended       */
	struct sley_scope *outer; /* opened before it by the same          */
	void *opener;  /* src/core/life/scope.h                      */
	void *members; /* those that run                        */
	uint64_t deadline_ns;
	int32_t cause;     /* why it is cancelled; 0: it is not     */
	uint32_t alarmed;  /* the state of the alarm                */
	uint64_t alarm[8]; /* src/core/wait/timer.h                      */
};

/*
 * sley_scope_open - begin a scope.
 *
 * In a task that is cancelled, or in a scope that is, it is cancelled from the
 * beginning.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @scope is borrowed until sley_scope_close() returns.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_scope_open(struct sley_scope *scope);

/*
 * sley_scope_open_until - begin a scope that is cancelled at @deadline_ns.
 *
 * At that time, members and the task that opened it are cut short as by
 * sley_scope_cancel(), whatever they are doing.  One that has passed does so at
 * once.  Scopes within never last longer, whatever their own deadline is.
 *
 * Where no worker is free to look at the clock, it takes up to some 10 ms until
 * tasks that run see it.  A thread that belongs to no runtime has nobody to look
 * at the clock until it closes the scope.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    as sley_scope_open()
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_scope_open_until(struct sley_scope *scope, uint64_t deadline_ns);

/*
 * sley_scope_spawn - run @fn(@arg) as a task, a member of @scope.
 *
 * Besides who opened the scope, its members may do so.  In a cancelled scope it
 * never starts.
 *
 * Context:  a task or a bound thread; elsewhere it is misuse
 * Blocks:   never
 * Owner:    @task is borrowed until sley_scope_close(@scope) returns.
 * Order:    everything before the call happens before @fn; everything in @fn
 *           happens before the return of sley_scope_close(@scope).
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_scope_spawn(struct sley_scope *scope, struct sley_task *task, sley_job *fn,
		 void *arg);

/*
 * sley_scope_spawn_with - sley_scope_spawn() with options, such as a priority.
 *
 * On failure nothing was spawned.  @options may be NULL.
 *
 * Context:  a task or a bound thread
 * Blocks:   never
 * Owner:    as sley_scope_spawn(); @options and its waker are borrowed for the
 *           call, its name until the task ends.
 * Order:    as sley_scope_spawn()
 * Errors:   as sley_spawn_with()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_scope_spawn_with(struct sley_scope *scope, struct sley_task *task,
		      sley_job *fn, void *arg,
		      const struct sley_options *options);

/*
 * sley_scope_cancel - ask everything in a scope to end.
 *
 * A scope that is cancelled already keeps its cause, and nothing changes.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @scope must not be closed before the call has returned: a member
 *           may call it, who opened it, and who is waited for in between.
 * Order:    everything before the call happens before the -ECANCELED.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_scope_cancel(struct sley_scope *scope);

/*
 * sley_scope_fail - cancel a scope because of @err, an error below 0.
 *
 * What a member does by returning @err, for those that are no members.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    as sley_scope_cancel()
 * Order:    as sley_scope_cancel()
 * Errors:   none; an @err that is not below 0 is misuse
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_scope_fail(struct sley_scope *scope, int err);

/*
 * sley_scope_cancelled - is a scope cancelled, or past its deadline?
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    as sley_scope_cancel()
 * Order:    if true: everything before what cancelled it happens before.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS bool
sley_scope_cancelled(const struct sley_scope *scope);

/*
 * sley_scope_close - wait until all members have ended, and end the scope.
 *
 * Nothing cuts the wait short: the members may live in the caller's frame.
 * Cancelling the caller cancels the scope, and so makes it shorter.
 *
 * Scopes are closed by the task or thread that opened them, the one that was
 * opened last first; anything else is misuse, as is a task that ends with an
 * open scope, and a thread that unbinds with one.
 *
 * Context:  any thread: the one that opened it
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    everything in the members happens before the return.
 * Errors:   the cause, if the scope is cancelled: see the top of this file
 *           -ETIMEDOUT  also if the deadline came when all members had ended
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_scope_close(struct sley_scope *scope);

SLEY_END_DECLS
#endif
