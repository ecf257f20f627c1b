/* SPDX-License-Identifier: MIT */
/*
 * core_lease.c - workers that need a core to run, and peers that want cores.
 */
#include "lease_peers.h"

#include <sched.h>
#include <sys/wait.h>

#include "core/sched/worker.h"

#define TASKS 400
#define URGENT (-10)
#define LEVEL_URGENT (LEVEL_DEFAULT - 10)
#define LONG_AGO_MS 20

static struct peers peers;
static const struct lease_terms usual = LEASE_TERMS_DEFAULT;

/* No overtaking, which would blur what a core is needed for. */
static const struct lease_terms patient = { .tick_ns = 1000000,
					    .quantum_ns = 1000000,
					    .grace_ns = UINT64_MAX };

static struct sley *join(int workers, int cores,
			 const struct lease_terms *terms)
{
	struct sley_config config = config_of(workers);
	struct sley *rt;

	rt = start_with(&config);
	peers_init(&peers, cores);
	peers_join(&peers, rt, terms);
	return rt;
}

static void leave_and_stop(struct sley *rt)
{
	lease_switch_off(rt);
	stop(rt);
}

/* ---- a core to run ------------------------------------------------------------------ */

static atomic_int nr_running, most_running, nr_ran;

static void run_briefly(void *arg)
{
	int nr = atomic_fetch_add(&nr_running, 1) + 1;

	(void)arg;
	if (nr > atomic_load(&most_running))
		atomic_store(&most_running, nr);
	/* The kernel may run the others meanwhile. */
	for (int i = 0; i < 20; i++)
		(void)sched_yield();
	atomic_fetch_sub(&nr_running, 1);
	atomic_fetch_add(&nr_ran, 1);
}

static void spawn_all(sley_fn *fn, int nr)
{
	for (int i = 0; i < nr; i++)
		CHECK_EQ(sley_schedule(fn, NULL), 0);
}

TEST(as_many_workers_run_as_there_are_cores)
{
	struct sley *rt = join(4, 2, &patient);

	CHECK_EVENTUALLY(peers_settled(rt));
	spawn_all(run_briefly, TASKS);
	CHECK_EVENTUALLY(atomic_load(&nr_ran) == TASKS);
	CHECK_LE(atomic_load(&most_running), 2);
	CHECK_LE(atomic_load(&peers.most_busy), 2);
	leave_and_stop(rt);
}

TEST(without_a_core_nothing_runs_until_there_is_one)
{
	struct sley *rt = join(2, 0, &patient);

	CHECK_EVENTUALLY(peers_settled(rt));
	spawn_all(run_briefly, TASKS);
	CHECK_EVENTUALLY(atomic_load(&peers.told_nr) > 0);
	CHECK_EQ(atomic_load(&peers.told_level), LEVEL_DEFAULT);
	CHECK_EQ(atomic_load(&nr_ran), 0);
	peers_add(&peers);
	CHECK_EVENTUALLY(atomic_load(&nr_ran) == TASKS);
	CHECK_EQ(atomic_load(&most_running), 1);
	leave_and_stop(rt);
}

TEST(switching_off_lets_all_run_that_wait)
{
	struct sley *rt = join(4, 0, &patient);
	int nr_calls;

	CHECK_EVENTUALLY(peers_settled(rt));
	spawn_all(run_briefly, TASKS);
	CHECK_EVENTUALLY(atomic_load(&peers.told_nr) > 0);
	lease_switch_off(rt);
	nr_calls = atomic_load(&peers.nr_calls);
	CHECK_EVENTUALLY(atomic_load(&nr_ran) == TASKS);
	stop(rt);
	CHECK_EQ(atomic_load(&peers.nr_calls), nr_calls);
}

TEST(idle_workers_keep_no_core_and_want_none)
{
	struct sley *rt = join(4, 3, &patient);

	spawn_all(run_briefly, TASKS);
	CHECK_EVENTUALLY(atomic_load(&nr_ran) == TASKS);
	CHECK_EVENTUALLY(atomic_load(&peers.nr_busy) == 0);
	CHECK_EVENTUALLY(atomic_load(&peers.told_nr) == 0);
	CHECK_EQ(atomic_load(&peers.told_level), LEASE_NO_LEVEL);
	leave_and_stop(rt);
}

