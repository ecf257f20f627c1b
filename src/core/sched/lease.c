/* SPDX-License-Identifier: MIT */
/*
 * lease.c - how a worker takes, returns and passes on its core: see lease.h.
 *
 * The flight recorder gets what a worker does with a core of another process, and its
 * waits.  All of that takes microseconds, and is recorded always; picks record nothing.
 *
 * Edges:
 *
 *  LE1  see core/sched/lease.h
 *  LE2  see core/sched/lease.h
 *  LE3  see core/sched/lease.h
 */
#include "core/sched/lease.h"

#include "core/sched/lease_gate.h"
#include "core/sched/lease_pass.h"
#include "core/sched/place.h"
#include "core/sched/worker.h"
#include "core/trace/trace.h"
#include "os/clock.h"
#include "os/futex.h"

static struct lease *lease_of(const struct worker *worker)
{
	return &worker->rt->lease;
}

static int core_of(const struct worker_lease *own)
{
	/* relaxed: the worker's own, or LE2 has ordered it. */
	return load_relaxed(&own->core);
}

/* As the worker, which does not stand at the gate. */
static void set_core(struct worker_lease *own, int core)
{
	/* relaxed: the worker's own; for others a hint. */
	store_relaxed(&own->core, core);
}

static void begin(struct lease *lease, struct worker_lease *own, int core)
{
	lease_own(lease, own, core);
	set_core(own, core);
	/* relaxed: the worker's own; for the monitor a hint. */
	store_relaxed(&own->since_ns, os_now());
}

/* ---- the flight recorder -------------------------------------------------------------- */

static void note_taken(struct worker *worker, int core, uint32_t from)
{
	if (from != LEASE_NO_PEER)
		trace_event(&worker->trace, TRACE_CORE_TAKEN,
			    trace_hand_over(core, from,
					    lease_of(worker)->terms.self));
}

static void note_given(struct worker *worker, int core, uint32_t to)
{
	if (to != LEASE_NO_PEER)
		trace_event(&worker->trace, TRACE_CORE_GIVEN,
			    trace_hand_over(core, lease_of(worker)->terms.self,
					    to));
}

/* ---- taking and returning ----------------------------------------------------------- */

/* A core from the table, or LEASE_NO_CORE. */
static int take_free(struct worker *worker)
{
	const struct lease *lease = lease_of(worker);
	uint32_t from = LEASE_NO_PEER;
	int core = lease->ops->take(lease->arg, &from);

	if (core != LEASE_NO_CORE)
		note_taken(worker, core, from);
	return core;
}

static bool take(struct worker *worker)
{
	int core = take_free(worker);

	if (core == LEASE_NO_CORE)
		return false;
	begin(lease_of(worker), &worker->lease, core);
	return true;
}

/* To a worker of this process, or back. */
static void put(struct worker *worker, int core)
{
	struct lease *lease = lease_of(worker);

	if (lease_gate_grant(lease, core))
		return;
	note_given(worker, core, lease->ops->put(lease->arg, core));
	lease_gate_kick(lease);
}

void lease_return(struct worker *worker)
{
	struct worker_lease *own = &worker->lease;
	struct lease *lease = lease_of(worker);

	if (!lease_pass_in(&own->pass))
		return;
	if (core_of(own) != LEASE_NO_CORE) {
		int core = core_of(own);

		if (own->unused)
			lease_count(&lease->counters.in_vain);
		set_core(own, LEASE_NO_CORE);
		/* relaxed: a request that comes later is obeyed without a core. */
		(void)and_relaxed(&own->asked, ASK_SETTLE | ASK_URGENT);
		lease->ops->rest(lease->arg, true);
		if (lease_is_own(lease, own, core))
			put(worker, core);
	}
	lease_pass_out(&own->pass);
}

/* ---- overtaking ------------------------------------------------------------------------ */

/*
 * All picks of an overtaker look at the lease, and so shall the next one: by then another
 * worker may have taken the urgent task, and the overtaker has a right to no other.
 */
