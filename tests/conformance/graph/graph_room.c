/* SPDX-License-Identifier: MIT */
/*
 * graph_room.c - what counts as a node that has not ended, and what a graph that is
 * full does: S15, R-S11.
 */
#include <sley/error.h>

#include "conformance/graph/graph.h"

/* ---- edges ------------------------------------------------------------------------- */

#define NODES 200
#define PREDECESSORS 50

/* A node with so many edges has pages of them; these are no nodes. */
TEST_WORKERS(s15_a_graph_takes_its_nodes_whatever_their_edges)
{
	struct sley *rt = start();
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.max_nodes = NODES));
	struct sley_event gate = SLEY_EVENT_INIT;
	struct sley_node_spec spec = { .size = sizeof(spec),
				       .fn = waits_for,
				       .arg = &gate };
	sley_node before[PREDECESSORS];
	atomic_int count = 0;

	for (int i = 0; i < PREDECESSORS; i++)
		before[i] = submit(graph, &spec);
	spec.fn = count_up;
	spec.arg = &count;
	spec.after = before;
	spec.nr_after = PREDECESSORS;
	for (int i = PREDECESSORS; i < NODES; i++)
		CHECK_EQ(sley_graph_submit_until(graph, NULL, &spec, 0), 0);
	CHECK_EQ(sley_graph_submit_until(graph, NULL, &spec, 0), -EAGAIN);
	sley_event_set(&gate);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(count, NODES - PREDECESSORS);
	sley_graph_destroy(graph);
	stop(rt);
}

/* Each node of a window comes after all others: more pages than nodes there are. */
TEST_WORKERS(s15_nodes_that_come_after_all_others_have_room)
{
	struct sley *rt = start();
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.max_nodes = 2 * NODES));
	struct sley_event gate = SLEY_EVENT_INIT;
	sley_node all[2 * NODES];
	atomic_int count = 0;

	all[0] = submit(graph, SLEY_NODE_SPEC(.fn = waits_for, .arg = &gate));
	for (uint32_t i = 1; i < 2 * NODES; i++)
		all[i] = counts(graph, &count, all, i);
	sley_event_set(&gate);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(count, 2 * NODES - 1);
	sley_graph_destroy(graph);
	stop(rt);
}

/* A node that is named a thousand times, or has ended, needs no edge for each. */
TEST_WORKERS(s06_who_is_named_often_takes_no_more_room)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct sley_event gate = SLEY_EVENT_INIT;
	struct sley_graph_scope_stats stats;
	sley_node often[1000];
	atomic_int count = 0;
	sley_node ended = counts(graph, &count, NULL, 0);

	CHECK_EQ(sley_graph_wait(graph), 0);
	often[0] = submit(graph, SLEY_NODE_SPEC(.fn = waits_for, .arg = &gate));
	for (int i = 1; i < 1000; i++)
		often[i] = i % 2 ? ended : often[0];
	(void)counts(graph, &count, often, 1000);
	sley_graph_scope_get_stats(graph, NULL, &stats);
	CHECK_EQ(stats.edges, 1);
	CHECK_EQ(stats.most, 2);
	sley_event_set(&gate);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(count, 2);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- nodes that submit --------------------------------------------------------------- */

struct breeder {
	struct sley_graph *graph;
	atomic_int count;
	int accepted;
	int err; /* of the first one that was not */
};

#define MAX 10
#define MORE 1024 /* of a small graph */

static int breeds(void *arg)
{
	struct breeder *b = arg;

	while (!b->err && b->accepted < 10 * MORE) {
		b->err = sley_graph_submit(b->graph, NULL,
					   SLEY_NODE_SPEC(.fn = count_up,
							  .arg = &b->count));
		b->accepted += !b->err;
	}
	return 0;
}

/* One worker: none of them ends meanwhile. */
TEST(s15_a_node_that_breeds_past_all_room_is_told)
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	struct breeder b = { .graph = graph_new(
				     SLEY_GRAPH_OPTIONS(.max_nodes = MAX)) };

	for (int i = 0; i < 3; i++) {
		b.err = b.accepted = 0;
		b.count = 0;
		CHECK_EQ(sley_graph_submit(b.graph, NULL,
					   SLEY_NODE_SPEC(.fn = breeds,
							  .arg = &b)),
			 0);
		CHECK_EQ(sley_graph_wait(b.graph), 0);
		CHECK_EQ(b.err, -EAGAIN);
		CHECK_EQ(b.accepted, MAX + MORE - 1);
		CHECK_EQ(b.count, b.accepted);
	}
	sley_graph_destroy(b.graph);
	stop(rt);
}