TEST(a_runtime_stops_while_it_holds_cores)
{
	struct sley *rt = join(4, 1, &usual);

	spawn_all(run_briefly, TASKS);
	stop(rt);
	CHECK_EQ(atomic_load(&nr_ran), TASKS);
	CHECK_EQ(atomic_load(&peers.nr_busy), 0);
}

TEST(a_runtime_without_workers_has_no_leases)
{
	struct sley *rt = start_single();

	CHECK_EQ(lease_switch_on(rt, &peers_ops, &peers, &usual), -ENOTSUP);
	stop(rt);
}

/* ---- turns --------------------------------------------------------------------------- */

struct mill {
	atomic_long turns;
	atomic_int worker;
};

static struct mill mill[2];
static atomic_int met;
static atomic_bool end;

static void meet(void)
{
	atomic_fetch_add(&met, 1);
	while (atomic_load(&met) < 2)
		test_nap_ms(1);
}

/* A fiber: it resumes where it began. */
static void grind(void *arg)
{
	struct mill *mine = arg;

	meet();
	atomic_store(&mine->worker, sley_worker());
	while (!atomic_load(&end)) {
		atomic_fetch_add(&mine->turns, 1);
		sley_yield();
	}
	atomic_fetch_sub(&met, 1);
}

static void start_mills(void)
{
	for (int i = 0; i < 2; i++)
		CHECK_EQ(sley_schedule(grind, &mill[i]), 0);
	CHECK_EVENTUALLY(atomic_load(&mill[0].turns) &&
			 atomic_load(&mill[1].turns));
	CHECK_NE(atomic_load(&mill[0].worker), atomic_load(&mill[1].worker));
}

static void stop_mills(void)
{
	atomic_store(&end, true);
	CHECK_EVENTUALLY(!atomic_load(&met));
}

/* Both go on, again and again. */
static void check_both_grind(void)
{
	for (int i = 0; i < 5; i++) {
		long a = atomic_load(&mill[0].turns);
		long b = atomic_load(&mill[1].turns);

		CHECK_EVENTUALLY(atomic_load(&mill[0].turns) > a &&
				 atomic_load(&mill[1].turns) > b);
	}
}

/* The row of the issue: fibers bound to two workers, and one core for both. */
TEST(fibers_of_two_workers_take_turns_on_one_core)
{
	struct sley *rt = join(2, 2, &patient);

	start_mills();
	lease_set_mode(rt, LEASE_RELAXED);
	atomic_store(&peers.wished, 1);
	CHECK_EVENTUALLY(atomic_load(&peers.nr_away) == 1);
	check_both_grind();
	CHECK_GE(counters_of(rt).passed, 4u);
	stop_mills();
	leave_and_stop(rt);
}

TEST(without_peers_workers_take_turns_too)
{
	struct sley_config config = config_of(2);
	struct sley *rt = start_with(&config);

	start_mills();
	peers_init(&peers, 1);
	peers_join(&peers, rt, &patient);
	check_both_grind();
	CHECK_EQ(atomic_load(&peers.most_busy), 1);
	stop_mills();
	leave_and_stop(rt);
}

/* ---- giving --------------------------------------------------------------------------- */

static void wait_for_turns(struct mill *one, long nr)
{
	long turns = atomic_load(&one->turns);

	CHECK_EVENTUALLY(atomic_load(&one->turns) >= turns + nr);
}

/* One worker, one core, one fiber that yields. */
static struct sley *start_mill(enum lease_mode mode)
{
	struct sley *rt = join(1, 1, &patient);

	atomic_store(&met, 1);
	lease_set_mode(rt, mode);
	CHECK_EQ(sley_schedule(grind, &mill[0]), 0);
	wait_for_turns(&mill[0], 10);
	CHECK_EVENTUALLY(peers_settled(rt));
	return rt;
}

