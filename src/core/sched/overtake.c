/* SPDX-License-Identifier: MIT */
/*
 * overtake.c - see overtake.h.
 */
#include "core/sched/overtake.h"

#include "core/sched/place.h"
#include "core/sched/steal.h"
#include "core/sched/suspend.h"

void overtake_ask_all(struct sley *rt)
{
	(void)add_acq_rel(&rt->overtakes, 1); /* OV1 */
	(void)fork_ask_all(rt);
}

void overtake_ask(struct worker *worker)
{
	(void)add_acq_rel(&worker->rt->overtakes, 1); /* OV1 */
	(void)fork_ask(worker);
}

/* AFTER_OVERTAKEN queues the forking task again: see switch_finish_rare(). */
static void give_way(struct worker *worker, struct sley_task *task)
{
	struct strand *strand = worker->strand;

	suspend_begin(worker);
	worker->after.kind = AFTER_OVERTAKEN;
	(void)worker_switch_to(worker, task);
	suspend_end(strand);
}

/* The loop of an idle strand passes the core on: core/sched/lease.h. */
static void let_pass(struct worker *worker)
{
	if (likely(worker_has_spare_strand(worker)))
		give_way(worker, NULL);
}

struct sley_task *overtake_look(struct worker *worker)
{
	struct strand *strand = worker->strand;
	unsigned int level = task_level(strand->task);
	struct sley_task *task;

	if (unlikely(level > LEVEL_DEFAULT))
		fork_stack_drop_limit(&strand->forks);
	else if (fork_stack_is_raised(&strand->forks))
		(void)add_acq_rel(&worker->rt->overtakes, 0); /* OV1 */
	if (unlikely(worker_keeps_search(worker)))
		worker_end_kept_search(worker);
	/* sley_run_one() runs one task: the urgent task is the next. */
	if (unlikely(worker_step_task(worker)))
		return NULL;
	if (unlikely(!push_list_empty(&worker->home)))
		place_arrivals(worker);
	task = worker_pick_above(worker, level);
	if (unlikely(!task && worker_gives_core(worker, level)))
		let_pass(worker);
	return task;
}

/*
 * There is no stack for @task.  The forking task goes on: other tasks may have all
 * stacks, and wait for it.  The task waits for the next pick, and no thread asks.
 */
static void put_back(struct worker *worker, struct sley_task *task)
{
	if (task_flags(task) & TASK_PINNED || !worker->rt->nr_workers) {
		levels_push(&worker->ready, task, task_level(task));
		return;
	}
	runq_push(&worker->rt->runq, task);
	idle_notify(&worker->rt->idle);
}

void overtake_give_way(struct worker *worker, struct sley_task *task)
{
	if (unlikely(!task_strand(task) && !worker_has_spare_strand(worker))) {
		put_back(worker, task);
		return;
	}
	give_way(worker, task);
}
