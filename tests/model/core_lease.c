/* SPDX-License-Identifier: MIT */
/*
 * core_lease.c - src/core/sched/lease.c with lease_gate.c and lease_switch.c: a worker that
 * waits for a core gets one, if there is one; no two workers have the same core; and a
 * worker that waits hears of the end of leases, of the end of the runtime and of new work.
 *
 * Peers are a few cores in words, and a peer that gives one back.  A worker takes its
 * steps as worker_search() does: it settles, works, and returns its core.  What it could
 * run is said by the model.  A core that has two workers is a race on plain data, a lost
 * wake-up is a worker that sleeps for ever.
 *
 * Complete for two workers and one other thread.  Left out: picks, which only read the
 * word that a worker is asked by (core_search.c has picks without leases), the monitor's
 * ticks, and the time of a grace, which is over at once or never.
 */
#include "crew.h"
#include "payload.h"

#include "core/sched/lease.h"
#include "core/sched/lease_gate.h"
#include "core/sched/lease_pass.h"
#include "core/sched/place.h"

#define CORES 2
#define LEVEL_URGENT 0u

enum core_state { CORE_NONE, CORE_FREE, CORE_BUSY, CORE_AWAY };

static uint32_t cores[CORES];
static struct payload held[CORES]; /* of the worker that has the core    */
static struct payload overtaken;   /* of the worker that overtakes       */
static struct payload table;       /* gone after leases were switched off */
static uint32_t need[CREW_MAX];    /* 1 + a level; 0: nothing to run     */
static uint32_t told;
static struct ledger {
	int ran[CREW_MAX], parked[CREW_MAX], overtook, owed;
} ledger;

/* ---- what the workers could do ------------------------------------------------------ */

struct lease_need worker_need(struct worker *worker)
{
	/* relaxed: the caller's call for the worker comes after the change. */
	uint32_t level = load_relaxed(&need[worker->index]);

	level = level ? level - 1 : LEASE_NO_LEVEL;
	return (struct lease_need){ level, level };
}

void place_batch(struct worker *worker, struct sley_task *const *task,
		 unsigned int nr)
{
	(void)worker;
	(void)task;
	MODEL_CHECK(!nr);
}

void task_enqueue_chain(struct sley_task *chain)
{
	MODEL_CHECK(!chain);
}

void overtake_ask(struct worker *worker)
{
	(void)worker;
}

/* ---- the table ------------------------------------------------------------------------ */

static int take(void *arg, uint32_t *from)
{
	(void)arg;
	(void)from;
	payload_check(&table);
	for (int i = 0; i < CORES; i++) {
		uint32_t state = CORE_FREE;

		/* relaxed: a glance. */
		if (load_relaxed(&cores[i]) == CORE_FREE &&
		    cas_acquire(&cores[i], &state, CORE_BUSY))
			return i;
	}
	return LEASE_NO_CORE;
}

static uint32_t put(void *arg, int core)
{
	(void)arg;
	payload_check(&table);
	MODEL_CHECK(xchg_release(&cores[core], CORE_FREE) == CORE_BUSY);
	return LEASE_NO_PEER;
}

static uint32_t give(void *arg, int core, unsigned int level)
{
	(void)arg;
	(void)level;
	payload_check(&table);
	MODEL_CHECK(xchg_release(&cores[core], CORE_AWAY) == CORE_BUSY);
	ledger.owed++;
	return 0;
}

/* The worker, the only one that gives, has told that it waits; or has another core. */
static void wake(void *arg)
{
	(void)arg;
	payload_check(&table);
	/* relaxed: the worker's own. */
	MODEL_CHECK(told || load_relaxed(&crew[0].lease.core) != LEASE_NO_CORE);
	MODEL_CHECK(ledger.owed);
	ledger.owed = 0;
}

static bool holds(void *arg, int core)
{
	(void)arg;
	/* relaxed: a hint. */
	return load_relaxed(&cores[core]) == CORE_BUSY;
}

static bool look(void *arg, unsigned int level)
{
	(void)arg;
	(void)level;
	return false;
}

static void want(void *arg, unsigned int nr, unsigned int level)
{
	(void)arg;
	MODEL_CHECK(!nr == (level == LEASE_NO_LEVEL));
	told = nr;
}

static void await(void *arg, const uint32_t *word, uint32_t value,
		  uint64_t deadline_ns)
{
	(void)arg;
	payload_check(&table);
	for (int i = 0; i < CORES; i++) {
		/* relaxed: the giver kicks the word after it has changed the core. */
		if (load_relaxed(&cores[i]) == CORE_FREE)
			return;
	}
	(void)os_futex_wait(word, value, deadline_ns);
}

/* By a worker that is not in the table's way any more. */
static void rest(void *arg, bool parks)
{
	(void)arg;
	(void)parks;
	payload_check(&table);
}

