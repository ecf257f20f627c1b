/* SPDX-License-Identifier: MIT */
/*
 * graph_race.c - graphs that are full, cancelled, or very wide, at the moment when
 * it matters: S15, S21, R-S14, R-S17.
 *
 * Each test here has failed once.
 */
#include "conformance/graph/graph.h"

#include <sley/error.h>

struct door {
	struct sley_event event;
	atomic_int waiting;
	atomic_int code; /* what the last wait of somebody said */
};

static int wait_at(void *arg)
{
	struct door *door = arg;

	atomic_fetch_add(&door->waiting, 1);
	return sley_event_wait(&door->event);
}

/* ---- wide ------------------------------------------------------------------------ */

#define WIDTH 200

static bool has_failed(struct sley_graph *graph, sley_node id)
{
	return sley_node_outcome(graph, id, NULL) == SLEY_OUTCOME_FAILURE;
}

/* Those that have failed take no edge, wherever they are in the list. */
static void check_wide(struct sley_graph *graph, uint32_t nr, uint32_t failed)
{
	struct door door = { SLEY_EVENT_INIT, 0, 0 };
	sley_node before[WIDTH], last;

	for (uint32_t i = 0; i < nr; i++)
		before[i] = i % failed == failed - 1
				    ? submit_in(graph, NULL, fail, NULL)
				    : submit_in(graph, NULL, wait_at, &door);
	for (uint32_t i = failed - 1; i < nr; i += failed)
		CHECK_SOON(has_failed(graph, before[i]));
	last = submit(graph, SLEY_NODE_SPEC(.fn = count_up, .arg = &door.code,
					    .order = before, .nr_order = nr));
	CHECK_EQ(sley_node_outcome(graph, last, NULL), SLEY_OUTCOME_NONE);
	sley_event_set(&door.event);
	CHECK_EQ(sley_graph_wait(graph), nr >= failed ? -EIO : 0);
	CHECK_EQ(atomic_load(&door.code), 1);
}

TEST_WORKERS(rs14_pages_of_edges_are_found_one_after_the_other)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);

	for (uint32_t nr = 1; nr < WIDTH; nr += 1 + nr / 8)
		check_wide(graph, nr, WIDTH);
	check_wide(graph, WIDTH, 39);
	check_wide(graph, WIDTH, 3);
	check_wide(graph, 75, 39);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- full ---------------------------------------------------------------------------- */

TEST_WORKERS(s15_those_that_have_failed_leave_room)
{
	struct sley *rt = start();
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.max_nodes = 4));
	struct sley_node_spec spec = *SLEY_NODE_SPEC(.fn = fail);

	for (int i = 0; i < 100; i++) {
		CHECK_EQ(sley_graph_submit_until(graph, NULL, &spec,
						 in_ms(10000)),
			 0);
	}
	CHECK_EQ(sley_graph_wait(graph), -EIO);
	sley_graph_destroy(graph);
	stop(rt);
}

