/* SPDX-License-Identifier: MIT */
/*
 * graph_run.c - runs, one after the other: S19, S20, S21.
 */
#include "conformance/graph/graph.h"

static struct sley_graph_scope *begin(struct sley_graph *graph)
{
	struct sley_graph_scope *run = NULL;

	CHECK_EQ(sley_graph_run_begin(&run, graph), 0);
	CHECK(run != NULL);
	return run;
}

static int finish(struct sley_graph_scope *run)
{
	int err = sley_graph_scope_wait(run);

	sley_graph_scope_end(run);
	return err;
}

struct turn {
	atomic_int *now; /* the run whose turn it is, and how many are inside */
	int run;
};

static int in_its_turn(void *arg)
{
	struct turn *turn = arg;

	CHECK_EQ(atomic_load(turn->now), turn->run);
	if (turn->run % 3 == 0)
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	CHECK_EQ(atomic_load(turn->now), turn->run);
	return 0;
}

static int next_turn(void *arg)
{
	struct turn *turn = arg;

	atomic_store(turn->now, turn->run + 1);
	return 0;
}

static int sleep_and_write(void *arg)
{
	CHECK_EQ(sley_sleep(20 * SLEY_MSEC), 0);
	return write_down(arg);
}

TEST_WORKERS(s19_a_run_without_nodes_lets_none_pass)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(SLEY_GRAPH_OPTIONS(.max_runs = 3));
	struct order order = { .nr = 0 };
	struct entry entry[3] = { { &order, 1, 0 },
				  { &order, 2, 0 },
				  { &order, 3, 0 } };
	struct sley_graph_scope *run[3];

	for (int i = 0; i < 3; i++) {
		run[i] = begin(graph);
		if (i != 1)
			(void)submit_in(graph, run[i],
					i ? write_down : sleep_and_write,
					&entry[i]);
		CHECK_EQ(sley_graph_run_end(run[i]), 0);
	}
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(order.nr, 2);
	CHECK_EQ(order.what[0], 1);
	CHECK_EQ(order.what[1], 3);
	for (int i = 0; i < 3; i++)
		sley_graph_scope_end(run[i]);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s19_runs_never_mix_and_the_next_is_built_meanwhile)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct sley_graph_scope *last = NULL;
	atomic_int now = 0;
	struct turn turn[20];

	for (int i = 0; i < 20; i++) {
		struct sley_graph_scope *run = begin(graph);
		sley_node id[10];

		turn[i] = (struct turn){ &now, i };
		for (int j = 0; j < 10; j++)
			id[j] = submit_in(graph, run, in_its_turn, &turn[i]);
		CHECK_EQ(sley_graph_submit(
				 graph, NULL,
				 SLEY_NODE_SPEC(.fn = next_turn,
						.arg = &turn[i], .scope = run,
						.after = id, .nr_after = 10)),
			 0);
		CHECK_EQ(sley_graph_run_end(run), 0);
		if (last)
			CHECK_EQ(finish(last), 0);
		last = run;
	}
	CHECK_EQ(finish(last), 0);
	CHECK_EQ(now, 20);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s19_a_third_run_waits_until_the_first_has_ended)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct sley_event later = SLEY_EVENT_INIT;
	struct sley_graph_scope *run[3];

	for (int i = 0; i < 2; i++) {
		run[i] = begin(graph);
		(void)submit_in(graph, run[i], waits_for, &later);
		CHECK_EQ(sley_graph_run_end(run[i]), 0);
	}
	CHECK_EQ(sley_graph_run_begin_until(&run[2], graph, in_ms(2)), -EAGAIN);
	CHECK_EQ(sley_graph_scope_wait_until(run[0], in_ms(1)), -ETIMEDOUT);
	sley_event_set(&later);
	run[2] = begin(graph);
	CHECK_EQ(sley_graph_run_end(run[2]), 0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(finish(run[i]), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s19_the_next_run_is_begun_when_the_last_was_ended)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct sley_graph_scope *run = begin(graph), *other;

	CHECK_EQ(sley_graph_run_begin(&other, graph), -EBUSY);
	CHECK_EQ(sley_graph_run_end(run), 0);
	CHECK_EQ(finish(run), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s19_a_run_that_failed_does_not_poison_the_next)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	static int cell;

	for (int i = 0; i < 10; i++) {
		struct sley_graph_scope *run[2] = { begin(graph), NULL };
		struct sley_access all = SLEY_INOUT(cell);
		atomic_int count = 0;

		CHECK_EQ(sley_graph_submit(graph, NULL,
					   SLEY_NODE_SPEC(.fn = fail,
							  .scope = run[0],
							  .access = &all,
							  .nr_access = 1)),
			 0);
		CHECK_EQ(sley_graph_run_end(run[0]), 0);
		CHECK_EQ(finish(run[0]), -EIO);
		run[1] = begin(graph);
		CHECK_EQ(sley_graph_submit(
				 graph, NULL,
				 SLEY_NODE_SPEC(.fn = count_up, .arg = &count,
						.scope = run[1], .access = &all,
						.nr_access = 1)),
			 0);
		CHECK_EQ(sley_graph_run_end(run[1]), 0);
		CHECK_EQ(finish(run[1]), 0);
		CHECK_EQ(count, 1);
	}
	sley_graph_destroy(graph);
	stop(rt);
}

