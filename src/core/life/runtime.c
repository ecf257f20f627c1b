/* SPDX-License-Identifier: MIT */
/*
 * runtime.c - see runtime.h.
 *
 * Edges:
 *
 *   RT2  the creator sets the phase -> workers begin : the runtime is complete
 */
#include "core/life/runtime.h"

#include "core/sched/affinity.h"
#include "core/life/drain.h"
#include "core/life/after_fork.h"
#include "core/life/hooks.h"
#include "core/sched/poller.h"
#include "fiber/overflow.h"
#include "os/futex.h"
#include "os/membarrier.h"
#include "os/thread.h"

#include <errno.h>
#include <limits.h>
#include <sley/error.h>
#include <stdio.h>

/* ---- workers ---------------------------------------------------------------------- */

/* All workers begin together, or no worker does: then there is nothing to undo. */
static void await_others(struct sley *rt)
{
	while (load_acquire(&rt->phase) == PHASE_STARTING) /* RT2 */
		(void)os_futex_wait(&rt->phase, PHASE_STARTING, UINT64_MAX);
}

static void *thread_main(void *arg)
{
	struct worker *worker = arg;

	chaos_thread(worker->index);
	await_others(worker->rt);
	worker_main(worker);
	return NULL;
}

int worker_create(struct sley *rt, unsigned int index, struct worker **out)
{
	struct worker *worker = mem_alloc(&rt->mem, sizeof(*worker));
	int err;

	if (!worker)
		return -ENOMEM;
	err = worker_init(worker, rt, index);
	if (err) {
		worker_fini(worker);
		mem_free(&rt->mem, worker, sizeof(*worker));
		return err;
	}
	*out = worker;
	return 0;
}

void worker_destroy(struct worker *worker)
{
	struct sley *rt = worker->rt;

	guests_wait(worker);
	worker_fini(worker);
	mem_free(&rt->mem, worker, sizeof(*worker));
}

static int worker_start(struct worker *worker, const struct sley_cpus *cpus)
{
	const char *prefix = worker->rt->config.name;
	char name[16];
	int err;

	(void)snprintf(name, sizeof(name), "%.10s-%u", prefix, worker->index);
	err = os_thread_start_on(&worker->pthread, name, thread_main, worker,
				 cpus, true);
	/* The kernel took the CPUs away since they were looked up. */
	return cpus && err == -EINVAL ? SLEY_ECPUS : err;
}

static size_t table_size(unsigned int nr_workers)
{
	return nr_workers * sizeof(struct worker *);
}

/* All structures first: a worker that runs looks at all others. */
static int create_workers(struct sley *rt, unsigned int nr)
{
	if (!nr)
		return 0;
	rt->worker = mem_alloc(&rt->mem, table_size(nr));
	if (!rt->worker)
		return -ENOMEM;
	for (rt->nr_workers = 0; rt->nr_workers < nr; rt->nr_workers++) {
		int err = worker_create(rt, rt->nr_workers,
					&rt->worker[rt->nr_workers]);

		if (err)
			return err;
	}
	return victims_init(&rt->victims, &rt->mem, "", rt->nr_workers,
			    &rt->cpus);
}

static void set_phase(struct sley *rt, enum runtime_phase phase)
{
	store_release(&rt->phase, phase); /* RT2 */
	os_futex_wake(&rt->phase, INT_MAX);
}

static void stop_threads(struct sley *rt, unsigned int nr_started)
{
	/*
	 * As work for each worker: by I3 of core/sched/idle.h a worker that is
	 * about to sleep sees the phase.
	 */
	set_phase(rt, PHASE_STOPPING);
	for (unsigned int i = 0; i < nr_started; i++)
		(void)idle_notify_seat(&rt->idle, &rt->worker[i]->seat);
	if (lease_is_on(&rt->lease))
		lease_call_all(rt);
	for (unsigned int i = 0; i < nr_started; i++)
		os_thread_join(rt->worker[i]->pthread);
}

/* @cpus NULL: wherever the kernel likes. */
static int start_thread(struct worker *worker, const struct sley_cpus *cpus)
{
	worker->wanders =
		victims_place(&worker->rt->victims, worker->index, cpus);
	hooks_hand_start(worker);
	return worker_start(worker, cpus);
}

static int start_threads(struct sley *rt)
{
	struct affinity affinity;
	struct sley_cpus cpus;

	affinity_init(&affinity, "", &rt->config);
	for (unsigned int i = 0; i < rt->nr_workers; i++) {
		int err = affinity_next(&affinity, i, &cpus);

		if (err >= 0)
			err = start_thread(rt->worker[i], err ? &cpus : NULL);
		if (err) {
			stop_threads(rt, i);
			return err;
		}
	}
	return 0;
}

/* ---- the runtime ------------------------------------------------------------------- */

static void free_parts(struct sley *rt)
{
	struct mem mem;

	/* A guest of one worker may be looking at all workers. */
	for (unsigned int i = 0; rt->worker && i < rt->nr_workers; i++)
		guests_wait(rt->worker[i]);
	for (unsigned int i = 0; rt->worker && i < rt->nr_workers; i++)
		worker_destroy(rt->worker[i]);
	poller_fini(rt);
	trace_free_kept(&rt->trace, &rt->mem);
	victims_fini(&rt->victims, &rt->mem);
	if (rt->worker)
		mem_free(&rt->mem, rt->worker, table_size(rt->table_length));
	sley_assert(slab_nr_live(&rt->tasks) == 0);
	sley_assert(slab_nr_live(&rt->strands) == 0);
	slab_fini(&rt->tasks);
	slab_fini(&rt->strands);
	stack_pool_fini(&rt->stacks);
	fiber_overflow_uninstall();
	runq_fini(&rt->runq);
	mem = rt->mem;
	mem_free(&mem, rt, sizeof(*rt));
}