static void start(void *arg, unsigned int level)
{
	(void)arg;
	(void)level;
	payload_check(&table);
}

/* What a peer runs is less urgent. */
static bool overtakes(void *arg, unsigned int level)
{
	(void)arg;
	(void)level;
	return true;
}

unsigned int lease_runs(const struct sley *of)
{
	(void)of;
	return LEASE_NO_LEVEL;
}

static const struct lease_ops ops = { .take = take,
				      .put = put,
				      .give = give,
				      .wake = wake,
				      .holds = holds,
				      .look = look,
				      .overtakes = overtakes,
				      .want = want,
				      .wait = await,
				      .rest = rest,
				      .start = start };

/* ---- the scenes ------------------------------------------------------------------------- */

static void set_up(enum core_state first, enum core_state second,
		   uint64_t grace_ns)
{
	const struct lease_terms terms = { .grace_ns = grace_ns };

	crew_set_up(CREW_MAX);
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	cores[0] = first;
	cores[1] = second;
	memset(held, 0, sizeof(held));
	overtaken.value = 0;
	table.value = PAYLOAD;
	told = 0;
	for (int i = 0; i < CREW_MAX; i++) {
		need[i] = 1 + LEVEL_DEFAULT;
		model_name(&crew[i].lease.word, "gate%d", i);
		model_name(&crew[i].lease.pass, "pass%d", i);
		model_name(&crew[i].lease.asked, "asked%d", i);
		model_name(&cores[i], "core%d", i);
	}
	model_lock_word(&rt->lease.lock.word);
	model_name(&rt->lease.lock.word, "gate.lock");
	/* The monitor means to look soon. */
	rt->monitor.late_ns = 0;
	MODEL_CHECK(lease_switch_on(rt, &ops, NULL, &terms) == 0);
}

static void one_core(void)
{
	set_up(CORE_FREE, CORE_NONE, UINT64_MAX);
}

static void one_core_away(void)
{
	set_up(CORE_AWAY, CORE_NONE, UINT64_MAX);
}

static void two_cores_away(void)
{
	set_up(CORE_AWAY, CORE_AWAY, UINT64_MAX);
}

/* The worker has the core alone. */
static void run_on(int id, int core)
{
	model_access(&held[core].value);
	MODEL_CHECK(held[core].value == 0);
	held[core].value = 1 + id;
	model_access(&held[core].value);
	MODEL_CHECK(held[core].value == 1 + id);
	held[core].value = 0;
	ledger.ran[id]++;
}

/* Outside of its pass a worker takes this for a hint. */
static int core_of(int id)
{
	/* relaxed: the worker's own, but when leases are switched off. */
	return load_relaxed(&crew[id].lease.core);
}

static enum lease_right settle(int id)
{
	struct worker *worker = &crew[id];
	enum lease_right right = lease_settle(worker);

	if (right == LEASE_PARKS)
		ledger.parked[id]++;
	else if (right == LEASE_RUNS && core_of(id) != LEASE_NO_CORE)
		run_on(id, core_of(id));
	return right;
}

static void run_once(int id)
{
	MODEL_CHECK(settle(id) == LEASE_RUNS);
	lease_return(&crew[id]);
}

static void run_and_keep(int id)
{
	MODEL_CHECK(settle(id) == LEASE_RUNS);
}

static void run_twice(int id)
{
	run_once(id);
	run_once(id);
}

static void gate_is_empty(void)
{
	MODEL_CHECK(list_empty(&rt->lease.gate));
	MODEL_CHECK(rt->lease.nr_waiting == 0);
	MODEL_CHECK(rt->lease.overtaker == 0);
}

static void both_ran(void)
{
	gate_is_empty();
	MODEL_CHECK(told == 0);
	MODEL_CHECK(ledger.ran[0] && ledger.ran[1]);
}

static void both_ran_and_returned(void)
{
	both_ran();
	MODEL_CHECK(cores[0] == CORE_FREE);
}

MODEL(two_workers_have_one_core, .setup = one_core,
      .threads = { run_once, run_once }, .finish = both_ran_and_returned);

MODEL(two_workers_have_one_core_again, .setup = one_core,
      .threads = { run_twice, run_once }, .finish = both_ran_and_returned,
      .slow_modes = MODEL_TSO);

/* ---- peers --------------------------------------------------------------------------------- */

static void give_back(int core)
{
	MODEL_CHECK(xchg_release(&cores[core], CORE_FREE) == CORE_AWAY);
	lease_kick(rt);
}

static void give_back_one(int id)
{
	(void)id;
	give_back(0);
}

static void give_back_both(int id)
{
	(void)id;
	give_back(0);
	give_back(1);
}

