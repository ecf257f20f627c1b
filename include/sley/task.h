/* SPDX-License-Identifier: MIT */
/*
 * sley/task.h - tasks: spawn, join, schedule, cancel.
 *
 * *Spawn* a task into a group and *join* the group; *schedule* a task that no
 * caller waits for.  A spawned task lives in memory of the caller, so
 * sley_spawn() cannot fail.  A task of sley_group_go() lives in memory of the
 * library, so that call can fail.  A task may block anywhere, at any call depth:
 * its fiber is suspended, and its worker goes on with other work.
 *
 * A task that has blocked resumes on the same worker, so that thread-locals stay
 * valid.  A *migratable* task may resume on any worker: a long task on the worker
 * where it blocked does not hold it up.  A task is migratable if its runtime is
 * (.migratable of sley_config), or if the task was spawned with .migratable; in
 * a pinned task (.pinned) neither counts.  Forked children are migratable if
 * their parent is (<sley/fork.h>); spawned tasks have their own options.  A task
 * that has only yielded resumes on the same worker in any case.  What a task
 * that moves must not do is in docs/TLS.md.
 */
#ifndef SLEY_TASK_H
#define SLEY_TASK_H

#include <sley/compiler.h>
#include <sley/runtime.h>
#include <sley/waitq.h>

SLEY_BEGIN_DECLS

#define SLEY_PRIORITY_MIN (-32) /* most urgent  */
#define SLEY_PRIORITY_MAX 31    /* least urgent */

struct sley_group;
struct sley_waker; /* <sley/waker.h> */

/*
 * A task.  Caller-owned from sley_spawn() until the join of its group has
 * returned.  The fields are private; needs no initialisation.
 */
struct sley_task {
	struct sley_task *next; /* in its queue, of any kind         */
	struct sley_task *prev; /* in a levelled queue only          */
	uint32_t state;         /* ready, running, blocked, ended    */
	uint32_t flags;         /* its level, and what holds for it  */
	sley_fn *fn;
	void *arg;
	struct sley_group *group; /* NULL: detached                    */
	void *fiber;              /* on which it runs, once blocked    */
	const void *name;         /* or spawn site: for reports        */
};

/*
 * Tasks that are joined together.  Zeroed memory is an empty group.  A group may
 * be used again after a join, and needs no clean-up.
 */
struct sley_group {
	struct sley_waitq q; /* the word counts pending tasks         */
	uint64_t tree;       /* task tree; 0: each task has its own   */
};

#define SLEY_GROUP_INIT { SLEY_WAITQ_INIT, 0 }

/*
 * For .toward here and .affinity of a node (sley/graph.h): the worker with the
 * number @i; the first worker is 0.
 */
#define SLEY_ON_WORKER(i) ((uint32_t)(i) + 1)

struct sley_future; /* <sley/future.h> */

/* The options of a task.  Zero means the default in every field. */
struct sley_options {
	uint32_t size;            /* of this struct; SLEY_OPTIONS sets it    */
	int32_t priority;         /* SLEY_PRIORITY_MIN to SLEY_PRIORITY_MAX  */
	const char *name;         /* static text for reports                 */
	uint32_t stack_kib;       /* a stack of this size, from the start */
	bool pinned;              /* to the caller's worker; never stolen    */
	struct sley_waker *waker; /* filled in before the task can start */
	/*
	 * SLEY_ON_WORKER(i): the task is queued at that worker, which is woken
	 * if it sleeps.  A preference: if the worker is busy, another worker
	 * takes the task.  0: none.
	 */
	uint32_t toward;
	bool migratable; /* may resume on any worker, in every runtime     */
	/*
	 * The task completes this future, or sets the event that the future
	 * begins with, before it ends: a more urgent task that waits for it
	 * lends its priority.
	 */
	const struct sley_future *future;
	bool inherits; /* a more urgent task that joins the group lends its own */
	uint64_t reserved[1];
};

#define SLEY_OPTIONS(...) SLEY_LITERAL(struct sley_options, __VA_ARGS__)

