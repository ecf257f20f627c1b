/* SPDX-License-Identifier: MIT */
/*
 * graph_class.c - classes of workers: S10.
 *
 * Workers of even number are of one class, those of odd number of another; where there
 * is one only it is of both.
 */
#include <sley/error.h>

#include "conformance/graph/graph.h"

enum { EVEN = 1, ODD = 2, ALL = 3, FIRST = 4, TWO = 5 };

static struct sley_graph *graph_of_classes(void)
{
	uint64_t even[2] = { 0x5555555555555555ull, 0x5555555555555555ull };
	uint64_t odd[2] = { 0xaaaaaaaaaaaaaaaaull, 0xaaaaaaaaaaaaaaaaull };
	uint64_t first = 1, two = 3;
	struct sley_worker_class classes[] = {
		{ .name = "even", .workers = even, .nr_words = 2 },
		{ .name = "odd", .workers = odd, .nr_words = 2 },
		{ .name = "all" },
		{ .name = "first", .workers = &first, .nr_words = 1 },
		{ .name = "two", .workers = &two, .nr_words = 1 },
	};

	if (nr_runners() == 1)
		classes[1] = classes[0];
	return graph_new(
		SLEY_GRAPH_OPTIONS(.classes = classes, .nr_classes = 5));
}

static int class_size(int class)
{
	int n = nr_runners();

	if (class == ALL || n == 1)
		return n;
	return class == EVEN ? (n + 1) / 2 : n / 2;
}

static void check_class(int class)
{
	if (class != ALL && nr_runners() > 1)
		CHECK_EQ(sley_worker() % 2, class == ODD);
}

struct job {
	atomic_int *count;
	int class;
};

static int is_in_class(void *arg)
{
	const struct job *job = arg;

	check_class(job->class);
	return count_up(job->count);
}

static void submit_job(struct sley_graph *graph, int class, atomic_int *count)
{
	struct job job = { count, class };

	CHECK_EQ(try_submit(graph,
			    (struct sley_node_spec){
				    .fn = is_in_class,
				    .arg = &job,
				    .arg_size = sizeof(job),
				    .worker_class = (uint32_t) class,
			    }),
		 0);
}

TEST_WORKERS(s10_nodes_run_on_the_workers_of_their_class)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_of_classes();
	atomic_int count = 0;

	for (int i = 0; i < 600; i++)
		submit_job(graph, 1 + i % 3, &count);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(count, 600);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- one that is saturated -------------------------------------------------------- */

struct hold {
	atomic_int inside;
	atomic_bool open;
	struct sley_event event;
};

static int waits(void *arg)
{
	struct hold *hold = arg;

	atomic_fetch_add(&hold->inside, 1);
	return sley_event_wait(&hold->event);
}

/* Its worker does nothing else meanwhile. */
static int holds(void *arg)
{
	struct hold *hold = arg;

	atomic_fetch_add(&hold->inside, 1);
	while (!atomic_load(&hold->open))
		test_nap_ms(1);
	return 0;
}

static void submit_held(struct sley_graph *graph, int class, sley_node_fn *fn,
			struct hold *hold)
{
	CHECK_EQ(try_submit(graph,
			    (struct sley_node_spec){
				    .fn = fn,
				    .arg = hold,
				    .worker_class = (uint32_t) class,
			    }),
		 0);
}

TEST_WORKERS(s10_nodes_that_block_hold_up_no_class)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_of_classes();
	struct hold hold = { .event = SLEY_EVENT_INIT };
	atomic_int count = 0;

	for (int i = 0; i < 100; i++)
		submit_held(graph, EVEN, waits, &hold);
	for (int i = 0; i < 100; i++)
		submit_job(graph, 1 + i % 3, &count);
	CHECK_SOON(atomic_load(&count) == 100);
	CHECK_SOON(atomic_load(&hold.inside) == 100);
	sley_event_set(&hold.event);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

