/* SPDX-License-Identifier: MIT */
/*
 * graph_placing.c - who runs a node: S11, S13, S14, R-S9, R-S10.
 */
#include <sley/error.h>

#include "conformance/graph/graph.h"

static atomic_int seen_at[64];

static int note_worker(void *arg)
{
	CHECK_EQ(sley_worker(), (int)(intptr_t)arg);
	return count_up(&seen_at[(intptr_t)arg]);
}

TEST_WORKERS(s11_a_node_runs_on_the_worker_it_names)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	int n = nr_runners();

	for (int i = 0; i < 300; i++)
		CHECK_EQ(try_submit(graph,
				    (struct sley_node_spec){
					    .fn = note_worker,
					    .arg = (void *)(intptr_t)(i % n),
					    .affinity = SLEY_ON_WORKER(i % n),
				    }),
			 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	for (int i = 0; i < n; i++)
		CHECK_EQ(seen_at[i], (300 - i + n - 1) / n);
	sley_graph_destroy(graph);
	stop(rt);
}

static int is_odd(void *arg)
{
	CHECK_EQ(sley_worker() % 2, 1);
	return count_up(arg);
}

TEST_WORKERS(s13_a_node_runs_where_it_is_eligible)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	uint64_t odd[2] = { 0xaaaaaaaaaaaaaaaaull, 0 };
	atomic_int count = 0;
	struct sley_node_spec spec = {
		.fn = is_odd,
		.arg = &count,
		.eligible = odd,
		.nr_eligible = 2,
	};

	if (nr_runners() == 1) {
		CHECK_EQ(try_submit(graph, spec), SLEY_EAFFINITY);
	} else {
		for (int i = 0; i < 200; i++)
			CHECK_EQ(try_submit(graph, spec), 0);
		spec.affinity = SLEY_ON_WORKER(0);
		CHECK_EQ(try_submit(graph, spec), SLEY_EAFFINITY);
		spec.affinity = SLEY_ON_WORKER(1);
		CHECK_EQ(try_submit(graph, spec), 0);
		CHECK_EQ(sley_graph_wait(graph), 0);
		CHECK_EQ(count, 201);
	}
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s13_who_names_a_worker_that_is_none_is_refused)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	uint64_t nobody = 0;

	CHECK_EQ(try_submit(graph,
			    (struct sley_node_spec){
				    .fn = count_up,
				    .affinity = SLEY_ON_WORKER(nr_runners()),
			    }),
		 SLEY_EAFFINITY);
	CHECK_EQ(try_submit(graph, (struct sley_node_spec){ .fn = count_up,
							    .eligible = &nobody,
							    .nr_eligible = 1 }),
		 SLEY_EAFFINITY);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- gangs --------------------------------------------------------------------- */

struct gang {
	struct sley_barrier barrier;
	atomic_int seen; /* a bit for each member */
	atomic_int inside;
	int size;
	int fails; /* 1 + the member that does */
};

static int meets_the_others(void *arg)
{
	struct gang *gang = arg;
	uint32_t member = sley_node_member();

	CHECK(member < (uint32_t)gang->size);
	CHECK_EQ(atomic_fetch_or(&gang->seen, 1 << member) & 1 << member, 0);
	atomic_fetch_add(&gang->inside, 1);
	CHECK_GE(sley_barrier_wait(&gang->barrier), 0);
	CHECK_EQ(atomic_load(&gang->inside), gang->size);
	return gang->fails == (int)member + 1 ? -EIO : 0;
}

static struct gang gang_of(int size)
{
	struct gang gang = { .size = size };

	sley_barrier_init(&gang.barrier, (uint32_t)size);
	return gang;
}

static int gang_size(void)
{
	int n = nr_runners();

	return n < 8 ? n : 8;
}

