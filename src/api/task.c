/* SPDX-License-Identifier: MIT */
/*
 * task.c - <sley/task.h>: checks what the user gave, and passes it on.
 */
#include <sley/task.h>

#include "base/label.h"
#include "core/forked.h"
#include "core/runtime.h"
#include "core/spawn.h"
#include "core/wait.h"
#include "os/thread.h"

#include <errno.h>
#include <sley/error.h>

#include "api/options.h"

static int check_options(const struct sley_options *given,
			 struct sley_options *options)
{
	int err = options_copy(options, sizeof(*options), given);

	if (err)
		return err;
	if (options->priority < SLEY_PRIORITY_MIN ||
	    options->priority > SLEY_PRIORITY_MAX)
		return SLEY_EPRIORITY;
	if (options->stack_kib && !options_stack_fits(options->stack_kib))
		return SLEY_ESTACK;
	return 0;
}

void sley_spawn(struct sley_group *group, struct sley_task *task, sley_fn *fn,
		void *arg)
{
	static const struct sley_options defaults;
	struct worker *worker = worker_current();
	struct sley *rt;
	int err;

	sley_check(group, "spawn into a group; sley_schedule() is for tasks "
			  "that nobody waits for");
	task->name = label_of_place(__builtin_return_address(0));
	if (likely(worker)) {
		spawn_here(worker, group, task, fn, arg);
		return;
	}
	rt = sley__self.bound;
	sley_check(rt,
		   forked_rule("spawn from a task or a bound thread; elsewhere "
			       "use sley_spawn_on()"));
	task->fn = fn;
	task->arg = arg;
	err = spawn_into(rt, group, task, &defaults);
	sley_check(err != SLEY_ENOWORKER,
		   "what blocks on behalf of a single-threaded runtime cannot "
		   "spawn: only its bound threads run tasks");
	sley_assert(!err);
}

/* @task->fn, ->arg and ->name, where it is spawned, are set. */
static int spawn_checked(struct sley *rt, struct sley_group *group,
			 struct sley_task *task,
			 const struct sley_options *options)
{
	struct sley_options checked;
	int err = runtime_is_lost(rt) ? SLEY_EFORKED
				      : check_options(options, &checked);

	return err ? err : spawn_into(rt, group, task, &checked);
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
	if (!group)
		return -EINVAL;
	set_up(task, fn, arg, __builtin_return_address(0));
	return spawn_checked(rt, group, task, options);
}

int sley_spawn_with(struct sley_group *group, struct sley_task *task,
		    sley_fn *fn, void *arg, const struct sley_options *options)
{
	struct sley *rt = sley__self.bound;

	if (!rt)
		return forked_error();
	if (!group)
		return -EINVAL;
	set_up(task, fn, arg, __builtin_return_address(0));
	return spawn_checked(rt, group, task, options);
}

static int schedule(struct sley *rt, const struct sley_task *like,
		    const struct sley_options *options)
{
	struct sley_task *task;
	int err;

	if (runtime_is_lost(rt)) /* and its slab may be locked for ever */
		return SLEY_EFORKED;
	task = slab_alloc(&rt->tasks);
	if (!task)
		return -ENOMEM;
	task->fn = like->fn;
	task->arg = like->arg;
	task->name = like->name;
	err = spawn_checked(rt, NULL, task, options);
	if (err)
		slab_free(&rt->tasks, task);
	return err;
}

int sley_schedule_on(struct sley *rt, sley_fn *fn, void *arg,
		     const struct sley_options *options)
{
	struct sley_task task;

	set_up(&task, fn, arg, __builtin_return_address(0));
	return schedule(rt, &task, options);
}

int sley_schedule(sley_fn *fn, void *arg)
{
	struct sley *rt = sley__self.bound;
	struct sley_task task;

	if (!rt)
		return forked_error();
	set_up(&task, fn, arg, __builtin_return_address(0));
	return schedule(rt, &task, NULL);
}

void sley_join(struct sley_group *group)
{
	(void)!countdown_wait(&group->q, UINT64_MAX, WAIT_SHIELDED);
}

int sley_join_until(struct sley_group *group, uint64_t deadline_ns)
{
	return countdown_wait(&group->q, deadline_ns, 0);
}

void sley_group_in_tree(struct sley_group *group)
{
	group_set_tree(group, tree_current());
}

void sley_cancel(struct sley_task *task)
{
	if (task_cancel(task))
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
	place_set_level(task, (unsigned int)(priority + LEVEL_DEFAULT));
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
