/* SPDX-License-Identifier: MIT */
/*
 * runtime_cancel.c - sley_cancel_all(): cancels every task of a runtime.
 *
 * The word rt->cancelled says so.  Each worker that sees the word, at its next fair
 * pick or before it sleeps, cancels the tasks that are blocked on its strands, once.
 * Tasks that start or block there later look at the worker's own mark.  The poke
 * makes the worker look soon, and the seat wakes the worker if it sleeps.  A task in
 * turns that waits for an alarm has no strand: its alarm rings (timers_cancel).
 *
 * Edges:
 *
 *  RT1  see core/life/runtime.h
 */
#include "core/sched/place.h"
#include "core/life/drain.h"
#include "core/life/runtime.h"

static void poke(struct worker *worker)
{
	/* relaxed: idle_notify_seat() orders the store. */
	store_relaxed(&worker->poke, 1);
	(void)idle_notify_seat(&worker->rt->idle, &worker->seat);
	if (lease_is_on(&worker->rt->lease))
		lease_call(worker);
}

void runtime_cancel_all(struct sley *rt)
{
	struct list *link;

	/* The first task that ends may be the last task, and @rt be freed. */
	gate_pass(rt);
	(void)xchg_acq_rel(&rt->cancelled, 1); /* RT1 */
	for (unsigned int i = 0; i < rt->nr_workers; i++)
		poke(rt->worker[i]);
	spin_lock(&rt->bound_lock);
	for (link = rt->bound.next; link != &rt->bound; link = link->next)
		poke(container_of(link, struct worker, link));
	spin_unlock(&rt->bound_lock);
	gate_leave(rt);
}

/* If the task does not move, this very thread was the parker: no barrier. */
static bool cancel_here(struct sley_task *task)
{
	if (task_flags(task) & TASK_MIGRATABLE)
		return task_cancel(task);
	return task_cancel_parked(task);
}

static void cancel_strand(void *object, void *arg)
{
	struct strand *strand = object;
	struct worker *worker = arg;
	struct sley_task *task;

	/*
	 * A strand of another worker is left to that worker.  The current strand
	 * is included: its task may have looked and be about to wait.
	 */
	/* Only this worker makes a strand its own. */
	if (strand_home(strand) != worker)
		return;
	spin_lock(&strand->end_lock);
	/*
	 * A task that moves ends under the lock.  If such a task has ended since,
	 * on another worker, that worker may run a task there that does not move,
	 * and ends without the lock.  So the home counts under the lock.
	 */
	if (strand_home(strand) == worker) {
		task = strand_task(strand);
		if (task && cancel_here(task))
			task_enqueue(task);
	}
	spin_unlock(&strand->end_lock);
}

void runtime_cancel_strands(struct worker *worker)
{
	if (worker->cancelled ||
	    !load_acquire(&worker->rt->cancelled)) /* RT1 */
		return;
	worker->cancelled = true;
	slab_for_each(&worker->rt->strands, cancel_strand, worker);
	timers_cancel(&worker->timers);
}