TEST_WORKERS(s02_the_members_of_a_gang_run_at_once)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	int n = gang_size();
	struct gang gang[10];

	for (int i = 0; i < 10; i++) {
		gang[i] = gang_of(n);
		CHECK_EQ(try_submit(graph,
				    (struct sley_node_spec){
					    .fn = meets_the_others,
					    .arg = &gang[i],
					    .gang = (uint32_t)n,
				    }),
			 0);
	}
	CHECK_EQ(sley_graph_wait(graph), 0);
	for (int i = 0; i < 10; i++)
		CHECK_EQ(gang[i].seen, (1 << n) - 1);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s02_a_gang_larger_than_those_who_may_run_it_is_refused)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	uint64_t one = 1;

	CHECK_EQ(try_submit(graph,
			    (struct sley_node_spec){
				    .fn = count_up,
				    .gang = (uint32_t)nr_runners() + 1,
			    }),
		 nr_runners() > 0 ? SLEY_EGANG : 0);
	CHECK_EQ(try_submit(graph, (struct sley_node_spec){ .fn = count_up,
							    .gang = 2,
							    .eligible = &one,
							    .nr_eligible = 1 }),
		 SLEY_EGANG);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s14_a_gang_fails_if_one_of_it_does_and_ends_when_all_have)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct order order = { .nr = 0 };
	int n = gang_size();
	struct gang gang = gang_of(n);
	sley_node id = SLEY_NO_NODE, after;

	gang.fails = n;
	id = submit(graph, SLEY_NODE_SPEC(.fn = meets_the_others, .arg = &gang,
					  .gang = (uint32_t)n));
	after = node(graph, &order, 1, &id, 1);
	CHECK_EQ(sley_graph_submit(
			 graph, NULL,
			 SLEY_NODE_SPEC(.fn = write_down,
					.arg = &(struct entry){ &order, 2, 0 },
					.arg_size = sizeof(struct entry),
					.order = &id, .nr_order = 1)),
		 0);
	/* An entry counts before it is written: 0 is none yet. */
	CHECK_SOON(order.what[0] != 0);
	CHECK_EQ(order.what[0], 2);
	CHECK_EQ(gang.seen, (1 << n) - 1);
	CHECK_SOON(sley_node_outcome(graph, after, NULL) ==
		   SLEY_OUTCOME_SKIPPED);
	CHECK_EQ(sley_graph_wait(graph), -EIO);
	CHECK_EQ(order.nr, 1);
	sley_graph_destroy(graph);
	stop(rt);
}

/* R-S10: neither overtakes the other for ever. */
TEST_WORKERS(rs10_gangs_and_single_nodes_do_not_starve_each_other)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	int n = gang_size();
	struct gang gang[40];
	atomic_int count = 0;

	for (int i = 0; i < 40; i++) {
		gang[i] = gang_of(n);
		for (int j = 0; j < 50; j++)
			(void)counts(graph, &count, NULL, 0);
		CHECK_EQ(try_submit(graph,
				    (struct sley_node_spec){
					    .fn = meets_the_others,
					    .arg = &gang[i],
					    .gang = (uint32_t)n,
				    }),
			 0);
	}
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(count, 2000);
	sley_graph_destroy(graph);
	stop(rt);
}

static int waits_for_ever(void *arg)
{
	struct sley_event never = SLEY_EVENT_INIT;

	atomic_fetch_add((atomic_int *)arg, 1);
	return sley_event_wait(&never);
}

static int submits_another(void *arg)
{
	static atomic_int count;

	for (int i = 0; i < 5; i++)
		(void)counts(arg, &count, NULL, 0);
	return 0;
}

/* R-S11: room that they have themselves. */
TEST_WORKERS(rs11_the_members_of_a_gang_do_not_wait_for_room)
{
	struct sley *rt = start();
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.max_nodes = 1));

	CHECK_EQ(try_submit(graph,
			    (struct sley_node_spec){
				    .fn = submits_another,
				    .arg = graph,
				    .gang = (uint32_t)gang_size(),
			    }),
		 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- gangs that have not started ------------------------------------------------ */

/* A gang with a member on each worker, the last of which is held. */
struct held {
	struct sley_graph *holds, *graph;
	struct gate gate;
	atomic_int started;
	int size;
	sley_node id;
};

static int is_held(void *arg)
{
	gate_hold(arg);
	return 0;
}

/* A less urgent node has run on @worker: so the member there has had its turn. */
static void pass_through(struct sley_graph *graph, int worker)
{
	atomic_int count = 0;

	CHECK_EQ(try_submit(graph,
			    (struct sley_node_spec){
				    .fn = count_up,
				    .arg = &count,
				    .affinity = SLEY_ON_WORKER(worker),
				    .priority = SLEY_PRIORITY_MIN,
			    }),
		 0);
	CHECK_SOON(count == 1);
}

static void held_begin(struct held *held, struct sley_graph_scope *scope)
{
	held->size = gang_size();
	CHECK_EQ(try_submit(held->holds,
			    (struct sley_node_spec){
				    .fn = is_held,
				    .arg = &held->gate,
				    .affinity = (uint32_t)held->size,
			    }),
		 0);
	CHECK_SOON(held->gate.held == 1);
	CHECK_EQ(sley_graph_submit(held->graph, &held->id,
				   SLEY_NODE_SPEC(.fn = count_up,
						  .arg = &held->started,
						  .gang = (uint32_t)held->size,
						  .scope = scope)),
		 0);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < held->size - 1; i++)
			pass_through(held->holds, i);
	}
	CHECK_EQ(held->started, 0);
	CHECK_EQ(sley_node_outcome(held->graph, held->id, NULL),
		 SLEY_OUTCOME_NONE);
}

static struct held held_new(struct sley *rt)
{
	if (nr_runners() < 2) {
		stop(rt);
		test_skip("one worker has no gangs");
	}
	return (struct held){ .holds = graph_new(NULL),
			      .graph = graph_new(NULL) };
}

static void held_end(struct held *held)
{
	sley_graph_destroy(held->graph);
	sley_graph_destroy(held->holds);
}