static enum lease_right overtake(struct worker *worker, unsigned int level)
{
	/* relaxed: the worker's own bit. */
	(void)or_relaxed(&worker->lease.asked, ASK_URGENT);
	/* relaxed: the worker's own request. */
	store_relaxed(&worker->poke, 1);
	trace_event(&worker->trace, TRACE_OVERTAKE, level);
	return LEASE_OVERTAKES;
}

/* The worker has woken up: it may run a task of @level at once, without a core. */
static bool passes_by(const struct worker *worker, unsigned int level)
{
	struct lease *lease = lease_of(worker);

	return overtake_is_urgent(level) &&
	       lease->terms.grace_ns != UINT64_MAX &&
	       lease->ops->overtakes(lease->arg, level) &&
	       lease_gate_pass_by(lease, level);
}

unsigned int lease_lowest(const struct worker *worker)
{
	/* relaxed: of the caller itself, or it has got a core. */
	uint32_t overtaker = load_relaxed(&lease_of(worker)->overtaker);

	return overtaker ? overtaker - 1 : LEVEL_DEFAULT - 1;
}

/* ---- the gate ------------------------------------------------------------------------ */

static bool stopping(const struct worker *worker)
{
	/* relaxed: the stopper calls all workers at the gate afterwards. */
	return load_relaxed(&worker->rt->phase) == PHASE_STOPPING;
}

/* Other workers find the task there, as long as this worker cannot run it. */
static void open_next_slot(struct worker *worker)
{
	struct sley_task *task = next_take(&worker->next);

	place_batch(worker, &task, task ? 1 : 0);
}

/*
 * The worker is the leader, and has had urgent work for a while: it goes before a worker of
 * this process or of a peer that runs something less urgent.  Else it waits again, for twice
 * as long, up to a tick.
 */
static bool may_overtake(const struct worker *worker, struct worker_lease *own,
			 unsigned int level, uint64_t now_ns)
{
	const struct lease *lease = lease_of(worker);
	unsigned int runs;

	/* relaxed: a hint; the lock comes later. */
	if (!own->urgent_ns || load_relaxed(&lease->overtaker) ||
	    now_ns - own->urgent_ns < own->grace_ns)
		return false;
	if (lease->ops->overtakes(lease->arg, level))
		return true;
	runs = lease_runs(worker->rt);
	if (runs != LEASE_NO_LEVEL && runs > level)
		return true;
	own->urgent_ns = now_ns;
	/* A worker that begins something less urgent looks at the gate and the wants before. */
	if (own->grace_ns < lease->terms.tick_ns)
		own->grace_ns *= 2;
	return false;
}

/* The worker stands at the gate: since when has it had urgent work? */
static void note_urgent(struct worker *worker, struct lease_need need)
{
	struct worker_lease *own = &worker->lease;

	if (!overtake_is_urgent(need.level)) {
		own->urgent_ns = 0;
	} else if (!own->urgent_ns) {
		own->urgent_ns = os_now();
		own->grace_ns = lease_of(worker)->terms.grace_ns;
		if (overtake_is_urgent(need.bound))
			lease_ask_for_turn(worker->rt);
	}
}

static uint64_t deadline_of(const struct worker *worker, bool leads)
{
	const struct worker_lease *own = &worker->lease;
	const struct lease *lease = lease_of(worker);
	uint64_t deadline_ns = timers_next(&worker->timers);
	uint64_t grace_ns = own->grace_ns;

	/* relaxed: a worker that comes back kicks the leader. */
	if (!leads || !own->urgent_ns || load_relaxed(&lease->overtaker) ||
	    grace_ns > UINT64_MAX - own->urgent_ns)
		return deadline_ns;
	grace_ns += own->urgent_ns;
	return grace_ns < deadline_ns ? grace_ns : deadline_ns;
}

/* The worker has told what it wants itself. */
static void wake_receiver(struct worker *worker)
{
	struct lease *lease = lease_of(worker);

	if (!worker->lease.gave)
		return;
	worker->lease.gave = false;
	lease->ops->wake(lease->arg);
}

