/* SPDX-License-Identifier: MIT */
/*
 * hooks.c - see hooks.h.
 */
#include "core/sched/place.h"
#include "core/life/hooks.h"

#include "core/life/drain.h"
#include "core/task/group.h"

static void start_hook(void *arg)
{
	const struct worker *worker = arg;
	const struct sley_config *config = &worker->rt->config;

	config->on_start(config->hook_self, (int)worker->index);
}

static void stop_hook(void *arg)
{
	const struct worker *worker = arg;
	const struct sley_config *config = &worker->rt->config;

	config->on_stop(config->hook_self, (int)worker->index);
}

static struct sley_task *build(struct worker *worker, sley_fn *fn,
			       const char *name)
{
	struct sley_task *task = &worker->hook;

	*task = (struct sley_task){
		.fn = fn,
		.arg = worker,
		.name = name,
		.group = &worker->rt->hooks,
	};
	/* A stop hook undoes a start hook: cancelled or not, hooks run. */
	task_build(task, LEVEL_DEFAULT,
		   worker->task_flags | TASK_PINNED | TASK_MUST_RUN);
	group_add(task->group);
	return task;
}

void hooks_hand_start(struct worker *worker)
{
	if (!worker->rt->config.on_start)
		return;
	drain_count_spawned(worker);
	worker->handoff = build(worker, start_hook, "on_start");
}

void hooks_await_start(struct sley *rt)
{
	(void)!countdown_wait(&rt->hooks.q, UINT64_MAX, WAIT_SHIELDED);
}

bool hooks_queue_stop(struct sley *rt)
{
	if (!rt->config.on_stop || rt->hooks_stopped || !rt->nr_workers)
		return false;
	rt->hooks_stopped = true;
	drain_count_foreign(rt, rt->nr_workers);
	for (unsigned int i = 0; i < rt->nr_workers; i++)
		(void)place_at(rt->worker[i],
			       build(rt->worker[i], stop_hook, "on_stop"));
	return true;
}

void hooks_call_start(struct sley *rt)
{
	if (rt->config.on_start)
		start_hook(worker_current());
}

void hooks_call_stop(struct sley *rt)
{
	if (rt->config.on_stop)
		stop_hook(worker_current());
}