/* The thread of the test is no worker: it may wait by napping. */
TEST_WORKERS(s10_a_class_that_is_busy_stalls_no_other)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_of_classes();
	struct hold hold = { .event = SLEY_EVENT_INIT };
	atomic_int of_odd = 0, of_even = 0, of_all = 0;
	int n = nr_runners() > 1 ? class_size(EVEN) : 0;

	for (int i = 0; i < n; i++)
		submit_held(graph, EVEN, holds, &hold);
	CHECK_SOON(atomic_load(&hold.inside) == n);
	for (int i = 0; i < 50; i++) {
		submit_job(graph, EVEN, &of_even);
		submit_job(graph, ODD, &of_odd);
		submit_job(graph, ALL, &of_all);
	}
	CHECK_SOON(atomic_load(&of_odd) == 50);
	CHECK_SOON(atomic_load(&of_all) == 50);
	CHECK(!n || !atomic_load(&of_even));
	atomic_store(&hold.open, true);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(atomic_load(&of_even), 50);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- the first one that is free ------------------------------------------------------ */

static int notes_worker(void *arg)
{
	atomic_store((atomic_int *)arg, sley_worker());
	return 0;
}

/* All but one are held, whichever that is: it runs what comes. */
TEST_WORKERS(s10_the_first_worker_that_is_free_takes_a_node)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_of_classes();
	struct hold hold = { .event = SLEY_EVENT_INIT };
	int n = nr_runners();

	for (int i = 0; i < n - 1; i++)
		submit_held(graph, ALL, holds, &hold);
	CHECK_SOON(atomic_load(&hold.inside) == n - 1);
	for (int i = 0; i < 20; i++) {
		atomic_int where = -1;

		CHECK_EQ(try_submit(graph,
				    (struct sley_node_spec){ .fn = notes_worker,
							     .arg = &where,
							     .worker_class =
								     ALL }),
			 0);
		CHECK_SOON(atomic_load(&where) >= 0);
	}
	atomic_store(&hold.open, true);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

/* As many as there are workers run at once: none of them is behind another. */
TEST_WORKERS(s10_all_workers_of_a_class_take_part)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_of_classes();

	if (nr_runners() > 1) {
		for (int round = 0; round < 20; round++) {
			struct hold hold = { .event = SLEY_EVENT_INIT };
			int n = class_size(ODD);

			for (int i = 0; i < n; i++)
				submit_held(graph, ODD, holds, &hold);
			CHECK_SOON(atomic_load(&hold.inside) == n);
			atomic_store(&hold.open, true);
			CHECK_EQ(sley_graph_wait(graph), 0);
		}
	}
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- the order in a class ------------------------------------------------------------- */

static void submit_entry(struct sley_graph *graph, struct order *order,
			 int what, int priority)
{
	struct entry entry = { order, what, 0 };

	CHECK_EQ(try_submit(graph,
			    (struct sley_node_spec){
				    .fn = write_down,
				    .arg = &entry,
				    .arg_size = sizeof(entry),
				    .priority = priority,
				    .worker_class = FIRST,
			    }),
		 0);
}

TEST_WORKERS(s10_in_a_class_the_urgent_come_first_and_then_who_was_first)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_of_classes();
	struct hold hold = { .event = SLEY_EVENT_INIT };
	struct order order = { .nr = 0 };

	if (is_single())
		atomic_store(&hold.open, true);
	submit_held(graph, FIRST, holds, &hold);
	CHECK_SOON(atomic_load(&hold.inside) == 1 || is_single());
	/* The least urgent come first here, and the most urgent last. */
	for (int i = 0; i < 30; i++)
		submit_entry(graph, &order, i, (1 - i / 10) * 5);
	atomic_store(&hold.open, true);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(order.nr, 30);
	for (int i = 0; i < 30; i++)
		CHECK_EQ(order.what[i], (2 - i / 10) * 10 + i % 10);
	sley_graph_destroy(graph);
	stop(rt);
}