/* ---- what a node waits for: it does not wait for room ----------------------------------- */

/* A graph of one node, and what that node has others do. */
struct family {
	struct sley_graph *graph;
	atomic_int count, begun;
	atomic_int err;
	struct sley_group group;
	struct sley_task task, grandchild;
};

static void submits(void *arg)
{
	struct family *f = arg;

	atomic_store(&f->begun, 1);
	atomic_store(&f->err,
		     sley_graph_submit_until(f->graph, NULL,
					     SLEY_NODE_SPEC(.fn = count_up,
							    .arg = &f->count),
					     in_ms(5000)));
}

static void check_family(sley_node_fn *fn)
{
	struct sley *rt = start();
	struct family f = { .graph = graph_new(
				    SLEY_GRAPH_OPTIONS(.max_nodes = 1)) };

	for (int i = 0; i < 5; i++) {
		f.count = 0;
		f.begun = 0;
		f.err = 1;
		CHECK_EQ(sley_graph_submit(f.graph, NULL,
					   SLEY_NODE_SPEC(.fn = fn, .arg = &f)),
			 0);
		CHECK_EQ(sley_graph_wait(f.graph), 0);
		CHECK_EQ(f.err, 0);
		CHECK_EQ(f.count, 1);
	}
	sley_graph_destroy(f.graph);
	stop(rt);
}

/* The worker of the node is held until another one has the child. */
static void await_thief(const struct family *f)
{
	while (nr_runners() > 1 && !atomic_load(&f->begun))
		test_nap_ms(1);
}

static int forks(void *arg)
{
	struct family *f = arg;
	struct sley_forked fork;

	sley_fork(&fork, submits, f);
	await_thief(f);
	sley_fork_join(&fork);
	return 0;
}

TEST_WORKERS(rs11_a_forked_child_of_a_node_does_not_wait_for_room)
{
	check_family(forks);
}

static void forks_again(void *arg)
{
	(void)forks(arg);
}

static int forks_twice(void *arg)
{
	struct sley_forked fork;

	sley_fork(&fork, forks_again, arg);
	if (nr_runners() > 2)
		await_thief(arg);
	sley_fork_join(&fork);
	return 0;
}

TEST_WORKERS(rs11_nor_does_a_child_of_that)
{
	check_family(forks_twice);
}

static int spawns(void *arg)
{
	struct family *f = arg;

	sley_spawn(&f->group, &f->task, submits, f);
	sley_join(&f->group);
	return 0;
}

TEST_WORKERS(rs11_a_task_that_a_node_joins_does_not_wait_for_room)
{
	check_family(spawns);
}

static int spawns_and_joins_late(void *arg)
{
	struct family *f = arg;

	sley_spawn(&f->group, &f->task, submits, f);
	await_thief(f);
	CHECK_EQ(sley_sleep(20 * SLEY_MSEC), 0);
	sley_join(&f->group);
	return 0;
}

TEST_WORKERS(rs11_a_task_finds_out_that_a_node_has_come_to_join_it)
{
	check_family(spawns_and_joins_late);
}

static int spawns_one_more(void *arg)
{
	struct family *f = arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_forked fork;

	sley_spawn(&group, &f->grandchild, submits, f);
	sley_fork(&fork, forks_again, f);
	sley_fork_join(&fork);
	sley_join(&group);
	return 0;
}

static int spawns_two_levels(void *arg)
{
	struct family *f = arg;
	struct sley_scope scope;

	sley_scope_open(&scope);
	sley_scope_spawn(&scope, &f->task, spawns_one_more, f);
	CHECK_EQ(sley_scope_close(&scope), 0);
	atomic_fetch_sub(&f->count, 1); /* two were submitted */
	return 0;
}

TEST_WORKERS(rs11_nor_does_a_task_further_down)
{
	check_family(spawns_two_levels);
}