static void stop_mill(struct sley *rt)
{
	atomic_store(&end, true);
	CHECK_EVENTUALLY(atomic_load(&met) == 1);
	leave_and_stop(rt);
}

TEST(a_strict_worker_gives_its_core_to_a_more_urgent_peer)
{
	struct sley *rt = start_mill(LEASE_STRICT);
	long turns;

	atomic_store(&peers.wants, LEVEL_DEFAULT - 1);
	CHECK_EVENTUALLY(atomic_load(&peers.nr_away) == 1);
	turns = atomic_load(&mill[0].turns);
	CHECK_EVENTUALLY(atomic_load(&peers.told_nr) == 1);
	CHECK_EQ(atomic_load(&mill[0].turns), turns);
	CHECK_EQ(counters_of(rt).looks, 1u);
	CHECK_EQ(counters_of(rt).given, 1u);
	atomic_store(&peers.wants, LEASE_NO_LEVEL);
	peers_return(&peers);
	wait_for_turns(&mill[0], 10);
	CHECK_EVENTUALLY(atomic_load(&peers.told_nr) == 0);
	stop_mill(rt);
}

/* On one CPU the peer may have done its work before this worker comes to say anything. */
TEST(a_worker_tells_what_it_wants_before_it_wakes_the_peer)
{
	struct sley *rt = start_mill(LEASE_STRICT);

	atomic_store(&peers.told_when_woken, -1);
	atomic_store(&peers.wants, LEVEL_DEFAULT - 1);
	CHECK_EVENTUALLY(atomic_load(&peers.told_when_woken) >= 0);
	CHECK_EQ(atomic_load(&peers.told_when_woken), 1);
	CHECK_EQ(atomic_load(&peers.nr_owed), 0);
	atomic_store(&peers.wants, LEASE_NO_LEVEL);
	peers_return(&peers);
	stop_mill(rt);
}

TEST(a_peer_that_is_not_more_urgent_gets_no_core)
{
	struct sley *rt = start_mill(LEASE_STRICT);

	atomic_store(&peers.wants, LEVEL_DEFAULT);
	wait_for_turns(&mill[0], 2000);
	CHECK_EQ(counters_of(rt).looks, 0u);
	CHECK_EQ(counters_of(rt).given, 0u);
	CHECK_EQ(atomic_load(&peers.nr_away), 0);
	stop_mill(rt);
}

TEST(a_want_that_is_gone_stops_nobody)
{
	struct sley *rt = start_mill(LEASE_STRICT);

	atomic_store(&peers.refuses, true);
	atomic_store(&peers.wants, 0);
	wait_for_turns(&mill[0], 2000);
	CHECK_GE(counters_of(rt).looks, 1u);
	CHECK_EQ(counters_of(rt).given, 0u);
	stop_mill(rt);
}

TEST(a_relaxed_worker_gives_its_core_when_a_tick_asks)
{
	struct sley *rt = start_mill(LEASE_RELAXED);

	atomic_store(&peers.wants, 0);
	wait_for_turns(&mill[0], 2000);
	CHECK_EQ(counters_of(rt).looks, 0u);
	CHECK_EQ(atomic_load(&peers.nr_away), 0);
	atomic_store(&peers.wished, 1);
	CHECK_EVENTUALLY(atomic_load(&peers.nr_away) == 1);
	peers_return(&peers);
	wait_for_turns(&mill[0], 10);
	stop_mill(rt);
}

TEST(a_core_that_is_lost_is_not_used_any_more)
{
	struct sley *rt = start_mill(LEASE_RELAXED);
	long turns;

	CHECK(peers_end(&peers, 0, CORE_AWAY));
	CHECK_EVENTUALLY(atomic_load(&peers.told_nr) == 1);
	turns = atomic_load(&mill[0].turns);
	CHECK_EQ(counters_of(rt).lost, 1u);
	test_nap_ms(LONG_AGO_MS);
	CHECK_EQ(atomic_load(&mill[0].turns), turns);
	peers_return(&peers);
	wait_for_turns(&mill[0], 10);
	stop_mill(rt);
}