static void first_ran(void)
{
	gate_is_empty();
	MODEL_CHECK(told == 0);
	MODEL_CHECK(ledger.ran[0] == 1);
	MODEL_CHECK(cores[0] == CORE_FREE);
}

/* Worker 1 does nothing. */
static void nothing(int id)
{
	(void)id;
}

MODEL(a_core_that_comes_is_taken, .setup = one_core_away,
      .threads = { run_once, nothing, give_back_one }, .finish = first_ran);

static void one_here_one_away(void)
{
	set_up(CORE_FREE, CORE_AWAY, UINT64_MAX);
}

static void give_back_second(int id)
{
	(void)id;
	give_back(1);
}

static void both_are_free(void)
{
	both_ran_and_returned();
	MODEL_CHECK(cores[1] == CORE_FREE);
}

/* A worker may take a core at the very moment when it is handed another. */
MODEL(a_core_comes_and_another_is_returned, .setup = one_here_one_away,
      .threads = { run_once, run_once, give_back_second },
      .finish = both_are_free, .bound = 2, .modes = MODEL_SC | MODEL_RA);

/* No worker returns its core: one kick has to do for two. */
MODEL(two_cores_that_come_are_taken, .setup = two_cores_away,
      .threads = { run_and_keep, run_and_keep, give_back_both },
      .finish = both_ran, .bound = 2, .modes = MODEL_SC | MODEL_RA);

/* The worker is asked, gives the core away, and gets it back. */
static void run_until_given(int id)
{
	run_and_keep(id);
	while (!lease_is_asked(&crew[id].lease))
		spin_hint(&crew[id].lease.asked);
	MODEL_CHECK(settle(id) == LEASE_RUNS);
	lease_return(&crew[id]);
}

static void ask_and_give_back(int id)
{
	(void)id;
	while (load_relaxed(&crew[0].lease.core) == LEASE_NO_CORE)
		spin_hint(&crew[0].lease.core);
	lease_ask(rt, 0);
	while (load_relaxed(&cores[0]) != CORE_AWAY)
		spin_hint(&cores[0]);
	give_back(0);
}

static void first_ran_twice(void)
{
	gate_is_empty();
	MODEL_CHECK(ledger.ran[0] == 2);
	MODEL_CHECK(cores[0] == CORE_FREE);
	MODEL_CHECK(!ledger.owed);
}

MODEL(a_worker_that_is_asked_gives_its_core, .setup = one_core,
      .threads = { run_until_given, nothing, ask_and_give_back },
      .finish = first_ran_twice);

/* ---- the end -------------------------------------------------------------------------------- */

static void switch_off(int id)
{
	(void)id;
	lease_switch_off(rt);
	/* The caller frees what the table stands on. */
	model_access(&table.value);
	table.value = 0;
}

static void run_or_not(int id)
{
	MODEL_CHECK(settle(id) == LEASE_RUNS);
	lease_return(&crew[id]);
}

MODEL(switching_off_wakes_a_worker, .setup = one_core_away,
      .threads = { run_or_not, nothing, switch_off }, .finish = gate_is_empty);

MODEL(switching_off_wakes_both_workers, .setup = one_core_away,
      .threads = { run_or_not, run_or_not, switch_off },
      .finish = gate_is_empty, .bound = 2, .modes = MODEL_SC | MODEL_RA);

MODEL(switching_off_takes_a_core_away, .setup = one_core,
      .threads = { run_or_not, run_or_not, switch_off },
      .finish = gate_is_empty, .bound = 2, .modes = MODEL_SC | MODEL_RA);

/* As core/life/runtime.c does. */
static void stop(int id)
{
	(void)id;
	store_release(&rt->phase, PHASE_STOPPING);
	lease_call_all(rt);
}

MODEL(a_worker_that_waits_stops, .setup = one_core_away,
      .threads = { run_or_not, run_or_not, stop }, .finish = gate_is_empty,
      .bound = 2, .modes = MODEL_SC | MODEL_RA);

/* ---- switching on ---------------------------------------------------------------------------- */

static void switched_off(void)
{
	one_core();
	lease_switch_off(rt);
	crew[0].lease.asked = crew[1].lease.asked = 0;
}

static void switch_on(int id)
{
	const struct lease_terms terms = { .grace_ns = UINT64_MAX };

	(void)id;
	MODEL_CHECK(lease_switch_on(rt, &ops, NULL, &terms) == 0);
}

/* As worker_search() does: a worker that is asked comes again. */
static void run_while_asked(int id)
{
	do {
		MODEL_CHECK(settle(id) == LEASE_RUNS);
	} while (lease_is_asked(&crew[id].lease));
}

/* A worker without a core is asked for as long as it has not come. */
static void no_worker_is_forgotten(void)
{
	MODEL_CHECK(crew[0].lease.core != LEASE_NO_CORE || crew[0].lease.asked);
	MODEL_CHECK(crew[0].lease.pass == PASS_ON);
}