TEST_WORKERS(s02_no_member_of_a_gang_starts_before_all_are_there)
{
	struct sley *rt = start();
	struct held held = held_new(rt);

	held_begin(&held, NULL);
	gate_open(&held.gate);
	CHECK_EQ(sley_graph_wait(held.graph), 0);
	CHECK_EQ(held.started, held.size);
	held_end(&held);
	stop(rt);
}

/* S12, R-S10: those of its members that are there hold no worker. */
TEST_WORKERS(rs10_a_gang_that_waits_for_a_worker_reserves_no_other)
{
	struct sley *rt = start();
	struct held held = held_new(rt);

	held_begin(&held, NULL);
	for (int i = 0; i < held.size - 1; i++)
		pass_through(held.graph, i);
	CHECK_EQ(held.started, 0);
	gate_open(&held.gate);
	CHECK_EQ(sley_graph_wait(held.graph), 0);
	CHECK_EQ(held.started, held.size);
	held_end(&held);
	stop(rt);
}

static void held_is_skipped(struct held *held)
{
	int code = 0;

	gate_open(&held->gate);
	CHECK_EQ(sley_graph_wait(held->holds), 0);
	CHECK_SOON(sley_node_outcome(held->graph, held->id, &code) !=
		   SLEY_OUTCOME_NONE);
	CHECK_EQ(sley_node_outcome(held->graph, held->id, &code),
		 SLEY_OUTCOME_SKIPPED);
	CHECK_EQ(code, -ECANCELED);
	CHECK_EQ(held->started, 0);
}

TEST_WORKERS(s21_a_gang_that_is_cancelled_before_it_starts_is_skipped)
{
	struct sley *rt = start();
	struct held held = held_new(rt);
	struct sley_graph_scope *scope;

	held_begin(&held, NULL);
	CHECK_EQ(sley_node_cancel(held.graph, held.id), 0);
	held_is_skipped(&held);
	CHECK_EQ(sley_graph_wait(held.graph), -ECANCELED);

	held.gate = (struct gate){ 0, false };
	held_begin(&held, NULL);
	sley_graph_cancel(held.graph);
	held_is_skipped(&held);
	CHECK_EQ(sley_graph_wait(held.graph), -ECANCELED);

	held.gate = (struct gate){ 0, false };
	CHECK_EQ(sley_graph_scope_begin(&scope, held.graph, NULL), 0);
	held_begin(&held, scope);
	sley_graph_scope_cancel(scope);
	held_is_skipped(&held);
	CHECK_EQ(sley_graph_scope_wait(scope), -ECANCELED);
	sley_graph_scope_end(scope);
	CHECK_EQ(sley_graph_wait(held.graph), 0);
	held_end(&held);
	stop(rt);
}

TEST_WORKERS(s21_a_gang_of_a_cancelled_runtime_does_not_start)
{
	struct sley *rt = start();
	struct held held = held_new(rt);

	held_begin(&held, NULL);
	sley_cancel_all(rt);
	held_is_skipped(&held);
	CHECK_EQ(sley_graph_wait(held.graph), -ECANCELED);
	held_end(&held);
	stop(rt);
}

/* ---- gangs that run ---------------------------------------------------------------- */

TEST_WORKERS(s21_a_gang_that_waits_can_be_cancelled)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	int n = gang_size();

	for (int i = 0; i < 10; i++) {
		atomic_int inside = 0;

		CHECK_EQ(try_submit(graph,
				    (struct sley_node_spec){
					    .fn = waits_for_ever,
					    .arg = &inside,
					    .gang = (uint32_t)n,
				    }),
			 0);
		CHECK_SOON(inside == n);
		sley_graph_cancel(graph);
		CHECK_EQ(sley_graph_wait(graph), -ECANCELED);
		CHECK_EQ(inside, n);
	}
	sley_graph_destroy(graph);
	stop(rt);
}

/* At any moment: all of it was skipped, or all of it was asked to end. */
TEST_WORKERS(s21_a_cancel_skips_a_whole_gang_or_none_of_it)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	int n = gang_size();

	for (int i = 0; i < 50; i++) {
		atomic_int inside = 0;
		sley_node id = SLEY_NO_NODE;
		bool skipped;

		id = submit(graph,
			    SLEY_NODE_SPEC(.fn = waits_for_ever, .arg = &inside,
					   .gang = (uint32_t)n));
		for (int j = 0; j < i % 10; j++)
			sley_yield();
		CHECK_EQ(sley_node_cancel(graph, id), 0);
		CHECK_SOON(sley_node_outcome(graph, id, NULL) !=
			   SLEY_OUTCOME_NONE);
		skipped = sley_node_outcome(graph, id, NULL) ==
			  SLEY_OUTCOME_SKIPPED;
		CHECK_EQ(inside, skipped ? 0 : n);
		CHECK_EQ(sley_graph_wait(graph), -ECANCELED);
	}
	sley_graph_destroy(graph);
	stop(rt);
}