static void sleep_there(struct worker *worker, bool leads)
{
	struct worker_lease *own = &worker->lease;
	struct lease *lease = lease_of(worker);
	uint64_t deadline_ns = deadline_of(worker, leads);

	if (leads)
		lease->ops->wait(lease->arg, &own->word, GATE_WAITS,
				 deadline_ns);
	else
		(void)os_futex_wait(&own->word, GATE_WAITS, deadline_ns);
}

/* The worker leaves by its own act, unless a giver was faster. */
static enum lease_right go(struct worker *worker, enum lease_right right)
{
	bool left = lease_gate_leave(lease_of(worker), &worker->lease);

	return left ? right : LEASE_RUNS;
}

/* A core from the table; the giver may have been faster, and then there are two. */
static bool take_at_gate(struct worker *worker)
{
	struct worker_lease *own = &worker->lease;
	struct lease *lease = lease_of(worker);
	int core = take_free(worker);

	if (core == LEASE_NO_CORE)
		return false;
	if (lease_gate_leave(lease, own)) {
		begin(lease, own, core);
	} else {
		put(worker, core);
	}
	return true;
}

/*
 * Once around: the word has been set to WAITS before all looks.  True: the worker has left,
 * and *@right says how.
 */
static bool wait_once(struct worker *worker, enum lease_right *right)
{
	struct worker_lease *own = &worker->lease;
	struct lease *lease = lease_of(worker);
	struct lease_need need;
	bool leads;

	*right = LEASE_RUNS;
	if (take_at_gate(worker))
		return true;
	need = worker_need(worker);
	if (stopping(worker) || need.level == LEASE_NO_LEVEL) {
		*right =
			go(worker, stopping(worker) ? LEASE_RUNS : LEASE_PARKS);
		return true;
	}
	leads = lease_gate_change(lease, own, need);
	note_urgent(worker, need);
	if (leads && may_overtake(worker, own, need.level, os_now()) &&
	    lease_gate_overtake(lease, own)) {
		*right = overtake(worker, need.level);
		return true;
	}
	sleep_there(worker, leads);
	return false;
}

static bool is_away(struct worker_lease *own)
{
	uint32_t word = load_acquire(&own->word); /* LE2 */

	if (word == GATE_KICKED &&
	    !cas_acquire(&own->word, &word, GATE_WAITS)) /* LE2 */
		word = load_acquire(&own->word);         /* LE2 */
	return word != GATE_WAITS && word != GATE_KICKED;
}

static enum lease_right stand_at_gate(struct worker *worker,
				      struct lease_need need)
{
	struct worker_lease *own = &worker->lease;
	struct lease *lease = lease_of(worker);
	enum lease_right right = LEASE_RUNS;
	uint64_t begin_ns = os_now();

	open_next_slot(worker);
	own->urgent_ns = 0;
	if (!lease_gate_stand(lease, own, need))
		return LEASE_RUNS;
	wake_receiver(worker);
	lease->ops->rest(lease->arg, false);
	while (!is_away(own) && !wait_once(worker, &right))
		;
	trace_event(&worker->trace, TRACE_CORE_WAIT, begin_ns);
	if (core_of(own) != LEASE_NO_CORE)
		lease->ops->start(lease->arg, worker_need(worker).level);
	return right;
}

/* @woke: it has neither had a core just now nor overtaken. */
static enum lease_right wait_for_core(struct worker *worker, bool woke)
{
	struct lease_need need = worker_need(worker);

	if (need.level == LEASE_NO_LEVEL) {
		lease_of(worker)->ops->rest(lease_of(worker)->arg, true);
		return LEASE_PARKS;
	}
	if (woke && passes_by(worker, need.level))
		return overtake(worker, need.level);
	return stand_at_gate(worker, need);
}

/* ---- passing on ----------------------------------------------------------------------- */

static void give(struct worker *worker, unsigned int level)
{
	struct worker_lease *own = &worker->lease;
	struct lease *lease = lease_of(worker);
	int core = core_of(own);
	uint32_t to = lease->ops->give(lease->arg, core, level);

	own->refused = to == LEASE_NO_PEER;
	if (own->refused)
		return;
	note_given(worker, core, to);
	lease_count(&lease->counters.given);
	set_core(own, LEASE_NO_CORE);
	own->gave = true;
}