/*
 * sley_options_default - default options of a task, to change field by field.
 *
 * As sley_config_default(), for a task.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline struct sley_options
sley_options_default(void)
{
	struct sley_options options = SLEY_ZEROED;

	options.size = sizeof(options);
	return options;
}

/*
 * sley_spawn - run @fn(@arg) as a task of @group.
 *
 * Context:  a task or a bound thread; elsewhere it is misuse
 * Blocks:   never
 * Owner:    @task and @group are borrowed until sley_join(@group) returns.
 * Order:    everything before the call happens before @fn; everything in @fn
 *           happens before the return of sley_join(@group).
 * Errors:   none; a @group or @fn that is NULL is misuse, here and in all
 *           similar calls
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_spawn(struct sley_group *group, struct sley_task *task, sley_fn *fn,
	   void *arg);

/*
 * sley_spawn_with - sley_spawn() with options, such as a priority.
 *
 * On failure nothing was spawned.  @options may be NULL.
 *
 * Context:  a task or a bound thread
 * Blocks:   never
 * Owner:    as sley_spawn(); @options and options->waker are borrowed for the
 *           call, options->name until the task ends.
 * Order:    as sley_spawn()
 * Errors:   SLEY_EPRIORITY, SLEY_ESTACK, -E2BIG (a newer field is set)
 *           -EINVAL          options->size is zero, or @group is NULL; or
 *                            .pinned is set, and .toward or .migratable, too
 *           SLEY_EAFFINITY   .toward names a worker that does not exist
 *           SLEY_ENORUNTIME  the thread is not bound
 *           SLEY_EFORKED     the thread was bound before fork()
 *           SLEY_ENOWORKER   .pinned from a thread that runs no tasks
 *           -ENOMEM          no memory for a fiber of options->stack_kib, or for
 *                            a waker
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_spawn_with(struct sley_group *group, struct sley_task *task, sley_fn *fn,
		void *arg, const struct sley_options *options);

/*
 * sley_spawn_on - sley_spawn() into a named runtime, from any thread.
 *
 * @options may be NULL.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    as sley_spawn_with()
 * Order:    as sley_spawn()
 * Errors:   as sley_spawn_with(), and
 *           SLEY_ENOWORKER  @rt is single-threaded and this thread is not bound
 *                           to it
 *           -ESHUTDOWN      @rt is being destroyed, and the caller is no task of
 *                           @rt and not bound to it
 *           SLEY_EFORKED    this process is a fork of the one that created @rt
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_spawn_on(struct sley *rt, struct sley_group *group, struct sley_task *task,
	      sley_fn *fn, void *arg, const struct sley_options *options);

/*
 * sley_schedule - run @fn(@arg) as a task that no caller joins.
 *
 * Context:  a task or a bound thread
 * Blocks:   never
 * Order:    everything before the call happens before @fn; everything in @fn
 *           happens before the return of sley_destroy().
 * Errors:   -ENOMEM
 *           SLEY_ENORUNTIME  the thread is not bound
 *           SLEY_EFORKED     the thread was bound before fork()
 *           SLEY_ENOWORKER   from a blocking call or region of a single-threaded
 *                            runtime
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_schedule(sley_fn *fn, void *arg);

/*
 * sley_schedule_on - sley_schedule() into a named runtime, from any thread.
 *
 * @options may be NULL.  Tasks of default priority from a thread that is no worker of
 * @rt have half of the time of a worker that has other tasks of default priority.
 * So the first of them begins when the running task ends or waits, or a tick (see
 * struct sley_config) later if such tasks took the time before.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    as sley_schedule()
 * Errors:   -ENOMEM, and as sley_spawn_on()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_schedule_on(struct sley *rt, sley_fn *fn, void *arg,
		 const struct sley_options *options);

/*
 * sley_group_go - run @fn(@arg) as a task of a group, in memory of the library.
 *
 * Like sley_spawn(), for programs that do not know the number of tasks in
 * advance and do not want to keep a struct sley_task for each task.  The library
 * frees the task after the group has counted its end.  The task cannot be
 * cancelled by itself, and has no sley_task_status(): use a scope, or
 * sley_spawn(), for that.
 *
 * With sley_spawn() a task must not free its own struct sley_task, not even as
 * its last act: the worker still uses the struct after @fn has returned.  Free
 * the struct after the join, or use sley_group_go().  A task may free the memory
 * that @arg points at.
 *
 * Context:  a task or a bound thread
 * Blocks:   never
 * Owner:    @group is borrowed until sley_join(@group) returns.
 * Order:    as sley_spawn()
 * Errors:   -ENOMEM          nothing was spawned
 *           -EINVAL          @group is NULL
 *           SLEY_ENORUNTIME  the thread is not bound
 *           SLEY_EFORKED     the thread was bound before fork()
 *           SLEY_ENOWORKER   from a blocking call or region of a single-threaded
 *                            runtime
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_group_go(struct sley_group *group, sley_fn *fn, void *arg);

/*
 * sley_join - wait until every task of a group has ended.
 *
 * A cancel of the caller does not end the wait: the tasks may live in the frame
 * of the caller.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    everything in the tasks happens before the return.
 * Errors:   none; a task that joins its own group, here or in sley_join_until(),
 *           is misuse: the task would wait for itself
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_join(struct sley_group *group);

/*
 * sley_join_until - sley_join() with a deadline, and cancellable.
 *
 * On failure the tasks go on, and the group must be joined again.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    as sley_join(), on success
 * Errors:   -ETIMEDOUT, -ECANCELED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_join_until(struct sley_group *group, uint64_t deadline_ns);

/*
 * sley_group_in_tree - put the tasks of a group into the caller's task tree.
 *
 * Some calls treat a task tree as one unit: a lock that is re-entrant along a
 * task tree may be held by a task and taken again by its sub-tasks
 * (<sley/rwlock.h>).  The call affects every task that is spawned into @group
 * from now on.  Without the call each spawned task is the root of a new tree.
 * Forked children are always in the tree of their parent.
 *
 * The call is misuse while tasks of @group are pending.
 *
 * Context:  any thread; outside of tasks each thread is a tree
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_group_in_tree(struct sley_group *group);

/*
 * sley_cancel - ask a task to end.
 *
 * A task that has not started never starts.  If the task is blocked, its wait
 * returns -ECANCELED, and so does every later wait.  A call that need not wait
 * still succeeds.  So a loop that never waits must look at sley_cancelled(), and
 * so must a task that computes.  A second cancel changes nothing, nor does a
 * cancel of a task that has ended and is not joined yet.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    everything before the call happens before the -ECANCELED.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_cancel(struct sley_task *task);

/*
 * sley_cancelled - has the calling task been cancelled?
 *
 * Context:  any thread; false outside of tasks
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS bool sley_cancelled(void);

/*
 * sley_task_status - has a task ended, and did it run?
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   0             the task ran to its end
 *           -ECANCELED    the task was cancelled before it started, and never
 *                         ran
 *           -EINPROGRESS  the task has not ended
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_task_status(const struct sley_task *task);

/*
 * sley_set_priority - change the priority of a task.
 *
 * A ready task goes to the end of its new level, before the next task is taken
 * from its queue.  If that queue belongs to a worker, the worker moves the task
 * on its next pick; if several tasks were moved to the same level meanwhile,
 * they keep the order in which they were queued.  If another thread makes the
 * task ready at the same moment, the change may take effect later: when the task
 * is taken from the place where that thread has put it.
 *
 * If the task runs or is blocked, the new priority counts from the next time the
 * task is queued.  If the task has ended, nothing happens.
 *
 * If the task is, or may be, ready, each worker of the process looks through its
 * own queue once.
 *
 * While a more urgent task waits for this task, the task has the priority of its
 * waiter, and @priority counts afterwards, or at once if it is more urgent still.
 * Waits of this kind are those for a mutex that the task holds; for a reply or the end
 * of the process that the task is; for a future, if the task was spawned with .future;
 * and for a group, if the task was spawned with .inherits.  If the task itself waits
 * for another task, that task gets the priority, too.  If the task is ready in the
 * queue of default priority, the priority of its waiter counts from the next time it
 * is queued.
 *
 * Context:  any thread, also a thread without a runtime
 * Blocks:   never
 * Owner:    @task must not have been joined.
 * Errors:   SLEY_EPRIORITY
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_set_priority(struct sley_task *task, int priority);

/*
 * sley_yield - let other tasks run.
 *
 * The task goes behind all ready tasks of the same or a higher priority, on its
 * worker and in the queue that all workers share.  When the call returns, each
 * of these tasks has started or resumed, or was taken by another worker.  Of the
 * forked children that no worker has begun and whose parents wait, one runs for
 * each yield.  The call need not wait for tasks that become ready after the
 * yield began.
 *
 * If only tasks of lower priority are ready: a task whose priority is higher
 * than the default lets one task of default or higher priority run; other tasks
 * return at once.  So a loop of yields keeps tasks from running whose priority
 * is lower than both the default and the priority of the loop.  A plain thread
 * yields to the kernel.
 *
 * Context:  any thread
 * Blocks:   the fiber
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void sley_yield(void);

SLEY_END_DECLS
#endif
