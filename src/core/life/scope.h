/* SPDX-License-Identifier: MIT */
/*
 * scope.h - a scope, tasks that are cancelled together: how a cancel reaches each.
 *
 * Cancelling is always the same: TASK_CANCELLED in the flags of a task, and its
 * wait is decided (task_state.h).  So waits know nothing of scopes; the canceller
 * of a scope goes to each task in the scope.  The way is a tree:
 *
 *   opener of task T            of a strand, or of a plain thread
 *    ├─ innermost scope ── outer scope ── ...        opened by T, nested
 *    │    └─ members: strands ── the opener of each ── ...
 *    └─ children: strands of forked children of T that were stolen
 *         └─ the opener of each ── ...
 *
 * Each opener has a lock: of its scopes, of their lists of members, and of the
 * list of its children.  A canceller takes the locks from above to below and
 * holds the locks above the place where it is, so nothing it looks at goes away:
 *
 *   member                              canceller of the scope
 *   1. starts: lock; cancelled: never   1. lock; the cause
 *      mind; else link; unlock          2. mark: CANCELLED in the flags of all
 *   2. opens scopes, waits, ...            that are linked, and below
 *   3. ends: lock; unlink; unlock       3. unlock; os_membarrier(), once
 *   4. one less in the group: the       4. lock; cut: decide the wait of all
 *      scope may be gone                   that are linked, and below; unlock
 *
 * A task that starts, opens or forks between 2 and 4 finds the cause, or the flag,
 * under the same lock, and begins as cancelled.  A task that is linked cannot end,
 * and its strand not be used again, before it gets the lock.
 *
 * Members are cancelled for good (TASK_FOR_GOOD): their life is in the scope.  The
 * opener of the scope is cancelled until it closes the scope, and so are its stolen
 * children.  The opener and the children have the flag alone, and closing takes the
 * flag back (clear) unless there is another reason.  Each such reason can be seen
 * under the lock.  The wait of a close is shielded.
 *
 * If a child was stolen before its parent opens a scope, the scope does not contain
 * the child.  So a child remembers how many scopes were open, nested.  A canceller
 * passes over those children of the opener that know fewer scopes.  Closing a scope
 * lowers the number of the children that knew the scope.
 *
 * sley_cancel() has a task, not a strand, and the task may end at any time.  So
 * openers with open scopes or children are registered under their task, in buckets
 * with a lock each.  While the canceller has the lock of a bucket, no opener that it
 * finds there can forget its scopes.  A task that opens a scope registers first
 * and looks at its flags afterwards; a canceller of the task sets the flag first
 * and looks into the bucket afterwards: one of the two sees the other.
 *
 * A deadline is an alarm among the timers of a worker.  The thread that fires the
 * timers cancels the scope, and closing waits until that is over.  The close spins,
 * for this reason: timers are fired in the middle of a wait, too, by a task that has
 * yet to leave its stack and holds the lock of the object that it waits for.  That
 * object may be the group of this scope, so the close cannot wait in it.  Nothing
 * is added to waits, and a wait needs no second deadline.
 *
 * Locks: bucket, then openers from above to below; below them the locks that
 * task_enqueue() takes.  The lock of timers is never held with any of them.
 *
 * Edges:
 *
 *   X1  a scope gets its cause -> a task or thread sees it : what the canceller did
 *
 * Rejected: a deadline that each wait looks for (the usual wait is inline and
 * has none; it would have to look at its scope first).  Passing a cancel on when
 * a member notices it (a member that computes, with blocked tasks in a scope that
 * it opened, would keep these tasks blocked).  One lock for all scopes (each start
 * and end of a member would take it).  A recursion along the tree (as deep as
 * scopes are nested, on a stack of 64 KiB).
 */
#ifndef SLEY_CORE_LIFE_SCOPE_H
#define SLEY_CORE_LIFE_SCOPE_H

#include "base/compiler.h"
#include "base/hash.h"
#include "core/task/cleanup.h"
#include "lf/spin.h"

#include <sley/scope.h>

struct strand;

/* In a strand, and in a plain thread: the open scopes, and the stolen children. */
struct opener {
	struct spinlock lock;
	unsigned int nr_open; /* and children; under the bucket's lock         */
	struct sley_scope *innermost; /* NULL: none; under the lock            */
	struct member *children; /* under the lock                        */
	struct cleanup cleanup;  /* complains of open scopes: the task's own */
	struct hash_node node;   /* in the bucket, by the task's address  */
};

/* NULL: a plain thread. */
static inline struct sley_task *opener_task(const struct opener *opener)
{
	return (struct sley_task *)(uintptr_t)opener->node.word;
}

/* In a strand: the scope or the parent that the task belongs to. */
struct member {
	struct member *next, **slot; /* under the lock of the opener above    */
	struct opener *above;        /* NULL: the task belongs to nothing     */
	struct sley_scope *scope;    /* NULL: a stolen child                  */
	struct sley_task *task;
	unsigned int depth; /* of a child: under the lock, see above          */
};

/* For <sley/scope.h>. */
void scope_open(struct sley_scope *scope, uint64_t deadline_ns);
must_check int scope_close(struct sley_scope *scope);
void scope_cancel(struct sley_scope *scope, int cause);
bool scope_is_cancelled(const struct sley_scope *scope);

/* The scope that the calling task, on @strand, has opened last; NULL: no scope. */
struct sley_scope *scope_innermost(const struct strand *strand);

/* ---- scope_deadline.c ------------------------------------------------------ */

/* By the opener of @scope: cancel it at its deadline; @strand may be NULL. */
void scope_deadline_set(struct sley_scope *scope, const struct strand *strand);

/* ->alarmed is set.  Afterwards no alarm cancels @scope. */
void scope_deadline_stop(struct sley_scope *scope);

/* ---- tasks ----------------------------------------------------------------- */

/* Pass the cancel of @task on to the scopes that it has open. */
void scope_cancel_task(struct sley_task *task);

/*
 * A member of a scope is about to start; @cancelled: the task itself is
 * cancelled.  False: the member must not start.
 */
must_check bool scope_start(struct strand *strand, struct sley_task *task,
			    bool cancelled);

/* Run @task, with its cleanups: afterwards @task is linked nowhere. */
void scope_run(struct strand *strand, struct sley_task *task);

/* A stolen child of the task on @parent starts on @strand, and ends. */
void scope_child_starts(struct strand *strand, struct strand *parent);
void scope_child_ends(struct strand *strand);

#endif