static int start(struct sley *rt, unsigned int nr_workers)
{
	int err = create_workers(rt, nr_workers);

	if (err)
		return err;
	idle_init(&rt->idle, nr_workers, rt->membarrier);
	err = start_threads(rt);
	if (err || !nr_workers)
		return err;
	err = monitor_start(rt);
	if (err) {
		stop_threads(rt, nr_workers);
		return err;
	}
	set_phase(rt, PHASE_RUNNING);
	hooks_await_start(rt);
	return 0;
}

/* The memory that the caller's pointers point at is borrowed for the call only. */
static void keep_config(struct sley *rt, const struct sley_config *config)
{
	rt->config = *config;
	rt->cpus = *config->cpus;
	rt->config.cpus = &rt->cpus;
	(void)snprintf(rt->name, sizeof(rt->name), "%s", config->name);
	rt->config.name = rt->name;
}

/* The configuration in effect, where it differs from the request. */
static void note_config(struct sley *rt)
{
	rt->config.trace = rt->trace.full ? rt->trace.path : NULL;
	rt->config.domain = NULL; /* none is joined so far */
	rt->config.migratable = rt->migratable;
	rt->config.no_membarrier = !rt->membarrier;
}

int runtime_create(struct sley **out, const struct sley_config *config)
{
	unsigned int nr_workers =
		config->workers > 0 ? (unsigned int)config->workers : 0;
	struct sley *rt;
	struct mem mem;
	int err;

	chaos_announce();
	mem_init(&mem, &config->allocator);
	rt = mem_alloc(&mem, sizeof(*rt));
	if (!rt)
		return -ENOMEM;
	err = stack_pool_init(&rt->stacks, (size_t)config->stack_kib << 10,
			      config->no_guard_advice);
	if (err) {
		mem_free(&mem, rt, sizeof(*rt));
		return err;
	}
	rt->mem = mem;
	keep_config(rt, config);
	after_fork_begin(rt);
	/* Only a bound thread runs the tasks that it spawned. */
	rt->migratable = config->migratable && nr_workers;
	rt->membarrier = !config->no_membarrier && os_membarrier_setup();
	rt->table_length = nr_workers;
	list_init(&rt->bound);
	idle_calls_init(&rt->idle_calls);
	runq_init(&rt->runq);
	slab_init(&rt->strands, &rt->mem, sizeof(struct strand));
	slab_init(&rt->tasks, &rt->mem, sizeof(struct sley_task));
	trace_init(&rt->trace, config->trace, nr_workers);
	note_config(rt);
	blocking_init(&rt->blocking, rt, &rt->mem);
	watchdog_init(&rt->watchdog, config);
	if (nr_workers) /* then there is a monitor, which ages the pool */
		rt->stacks.warm_max = (uint32_t)chaos_few(STACK_WARM_ALL, 1);
	fiber_overflow_install();
	err = start(rt, nr_workers);
	if (err) {
		free_parts(rt);
		return err;
	}
	*out = rt;
	return 0;
}

void runtime_free(struct sley *rt)
{
	blocking_stop(&rt->blocking);
	monitor_stop(rt);
	stop_threads(rt, rt->nr_workers);
	sources_end(rt);
	trace_write(rt);
	free_parts(rt);
}

/* ---- counters ----------------------------------------------------------------------------- */

static void add_counters(const struct worker *worker, struct sley_stats *out)
{
	const struct worker_counters *counters = &worker->counters;

	/* relaxed: statistics. */
	out->spawned += load_relaxed(&counters->spawned);
	/* relaxed: statistics. */
	out->finished += load_relaxed(&counters->finished);
	/* relaxed: statistics. */
	out->switches += load_relaxed(&counters->switches);
	/* relaxed: statistics. */
	out->steals += load_relaxed(&counters->steals);
	/* relaxed: statistics. */
	out->parks += load_relaxed(&counters->parks);
	/* relaxed: statistics. */
	out->fibers_idle += load_relaxed(&worker->nr_idle);
	out->trace_dropped += trace_ring_dropped(&worker->trace);
}

void runtime_stats(struct sley *rt, struct sley_stats *out)
{
	struct list *link;

	*out = (struct sley_stats){ 0 };
	for (unsigned int i = 0; i < rt->nr_workers; i++)
		add_counters(rt->worker[i], out);
	spin_lock(&rt->bound_lock);
	for (link = rt->bound.next; link != &rt->bound; link = link->next)
		add_counters(container_of(link, struct worker, link), out);
	spin_unlock(&rt->bound_lock);
	out->spawned += drain_foreign_spawned(rt);
	/* relaxed: statistics. */
	out->trace_dropped += load_relaxed(&rt->trace.nr_lost);
	for (unsigned int level = 0; level <= RUNQ_SPILL; level++)
		out->shared_queued += runq_length(&rt->runq, level);
	out->fibers = slab_nr_live(&rt->strands);
	out->allocated = mem_allocated(&rt->mem);
	out->long_tasks = watchdog_found(&rt->watchdog);
	blocking_stats(&rt->blocking, out);
}
