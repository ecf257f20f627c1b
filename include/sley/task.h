/* SPDX-License-Identifier: MIT */
/*
 * sley/task.h - tasks: spawn, join, schedule, cancel.
 *
 * One vocabulary: *spawn* into a group and *join* it; *schedule* what nobody
 * waits for.  A spawned task lives in memory of the caller, so spawning cannot
 * fail; with sley_group_go() it lives in memory of the library, and that can.  A
 * task may block anywhere, at any call depth: its fiber is suspended and its worker
 * goes on with other work.
 *
 * A task that has blocked resumes on the worker it blocked on, so that
 * thread-locals stay valid, unless its runtime is migratable.
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
	struct sley_task *next; /* in whichever queue it is          */
	struct sley_task *prev; /* in a levelled queue only          */
	uint32_t state;         /* src/core/task/task_state.h        */
	uint32_t flags;         /* the same                          */
	sley_fn *fn;
	void *arg;
	struct sley_group *group; /* NULL: detached                    */
	void *fiber;              /* the one it runs on, once blocked  */
	const void *name;         /* or spawn site: for reports        */
};

/*
 * Tasks that are waited for together.  Zeroed memory is an empty group.  It
 * may be used again after a join, and is forgotten without a call.
 */
struct sley_group {
	struct sley_waitq q; /* the word counts pending tasks         */
	uint64_t tree;       /* task tree; 0: each task is its own    */
};

#define SLEY_GROUP_INIT { SLEY_WAITQ_INIT, 0 }

