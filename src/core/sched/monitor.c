/* SPDX-License-Identifier: MIT */
/*
 * monitor.c - see monitor.h.
 */
#include "core/sched/monitor.h"

#include "core/sched/worker.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/thread.h"

#include <errno.h>
#include <sley/error.h>

void monitor_wake(struct monitor *monitor)
{
	uint32_t word = MONITOR_ASLEEP;

	/* relaxed: the word publishes nothing else. */
	if (cas_relaxed(&monitor->word, &word, MONITOR_AWAKE))
		os_futex_wake(&monitor->word, 1);
}

/* Has @worker done nothing since the last look?  Then a task holds the worker. */
static bool is_held(struct worker *worker)
{
	struct monitor_sight *sight = &worker->sight;
	/* relaxed: a heuristic. */
	uint64_t finished = load_relaxed(&worker->counters.finished);
	/* relaxed: a heuristic. */
	uint64_t switches = load_relaxed(&worker->counters.switches);
	/* relaxed: a heuristic. */
	uint64_t turns = load_relaxed(&worker->counters.turns);
	bool same = finished == sight->finished &&
		    switches == sight->switches && turns == sight->turns;

	*sight = (struct monitor_sight){ finished, switches, turns };
	/* relaxed: a heuristic. */
	return same && load_relaxed(&worker->seat.word) == SEAT_AWAKE;
}

void monitor_look_after(struct worker *worker, uint64_t now_ns)
{
	bool held = is_held(worker);

	if (timers_next(&worker->timers) <= now_ns) {
		/* relaxed: obeyed sooner or later. */
		store_relaxed(&worker->poke, 1);
		if (held)
			timers_fire(&worker->timers, now_ns);
	}
	if (held && (next_open(&worker->next) || ring_size(&worker->ring) ||
		     !push_list_empty(&worker->lane)))
		idle_notify(&worker->rt->idle);
}

static bool all_parked(const struct sley *rt, uint64_t counts)
{
	return idle_parked(counts) == rt->nr_workers;
}

void monitor_sleep(struct sley *rt)
{
	struct monitor *monitor = &rt->monitor;
	uint32_t word = MONITOR_AWAKE;

	if (!all_parked(rt, idle_counts(&rt->idle)))
		return;
	/* Stacks that a burst left behind; workers keep their own stacks warm. */
	stack_pool_trim(&rt->stacks);
	/* relaxed: I4 of core/sched/idle.h, below, publishes the word. */
	if (!cas_relaxed(&monitor->word, &word, MONITOR_ASLEEP))
		return;
	/*
	 * A worker that woke before this saw AWAKE and did not nudge.  A worker
	 * that wakes later acquires the counts, or the lock of its waker, and
	 * sees ASLEEP.
	 */
	if (!all_parked(rt, idle_counts_settled(&rt->idle)))
		monitor_wake(monitor);
	/* relaxed: the word publishes nothing else. */
	while (load_relaxed(&monitor->word) == MONITOR_ASLEEP)
		(void)os_futex_wait(&monitor->word, MONITOR_ASLEEP, UINT64_MAX);
}

static void *monitor_main(void *arg)
{
	struct sley *rt = arg;
	struct monitor *monitor = &rt->monitor;

	chaos_thread(CHAOS_STREAM_MONITOR);
	for (;;) {
		uint64_t now_ns = os_now();

		/* A period at least between two deep sleeps: waking is expensive. */
		(void)os_futex_wait(&monitor->word, MONITOR_AWAKE,
				    now_ns + MONITOR_PERIOD_NS);
		/* relaxed: the word publishes nothing else. */
		if (load_relaxed(&monitor->word) == MONITOR_STOPPED)
			return NULL;
		now_ns = os_now();
		for (unsigned int i = 0; i < rt->nr_workers; i++)
			monitor_look_after(rt->worker[i], now_ns);
		stack_pool_age(&rt->stacks);
		monitor_sleep(rt);
	}
}

int monitor_start(struct sley *rt)
{
	/*
	 * A user that keeps the workers off some CPUs wants the monitor to stay
	 * off these CPUs, too.  The monitor runs no code of the program but the
	 * function for reports, and a report that no process reads must not end
	 * the program.
	 */
	bool placed = rt->config.placement != SLEY_PLACE_NONE;
	int err = os_thread_start_on(&rt->monitor.pthread, "sley-monitor",
				     monitor_main, rt,
				     placed ? &rt->cpus : NULL, false);

	rt->monitor.started = !err;
	/* As for a worker: the CPUs were taken away. */
	return placed && err == -EINVAL ? SLEY_ECPUS : err;
}

void monitor_stop(struct sley *rt)
{
	if (!rt->monitor.started)
		return;
	/* relaxed: the word publishes nothing else, and the wake-up comes after. */
	store_relaxed(&rt->monitor.word, MONITOR_STOPPED);
	os_futex_wake(&rt->monitor.word, 1);
	os_thread_join(rt->monitor.pthread);
}
