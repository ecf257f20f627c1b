/* SPDX-License-Identifier: MIT */
/*
 * sley/scope.h - tasks that succeed, fail and end together.
 *
 *	sley_scope_open_until(&scope, sley_after(2 * SLEY_SEC));
 *	for (i = 0; i < nr; i++)
 *		sley_scope_spawn(&scope, &page[i].task, fetch, &page[i]);
 *	err = sley_scope_close(&scope);
 *
 * A function opens and closes a scope, and the scope lives in the frame of that
 * function.  Tasks that are spawned into the scope are its members.  The close
 * waits for all members, so no member outlives the frame.  Each member returns 0
 * or an error; the first error is kept and cancels the rest.
 *
 * The first of these events cancels a scope.  The event is the cause, and
 * sley_scope_close() returns its number:
 *
 *   a member returns below 0, or sley_scope_fail()   that number
 *   sley_scope_cancel()                              -ECANCELED
 *   the deadline of the scope comes                  -ETIMEDOUT
 *   the scope around this scope is cancelled         -ECANCELED; -ETIMEDOUT if
 *                                                    by its deadline
 *   the task that opened the scope is cancelled      -ECANCELED
 *   a member is cancelled before it starts           -ECANCELED
 *
 * In a cancelled scope, a member that has not started never starts.  In a member
 * that runs, sley_cancelled() is true.  If a member is blocked, its wait returns
 * -ECANCELED, and so does every later wait, except for calls whose waits no
 * cancel ends (sley_mutex_lock(), sley_join(), ...).  The same holds for scopes
 * that members have opened and for the members of those scopes, at any depth.
 *
 * The task that opened the scope is inside the scope, too: until it closes the
 * scope, its waits return -ECANCELED and sley_cancelled() is true.  Scopes that
 * the task opens inside the cancelled scope, before or after the cancel, are
 * cancelled, too.  After sley_scope_close() the task goes on as before.  A plain
 * thread can open a scope, but its own waits are not cut short.  (A thread bound
 * to a single-threaded runtime counts as a task here.)
 *
 * A forked child counts as a part of its parent.  If another worker takes the
 * child while the parent is in a scope, the child is cancelled whenever the
 * parent is, and for as long, but not by a scope that the parent opens later.
 * Outside of scopes, a sley_cancel() of the parent shows in sley_cancelled() of
 * the child, but does not end the waits of the child.
 *
 * Work that must outlive the frame is not for scopes: use sley_schedule() for
 * tasks that no caller joins.
 */
#ifndef SLEY_SCOPE_H
#define SLEY_SCOPE_H

#include <sley/compiler.h>
#include <sley/task.h>

SLEY_BEGIN_DECLS

/* The function of a member: returns 0, or an error below 0. */
typedef int sley_job(void *arg);

/*
 * A scope.  Caller-owned from the open until the close has returned, and may be
 * opened again then.  The fields are private; needs no initialisation.
 */
struct sley_scope {
	struct sley_group group;  /* the members that have not ended       */
	struct sley_scope *outer; /* opened before by the same opener      */
	void *opener;             /* the task or thread that opened it       */
	void *members;            /* members that run                      */
	uint64_t deadline_ns;
	int32_t cause;     /* why it is cancelled; 0: it is not     */
	uint32_t alarmed;  /* the state of the alarm                */
	uint64_t alarm[8]; /* a timer for the deadline              */
};

/*
 * sley_scope_open - begin a scope.
 *
 * In a cancelled task, or inside a cancelled scope, the new scope is cancelled
 * from the beginning.
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
 * At that time the scope is cancelled as by sley_scope_cancel(), with its
 * members and the task that opened it.  A deadline that has passed cancels the
 * scope at once.  An inner scope never lasts longer than the scope around it,
 * whatever its own deadline is.
 *
 * If no worker is free to look at the clock, running tasks see the cancel up to
 * a tick (.tick_us of sley_config) late.  For a thread without a runtime, the
 * deadline is checked only when the thread closes the scope.
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
 * The opener of the scope and the members of the scope may call this.  In a
 * cancelled scope the new task never starts.
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
 * Owner:    as sley_scope_spawn(); @options and options->waker are borrowed for
 *           the call, options->name until the task ends.
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
 * Owner:    @scope must not be closed before the call has returned.  So the
 *           caller is a member, or the opener, or a task or thread that the
 *           opener waits for before the close.
 * Order:    everything before the call happens before the -ECANCELED.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_scope_cancel(struct sley_scope *scope);

/*
 * sley_scope_fail - cancel a scope because of @err, an error below 0.
 *
 * For callers that are no members; a member returns @err instead.
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
 * Order:    if true: everything before the cancel happens before the return.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS bool
sley_scope_cancelled(const struct sley_scope *scope);

/*
 * sley_scope_close - wait until all members have ended, and end the scope.
 *
 * Nothing cuts the wait short: the members may live in the caller's frame.  A
 * cancel of the caller cancels the scope, so the members end earlier.
 *
 * The task or thread that opened a scope closes it, the last opened scope first;
 * anything else is misuse.  A task that ends with an open scope is misuse, and
 * so is a thread that unbinds with an open scope.
 *
 * Context:  the task or thread that opened the scope
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    everything in the members happens before the return.
 * Errors:   the cause if the scope is cancelled (see <sley/scope.h>)
 *           -ETIMEDOUT  also if the deadline came after all members had ended
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_scope_close(struct sley_scope *scope);

SLEY_END_DECLS
#endif
