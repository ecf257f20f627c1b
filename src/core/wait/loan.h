/* SPDX-License-Identifier: MIT */
/*
 * loan.h - an urgent task that waits for another task lends that task its level.
 *
 *   waiter ──loan──► thing ──► debtor: task that holds or will do the thing
 *
 * A *thing* is what is waited for: a mutex, a call, an event or future, a group.  It is
 * known by its address, and is in the table while a waiter of it has a loan or a task
 * has promised it.  A *debtor* is a task that the waiters wait for: the holder of a
 * mutex; the process that was called; a task that was spawned with a promise, to
 * complete a future or to end.  A task has the most urgent of these levels: its own, its
 * *base*, and that of each waiter of each thing that it is a debtor of.  While the two
 * differ, the base is in the flags of the task (core/task/task_state.h).
 *
 *   wait       [loan_begin]      the waiter's level is counted for the thing
 *   hand over  [loan_pass]       the thing has another holder
 *   wait over  [loan_end]        the level is not counted any more
 *   promise    [loan_promise]    a task will do the thing
 *   set        [loan_set_level]  the base of a task is changed
 *   end        [loan_forgive]    a debtor ends, and still owes
 *
 * After each of these the level of the debtor is computed anew.  If it has changed and
 * the debtor waits, too, its own loan is changed, and the debtor of that thing comes
 * next: LOAN_DEPTH debtors at most.  Deeper debtors keep the level they have, and the
 * counts stay right.  In a ring of tasks that wait for each other it ends where no
 * level changes.
 *
 * When may a task be touched?  A waiter does not return before its loan is out of the table.
 * A holder does not get past its release, or its end, while the caller of loan_begin()
 * holds the lock of the thing; and once the thing is in the table, the holder takes the
 * lock of the loans before it gets past.  A promise is in the table before its task is
 * queued.  A task that is a debtor at its end (TASK_OWES) takes itself out of the table.
 * So with that lock each task in the table can be touched.
 *
 * Order of locks: the lock of the thing, the lock of the loans, the lock of all shared
 * queues (core/sched/runq.c).
 *
 * What a program pays.  A program in which all tasks have the default level has no
 * loans: one load in a wait that was inevitable (place_levels_differ()).  From the
 * first task of another level on, each wait for a mutex and each call has a loan, also
 * where the holder is as urgent as the waiter: a more urgent task may come to wait for
 * that waiter later.  Waits that began before are not followed.  Waits for events and
 * groups have a loan if there is a promise (loans_are_promised()).
 *
 * Where it ends:
 *
 *   - a debtor that is READY in a ring, a lane, a next slot or a fresh list stays where
 *     it is, and has the level from the next time on that it is queued.  In the shared
 *     queue and in the ready levels of its worker, which also hold the tasks that have
 *     yielded, it is moved; but a pinned task that has not started is not moved by
 *     another worker;
 *   - plain threads lend their level, which is the default, and are lent nothing: the
 *     kernel schedules them;
 *   - reader-writer locks, semaphores and channels do not know the task that will let
 *     a waiter go on, nor do events and groups without a promise; a wait for any of
 *     several things lends nothing;
 *   - without memory for a thing there is no loan;
 *   - a mutex whose holder has ended, which is misuse: its waiters lend to the task
 *     that is on the same strand by then.  If that task is about to end, too, its memory
 *     may be touched afterwards.  A debug build says so (sync/mutex.c).
 *
 * After fork() the child has no loans.
 *
 * Edges: L1 of lf/spin.h.
 *
 * Rejected: docs/adr/0046-a-waiter-lends-its-level.md.
 */
#ifndef SLEY_CORE_WAIT_LOAN_H
#define SLEY_CORE_WAIT_LOAN_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/hash.h"
#include "base/list.h"

#include <stdint.h>

struct sley_task;
struct loan_thing;

#define LOAN_DEPTH 16

/* In the frame of the waiter. */
struct loan {
	struct hash_node node;    /* by the waiting task                      */
	struct list link;         /* in ->thing                               */
	struct sley_task *from;   /* the waiting task; NULL: a plain thread  */
	struct loan_thing *thing; /* NULL: the loan is over                */
	unsigned int level;       /* as counted there                      */
};

/* A loan that was never begun can be ended. */
static inline void loan_none(struct loan *loan)
{
	loan->thing = NULL;
}

/*
 * Memory for a thing; before its lock is taken.  NULL: there will be no loan, unless
 * the thing is in the table.
 */
struct loan_thing *loan_prepare(void);

/* Has any task that has not ended promised anything? */
extern uint32_t sley__nr_promises;

static inline bool loans_are_promised(void)
{
	/* relaxed: the waiter has been told of the task that promised. */
	return load_relaxed(&sley__nr_promises);
}

/* What the calls below return, after all locks are released.  NULL: nothing. */
void loan_free(struct loan_thing *thing);

/*
 * The caller waits for the thing at @key.  If @to holds the thing, the caller holds the
 * lock of the thing; NULL: no task holds it.  Takes @memory, or returns it.  Without
 * memory there is a loan if the thing is in the table.
 */
struct loan_thing *loan_begin(struct loan *loan, const void *key,
			      struct sley_task *to, struct loan_thing *memory);

/*
 * The wait is over.  A caller that gave up, and for whose thing a holder was named,
 * holds the lock of the thing.
 */
struct loan_thing *loan_end(struct loan *loan);

/*
 * The thing at @key goes from its holder to @to, which has waited for it, or to nobody.
 * By the holder @from, which holds the lock of the thing.  NULLs are plain threads.
 */
struct loan_thing *loan_pass(const void *key, struct sley_task *from,
			     struct sley_task *to);

/* @task, which is not queued yet, will do the thing at @key before it ends. */
void loan_promise(struct sley_task *task, const void *key);

/* @task ends: whatever it owes, nobody waits for @task any more.  By @task. */
void loan_forgive(struct sley_task *task);

/* The program gives @task another level.  Any thread; @task does not end meanwhile. */
void loan_set_level(struct sley_task *task, unsigned int level);

#endif
