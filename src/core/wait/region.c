/* SPDX-License-Identifier: MIT */
/*
 * region.c - see region.h.
 */
#include "core/sched/place.h"
#include "core/wait/region.h"

#include "core/sched/suspend.h"

#include <errno.h>

/* On a thread of the pool: run the strand until it wants to go home. */
static void run_region(struct blocking_job *job, struct blocking_thread *thread)
{
	struct region *region = container_of(job, struct region, job);
	struct strand *strand = region->strand;
	struct sley_task *task = strand->task;

	region->thread = thread;
	sley__self.strand = strand;
	/* This stack is the thread's own: the switch returns on the same thread. */
	(void)fiber_switch(&thread->base, &strand->fiber, &thread->fibers);
	sley__self.strand = NULL;
	blocking_job_ends(thread);
	task_enqueue_elsewhere(task);
}

static struct region *region_create(struct worker *worker)
{
	struct mem *mem = &worker->rt->mem;
	struct region *region = mem_alloc(mem, sizeof(*region));

	if (!region)
		return NULL;
	if (blocking_reserve(&worker->rt->blocking, false)) {
		mem_free(mem, region, sizeof(*region));
		return NULL;
	}
	region->job.run = run_region;
	region->strand = worker->strand;
	return region;
}

int region_enter(struct worker *worker)
{
	struct strand *strand = worker->strand;
	struct sley_task *next;

	strand->region = region_create(worker);
	if (!strand->region)
		return -EAGAIN;
	suspend_begin(worker);
	worker->after.kind = AFTER_REGION;
	next = worker_pick(worker);
	(void)worker_switch_raw(worker, switch_target(worker, next));
	return 0;
}

void region_finish_enter(struct worker *worker, struct strand *strand)
{
	strand->line.state = LINE_NEVER;
	blocking_post(&worker->rt->blocking, &strand->region->job);
}

void region_leave(struct strand *strand)
{
	struct region *region = strand->region;
	struct blocking_thread *thread = region->thread;
	struct worker *worker;

	worker = worker_of_thread(
		fiber_switch(&strand->fiber, &thread->base, &thread->fibers));
	switch_finish(worker);
	strand->region = NULL;
	mem_free(&worker->rt->mem, region, sizeof(*region));
	suspend_end(strand);
}
