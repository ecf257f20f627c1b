/* SPDX-License-Identifier: MIT */
/*
 * lease_switch.c - leases are switched on and off, workers are asked for their cores, and
 * the monitor looks after both: see lease.h.
 *
 * Edges:
 *
 *  LE1  see core/sched/lease.h
 *  LE3  see core/sched/lease.h
 */
#include "core/sched/lease.h"

#include "core/sched/lease_gate.h"
#include "core/sched/lease_pass.h"
#include "core/sched/place.h"
#include "core/sched/worker.h"
#include "core/life/after_fork.h"

#include <errno.h>

/* ---- asking --------------------------------------------------------------------------- */

static void ask(struct worker *worker, enum lease_ask why)
{
	(void)or_release(&worker->lease.asked, (uint32_t)why); /* LE3 */
	/* relaxed: obeyed sooner or later; the monitor pokes again. */
	store_relaxed(&worker->poke, 1);
	/* A task that forks and joins may not come to a pick for long. */
	overtake_ask(worker);
}

static int core_of(const struct worker *worker)
{
	/* relaxed: a hint. */
	return load_relaxed(&worker->lease.core);
}

void lease_ask(struct sley *rt, int core)
{
	for (unsigned int i = 0; i < rt->nr_workers; i++) {
		if (core_of(rt->worker[i]) == core)
			ask(rt->worker[i], ASK_GIVE);
	}
}

void lease_ask_for_turn(struct sley *rt)
{
	for (unsigned int i = 0; i < rt->nr_workers; i++) {
		if (core_of(rt->worker[i]) != LEASE_NO_CORE)
			ask(rt->worker[i], ASK_TURN);
	}
}

void lease_kick(struct sley *rt)
{
	lease_gate_kick(&rt->lease);
}

void lease_urgent(struct sley *rt, unsigned int level)
{
	lease_gate_raise(&rt->lease, NULL, level);
}

void lease_urgent_home(struct worker *home, unsigned int level)
{
	if (lease_gate_raise(&home->rt->lease, &home->lease, level))
		lease_ask_for_turn(home->rt);
}

void lease_call(struct worker *worker)
{
	lease_gate_call(&worker->rt->lease, &worker->lease);
}

void lease_call_all(struct sley *rt)
{
	for (unsigned int i = 0; i < rt->nr_workers; i++)
		lease_call(rt->worker[i]);
}

/* ---- on and off ------------------------------------------------------------------------ */

static void begin(struct worker *worker)
{
	struct worker_lease *own = &worker->lease;

	list_init(&own->link);
	/* relaxed: the pass publishes it. */
	store_relaxed(&own->word, GATE_AWAY);
	/* relaxed: the same. */
	store_relaxed(&own->core, LEASE_NO_CORE);
}

int lease_switch_on(struct sley *rt, const struct lease_ops *ops, void *arg,
		    const struct lease_terms *terms)
{
	struct lease *lease = &rt->lease;

	if (!rt->nr_workers)
		return -ENOTSUP;
	spin_lock(&lease->lock);
	list_init(&lease->gate);
	lease->ops = ops;
	lease->arg = arg;
	lease->terms = *terms;
	lease->told_nr = 0;
	lease->told_level = LEASE_NO_LEVEL;
	for (unsigned int i = 0; i < rt->nr_workers; i++)
		begin(rt->worker[i]);
	/* relaxed: others take it for a hint, or have the lock. */
	store_relaxed(&lease->on, 1);
	spin_unlock(&lease->lock);
	lease_pass_open(&lease->pass);
	for (unsigned int i = 0; i < rt->nr_workers; i++) {
		lease_pass_open(&rt->worker[i]->lease.pass);
		ask(rt->worker[i], ASK_SETTLE);
	}
	monitor_expect(&rt->monitor, 0);
	return 0;
}

