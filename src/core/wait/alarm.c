/* SPDX-License-Identifier: MIT */
/*
 * alarm.c - see alarm.h.
 *
 * Edges:
 *
 *   P3  see core/sched/worker.h
 */
#include "core/wait/alarm.h"

struct worker *alarm_keeper(const struct strand *strand)
{
	struct sley *rt = sley__self.bound;

	if (strand)
		/* Any worker of the runtime would do. */
		return strand_home(strand);
	return rt && rt->nr_workers ? rt->worker[0] : NULL;
}

void alarm_announce(struct worker *worker)
{
	monitor_expect(&worker->rt->monitor, timers_next(&worker->timers));
	if (worker == worker_current())
		return;
	/* Before the seat is read: idle_notify_seat() orders that. */
	store_release(&worker->poke, 1); /* P3 */
	(void)idle_notify_seat(&worker->rt->idle, &worker->seat);
}