static void end_turn(struct worker *worker, unsigned int level)
{
	struct worker_lease *own = &worker->lease;
	struct lease *lease = lease_of(worker);
	/* relaxed: the worker's own. */
	uint64_t ran_ns = os_now() - load_relaxed(&own->since_ns);

	if (!lease_gate_turn(lease, core_of(own), level,
			     ran_ns >= lease->terms.quantum_ns))
		return;
	lease_count(&lease->counters.passed);
	set_core(own, LEASE_NO_CORE);
}

static void pass_on(struct worker *worker, uint32_t asked)
{
	struct worker_lease *own = &worker->lease;
	struct lease *lease = lease_of(worker);
	unsigned int level = worker_need(worker).level;

	if (!lease_is_own(lease, own, core_of(own)) ||
	    !lease->ops->holds(lease->arg, core_of(own))) {
		lease_count(&lease->counters.lost);
		set_core(own, LEASE_NO_CORE);
	}
	if (core_of(own) != LEASE_NO_CORE && asked & ASK_GIVE)
		give(worker, level);
	if (core_of(own) != LEASE_NO_CORE && asked & ASK_TURN)
		end_turn(worker, level);
}

static enum lease_right settle(struct worker *worker)
{
	struct worker_lease *own = &worker->lease;
	struct lease *lease = lease_of(worker);
	uint32_t asked = xchg_acquire(&own->asked, 0); /* LE3 */
	bool woke = !(asked & ASK_URGENT) && core_of(own) == LEASE_NO_CORE;
	enum lease_right right = LEASE_RUNS;

	if (asked & ASK_URGENT)
		lease_gate_come_back(lease);
	if (asked && core_of(own) != LEASE_NO_CORE)
		pass_on(worker, asked);
	if (core_of(own) != LEASE_NO_CORE)
		return LEASE_RUNS;
	if (!take(worker))
		right = wait_for_core(worker, woke);
	wake_receiver(worker);
	if (core_of(own) == LEASE_NO_CORE)
		return right;
	own->unused = true;
	lease_count(&lease->counters.taken);
	return LEASE_RUNS;
}

enum lease_right lease_settle(struct worker *worker)
{
	struct worker_lease *own = &worker->lease;
	enum lease_right right;

	while (!lease_pass_in(&own->pass)) {
		/*
		 * An asker that came while leases were switched off is forgotten.  Switching
		 * on asks after it has opened the pass.
		 */
		if (!xchg_acquire(&own->asked, 0)) /* LE3 */
			return LEASE_RUNS;
	}
	right = settle(worker);
	lease_pass_out(&own->pass);
	return right;
}

/* ---- in a pick -------------------------------------------------------------------------- */

bool lease_look(struct worker *worker, unsigned int level)
{
	struct worker_lease *own = &worker->lease;
	struct lease *lease = lease_of(worker);
	bool wanted;

	if (own->refused || core_of(own) == LEASE_NO_CORE) {
		own->refused = false;
		return false;
	}
	if (!lease_pass_in(&own->pass))
		return false;
	wanted = lease->ops->look(lease->arg, level);
	if (wanted) {
		/* A worker without a task has none that must wait for a peer's. */
		if (level != LEASE_NO_LEVEL)
			lease_count(&lease->counters.looks);
		/* relaxed: the worker's own request. */
		(void)or_relaxed(&own->asked, ASK_GIVE);
	}
	lease_pass_out(&own->pass);
	return wanted;
}

void lease_try(struct worker *worker)
{
	struct worker_lease *own = &worker->lease;
	struct lease *lease = lease_of(worker);

	if (!lease_pass_in(&own->pass))
		return;
	if (take(worker)) {
		lease_count(&lease->counters.taken);
		/* relaxed: the worker's own bit. */
		(void)and_relaxed(&own->asked, ~(uint32_t)ASK_URGENT);
		lease_gate_come_back(lease);
	} else {
		lease_gate_insist(lease, os_now());
	}
	lease_pass_out(&own->pass);
}