static void use(struct sley_graph *graph, struct sley_graph_scope *run,
		sley_node_fn *fn, void *arg, struct sley_access access)
{
	CHECK_EQ(sley_graph_submit(
			 graph, NULL,
			 SLEY_NODE_SPEC(.fn = fn, .arg = arg, .scope = run,
					.access = &access, .nr_access = 1)),
		 0);
}

struct waiter {
	struct sley_event event;
	atomic_bool started;
};

static int starts_and_waits(void *arg)
{
	struct waiter *waiter = arg;

	atomic_store(&waiter->started, true);
	return sley_event_wait(&waiter->event);
}

static int fails_later(void *arg)
{
	int err = sley_event_wait(arg);

	return err ? err : -EIO;
}

/* In a scope of the run as well, whether that is still there or not. */
TEST_WORKERS(s19_nor_one_that_was_built_before_it_failed)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct sley_graph_scope *run[2], *inner = NULL;
	struct waiter later = { .event = SLEY_EVENT_INIT };
	struct sley_event fail = SLEY_EVENT_INIT;
	atomic_int count = 0;
	static int cell[2];
	sley_node id;

	run[0] = begin(graph);
	CHECK_EQ(sley_graph_scope_begin(&inner, graph, run[0]), 0);
	id = submit_in(graph, run[0], starts_and_waits, &later);
	use(graph, run[0], fails_later, &fail, SLEY_INOUT(cell[0]));
	use(graph, inner, fails_later, &fail, SLEY_INOUT(cell[1]));
	sley_graph_scope_end(inner);
	CHECK_EQ(sley_graph_run_end(run[0]), 0);
	run[1] = begin(graph);
	use(graph, run[1], count_up, &count, SLEY_INOUT(cell[0]));
	use(graph, run[1], count_up, &count, SLEY_INOUT(cell[1]));
	/* Also one that is named.  It runs: what it returns is a failure. */
	CHECK_SOON(atomic_load(&later.started));
	CHECK_EQ(sley_node_cancel(graph, id), 0);
	CHECK_EQ(sley_graph_submit(graph, NULL,
				   SLEY_NODE_SPEC(.fn = count_up, .arg = &count,
						  .scope = run[1], .after = &id,
						  .nr_after = 1)),
		 0);
	CHECK_EQ(sley_graph_run_end(run[1]), 0);
	/* The run has the error of the first node that failed. */
	CHECK_SOON(sley_node_outcome(graph, id, NULL) != SLEY_OUTCOME_NONE);
	sley_event_set(&fail);
	CHECK_EQ(finish(run[0]), -ECANCELED);
	CHECK_EQ(finish(run[1]), 0);
	CHECK_EQ(count, 3);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s19_nor_the_one_after_if_nobody_has_heard_of_it)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct sley_graph_scope *last;
	atomic_int count = 0;
	static int cell;

	for (int i = 0; i < 10; i++) {
		struct sley_graph_scope *run[2] = { begin(graph), NULL };
		struct sley_graph_scope *inner = NULL;

		CHECK_EQ(sley_graph_scope_begin(&inner, graph, run[0]), 0);
		use(graph, inner, fail, NULL, SLEY_INOUT(cell));
		sley_graph_scope_end(inner);
		CHECK_EQ(sley_graph_run_end(run[0]), 0);
		sley_graph_scope_end(run[0]);
		run[1] = begin(graph);
		use(graph, run[1], count_up, &count, SLEY_INOUT(cell));
		CHECK_EQ(sley_graph_run_end(run[1]), 0);
		CHECK_EQ(finish(run[1]), 0);
		CHECK_EQ(count, i + 1);
	}
	/* But what is in no run is. */
	last = begin(graph);
	use(graph, last, fail, NULL, SLEY_INOUT(cell));
	CHECK_EQ(sley_graph_run_end(last), 0);
	sley_graph_scope_end(last);
	use(graph, NULL, count_up, &count, SLEY_INOUT(cell));
	CHECK_EQ(sley_graph_wait(graph), -EIO);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(count, 10);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s19_a_scope_in_a_run_comes_after_the_run_before_as_well)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct sley_event later = SLEY_EVENT_INIT;
	struct sley_graph_scope *run[2], *inner = NULL;
	atomic_int count = 0;

	run[0] = begin(graph);
	(void)submit_in(graph, run[0], waits_for, &later);
	CHECK_EQ(sley_graph_run_end(run[0]), 0);
	run[1] = begin(graph);
	CHECK_EQ(sley_graph_scope_begin(&inner, graph, run[1]), 0);
	(void)submit_in(graph, inner, count_up, &count);
	CHECK_EQ(sley_graph_scope_wait_until(inner, in_ms(2)), -ETIMEDOUT);
	CHECK_EQ(count, 0);
	sley_event_set(&later);
	CHECK_EQ(sley_graph_run_end(run[1]), 0);
	sley_graph_scope_end(inner);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(finish(run[i]), 0);
	CHECK_EQ(count, 1);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- a run whose nodes submit more ------------------------------------------------- */