/* A task that forks and joins, and never comes to a pick. */
static void nothing(void *arg)
{
	(void)arg;
}

static void fork_on(void *arg)
{
	struct mill *mine = arg;

	while (!atomic_load(&end)) {
		struct sley_forked child;

		sley_fork(&child, nothing, NULL);
		sley_fork_join(&child);
		atomic_fetch_add(&mine->turns, 1);
	}
	atomic_fetch_sub(&met, 1);
}

static void check_fork_gives(enum lease_mode mode)
{
	struct sley *rt = join(1, 1, &patient);

	lease_set_mode(rt, mode);
	CHECK_EVENTUALLY(peers_settled(rt));
	atomic_store(&met, 2);
	CHECK_EQ(sley_schedule(fork_on, &mill[0]), 0);
	wait_for_turns(&mill[0], 10);
	atomic_store(&peers.wished, 1);
	CHECK_EVENTUALLY(atomic_load(&peers.nr_away) == 1);
	peers_return(&peers);
	wait_for_turns(&mill[0], 10);
	stop_mill(rt);
}

TEST(a_task_that_forks_lets_its_core_go_when_asked)
{
	check_fork_gives(LEASE_RELAXED);
}

TEST(a_strict_task_that_forks_lets_its_core_go_when_asked)
{
	check_fork_gives(LEASE_STRICT);
}

/* ---- urgent work ------------------------------------------------------------------------ */

static struct gate gate;
static atomic_int nr_urgent;

static void be_urgent(void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_urgent, 1);
}

static void schedule_urgent(void)
{
	CHECK_EQ(sley_schedule_on(peers.rt, be_urgent, NULL,
				  SLEY_OPTIONS(.priority = URGENT)),
		 0);
}

/* A task holds the only core, and does not come to a pick. */
static struct sley *start_held(const struct lease_terms *terms)
{
	struct sley *rt = join(4, 1, terms);

	CHECK_EVENTUALLY(peers_settled(rt));
	CHECK_EQ(sley_schedule(gate_task, &gate), 0);
	CHECK_EVENTUALLY(atomic_load(&gate.held) == 1);
	return rt;
}

TEST(an_urgent_task_overtakes_a_task_that_does_not_end)
{
	struct sley *rt = start_held(&usual);

	for (int i = 1; i <= 5; i++) {
		schedule_urgent();
		CHECK_EVENTUALLY(atomic_load(&nr_urgent) == i);
	}
	CHECK_EQ(atomic_load(&peers.nr_busy), 1);
	CHECK_GE(counters_of(rt).overtook, 1u);
	gate_open(&gate);
	leave_and_stop(rt);
}

static void check_overtaker_runs_urgent_only(bool unfair)
{
	struct sley *rt = start_held(&usual);

	atomic_store(&peers.unfair, unfair);
	spawn_all(run_briefly, TASKS);
	for (int i = 1; i <= 50; i++) {
		schedule_urgent();
		CHECK_EVENTUALLY(atomic_load(&nr_urgent) == i);
	}
	CHECK_EQ(atomic_load(&nr_ran), 0);
	gate_open(&gate);
	CHECK_EVENTUALLY(atomic_load(&nr_ran) == TASKS);
	CHECK_EQ(atomic_load(&most_running), 1);
	leave_and_stop(rt);
}

TEST(a_worker_that_overtakes_runs_urgent_tasks_only)
{
	check_overtaker_runs_urgent_only(false);
}

/* Without the request of the overtaker it would look at the lease after many tasks. */
TEST(each_pick_of_an_overtaker_looks_at_its_right)
{
	check_overtaker_runs_urgent_only(true);
}

/* Neither a grace nor the patience of an overtaker ends while the test runs. */
static const struct lease_terms unhurried = { .tick_ns = 1000000,
					      .quantum_ns = 1000000,
					      .grace_ns = 3600000000000,
					      .patience_ns = 3600000000000 };