/* A worker has it still in hand, and goes on with one that waits. */
TEST_WORKERS(s15_what_has_ended_leaves_room_though_the_next_one_waits)
{
	struct sley *rt = start();
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.max_nodes = 512));
	struct door door = { SLEY_EVENT_INIT, 0, 0 };
	atomic_int count = 0;
	sley_node first, second;
	int err;

	first = counts(graph, &count, NULL, 0);
	second = submit(graph, SLEY_NODE_SPEC(.fn = wait_at, .arg = &door,
					      .after = &first, .nr_after = 1));
	for (int i = 2; i < 512; i++)
		(void)counts(graph, &count, &second, 1);
	CHECK_SOON(atomic_load(&door.waiting) == 1);
	err = sley_graph_submit_until(
		graph, NULL, SLEY_NODE_SPEC(.fn = count_up, .arg = &count),
		in_ms(5000));
	sley_event_set(&door.event);
	CHECK_EQ(err, 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

struct adder {
	struct sley_graph *graph;
	atomic_int count;
};

static int add_in_a_region(void *arg)
{
	struct adder *adder = arg;
	int err;

	sley_blocking_begin();
	err = sley_graph_submit_until(adder->graph, NULL,
				      SLEY_NODE_SPEC(.fn = count_up,
						     .arg = &adder->count),
				      in_ms(5000));
	sley_blocking_end();
	return err;
}

TEST_WORKERS(s15_a_node_in_a_region_does_not_wait_for_itself)
{
	struct sley *rt = start();
	struct adder adder = { graph_new(SLEY_GRAPH_OPTIONS(.max_nodes = 1)),
			       0 };

	(void)submit_in(adder.graph, NULL, add_in_a_region, &adder);
	/* There the thread of a region has no tasks of its own. */
	CHECK_EQ(sley_graph_wait(adder.graph),
		 is_single() ? SLEY_ENOWORKER : 0);
	CHECK_EQ(atomic_load(&adder.count), !is_single());
	sley_graph_destroy(adder.graph);
	stop(rt);
}

/* ---- moved ------------------------------------------------------------------------------ */

/* A node may end on another worker than the one that began with its chain. */
static int hop(void *arg)
{
	CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	return count_up(arg);
}

TEST_WORKERS(s20_a_wait_ends_though_nodes_have_moved)
{
	struct sley_config config = *test_config();
	struct sley_graph *graph;
	struct sley *rt;
	atomic_int count = 0;

	if (is_single())
		test_skip("nobody to move to");
	config.migratable = true;
	rt = start_with(&config);
	graph = graph_new(NULL);
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 16; i++) {
			sley_node last = counts(graph, &count, NULL, 0);

			CHECK_EQ(sley_graph_submit(
					 graph, NULL,
					 SLEY_NODE_SPEC(.fn = hop,
							.arg = &count,
							.after = &last,
							.nr_after = 1)),
				 0);
		}
		CHECK_EQ(sley_graph_wait_until(graph, in_ms(5000)), 0);
	}
	CHECK_EQ(count, 20 * 32);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- cancelled ---------------------------------------------------------------------------- */

#define NR_OLD 20

static void submit_old(struct sley_graph *graph, atomic_int *count,
		       sley_node old[NR_OLD])
{
	for (int i = 0; i < NR_OLD; i++)
		old[i] = counts(graph, count, NULL, 0);
	for (int i = 0; i < NR_OLD; i++)
		CHECK_SOON(sley_node_outcome(graph, old[i], NULL));
	CHECK_SOON(atomic_load(count) == NR_OLD);
}

static void cancel_old(struct sley_graph *graph, sley_node old[NR_OLD])
{
	for (int i = 0; i < NR_OLD; i++)
		CHECK_EQ(sley_node_cancel(graph, old[i]), -ESRCH);
}

/* The place of one that has ended is another one's. */
TEST_WORKERS(s21_a_late_cancel_does_not_undo_that_of_the_next_one)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct door door = { SLEY_EVENT_INIT, 0, 0 };
	atomic_int count = 0;
	sley_node old[NR_OLD], holder, next;

	submit_old(graph, &count, old);
	CHECK_EQ(sley_graph_wait(graph), 0);
	holder = submit_in(graph, NULL, wait_at, &door);
	for (int i = 0; i < NR_OLD; i++) {
		next = counts(graph, &count, &holder, 1);
		CHECK_EQ(sley_node_cancel(graph, next), 0);
	}
	cancel_old(graph, old);
	sley_event_set(&door.event);
	CHECK_EQ(sley_graph_wait(graph), -ECANCELED);
	CHECK_EQ(atomic_load(&count), NR_OLD);
	sley_graph_destroy(graph);
	stop(rt);
}

/* Or it has edges of another one. */
TEST_WORKERS(s21_a_late_cancel_does_not_touch_edges)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct door door = { SLEY_EVENT_INIT, 0, 0 };
	atomic_int count = 0, last = 0;
	sley_node old[NR_OLD], before[60];

	for (int i = 0; i < 60; i++)
		before[i] = submit_in(graph, NULL, wait_at, &door);
	submit_old(graph, &count, old);
	for (int i = 0; i < 4; i++)
		(void)counts(graph, &last, before, 60);
	cancel_old(graph, old);
	sley_event_set(&door.event);
	CHECK_EQ(sley_graph_wait_until(graph, in_ms(5000)), 0);
	CHECK_EQ(atomic_load(&last), 4);
	sley_graph_destroy(graph);
	stop(rt);
}