struct late {
	struct sley_graph *graph;
	struct sley_graph_scope *run;
	struct sley_event built; /* the run after it */
	sley_node id;            /* of that */
	atomic_int count;
};

static int cell_of_both;

/* Each of them would wait for a node that waits for this one's run. */
static int submits_late(void *arg)
{
	struct late *late = *(struct late **)arg;
	struct sley_access access = SLEY_IN(cell_of_both);

	CHECK_EQ(sley_event_wait(&late->built), 0);
	CHECK_EQ(sley_graph_submit(
			 late->graph, NULL,
			 SLEY_NODE_SPEC(.fn = count_up, .arg = &late->count,
					.scope = late->run, .access = &access,
					.nr_access = 1)),
		 -EDEADLK);
	CHECK_EQ(sley_graph_submit(
			 late->graph, NULL,
			 SLEY_NODE_SPEC(.fn = count_up, .arg = &late->count,
					.scope = late->run, .order = &late->id,
					.nr_order = 1)),
		 -EDEADLK);
	(void)submit_in(late->graph, late->run, count_up, &late->count);
	return 0;
}

TEST_WORKERS(s19_a_run_does_not_wait_for_the_next_one)
{
	struct sley *rt = start();
	struct late late = { .graph = graph_new(NULL) }, *at = &late;
	struct sley_access access = SLEY_INOUT(cell_of_both);
	struct sley_graph_scope *next;

	late.run = begin(late.graph);
	CHECK_EQ(sley_graph_submit(late.graph, NULL,
				   SLEY_NODE_SPEC(.fn = submits_late,
						  .arg = &at,
						  .arg_size = sizeof(at),
						  .scope = late.run)),
		 0);
	CHECK_EQ(sley_graph_run_end(late.run), 0);
	next = begin(late.graph);
	CHECK_EQ(sley_graph_submit(
			 late.graph, &late.id,
			 SLEY_NODE_SPEC(.fn = count_up, .arg = &late.count,
					.scope = next, .access = &access,
					.nr_access = 1)),
		 0);
	CHECK_EQ(sley_graph_run_end(next), 0);
	sley_event_set(&late.built);
	CHECK_EQ(finish(late.run), 0);
	CHECK_EQ(finish(next), 0);
	CHECK_EQ(late.count, 2);
	sley_graph_destroy(late.graph);
	stop(rt);
}

TEST_WORKERS(s20_an_empty_run_is_over_when_it_is_ended)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(SLEY_GRAPH_OPTIONS(.max_runs = 1));

	for (int i = 0; i < 50; i++) {
		struct sley_graph_scope *run = begin(graph);

		CHECK_EQ(sley_graph_run_end(run), 0);
		CHECK_EQ(finish(run), 0);
	}
	sley_graph_destroy(graph);
	stop(rt);
}

/* What it waits for is of no run: one comes after the next run, the other does not. */
static int submits_behind(void *arg)
{
	struct late *late = *(struct late **)arg;
	sley_node before = SLEY_NO_NODE;

	CHECK_EQ(sley_event_wait(&late->built), 0);
	before = submit_in(late->graph, NULL, count_up, &late->count);
	CHECK_EQ(sley_graph_submit(
			 late->graph, NULL,
			 SLEY_NODE_SPEC(.fn = count_up, .arg = &late->count,
					.scope = late->run, .order = &late->id,
					.nr_order = 1)),
		 -EDEADLK);
	CHECK_EQ(sley_graph_submit(
			 late->graph, NULL,
			 SLEY_NODE_SPEC(.fn = count_up, .arg = &late->count,
					.scope = late->run, .order = &before,
					.nr_order = 1)),
		 0);
	return 0;
}

TEST_WORKERS(s19_nor_for_what_comes_after_a_later_run)
{
	struct sley *rt = start();
	struct late late = { .graph = graph_new(NULL) }, *arg = &late;
	struct sley_graph_scope *next;
	sley_node of_next;

	late.run = begin(late.graph);
	(void)submit_in(late.graph, late.run, submits_behind, &arg);
	CHECK_EQ(sley_graph_run_end(late.run), 0);
	next = begin(late.graph);
	of_next = submit_in(late.graph, next, count_up, &late.count);
	late.id = counts(late.graph, &late.count, &of_next, 1);
	CHECK_EQ(sley_graph_run_end(next), 0);
	sley_event_set(&late.built);
	CHECK_EQ(sley_graph_wait(late.graph), 0);
	CHECK_EQ(late.count, 4);
	sley_graph_scope_end(late.run);
	sley_graph_scope_end(next);
	sley_graph_destroy(late.graph);
	stop(rt);
}
