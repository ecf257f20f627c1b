/* SPDX-License-Identifier: MIT */
/*
 * drain.h - waiting until a runtime has no tasks and no bound threads left.
 *
 * Each worker counts the tasks that it spawned and the tasks that it finished;
 * foreign threads share a counter.  Nothing is left if the sum of all "finished",
 * read first, equals the sum of all "spawned", read afterwards: each task was
 * spawned before it finished, so at the moment between the two sums there were no
 * more spawned than finished.  With the gate shut, nothing can come after that.
 *
 * The gate lets foreign threads in one by one.  Shut, the gate refuses them; the
 * spawns of live tasks do not pass here.
 *
 * The drainer says that it drains, and sleeps; workers that go to sleep wake the
 * drainer up.
 *
 * Edges:
 *
 *   D1  a worker counts finished -> the sum reads it : what the task did, and
 *       what was counted as spawned before
 *   D2  a foreign thread leaves the gate -> the drainer sees it empty : the
 *       thread's task is counted, or the thread counts as bound
 *   D3  the gate is shut -> a thread passes it anyway (gate_pass) : what the
 *       destroyer did before.  For example, sley_cancel_all() passes the gate and
 *       cancels the last task, and the destroyer sees the task's end and shuts the
 *       gate for the last time.  Had the canceller passed after this shut, its
 *       cancel would come after the end that it caused.  So the canceller passed
 *       before, and the destroyer waits until the canceller has left
 *
 * Rejected: one shared counter of live tasks.  The counter would be a cache line
 * that every spawn and every end of a task on every worker would write.
 */
#ifndef SLEY_CORE_LIFE_DRAIN_H
#define SLEY_CORE_LIFE_DRAIN_H

#include "core/sched/worker.h"

#define GATE_SHUT 1ull
#define GATE_ONE 2ull

static inline void drain_count_spawned(struct worker *worker)
{
	/* relaxed: D1 of the task's end publishes the count. */
	counter_add(&worker->counters.spawned, 1);
}

/*
 * A thread without a worker has spawned @nr tasks of @rt; or the drainer itself has,
 * which reads the count afterwards.
 */
static inline void drain_count_foreign(struct sley *rt, uint64_t nr)
{
	/* relaxed: D2 or D1 of the task's end publishes the count. */
	(void)add_relaxed(&rt->drain.foreign_spawned, nr);
}

/* For statistics, and in the sum of the drainer. */
static inline uint64_t drain_foreign_spawned(const struct sley *rt)
{
	/* relaxed: for the drainer ordered by D2, as the gate is shut. */
	return load_relaxed(&rt->drain.foreign_spawned);
}

/* Single-threaded: everything spawned on @worker has ended. */
static inline bool drain_is_done(const struct worker *worker)
{
	return worker->counters.finished == worker->counters.spawned;
}

void drain_end_unbind(struct worker *worker);

static inline void drain_count_finished(struct worker *worker)
{
	uint64_t *finished = &worker->counters.finished;

	/* relaxed: only this worker writes the counter. */
	store_release(finished, load_relaxed(finished) + 1); /* D1 */
	if (unlikely(worker->draining && drain_is_done(worker)))
		drain_end_unbind(worker);
}

/* A foreign thread wants to spawn.  False: too late. */
must_check bool gate_enter(struct sley *rt);
void gate_leave(struct sley *rt);

/* In any case: for a caller that does not spawn, but may let @rt end. */
void gate_pass(struct sley *rt);

/* Afterwards no thread gets in, and no thread is inside. */
void gate_shut(struct sley *rt);

/* A worker found nothing to do, or a thread unbound. */
void drain_signal(struct sley *rt);

static inline void drain_signal_if_wanted(struct sley *rt)
{
	/* The counts are not moved behind the look. */
	compiler_barrier();
	/* relaxed: the drainer's os_membarrier() orders it, or the drainer polls. */
	if (unlikely(load_relaxed(&rt->drain.wanted)))
		drain_signal(rt);
}

/* Wait until no task is left and no thread is bound: 0 or -ETIMEDOUT. */
must_check int drain_wait(struct sley *rt, uint64_t deadline_ns);

/* Report, line by line, the tasks and threads that are left. */
void drain_report(struct sley *rt);

#endif