/* Successors of a node are ready when it ends, in the order of the program. */
static void check_successors(struct sley_node_spec spec)
{
	struct sley_graph *graph = graph_of_classes();
	struct order order = { .nr = 0 };
	struct entry entry = { &order, 0, 0 };
	struct hold hold = { .event = SLEY_EVENT_INIT };
	sley_node first = SLEY_NO_NODE;

	spec.size = sizeof(spec);
	spec.fn = waits;
	spec.arg = &hold;
	first = submit(graph, &spec);
	spec.fn = write_down;
	spec.arg = &entry;
	spec.arg_size = sizeof(entry);
	spec.after = &first;
	spec.nr_after = 1;
	for (entry.what = 0; entry.what < 5; entry.what++)
		CHECK_EQ(sley_graph_submit(graph, NULL, &spec), 0);
	sley_event_set(&hold.event);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(order.nr, 5);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(order.what[i], i);
	sley_graph_destroy(graph);
}

TEST_WORKERS(s10_those_behind_a_node_come_in_the_order_of_the_program)
{
	struct sley *rt = start();

	check_successors((struct sley_node_spec){ .worker_class = FIRST });
	check_successors(
		(struct sley_node_spec){ .affinity = SLEY_ON_WORKER(0) });
	check_successors((struct sley_node_spec){ .affinity = SLEY_ON_WORKER(0),
						  .priority = 2 });
	stop(rt);
}

/* One that is of no class, but of the same worker, comes between two of it. */
TEST_WORKERS(s10_the_urgency_of_a_node_counts_beside_that_of_others)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_of_classes();
	struct hold hold = { .event = SLEY_EVENT_INIT };
	struct order order = { .nr = 0 };
	struct entry between = { &order, 1, 0 };

	if (is_single())
		atomic_store(&hold.open, true);
	submit_held(graph, FIRST, holds, &hold);
	CHECK_SOON(atomic_load(&hold.inside) == 1 || is_single());
	submit_entry(graph, &order, 2, 5);
	CHECK_EQ(try_submit(graph,
			    (struct sley_node_spec){
				    .fn = write_down,
				    .arg = &between,
				    .priority = -5,
				    .affinity = SLEY_ON_WORKER(0) }),
		 0);
	submit_entry(graph, &order, 0, -10);
	atomic_store(&hold.open, true);
	CHECK_EQ(sley_graph_wait(graph), 0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(order.what[i], i);
	sley_graph_destroy(graph);
	stop(rt);
}

static void submit_to(struct sley_graph *graph, uint32_t worker,
		      sley_node_fn *fn, void *arg)
{
	CHECK_EQ(try_submit(graph,
			    (struct sley_node_spec){
				    .fn = fn,
				    .arg = arg,
				    .affinity = SLEY_ON_WORKER(worker) }),
		 0);
}

/*
 * Both workers are called for a node that is urgent.  One of them runs it; what is left
 * for the other one is less urgent than what that has to do.
 */
TEST_WORKERS(s10_who_is_called_for_an_urgent_node_does_not_hurry_with_others)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_of_classes();
	struct hold hold[3] = { 0 };
	struct order order = { .nr = 0 };
	struct entry own = { &order, 0, 0 }, low = { &order, 1, 0 };

	if (nr_runners() > 1) {
		submit_to(graph, 0, holds, &hold[0]);
		submit_to(graph, 1, holds, &hold[1]);
		CHECK_SOON(atomic_load(&hold[0].inside) == 1);
		CHECK_SOON(atomic_load(&hold[1].inside) == 1);
		CHECK_EQ(try_submit(graph,
				    (struct sley_node_spec){ .fn = holds,
							     .arg = &hold[2],
							     .priority = -5,
							     .worker_class =
								     TWO }),
			 0);
		CHECK_EQ(try_submit(graph,
				    (struct sley_node_spec){ .fn = write_down,
							     .arg = &low,
							     .priority = 5,
							     .worker_class =
								     TWO }),
			 0);
		submit_to(graph, 1, write_down, &own);
		atomic_store(&hold[0].open, true);
		CHECK_SOON(atomic_load(&hold[2].inside) == 1);
		atomic_store(&hold[1].open, true);
		CHECK_SOON(atomic_load(&order.nr) == 2);
		CHECK_EQ(order.what[0], 0);
		atomic_store(&hold[2].open, true);
	}
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- together with the rest ----------------------------------------------------------- */