/* No overtaker is on its way back. */
static void all_others_park(struct sley *rt)
{
	CHECK_EVENTUALLY(idle_parked(idle_counts(&rt->idle)) == 3);
}

TEST(an_urgent_task_runs_at_once_and_wants_no_core)
{
	struct sley *rt = start_held(&unhurried);
	int nr_told;

	all_others_park(rt);
	nr_told = atomic_load(&peers.nr_told);
	for (int i = 1; i <= 20; i++) {
		schedule_urgent();
		CHECK_EVENTUALLY(atomic_load(&nr_urgent) == i);
		all_others_park(rt);
	}
	CHECK_EQ(atomic_load(&peers.nr_told), nr_told);
	CHECK_GE(counters_of(rt).overtook, 1u);
	gate_open(&gate);
	leave_and_stop(rt);
}

TEST(an_urgent_task_waits_if_what_the_peers_run_is_as_urgent)
{
	struct sley *rt = start_held(&unhurried);

	atomic_store(&peers.has_urgent, true);
	schedule_urgent();
	CHECK_EVENTUALLY(atomic_load(&peers.told_level) == LEVEL_URGENT);
	CHECK_EQ(counters_of(rt).overtook, 0u);
	CHECK_EQ(atomic_load(&nr_urgent), 0);
	gate_open(&gate);
	CHECK_EVENTUALLY(atomic_load(&nr_urgent) == 1);
	leave_and_stop(rt);
}

static atomic_bool may_end;

static void yield_urgently(void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_urgent, 1);
	while (!atomic_load(&may_end))
		sley_yield();
}

static void hold_urgently(void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_urgent, 1);
	while (!atomic_load(&may_end))
		test_nap_ms(1);
}

static void schedule_long_urgent(sley_fn *fn)
{
	CHECK_EQ(sley_schedule_on(peers.rt, fn, NULL,
				  SLEY_OPTIONS(.priority = URGENT)),
		 0);
	CHECK_EVENTUALLY(atomic_load(&nr_urgent) == 1);
}

TEST(an_overtaker_that_picks_wants_a_core_after_its_patience)
{
	const struct lease_terms terms = { .tick_ns = 3600000000000,
					   .quantum_ns = 3600000000000,
					   .grace_ns = 3600000000000 };
	struct sley *rt = start_held(&terms);

	schedule_long_urgent(yield_urgently);
	CHECK_EVENTUALLY(atomic_load(&peers.told_level) == LEVEL_URGENT);
	CHECK_EQ(atomic_load(&peers.told_nr), 1);
	/* It takes a core that comes. */
	peers_add(&peers);
	CHECK_EVENTUALLY(atomic_load(&peers.nr_busy) == 2);
	CHECK_EVENTUALLY(atomic_load(&peers.told_nr) == 0);
	CHECK_EQ(counters_of(rt).overtook, 1u);
	atomic_store(&may_end, true);
	gate_open(&gate);
	leave_and_stop(rt);
}

TEST(a_tick_asks_for_a_core_for_an_overtaker_that_does_not_pick)
{
	const struct lease_terms terms = { .tick_ns = 1000000,
					   .quantum_ns = 1000000,
					   .grace_ns = 3600000000000 };
	struct sley *rt = start_held(&terms);

	lease_set_mode(rt, LEASE_RELAXED);
	schedule_long_urgent(hold_urgently);
	CHECK_EVENTUALLY(atomic_load(&peers.told_level) == LEVEL_URGENT);
	atomic_store(&may_end, true);
	CHECK_EVENTUALLY(atomic_load(&peers.told_nr) == 0);
	gate_open(&gate);
	leave_and_stop(rt);
}

#define LESS_URGENT (-5)
#define LEVEL_LESS_URGENT (LEVEL_DEFAULT - 5)

static atomic_int nr_less_urgent;

static void be_less_urgent(void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_less_urgent, 1);
}

