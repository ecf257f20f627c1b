/* SPDX-License-Identifier: MIT */
/*
 * how.c - see how.h.
 */
#include "parallel/how.h"

#include "base/options.h"
#include "core/life/scope.h"
#include "core/task/spawn.h"
#include "core/wait/wait.h"

#include <sley/error.h>

void how_default(struct how *how)
{
	const struct strand *caller = strand_current();

	*how = (struct how){
		.rt = sley__self.bound,
		.caller = caller,
		.around = caller ? scope_innermost(caller) : NULL,
		.outer = caller ? caller->within : NULL,
		.own_level = true,
	};
}

int how_read(struct how *how, const struct sley_how *given)
{
	struct sley_how copy;
	int err = options_take(&copy, given);

	if (err)
		return err;
	if (copy.priority < SLEY_PRIORITY_MIN ||
	    copy.priority > SLEY_PRIORITY_MAX)
		return SLEY_EPRIORITY;
	how_default(how);
	how->scope = copy.scope;
	how->grain = copy.grain;
	how->own_level = copy.priority == 0;
	how->level = (unsigned int)(copy.priority + LEVEL_DEFAULT);
	how->ordered = copy.ordered;
	how->migratable = copy.migratable;
	how->stoppable = true;
	return 0;
}

bool how_in_place(const struct how *how)
{
	struct worker *worker = worker_current();
	uint32_t flags;

	if (!worker)
		return false;
	flags = task_flags(worker->strand->task);
	/* Where bound threads run the tasks no task moves. */
	return (how->own_level || task_level_of(flags) == how->level) &&
	       (!how->migratable || task_moves(flags) || !how->rt->nr_workers);
}

/* Of a task that does the work for the caller. */
static int priority(const struct how *how)
{
	const struct strand *caller = strand_current();

	if (!how->own_level)
		return (int)how->level - LEVEL_DEFAULT;
	return caller ? (int)task_level(caller->task) - LEVEL_DEFAULT : 0;
}

bool how_moves(const struct how *how)
{
	const struct strand *caller = strand_current();

	return how->migratable ||
	       (caller && task_moves(task_flags(caller->task)));
}

struct work {
	const struct how *how;
	sley_fn *fn;
	void *arg;
};

static void run_work(void *arg)
{
	const struct work *work = arg;
	struct how_before before = how_enter(work->how);

	work->fn(work->arg);
	how_leave(before);
}

/* As a task, in the caller's tree.  False: @fn has not run. */
static bool run_as_task(const struct how *how, sley_fn *fn, void *arg)
{
	struct sley_options options = { .priority = priority(how),
					.migratable = how_moves(how) };
	struct work work = { how, fn, arg };
	struct sley_task task = { .fn = run_work,
				  .arg = &work,
				  .name = "parallel algorithm" };
	struct sley_group group = SLEY_GROUP_INIT;

	group_set_tree(&group, tree_current());
	/* A region of a single-threaded runtime has no worker for the task. */
	if (spawn_into(how->rt, &group, &task, &options))
		return false;
	(void)!countdown_wait(&group.q, UINT64_MAX, WAIT_SHIELDED);
	/* Once everything is cancelled a runtime takes no new tasks. */
	return !(task_observe(&task) & TASK_DROPPED);
}

void how_run(struct how *how, sley_fn *fn, void *arg)
{
	/* Looked at before any switch: see sley__self. */
	bool is_task = worker_current();

	if (likely(how_in_place(how))) {
		fn(arg);
		return;
	}
	if (how->rt && run_as_task(how, fn, arg))
		return;
	how->serial = !is_task;
	fn(arg);
}

static bool is_cancelled(const struct sley_scope *scope)
{
	return scope && scope_is_cancelled(scope);
}

/* The caller is cancelled, and stays so as long as the call lasts. */
static bool caller_is_cancelled(const struct how *how)
{
	return is_cancelled(how->around) ||
	       (how->caller && wait_ends_for_good(how->caller));
}

bool how_stopped_slow(const struct how *how)
{
	const struct how *outer = how->outer;

	/* Where there is no monitor the running task has to look at deadlines. */
	if (how->rt && !how->rt->nr_workers)
		(void)wait_told_to_end();
	if ((how->rt && runtime_is_cancelled(how->rt)) ||
	    is_cancelled(how->scope) || caller_is_cancelled(how))
		return true;
	while (outer && !caller_is_cancelled(outer))
		outer = outer->outer;
	return outer;
}