TEST_WORKERS(s10_a_mask_and_a_class_must_both_hold)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_of_classes();
	uint64_t first_two = 3, second = 2;
	atomic_int where = -1;
	struct sley_node_spec spec = {
		.fn = notes_worker,
		.arg = &where,
		.worker_class = EVEN,
		.eligible = &first_two,
		.nr_eligible = 1,
	};

	CHECK_EQ(try_submit(graph, spec), 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(where, 0);
	spec.affinity = SLEY_ON_WORKER(0);
	CHECK_EQ(try_submit(graph, spec), 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	spec.affinity = SLEY_ON_WORKER(1);
	CHECK_EQ(try_submit(graph, spec), SLEY_EAFFINITY);
	spec.affinity = 0;
	spec.eligible = &second;
	CHECK_EQ(try_submit(graph, spec), SLEY_EAFFINITY);
	spec.worker_class = ODD;
	CHECK_EQ(try_submit(graph, spec),
		 nr_runners() > 1 ? 0 : SLEY_EAFFINITY);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(where, nr_runners() > 1);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s10_a_gang_larger_than_its_class_is_refused)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_of_classes();
	atomic_int count = 0;
	uint32_t n = (uint32_t)class_size(ODD);
	struct job job = { &count, ODD };
	struct sley_node_spec spec = { .fn = is_in_class,
				       .arg = &job,
				       .gang = n + 1,
				       .worker_class = ODD };

	CHECK_EQ(try_submit(graph, spec), SLEY_EGANG);
	spec.gang = n;
	CHECK_EQ(try_submit(graph, spec), 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(count, (int)n);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s10_a_class_that_is_none_is_refused)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_of_classes();
	struct sley_node_spec spec = { .fn = count_up,
				       .worker_class = TWO + 1 };
	struct sley_plan *plan;

	CHECK_EQ(try_submit(graph, spec), -EINVAL);
	sley_graph_destroy(graph);
	graph = graph_new(NULL);
	spec.worker_class = SLEY_OF_CLASS(0);
	CHECK_EQ(try_submit(graph, spec), -EINVAL);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	CHECK_EQ(sley_plan_create(&plan, NULL), 0);
	CHECK_EQ(
		sley_plan_add(plan, NULL,
			      SLEY_NODE_SPEC(.fn = count_up,
					     .worker_class = SLEY_OF_CLASS(0))),
		-EINVAL);
	sley_plan_destroy(plan);
	stop(rt);
}

TEST_WORKERS(s10_a_class_without_workers_is_refused)
{
	struct sley *rt = start();
	static const struct sley_worker_class many[SLEY_GRAPH_CLASSES + 1];
	uint64_t nobody[3] = { 0, 0, 1 };
	struct sley_worker_class classes[] = {
		{ .name = "all" },
		{ .name = "none", .workers = nobody, .nr_words = 3 },
	};
	struct sley_graph *graph;

	CHECK_EQ(sley_graph_create(&graph,
				   SLEY_GRAPH_OPTIONS(.classes = classes,
						      .nr_classes = 2)),
		 SLEY_EAFFINITY);
	CHECK(!graph);
	CHECK_EQ(sley_graph_create(
			 &graph,
			 SLEY_GRAPH_OPTIONS(.classes = many,
					    .nr_classes =
						    SLEY_GRAPH_CLASSES + 1)),
		 -EINVAL);
	CHECK_EQ(sley_graph_create(&graph, SLEY_GRAPH_OPTIONS(.nr_classes = 1)),
		 -EINVAL);
	CHECK_EQ(sley_graph_create(
			 &graph,
			 SLEY_GRAPH_OPTIONS(.classes = many,
					    .nr_classes = SLEY_GRAPH_CLASSES)),
		 0);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s10_a_graph_that_is_stepped_has_one_worker)
{
	struct sley *rt = start();
	struct sley_worker_class all = { .name = "all" };
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.classes = &all, .nr_classes = 1,
					     .stepped = true));
	atomic_int count = 0;

	CHECK_EQ(try_submit(graph,
			    (struct sley_node_spec){
				    .fn = count_up,
				    .arg = &count,
				    .worker_class = SLEY_OF_CLASS(0) }),
		 0);
	CHECK_EQ(sley_graph_step(graph), 1);
	CHECK_EQ(count, 1);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