static void schedule_less_urgent(void *arg)
{
	CHECK_EQ(sley_schedule_on(peers.rt, be_less_urgent, arg,
				  SLEY_OPTIONS(.priority = LESS_URGENT)),
		 0);
	be_urgent(arg);
}

TEST(an_overtaker_runs_nothing_less_urgent_than_its_first_task)
{
	struct sley *rt = start_held(&unhurried);

	CHECK_EQ(sley_schedule_on(rt, schedule_less_urgent, NULL,
				  SLEY_OPTIONS(.priority = URGENT)),
		 0);
	CHECK_EVENTUALLY(atomic_load(&nr_urgent) == 1);
	CHECK_EVENTUALLY(atomic_load(&peers.told_level) == LEVEL_LESS_URGENT);
	CHECK_EQ(atomic_load(&nr_less_urgent), 0);
	gate_open(&gate);
	CHECK_EVENTUALLY(atomic_load(&nr_less_urgent) == 1);
	leave_and_stop(rt);
}

static struct sley_task becomes_ordinary;

static void become_ordinary(void *arg)
{
	be_urgent(arg);
	CHECK_EQ(sley_set_priority(&becomes_ordinary, 0), 0);
	sley_yield();
	be_less_urgent(arg);
}

TEST(an_overtaker_whose_task_becomes_ordinary_waits_for_a_core)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start_held(&unhurried);

	CHECK_EQ(sley_spawn_on(rt, &group, &becomes_ordinary, become_ordinary,
			       NULL, SLEY_OPTIONS(.priority = URGENT)),
		 0);
	CHECK_EVENTUALLY(atomic_load(&nr_urgent) == 1);
	CHECK_EVENTUALLY(atomic_load(&peers.told_level) == LEVEL_DEFAULT);
	CHECK_EQ(atomic_load(&nr_less_urgent), 0);
	gate_open(&gate);
	sley_join(&group);
	CHECK_EQ(atomic_load(&nr_less_urgent), 1);
	leave_and_stop(rt);
}

TEST(a_worker_that_gave_its_core_waits_for_the_peer)
{
	struct sley *rt = join(1, 1, &unhurried);

	CHECK_EVENTUALLY(peers_settled(rt));
	lease_set_mode(rt, LEASE_STRICT);
	schedule_long_urgent(yield_urgently);
	atomic_store(&peers.wants, 0);
	CHECK_EVENTUALLY(atomic_load(&peers.nr_away) == 1);
	CHECK_EVENTUALLY(atomic_load(&peers.told_level) == LEVEL_URGENT);
	CHECK_EQ(counters_of(rt).overtook, 0u);
	atomic_store(&peers.wants, LEASE_NO_LEVEL);
	atomic_store(&may_end, true);
	peers_return(&peers);
	leave_and_stop(rt);
}

TEST(the_table_hears_when_a_worker_rests_and_when_it_goes_on)
{
	struct sley *rt = join(1, 0, &patient);

	CHECK_EVENTUALLY(peers_settled(rt));
	CHECK_EQ(atomic_load(&peers.nr_stood), 0);
	spawn_all(run_briefly, 1);
	CHECK_EVENTUALLY(atomic_load(&peers.nr_stood) == 1);
	CHECK_EQ(atomic_load(&peers.nr_started), 0);
	peers_add(&peers);
	CHECK_EVENTUALLY(atomic_load(&nr_ran) == 1);
	CHECK_EQ(atomic_load(&peers.nr_started), 1);
	CHECK_EQ(atomic_load(&peers.started_level), LEVEL_DEFAULT);
	CHECK_EVENTUALLY(atomic_load(&peers.nr_parked) >= 1);
	CHECK_EQ(atomic_load(&peers.nr_stood), 1);
	leave_and_stop(rt);
}

TEST(an_urgent_task_is_told_while_workers_wait)
{
	struct sley *rt = start_held(&patient);

	spawn_all(run_briefly, 1);
	CHECK_EVENTUALLY(atomic_load(&peers.told_level) == LEVEL_DEFAULT);
	schedule_urgent();
	CHECK_EVENTUALLY(atomic_load(&peers.told_level) == LEVEL_URGENT);
	CHECK_EQ(atomic_load(&nr_urgent), 0);
	CHECK_EQ(counters_of(rt).overtook, 0u);
	gate_open(&gate);
	CHECK_EVENTUALLY(atomic_load(&nr_urgent) == 1);
	leave_and_stop(rt);
}

