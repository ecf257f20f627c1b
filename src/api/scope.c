/* SPDX-License-Identifier: MIT */
/*
 * scope.c - <sley/scope.h>: checks the user's arguments, and passes them on.
 *
 * A member is a task of the scope's group, marked as a member.  The function of a
 * member returns an int, unlike the function of a task; the code that starts a
 * member knows the true type.
 */
#include <sley/scope.h>

#include "base/label.h"
#include "core/life/after_fork.h"
#include "core/life/scope.h"
#include "core/task/spawn.h"

#include <errno.h>

#include "api/task.h"

void sley_scope_open(struct sley_scope *scope)
{
	scope_open(scope, UINT64_MAX);
}

void sley_scope_open_until(struct sley_scope *scope, uint64_t deadline_ns)
{
	scope_open(scope, deadline_ns);
}

static void set_up(struct sley_task *task, sley_job *fn, void *arg,
		   const void *site)
{
	task->fn = (sley_fn *)(void (*)(void))fn;
	task->arg = arg;
	task->name = label_of_place(site);
}

void sley_scope_spawn(struct sley_scope *scope, struct sley_task *task,
		      sley_job *fn, void *arg)
{
	struct worker *worker = worker_current();

	sley_check_fn(fn);
	set_up(task, fn, arg, __builtin_return_address(0));
	if (likely(worker))
		spawn_here_as(worker, &scope->group, task, TASK_MEMBER);
	else
		task_spawn_bound(__func__, &scope->group, task, TASK_MEMBER);
}

int sley_scope_spawn_with(struct sley_scope *scope, struct sley_task *task,
			  sley_job *fn, void *arg,
			  const struct sley_options *options)
{
	struct sley *rt = sley__self.bound;

	sley_check_fn(fn);
	if (!rt)
		return after_fork_error();
	set_up(task, fn, arg, __builtin_return_address(0));
	return task_spawn_checked(rt, &scope->group, task, options,
				  TASK_MEMBER);
}

void sley_scope_cancel(struct sley_scope *scope)
{
	scope_cancel(scope, -ECANCELED);
}

void sley_scope_fail(struct sley_scope *scope, int err)
{
	sley_check(err < 0, "a scope must fail with a negative error");
	scope_cancel(scope, err);
}

bool sley_scope_cancelled(const struct sley_scope *scope)
{
	return scope_is_cancelled(scope);
}

int sley_scope_close(struct sley_scope *scope)
{
	return scope_close(scope);
}