/* How a task differs from the usual.  Zero means the default everywhere. */
struct sley_options {
	uint32_t size;            /* of this struct; SLEY_OPTIONS sets it    */
	int32_t priority;         /* SLEY_PRIORITY_MIN to SLEY_PRIORITY_MAX  */
	const char *name;         /* static text for reports                 */
	uint32_t stack_kib;       /* a stack of its own size, from the start */
	bool pinned;              /* runs on this worker, is never stolen    */
	struct sley_waker *waker; /* filled in before the task can start */
	uint64_t reserved[2];
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
 * Errors:   none; spawning into no group (NULL), or no function, is misuse here
 *           and in all calls like this one
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
 * Owner:    as sley_spawn(); @options and its waker are borrowed for the call,
 *           its name until the task ends.
 * Order:    as sley_spawn()
 * Errors:   SLEY_EPRIORITY, SLEY_ESTACK, -E2BIG (a newer field is set)
 *           -EINVAL          options->size is zero, or @group is NULL
 *           SLEY_ENORUNTIME  the thread is not bound
 *           SLEY_EFORKED     it was, before fork()
 *           SLEY_ENOWORKER   .pinned from a thread that runs no tasks
 *           -ENOMEM          no fiber of options->stack_kib to be had, or no
 *                            waker
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
 *           SLEY_ENOWORKER  @rt is single-threaded and this thread is not
 *                           bound to it
 *           -ESHUTDOWN      @rt is being destroyed and the caller is neither
 *                           one of its tasks nor bound to it
 *           SLEY_EFORKED    this process is a fork of the one that created @rt
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_spawn_on(struct sley *rt, struct sley_group *group, struct sley_task *task,
	      sley_fn *fn, void *arg, const struct sley_options *options);

/*
 * sley_schedule - run @fn(@arg) as a task that nobody waits for.
 *
 * Context:  a task or a bound thread
 * Blocks:   never
 * Order:    everything before the call happens before @fn; everything in @fn
 *           happens before the return of sley_destroy().
 * Errors:   -ENOMEM
 *           SLEY_ENORUNTIME  the thread is not bound
 *           SLEY_EFORKED     it was, before fork()
 *           SLEY_ENOWORKER   from a blocking call or region of a
 *                            single-threaded runtime
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_schedule(sley_fn *fn, void *arg);

/*
 * sley_schedule_on - sley_schedule() into a named runtime, from any thread.
 *
 * @options may be NULL.
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
 * As sley_spawn(), for where the number of tasks is not known and nobody wants to
 * keep a struct sley_task for each.  The library frees the task when the group has
 * counted its end.  It cannot be cancelled by itself, nor be asked for its status:
 * use a scope, or sley_spawn(), for that.
 *
 * With sley_spawn() a task must not free its own struct sley_task, however
 * tempting that is as its last act: the worker still has it in its hands when @fn
 * has returned.  Free it behind the join, or use this call.  What @arg points at
 * the task may free, of course.
 *
 * Context:  a task or a bound thread
 * Blocks:   never
 * Owner:    @group is borrowed until sley_join(@group) returns.
 * Order:    as sley_spawn()
 * Errors:   -ENOMEM          nothing was spawned
 *           -EINVAL          @group is NULL
 *           SLEY_ENORUNTIME  the thread is not bound
 *           SLEY_EFORKED     it was, before fork()
 *           SLEY_ENOWORKER   from a blocking call or region of a
 *                            single-threaded runtime
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_group_go(struct sley_group *group, sley_fn *fn, void *arg);

/*
 * sley_join - wait until every task of a group has ended.
 *
 * Cancelling the caller does not cut the wait short: the tasks may live in
 * its frame.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    everything in the tasks happens before the return.
 * Errors:   none; a task that joins its own group, here or with a deadline, is
 *           misuse: it would wait for its own end
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
 * A task tree counts as one where it is asked for: a lock that is re-entrant
 * along a task tree may be held by a task and taken again by its sub-tasks
 * (<sley/rwlock.h>).  It holds for every task that is spawned into @group from
 * now on; without it each spawned task is the root of a tree of its own.
 * Forked children are always in the tree of their parent.
 *
 * While tasks of @group are pending it is misuse.
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
 * If it has not started it never will.  If it is blocked, its wait returns
 * -ECANCELED, and so does every later wait.  A call that finds what it wants
 * without waiting succeeds all the same: a loop that never has to wait must look
 * at sley_cancelled(), as must a task that runs.  Cancelling twice, or a task
 * that has ended but is not joined yet, changes nothing.
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
 * sley_task_status - what became of a task.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   0             it ran to its end
 *           -ECANCELED    it was cancelled before it started and never ran
 *           -EINPROGRESS  it has not ended
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_task_status(const struct sley_task *task);

/*
 * sley_set_priority - change the priority of a task.
 *
 * A task that is ready goes to the end of its new level, before anybody takes
 * a task again from the queue it is in.  If that queue is a worker's own, this
 * worker moves it on its next pick: of several tasks changed meanwhile to the
 * same level, the one that was queued first stays first.  A change at the very
 * moment when another thread makes the task ready may count later, when it is
 * taken from where that thread put it.
 *
 * If the task runs or is blocked, the new priority counts from the next time it
 * is queued.  If it has ended, nothing happens.
 *
 * It costs each worker of the process one look through its own queue if the
 * task is, or may be, ready.
 *
 * Context:  any thread, also one that belongs to no runtime
 * Blocks:   never
 * Owner:    @task must not have been joined.
 * Errors:   SLEY_EPRIORITY
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_set_priority(struct sley_task *task, int priority);

/*
 * sley_yield - let other tasks run.
 *
 * The task goes behind everything of its own and higher priority that is
 * ready on its worker, or in the queue that all workers share: all of that has
 * started, or gone on, or was taken by other workers, when the call returns.  Of
 * forked children that nobody has begun and whose parents wait, it is one for each
 * yield.  What becomes ready after the task has yielded need not be waited for.
 *
 * If only tasks of lower priority are ready, a task of higher than the default
 * priority lets one of default or higher priority run; others return at once.  So
 * a loop of yields keeps tasks of lower than its own and the default priority from
 * running.  A plain thread yields to the kernel.
 *
 * Context:  any thread
 * Blocks:   the fiber
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void sley_yield(void);

SLEY_END_DECLS
#endif