static int wait_twice(void *arg)
{
	struct door *door = arg;
	int err;

	(void)wait_at(&door[0]);
	err = sley_event_wait_until(&door[1].event, in_ms(5000));
	atomic_store(&door[1].code, err);
	return 0;
}

/* It was woken, and is queued: it runs, for who cancels. */
TEST_WORKERS(s21_one_that_was_woken_hears_of_the_cancel)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);

	for (int i = 0; i < 50; i++) {
		struct door door[2] = { { SLEY_EVENT_INIT, 0, 0 },
					{ SLEY_EVENT_INIT, 0, 0 } };

		(void)submit_in(graph, NULL, wait_twice, door);
		CHECK_SOON(atomic_load(&door[0].waiting) == 1);
		sley_event_set(&door[0].event);
		sley_graph_cancel(graph);
		CHECK_EQ(sley_graph_wait(graph), 0);
		CHECK_EQ(atomic_load(&door[1].code), -ECANCELED);
	}
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- edges while predecessors end: R-S4, R-S5, R-S6 ------------------------------------- */

#define PREDECESSORS 8
#define ROUNDS 200

/* Predecessors that end while their successor is wired, and what it finds. */
struct wiring {
	atomic_int ended; /* predecessors                            */
	atomic_int ran;   /* how often the successor was called    */
	atomic_int saw;   /* how many predecessors had ended by then */
	int says;         /* of the last predecessor                 */
};

static int precede(void *arg)
{
	struct wiring *wiring = arg;

	atomic_fetch_add(&wiring->ended, 1);
	return 0;
}

static int precede_last(void *arg)
{
	struct wiring *wiring = arg;

	(void)precede(arg);
	return wiring->says;
}

static int follow(void *arg)
{
	struct wiring *wiring = arg;

	atomic_store(&wiring->saw, atomic_load(&wiring->ended));
	atomic_fetch_add(&wiring->ran, 1);
	return 0;
}

/* The successor is submitted at once: its predecessors end meanwhile. */
static sley_node submit_wiring(struct sley_graph *graph, struct wiring *wiring,
			       uint32_t nr)
{
	sley_node predecessors[PREDECESSORS], successor;

	for (uint32_t i = 0; i < nr; i++)
		predecessors[i] = submit_in(graph, NULL,
					    i + 1 < nr ? precede : precede_last,
					    wiring);
	successor = submit(graph, SLEY_NODE_SPEC(.fn = follow, .arg = wiring,
						 .after = predecessors,
						 .nr_after = nr));
	return successor;
}

static void check_wiring(uint32_t nr)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);

	for (int round = 0; round < ROUNDS; round++) {
		struct wiring wiring = { 0 };

		(void)submit_wiring(graph, &wiring, nr);
		CHECK_EQ(sley_graph_wait(graph), 0);
		CHECK_EQ(atomic_load(&wiring.ran), 1);
		CHECK_EQ(atomic_load(&wiring.saw), (int)nr);
	}
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(rs4_an_edge_to_a_node_that_ends_is_there_or_refused)
{
	check_wiring(1);
}

TEST_WORKERS(rs5_a_node_starts_when_the_last_of_its_predecessors_has_ended)
{
	check_wiring(PREDECESSORS);
}

/* If it is wrong, the node ends twice: by the predecessor, and by the submitter. */
TEST_WORKERS(rs6_a_failure_while_a_node_is_wired_skips_it_once)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);

	for (int round = 0; round < ROUNDS; round++) {
		struct wiring wiring = { .says = -EIO };
		atomic_int behind = 0;
		sley_node successor;

		successor = submit_wiring(graph, &wiring, PREDECESSORS);
		(void)submit(graph,
			     SLEY_NODE_SPEC(.fn = count_up, .arg = &behind,
					    .order = &successor,
					    .nr_order = 1));
		CHECK_EQ(sley_graph_wait(graph), -EIO);
		CHECK_EQ(atomic_load(&wiring.ran), 0);
		CHECK_EQ(atomic_load(&behind), 1);
	}
	sley_graph_destroy(graph);
	stop(rt);
}