static struct sley_event event;
static atomic_bool waits;

/* A fiber, which resumes where it began. */
static void wait_urgently(void *arg)
{
	struct mill *mine = arg;

	atomic_store(&mine->worker, sley_worker());
	meet();
	atomic_store(&waits, true);
	CHECK_EQ(sley_event_wait(&event), 0);
	CHECK_EQ(sley_worker(), atomic_load(&mine->worker));
	atomic_fetch_add(&nr_urgent, 1);
}

/* Neither a tick, nor a quantum, nor a grace ends while the test runs. */
static const struct lease_terms endless = { .tick_ns = 3600000000000,
					    .quantum_ns = 3600000000000,
					    .grace_ns = UINT64_MAX };

TEST(an_urgent_fiber_gets_the_core_of_its_own_process)
{
	struct sley_config config = config_of(2);
	struct sley *rt = start_with(&config);

	sley_event_init(&event, false, false);
	peers.rt = rt;
	CHECK_EQ(sley_schedule_on(rt, wait_urgently, &mill[0],
				  SLEY_OPTIONS(.priority = URGENT)),
		 0);
	CHECK_EQ(sley_schedule(grind, &mill[1]), 0);
	CHECK_EVENTUALLY(atomic_load(&waits));
	wait_for_turns(&mill[1], 10);
	CHECK_NE(atomic_load(&mill[0].worker), atomic_load(&mill[1].worker));
	peers_init(&peers, 1);
	peers_join(&peers, rt, &endless);
	CHECK_EVENTUALLY(atomic_load(&peers.nr_busy) == 1);
	wait_for_turns(&mill[1], 10);
	sley_event_set(&event);
	CHECK_EVENTUALLY(atomic_load(&nr_urgent) == 1);
	wait_for_turns(&mill[1], 10);
	CHECK_EQ(atomic_load(&peers.most_busy), 1);
	stop_mill(rt);
}

/* ---- on and off ---------------------------------------------------------------------------- */

TEST(leases_come_and_go_while_tasks_run)
{
	struct sley_config config = config_of(4);
	struct sley *rt = start_with(&config);

	start_mills();
	for (int i = 0; i < 50; i++) {
		peers_init(&peers, i % 3);
		peers_join(&peers, rt, &usual);
		lease_set_mode(rt, (enum lease_mode)(i % 3));
		spawn_all(run_briefly, 20);
		if (i % 3)
			check_both_grind();
		lease_switch_off(rt);
		check_both_grind();
	}
	CHECK_EVENTUALLY(atomic_load(&nr_ran) == 50 * 20);
	stop_mills();
	stop(rt);
}

/* There are no workers in the child, and none is waited for. */
TEST(a_child_of_fork_has_no_leases)
{
	struct sley *rt = join(2, 0, &patient);
	pid_t child;
	int status;

	spawn_all(run_briefly, TASKS);
	CHECK_EVENTUALLY(atomic_load(&peers.told_nr) > 0);
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		lease_switch_off(rt);
		_exit(42);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 42);
	CHECK_EQ(atomic_load(&nr_ran), 0);
	leave_and_stop(rt);
	CHECK_EQ(atomic_load(&nr_ran), TASKS);
}

TEST(all_tasks_can_be_cancelled_while_workers_wait)
{
	struct sley *rt = join(2, 0, &patient);

	CHECK_EVENTUALLY(peers_settled(rt));
	spawn_all(run_briefly, TASKS);
	CHECK_EVENTUALLY(atomic_load(&peers.told_nr) > 0);
	sley_cancel_all(rt);
	peers_add(&peers);
	stop(rt);
	CHECK_EQ(atomic_load(&nr_ran), 0);
}
