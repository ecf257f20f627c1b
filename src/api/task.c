/* SPDX-License-Identifier: MIT */
/*
 * task.c - <sley/task.h>: checks the user's arguments, and passes them on.
 */
#include <sley/task.h>

#include "base/label.h"
#include "base/options.h"
#include "core/sched/place.h"
#include "core/task/then.h"
#include "core/life/after_fork.h"
#include "core/life/runtime.h"
#include "core/task/spawn.h"
#include "core/wait/loan.h"
#include "core/wait/wait.h"
#include "os/thread.h"

#include <errno.h>
#include <sley/error.h>
#include <sley/fork.h>

#include "api/task.h"

static int check_options(const struct sley_options *given,
			 struct sley_options *options)
{
	int err = options_take(options, given);

	if (err)
		return err;
	if (options->priority < SLEY_PRIORITY_MIN ||
	    options->priority > SLEY_PRIORITY_MAX)
		return SLEY_EPRIORITY;
	if (options->stack_kib && !options_stack_fits(options->stack_kib))
		return SLEY_ESTACK;
	if (options->pinned && (options->toward || options->migratable))
		return -EINVAL;
	return 0;
}

void task_spawn_bound(const char *caller, struct sley_group *group,
		      struct sley_task *task, uint32_t flags)
{
	static const struct sley_options defaults;
	struct sley *rt = sley__self.bound;
	int err;

	if (!rt)
		sley__misuse(caller,
			     after_fork_rule("spawn from a task or a bound "
					     "thread; elsewhere use "
					     "sley_spawn_on()"));
	err = spawn_into_as(rt, group, task, &defaults, flags);
	if (err == SLEY_ENOWORKER)
		sley__misuse(
			caller,
			"a blocking call of a single-threaded runtime cannot "
			"spawn: only the bound threads run tasks");
	sley_assert(!err);
}

void sley_spawn(struct sley_group *group, struct sley_task *task, sley_fn *fn,
		void *arg)
{
	struct worker *worker = worker_current();

	sley_check(group,
		   "the group is NULL: for a task that is never joined use "
		   "sley_schedule()");
	sley_check_fn(fn);
	task->name = label_of_place(__builtin_return_address(0));
	if (likely(worker)) {
		spawn_here(worker, group, task, fn, arg);
		return;
	}
	task->fn = fn;
	task->arg = arg;
	task_spawn_bound(__func__, group, task, 0);
}

int task_spawn_checked(struct sley *rt, struct sley_group *group,
		       struct sley_task *task,
		       const struct sley_options *options, uint32_t flags)
{
	struct sley_options checked;
	int err = runtime_is_lost(rt) ? SLEY_EFORKED
				      : check_options(options, &checked);

	return err ? err : spawn_into_as(rt, group, task, &checked, flags);
}

static void set_up(struct sley_task *task, sley_fn *fn, void *arg,
		   const void *site)
{
	task->fn = fn;
	task->arg = arg;
	task->name = label_of_place(site);
}

int sley_spawn_on(struct sley *rt, struct sley_group *group,
		  struct sley_task *task, sley_fn *fn, void *arg,
		  const struct sley_options *options)
{
	sley_check_fn(fn);
	if (!group)
		return -EINVAL;
	set_up(task, fn, arg, __builtin_return_address(0));
	return task_spawn_checked(rt, group, task, options, 0);
}

int sley_spawn_with(struct sley_group *group, struct sley_task *task,
		    sley_fn *fn, void *arg, const struct sley_options *options)
{
	struct sley *rt = sley__self.bound;

	sley_check_fn(fn);
	if (!rt)
		return after_fork_error();
	if (!group)
		return -EINVAL;
	set_up(task, fn, arg, __builtin_return_address(0));
	return task_spawn_checked(rt, group, task, options, 0);
}

/* A task of the slab, like @like, into @group or NULL. */
static int schedule(struct sley *rt, struct sley_group *group,
		    const struct sley_task *like,
		    const struct sley_options *options)
{
	struct sley_task *task;
	int err;

	if (runtime_is_lost(rt)) /* its slab may be locked for ever */
		return SLEY_EFORKED;
	task = slab_alloc(&rt->tasks);
	if (!task)
		return -ENOMEM;
	task->fn = like->fn;
	task->arg = like->arg;
	task->name = like->name;
	err = task_spawn_checked(rt, group, task, options, 0);
	if (err)
		slab_free(&rt->tasks, task);
	return err;
}