void lease_switch_off(struct sley *rt)
{
	struct lease *lease = &rt->lease;

	/* relaxed: the caller switched on.  In a child of fork() there are no workers. */
	if (!load_relaxed(&lease->on) || runtime_is_lost(rt))
		return;
	runq_set_looks(&rt->runq, false);
	lease_gate_open(lease);
	lease_pass_close(&lease->pass);
	for (unsigned int i = 0; i < rt->nr_workers; i++) {
		struct worker_lease *own = &rt->worker[i]->lease;

		lease_pass_close(&own->pass);
		/* relaxed: the pass, which opens again, publishes it. */
		store_relaxed(&own->core, LEASE_NO_CORE);
	}
	/* relaxed: no worker is in a call; a hint. */
	store_relaxed(&lease->mode, LEASE_ALONE);
	/* relaxed: the same. */
	store_relaxed(&lease->overtaker, 0);
}

void lease_set_mode(struct sley *rt, enum lease_mode mode)
{
	/* relaxed: obeyed at the next tick. */
	store_relaxed(&rt->lease.mode, (uint32_t)mode);
	runq_set_looks(&rt->runq, mode == LEASE_STRICT);
	monitor_expect(&rt->monitor, 0);
}

/* ---- the monitor ----------------------------------------------------------------------- */

/* Are there peers, or workers that wait for a turn? */
static bool ticks(const struct lease *lease)
{
	/* relaxed: hints, at the next look as good as now. */
	return lease_is_on(lease) && (load_relaxed(&lease->mode) ||
				      /* relaxed: the same. */
				      load_relaxed(&lease->nr_waiting));
}

uint64_t lease_plan(struct sley *rt, uint64_t now_ns)
{
	struct lease *lease = &rt->lease;
	uint64_t tick_ns;

	if (!ticks(lease) || !lease_pass_in(&lease->pass))
		return UINT64_MAX;
	tick_ns = now_ns + lease->terms.tick_ns;
	lease_pass_out(&lease->pass);
	return tick_ns;
}

/* Things that came for a worker at the gate without a call. */
static bool is_needed(struct worker *worker)
{
	/* relaxed: hints, at the next tick as good as now. */
	return !push_list_empty(&worker->home) || load_relaxed(&worker->poke);
}

static void look_after(struct worker *worker, uint64_t now_ns)
{
	struct worker_lease *own = &worker->lease;
	struct lease *lease = &worker->rt->lease;
	/* relaxed: a hint. */
	uint64_t since_ns = load_relaxed(&own->since_ns);
	int core = core_of(worker);

	if (core == LEASE_NO_CORE) {
		if (is_needed(worker))
			lease_call(worker);
	} else if (!lease_is_own(lease, own, core) ||
		   !lease->ops->holds(lease->arg, core)) {
		ask(worker, ASK_SETTLE);
	} else if (now_ns - since_ns >= lease->terms.quantum_ns &&
		   lease_gate_has_turn(lease, LEASE_NO_LEVEL - 1, true)) {
		ask(worker, ASK_TURN);
	}
	if (lease_is_called(own))
		/* relaxed: obeyed sooner or later. */
		store_relaxed(&worker->poke, 1);
}

/* The most urgent level in the shared queue, for the leader. */
static void raise_leader(struct sley *rt)
{
	uint64_t hint = runq_hint(&rt->runq);

	if (hint)
		(void)lease_gate_raise(&rt->lease, NULL,
				       (unsigned int)bits_first(hint));
}

void lease_tick(struct sley *rt, uint64_t now_ns)
{
	struct lease *lease = &rt->lease;

	if (!ticks(lease) || !lease_pass_in(&lease->pass))
		return;
	/* relaxed: a hint. */
	if (load_relaxed(&lease->mode))
		lease->ops->tick(lease->arg, now_ns);
	for (unsigned int i = 0; i < rt->nr_workers; i++)
		look_after(rt->worker[i], now_ns);
	raise_leader(rt);
	/* relaxed: a hint; at the next tick as good as now. */
	if (load_relaxed(&lease->overtaker))
		lease_gate_insist(lease, now_ns);
	lease_pass_out(&lease->pass);
}
