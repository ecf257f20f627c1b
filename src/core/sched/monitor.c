/* SPDX-License-Identifier: MIT */
/*
 * monitor.c - see monitor.h.
 */
#include "core/sched/monitor.h"

#include "core/sched/source.h"
#include "core/sched/poller.h"
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

void monitor_hasten(struct monitor *monitor)
{
	uint32_t word = MONITOR_AWAKE;

	/* relaxed: the word publishes nothing else. */
	if (cas_relaxed(&monitor->word, &word, MONITOR_HASTENED))
		os_futex_wake(&monitor->word, 1);
}

bool monitor_is_held(struct worker *worker)
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

/* Do tasks wait for a fair pick of @worker, if it has other tasks? */
static bool wait_for_turn(struct worker *worker)
{
	return !push_list_empty(&worker->lane) ||
	       /* relaxed: a heuristic. */
	       load_relaxed(&worker->nr_parents) ||
	       runq_has_spill(&worker->rt->runq);
}

void monitor_look_after(struct worker *worker, uint64_t now_ns)
{
	bool held = monitor_is_held(worker);

	gauge_see(worker, held, now_ns);
	watchdog_look(worker, held, now_ns);
	if (wait_for_turn(worker) && !idle_sleeps(&worker->seat))
		/* relaxed: obeyed sooner or later. */
		store_relaxed(&worker->poke, 1);
	if (timers_next(&worker->timers) <= now_ns) {
		/* relaxed: obeyed sooner or later. */
		store_relaxed(&worker->poke, 1);
		if (held)
			timers_fire(&worker->timers, now_ns);
	}
	if (held && (next_open(&worker->next) || ring_size(&worker->ring) ||
		     !push_list_empty(&worker->lane)))
		idle_notify(&worker->rt->idle);
	/* Submitters rely on its search, which does not go on. */
	if (held && worker_keeps_search(worker))
		idle_wake_one(&worker->rt->idle);
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

static void publish_plan(struct sley *rt, uint64_t look_ns)
{
	uint64_t tick_ns = rt->config.tick_us * 1000ull;

	/* relaxed: the lock of the timers publishes the plan, see monitor.h. */
	store_relaxed(&rt->monitor.late_ns, look_ns - tick_ns);
}

uint64_t monitor_plan(struct sley *rt, uint64_t now_ns, bool hastened)
{
	uint64_t first_ns = now_ns + rt->config.tick_us * 1000ull;
	/* The timer may be gone already: no thread hastens again for a tick. */
	uint64_t look_ns = hastened ? first_ns : now_ns + MONITOR_PERIOD_NS;
	uint64_t tick_ns = lease_plan(rt, now_ns);
	bool asleep = false;

	publish_plan(rt, look_ns);
	if (poller_wanted_settled(rt))
		look_ns = first_ns;
	if (tick_ns < look_ns)
		look_ns = tick_ns;
	for (unsigned int i = 0; i < rt->nr_workers; i++) {
		struct worker *worker = rt->worker[i];
		uint64_t due_ns = UINT64_MAX;

		if (!idle_sleeps(&worker->seat))
			due_ns = timers_next_settled(&worker->timers);
		else
			asleep = true;
		if (due_ns < look_ns)
			look_ns = due_ns;
	}
	if (look_ns < first_ns || sources_are_due(rt, asleep))
		look_ns = first_ns;
	publish_plan(rt, look_ns);
	return look_ns;
}

/* Until the next look.  False: the monitor stops. */
static bool wait_for_look(struct sley *rt)
{
	struct monitor *monitor = &rt->monitor;
	uint32_t word = MONITOR_HASTENED;
	/* relaxed: the word publishes nothing else. */
	bool hastened = cas_relaxed(&monitor->word, &word, MONITOR_AWAKE);
	uint64_t look_ns = monitor_plan(rt, os_now(), hastened);

	(void)os_futex_wait(&monitor->word, MONITOR_AWAKE, look_ns);
	/* relaxed: the word publishes nothing else. */
	return load_relaxed(&monitor->word) != MONITOR_STOPPED;
}

/* A worker that is awake takes from a source in its next pick, a fair pick. */
static void look_after_sources(struct sley *rt)
{
	if (!sources_are_due(rt, idle_parked(idle_counts(&rt->idle))))
		return;
	for (unsigned int i = 0; i < rt->nr_workers; i++) {
		struct worker *worker = rt->worker[i];

		if (!idle_is_parked(&worker->seat))
			/* relaxed: obeyed sooner or later. */
			store_relaxed(&worker->poke, 1);
	}
}

static void look(struct sley *rt)
{
	struct monitor *monitor = &rt->monitor;
	uint64_t now_ns = os_now();

	for (unsigned int i = 0; i < rt->nr_workers; i++)
		monitor_look_after(rt->worker[i], now_ns);
	look_after_sources(rt);
	lease_tick(rt, now_ns);
	page_update(rt, now_ns);
	poller_look_after(rt);
	/* A period at least between two deep sleeps: waking is expensive. */
	if (now_ns - monitor->aged_ns < MONITOR_PERIOD_NS)
		return;
	stack_pool_age(&rt->stacks);
	monitor_sleep(rt);
	monitor->aged_ns = os_now();
}

static void *monitor_main(void *arg)
{
	struct sley *rt = arg;

	chaos_thread(CHAOS_STREAM_MONITOR);
	rt->monitor.aged_ns = os_now();
	while (wait_for_look(rt))
		look(rt);
	return NULL;
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
