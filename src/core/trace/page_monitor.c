/* SPDX-License-Identifier: MIT */
/*
 * page_monitor.c - the monitor writes to a page: see page.h.
 */
#include "core/trace/page.h"

#include "core/sched/worker.h"

#include <errno.h>

int page_attach(struct sley *rt, void *memory)
{
	if (!rt->nr_workers)
		return -EINVAL;
	page_init(memory, rt->nr_workers);
	return page_slot_set(&rt->page, memory) ? 0 : -EINVAL;
}

/* The figures of @worker, which are added to @sum. */
static void put_worker(struct stats_page *page, const struct worker *worker,
		       uint64_t now_ns, struct page_runtime *sum)
{
	struct sley_worker_stats stats;
	struct page_worker out;

	gauge_worker_stats(worker, now_ns, &stats);
	out = (struct page_worker){
		.finished = stats.finished,
		.switches = stats.switches,
		.parks = stats.parks,
		.load = stats.load,
		.ready = stats.ready,
		.timers = stats.timers,
		.asleep = stats.asleep,
	};
	page_put_worker(page, worker->index, &out);
	sum->spawned += counter_read(&worker->counters.spawned);
	sum->finished += stats.finished;
	sum->steals += stats.steals;
	sum->parks += stats.parks;
}

void page_update(struct sley *rt, uint64_t now_ns)
{
	struct page_runtime sum = { .time_ns = now_ns };
	struct stats_page *page = page_slot_get(&rt->page);

	if (!page)
		return;
	page_begin(page);
	for (unsigned int i = 0; i < rt->nr_workers; i++)
		put_worker(page, rt->worker[i], now_ns, &sum);
	for (unsigned int level = 0; level <= RUNQ_SPILL; level++)
		sum.shared_queued += runq_length(&rt->runq, level);
	page_put_runtime(page, &sum);
	page_end(page);
}