/* From class to class and back, and with nodes of none in between. */
TEST_WORKERS(s10_classes_are_connected_by_edges)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_of_classes();
	atomic_int count = 0;
	sley_node last = SLEY_NO_NODE;

	for (int i = 0; i < 1000; i++) {
		struct job job = { &count, i % 4 ? i % 4 : ALL };

		last = submit(graph,
			      SLEY_NODE_SPEC(.fn = is_in_class, .arg = &job,
					     .arg_size = sizeof(job),
					     .after = &last, .nr_after = !!i,
					     .worker_class = (uint32_t)i % 4));
	}
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(count, 1000);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- ends ------------------------------------------------------------------------------- */

TEST_WORKERS(s10_nodes_of_a_class_are_cancelled)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_of_classes();
	struct hold hold = { .event = SLEY_EVENT_INIT };
	atomic_int count = 0;

	for (int i = 0; i < 10; i++) {
		for (int j = 0; j < 10; j++)
			submit_held(graph, ODD, waits, &hold);
		if (i % 2)
			CHECK_SOON(atomic_load(&hold.inside) > 0);
		submit_job(graph, EVEN, &count);
		sley_graph_cancel(graph);
		CHECK_EQ(sley_graph_wait(graph), -ECANCELED);
	}
	submit_job(graph, ODD, &count);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s10_a_graph_is_destroyed_at_once_after_its_last_node)
{
	struct sley *rt = start();
	int rounds = test_scale(200);

	for (int i = 0; i < rounds; i++) {
		struct sley_graph *graph = graph_of_classes();
		atomic_int count = 0;

		for (int j = 0; j < 1 + i % 5; j++)
			submit_job(graph, 1 + (i + j) % 3, &count);
		sley_graph_destroy(graph);
		CHECK_EQ(count, 1 + i % 5);
	}
	stop(rt);
}

struct pair {
	struct sley_graph *graph;
	atomic_int *count;
};

/* Nobody sleeps: it is here, and the others are held.  All are called. */
static int submits_one(void *arg)
{
	const struct pair *pair = arg;

	submit_job(pair->graph, ALL, pair->count);
	return 0;
}

TEST_WORKERS(s10_the_end_of_a_graph_does_not_wait_for_workers_that_are_busy)
{
	struct sley *rt = start();
	struct sley_graph *other = graph_of_classes();
	struct sley_graph *graph = graph_of_classes();
	struct hold hold = { .event = SLEY_EVENT_INIT };
	atomic_int count = 0;
	struct pair pair = { graph, &count };
	int n = nr_runners();

	for (int i = 0; i < n - 1; i++)
		submit_held(other, ALL, holds, &hold);
	CHECK_SOON(atomic_load(&hold.inside) == n - 1);
	CHECK_EQ(try_submit(graph,
			    (struct sley_node_spec){ .fn = submits_one,
						     .arg = &pair,
						     .worker_class = ALL }),
		 0);
	sley_graph_destroy(graph);
	CHECK_EQ(count, 1);
	atomic_store(&hold.open, true);
	sley_graph_destroy(other);
	stop(rt);
}

static void *submit_from_outside(void *arg)
{
	const struct pair *pair = arg;

	for (int i = 0; i < 100; i++)
		submit_job(pair->graph, 1 + i % 3, pair->count);
	return NULL;
}

TEST_WORKERS(s10_nodes_of_a_class_come_from_any_thread)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_of_classes();
	atomic_int count = 0;
	struct pair pair = { graph, &count };
	pthread_t threads[3];

	for (int i = 0; i < 3 && !is_single(); i++)
		threads[i] = test_thread(submit_from_outside, &pair);
	for (int i = 0; i < 3 && !is_single(); i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(count, is_single() ? 0 : 300);
	sley_graph_destroy(graph);
	stop(rt);
}