/* ---- a submitter that is faster than its nodes ----------------------------------------- */

#define CROWD 64
#define MANY 6400

static uint64_t nr_switches(struct sley *rt)
{
	struct sley_stats stats;

	sley_get_stats(rt, &stats);
	return stats.switches;
}

static void submit_many(void *arg)
{
	struct breeder *b = arg;

	for (int i = 0; i < MANY; i++)
		(void)counts(b->graph, &b->count, NULL, 0);
}

/* To be woken for each place that comes free costs more than most nodes. */
TEST(s15_a_submitter_is_woken_for_many_places_at_once)
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	struct breeder b = { .graph = graph_new(
				     SLEY_GRAPH_OPTIONS(.max_nodes = CROWD)) };
	struct sley_graph_scope_stats stats;
	uint64_t before = nr_switches(rt);

	run_task(submit_many, &b);
	CHECK_EQ(sley_graph_wait(b.graph), 0);
	CHECK_EQ(b.count, MANY);
	/* Two for each time it waits, and some for this thread. */
	CHECK_LT(nr_switches(rt) - before, MANY / 2);
	sley_graph_scope_get_stats(b.graph, NULL, &stats);
	CHECK_EQ(stats.most, CROWD);
	sley_graph_destroy(b.graph);
	stop(rt);
}

#define CHAINS 64
#define IN_GRAPH 1000
#define IN_CHAINS 20000

static void submit_chains(void *arg)
{
	struct breeder *b = arg;
	char cell[CHAINS];

	for (int i = 0; i < IN_CHAINS; i++) {
		struct sley_access access = SLEY_INOUT(cell[i % CHAINS]);

		CHECK_EQ(sley_graph_submit(b->graph, NULL,
					   SLEY_NODE_SPEC(.fn = count_up,
							  .arg = &b->count,
							  .access = &access,
							  .nr_access = 1)),
			 0);
	}
	CHECK_EQ(sley_graph_wait(b->graph), 0);
}

/*
 * Two workers run the nodes of a submitter that is faster.  The batch is a quarter of
 * the graph, 250 nodes, so the submitter waits about four times for 1000 nodes, and
 * each wait is two switches.  A submitter that is woken for each place would switch
 * hundreds of times for 1000 nodes.
 */
TEST(s15_two_workers_wake_a_submitter_for_many_places_at_once)
{
	struct sley_config config = config_of(2);
	struct sley *rt = start_with(&config);
	struct breeder b = {
		.graph = graph_new(SLEY_GRAPH_OPTIONS(.max_nodes = IN_GRAPH))
	};
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	uint64_t before = nr_switches(rt);

	sley_spawn(&group, &task, submit_chains, &b);
	sley_join(&group);
	CHECK_EQ(b.count, IN_CHAINS);
	CHECK_LT(nr_switches(rt) - before, IN_CHAINS / 20);
	sley_graph_destroy(b.graph);
	stop(rt);
}

struct turnover {
	struct sley_graph *graph;
	struct sley_event gate;
	atomic_int count;
};

static void fill_and_turn_over(void *arg)
{
	struct turnover *t = arg;

	for (int i = 0; i < CROWD - 1; i++)
		CHECK_EQ(sley_graph_submit(t->graph, NULL,
					   SLEY_NODE_SPEC(.fn = waits_for,
							  .arg = &t->gate)),
			 0);
	for (int i = 0; i < MANY; i++)
		(void)counts(t->graph, &t->count, NULL, 0);
	sley_event_set(&t->gate);
}

/* All nodes but one wait for the submitter: it must not wait for a batch. */
TEST_WORKERS(s15_one_place_that_comes_free_is_enough)
{
	struct sley *rt = start();
	struct turnover t = { .graph = graph_new(
				      SLEY_GRAPH_OPTIONS(.max_nodes = CROWD)) };
	uint64_t start_ns = sley_now();

	run_task(fill_and_turn_over, &t);
	CHECK_EQ(sley_graph_wait(t.graph), 0);
	CHECK_EQ(t.count, MANY);
	/* With a millisecond of patience for each it would take six seconds. */
	if (!test_sanitizer() && !test_emulated())
		CHECK_LT(ms_since(start_ns), 3000);
	sley_graph_destroy(t.graph);
	stop(rt);
}