MODEL(switching_on_asks_all_workers, .setup = switched_off,
      .threads = { run_while_asked, nothing, switch_on },
      .finish = no_worker_is_forgotten);

/* ---- work that comes and goes ------------------------------------------------------------------ */

static void call_off(int id)
{
	(void)id;
	/* relaxed: the lock of the gate publishes it. */
	store_relaxed(&need[0], 0);
	lease_call(&crew[0]);
}

static void park(int id)
{
	MODEL_CHECK(settle(id) == LEASE_PARKS);
}

static void first_parked(void)
{
	gate_is_empty();
	MODEL_CHECK(told == 0);
	MODEL_CHECK(ledger.parked[0] == 1);
}

MODEL(a_worker_without_work_leaves_the_gate, .setup = one_core_away,
      .threads = { park, nothing, call_off }, .finish = first_parked);

static void without_grace(void)
{
	set_up(CORE_AWAY, CORE_NONE, 0);
}

/* Comes to the gate, overtakes when urgent work comes, and parks after it. */
static void overtake(int id)
{
	MODEL_CHECK(settle(id) == LEASE_OVERTAKES);
	model_access(&overtaken.value);
	MODEL_CHECK(overtaken.value == 0);
	overtaken.value = 1 + id;
	model_access(&overtaken.value);
	MODEL_CHECK(overtaken.value == 1 + id);
	overtaken.value = 0;
	ledger.overtook++;
	/* relaxed: the worker's own. */
	store_relaxed(&need[id], 0);
	MODEL_CHECK(settle(id) == LEASE_PARKS);
}

static void send_urgent(int id)
{
	(void)id;
	/* relaxed: the lock of the gate publishes it. */
	store_relaxed(&need[0], 1 + LEVEL_URGENT);
	lease_urgent_home(&crew[0], LEVEL_URGENT);
}

static void first_overtook(void)
{
	gate_is_empty();
	MODEL_CHECK(told == 0);
	MODEL_CHECK(ledger.overtook == 1);
}

MODEL(urgent_work_overtakes, .setup = without_grace,
      .threads = { overtake, nothing, send_urgent }, .finish = first_overtook);

static void both_urgent(void)
{
	without_grace();
	need[0] = need[1] = 1 + LEVEL_URGENT;
}

static void both_overtook(void)
{
	gate_is_empty();
	MODEL_CHECK(ledger.overtook == 2);
}

MODEL(one_worker_overtakes_at_a_time, .setup = both_urgent,
      .threads = { overtake, overtake }, .finish = both_overtook);

/* The monitor finds that the overtaker has run for long: no want stays behind. */
static void insist(int id)
{
	(void)id;
	lease_gate_insist(&rt->lease, 0);
}

MODEL(an_overtaker_wants_a_core_for_as_long_as_it_runs, .setup = both_urgent,
      .threads = { overtake, nothing, insist }, .finish = first_overtook);

static void urgent_beside_ordinary(void)
{
	without_grace();
	need[1] = 1 + LEVEL_URGENT;
}

static void overtake_and_return_core(int id)
{
	overtake(id);
	give_back(0);
}

static void both_went_on(void)
{
	first_overtook();
	MODEL_CHECK(ledger.ran[0] == 1);
	MODEL_CHECK(cores[0] == CORE_FREE);
}

MODEL(an_urgent_worker_passes_by_one_that_waits,
      .setup = urgent_beside_ordinary,
      .threads = { run_once, overtake_and_return_core },
      .finish = both_went_on);

/* A core may come while the worker is about to overtake, or does. */
static void overtake_or_run(int id)
{
	enum lease_right right = settle(id);

	if (right == LEASE_OVERTAKES)
		lease_try(&crew[id]);
	if (core_of(id) == LEASE_NO_CORE) {
		/* relaxed: the worker's own. */
		store_relaxed(&need[id], 0);
		(void)settle(id);
	}
	lease_return(&crew[id]);
}

static void one_urgent(void)
{
	without_grace();
	need[0] = 1 + LEVEL_URGENT;
}

static void core_is_free(void)
{
	gate_is_empty();
	MODEL_CHECK(told == 0);
	MODEL_CHECK(cores[0] == CORE_FREE);
}

MODEL(a_core_comes_while_a_worker_overtakes, .setup = one_urgent,
      .threads = { overtake_or_run, nothing, give_back_one },
      .finish = core_is_free);

static void overtake_or_not(int id)
{
	(void)settle(id);
	lease_return(&crew[id]);
}

MODEL(switching_off_ends_overtaking, .setup = both_urgent,
      .threads = { overtake_or_not, nothing, switch_off },
      .finish = gate_is_empty);