int sley_schedule_on(struct sley *rt, sley_fn *fn, void *arg,
		     const struct sley_options *options)
{
	struct sley_task task;

	sley_check_fn(fn);
	set_up(&task, fn, arg, __builtin_return_address(0));
	return schedule(rt, NULL, &task, options);
}

int sley_schedule(sley_fn *fn, void *arg)
{
	struct sley *rt = sley__self.bound;
	struct sley_task task;

	sley_check_fn(fn);
	if (!rt)
		return after_fork_error();
	set_up(&task, fn, arg, __builtin_return_address(0));
	return schedule(rt, NULL, &task, NULL);
}

int sley_group_go(struct sley_group *group, sley_fn *fn, void *arg)
{
	struct sley *rt = sley__self.bound;
	struct sley_task task;

	sley_check_fn(fn);
	if (!rt)
		return after_fork_error();
	if (!group)
		return -EINVAL;
	set_up(&task, fn, arg, __builtin_return_address(0));
	return schedule(rt, then_freed(group), &task, NULL);
}

/* Is the calling task, or a task that forked it, a task of @group? */
static bool is_member(const struct sley_group *group)
{
	const struct strand *strand = strand_current();

	while (strand) {
		/* The caller's task, or that of a parent, which waits for the child. */
		const struct sley_task *task = strand_task(strand);

		if (task_flags(task) & TASK_FORKED)
			strand = task_forked(task)->parent;
		else
			return !(task_flags(task) & TASK_TURNS) &&
			       then_group(task) == group;
	}
	return false;
}

/* Some tasks of some group were spawned with .inherits. */
static noinline int join_lending(struct sley_group *group, uint64_t deadline_ns,
				 enum wait_flags flags)
{
	struct loan loan;
	int err;

	(void)loan_begin(&loan, group, NULL, NULL);
	err = countdown_wait(&group->q, deadline_ns, flags);
	loan_free(loan_end(&loan));
	return err;
}

/* Some tasks have not ended.  A member, which would wait for itself, comes here. */
static noinline int join_slow(const char *function, struct sley_group *group,
			      uint64_t deadline_ns, enum wait_flags flags)
{
	if (unlikely(is_member(group)))
		sley__misuse(function,
			     "a task cannot join its own group: it would wait "
			     "for its own end");
	if (unlikely(loans_are_promised()))
		return join_lending(group, deadline_ns, flags);
	return countdown_wait(&group->q, deadline_ns, flags);
}

void sley_join(struct sley_group *group)
{
	if (!countdown_is_zero(&group->q))
		(void)!join_slow(__func__, group, UINT64_MAX, WAIT_SHIELDED);
}

int sley_join_until(struct sley_group *group, uint64_t deadline_ns)
{
	if (countdown_is_zero(&group->q))
		return 0;
	return join_slow(__func__, group, deadline_ns, 0);
}

void sley_group_in_tree(struct sley_group *group)
{
	group_set_tree(group, tree_current());
}

void sley_cancel(struct sley_task *task)
{
	bool woken = task_cancel(task);

	/* Before @task can go on: afterwards @task may be forgotten. */
	scope_cancel_task(task);
	if (woken)
		task_enqueue(task);
}

bool sley_cancelled(void)
{
	return wait_told_to_end();
}

int sley_task_status(const struct sley_task *task)
{
	uint32_t state = task_observe(task);

	if (task_state_of(state) != TASK_COMPLETED)
		return -EINPROGRESS;
	return state & TASK_DROPPED ? -ECANCELED : 0;
}

int sley_set_priority(struct sley_task *task, int priority)
{
	if (priority < SLEY_PRIORITY_MIN || priority > SLEY_PRIORITY_MAX)
		return SLEY_EPRIORITY;
	loan_set_level(task, (unsigned int)(priority + LEVEL_DEFAULT));
	return 0;
}

void sley_yield(void)
{
	struct worker *worker = worker_current();

	if (likely(worker))
		worker_yield(worker);
	else
		os_thread_yield();
}
