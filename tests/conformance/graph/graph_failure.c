/* SPDX-License-Identifier: MIT */
/*
 * graph_failure.c - nodes that fail or are cancelled, and what becomes of those
 * behind them: S07, S09, S14, S21, R-S1, R-S3.
 */
#include "conformance/graph/graph.h"

#include <sley/error.h>

static sley_node fails(struct sley_graph *graph)
{
	return submit(graph, SLEY_NODE_SPEC(.fn = fail));
}

static void check_outcome(struct sley_graph *graph, sley_node id,
			  enum sley_outcome outcome, int code)
{
	int found = 1;

	CHECK_EQ(sley_node_outcome(graph, id, &found), outcome);
	CHECK_EQ(found, code);
}

/* Until all have ended; the failures stay. */
static void let_end(struct sley_graph *graph, sley_node id)
{
	CHECK_SOON(sley_node_outcome(graph, id, NULL) != SLEY_OUTCOME_NONE);
}

struct event_node {
	struct sley_event event;
	atomic_int waiting;
	atomic_int code;
};

static int wait_for_event(void *arg)
{
	struct event_node *e = arg;
	int err;

	atomic_fetch_add(&e->waiting, 1);
	err = sley_event_wait(&e->event);
	atomic_store(&e->code, err);
	return err;
}

/* ---- S09: who depends on one that failed --------------------------------------- */

TEST_WORKERS(s09_those_behind_a_failure_are_skipped)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct event_node gate = { SLEY_EVENT_INIT, 0, 0 };
	atomic_int count = 0;
	sley_node first, a, b, c, other;

	first = submit(graph,
		       SLEY_NODE_SPEC(.fn = wait_for_event, .arg = &gate));
	a = submit(graph,
		   SLEY_NODE_SPEC(.fn = fail, .after = &first, .nr_after = 1));
	b = counts(graph, &count, &a, 1);
	c = counts(graph, &count, &b, 1);
	other = counts(graph, &count, &first, 1);
	sley_event_set(&gate.event);
	let_end(graph, c);
	check_outcome(graph, a, SLEY_OUTCOME_FAILURE, -EIO);
	check_outcome(graph, b, SLEY_OUTCOME_SKIPPED, -EIO);
	check_outcome(graph, c, SLEY_OUTCOME_SKIPPED, -EIO);
	CHECK_EQ(sley_graph_wait(graph), -EIO);
	check_outcome(graph, other, SLEY_OUTCOME_SUCCESS, 0);
	CHECK_EQ(atomic_load(&count), 1);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s09_a_diamond_is_skipped_once)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	atomic_int count = 0;

	for (int i = 0; i < 50; i++) {
		sley_node top = fails(graph);
		sley_node side[] = { counts(graph, &count, &top, 1),
				     counts(graph, &count, &top, 1) };
		sley_node bottom = counts(graph, &count, side, 2);

		let_end(graph, bottom);
		check_outcome(graph, bottom, SLEY_OUTCOME_SKIPPED, -EIO);
		CHECK_EQ(sley_graph_wait(graph), -EIO);
		CHECK_EQ(sley_graph_wait(graph), 0);
	}
	CHECK_EQ(atomic_load(&count), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s09_a_deep_chain_is_skipped_without_a_deep_stack)
{
	struct sley *rt = start();
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.max_nodes = 1 << 20));
	struct event_node gate = { SLEY_EVENT_INIT, 0, 0 };
	atomic_int count = 0;
	int n = test_scale(100000);
	sley_node first, last;

	first = submit(graph,
		       SLEY_NODE_SPEC(.fn = wait_for_event, .arg = &gate));
	last = submit(graph, SLEY_NODE_SPEC(.fn = fail, .after = &first,
					    .nr_after = 1));
	for (int i = 0; i < n; i++)
		last = counts(graph, &count, &last, 1);
	sley_event_set(&gate.event);
	let_end(graph, last);
	check_outcome(graph, last, SLEY_OUTCOME_SKIPPED, -EIO);
	CHECK_GT(sley_node_explain(graph, last, NULL, 0), n);
	CHECK_EQ(sley_graph_wait(graph), -EIO);
	CHECK_EQ(atomic_load(&count), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s09_one_that_runs_already_is_not_skipped)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct event_node runs = { SLEY_EVENT_INIT, 0, 0 };
	atomic_int count = 0;
	sley_node running, bad;

	running = submit(graph,
			 SLEY_NODE_SPEC(.fn = wait_for_event, .arg = &runs));
	CHECK_SOON(atomic_load(&runs.waiting) == 1);
	bad = fails(graph);
	let_end(graph, bad);
	check_outcome(graph, running, SLEY_OUTCOME_NONE, 0);
	/* One that only comes behind the failure runs, too. */
	CHECK_EQ(sley_graph_submit(graph, NULL,
				   SLEY_NODE_SPEC(.fn = count_up, .arg = &count,
						  .after = &running,
						  .nr_after = 1, .order = &bad,
						  .nr_order = 1)),
		 0);
	sley_event_set(&runs.event);
	CHECK_EQ(sley_graph_wait(graph), -EIO);
	CHECK_EQ(atomic_load(&count), 1);
	sley_graph_destroy(graph);
	stop(rt);
}

/* One that is both needed and first is needed. */
TEST_WORKERS(s06_who_is_needed_and_comes_first_is_needed)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	atomic_int count = 0;
	sley_node bad = fails(graph), both;

	both = submit(graph, SLEY_NODE_SPEC(.fn = count_up, .arg = &count,
					    .order = &bad, .nr_order = 1,
					    .after = &bad, .nr_after = 1));
	let_end(graph, both);
	check_outcome(graph, both, SLEY_OUTCOME_SKIPPED, -EIO);
	CHECK_EQ(sley_graph_wait(graph), -EIO);
	CHECK_EQ(atomic_load(&count), 0);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- R-S1, R-S3: too late, and over and over --------------------------------------- */

TEST_WORKERS(rs1_who_is_submitted_behind_a_failure_never_runs)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	atomic_int count = 0;
	sley_node bad = fails(graph), late;

	let_end(graph, bad);
	late = counts(graph, &count, &bad, 1);
	let_end(graph, late);
	check_outcome(graph, late, SLEY_OUTCOME_SKIPPED, -EIO);
	CHECK_EQ(sley_graph_wait(graph), -EIO);
	CHECK_EQ(atomic_load(&count), 0);
	/* It is forgotten, and so nothing keeps those who name it. */
	check_outcome(graph, bad, SLEY_OUTCOME_SUCCESS, 0);
	(void)counts(graph, &count, &bad, 1);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(atomic_load(&count), 1);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(rs3_runs_leave_nothing_behind)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	atomic_int count = 0;
	int64_t after_first = 0;

	for (int round = 0; round < 100; round++) {
		sley_node all[40];

		for (int i = 0; i < 40; i++)
			all[i] = i % 3 ? counts(graph, &count, all, (uint32_t)i)
				       : fails(graph);
		CHECK_EQ(sley_graph_wait(graph), -EIO);
		if (round == 10)
			after_first = test_allocated();
	}
	CHECK_LE(test_allocated(), after_first);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- S14, S07: each outcome, and the first failure -------------------------------------- */

static int say(void *arg)
{
	return *(int *)arg;
}

TEST_WORKERS(s14_the_first_failure_is_reported_once)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	int codes[] = { -EPERM, -EIO, 7 };
	sley_node id = SLEY_NO_NODE;

	for (int i = 0; i < 3; i++)
		id = submit(graph,
			    SLEY_NODE_SPEC(.fn = say, .arg = &codes[i],
					   .order = &id, .nr_order = i > 0));
	CHECK_EQ(sley_graph_wait(graph), -EPERM);
	CHECK_EQ(sley_graph_wait(graph), 0);
	/* More than 0 is no failure. */
	check_outcome(graph, id, SLEY_OUTCOME_SUCCESS, 0);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- S21: cancel -------------------------------------------------------------------------- */

TEST_WORKERS(s21_a_cancelled_graph_skips_what_has_not_started)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct event_node runs = { SLEY_EVENT_INIT, 0, 0 };
	atomic_int count = 0;
	sley_node running;

	for (int round = 0; round < 20; round++) {
		running = submit(graph, SLEY_NODE_SPEC(.fn = wait_for_event,
						       .arg = &runs));
		for (int i = 0; i < 10; i++)
			(void)counts(graph, &count, &running, 1);
		CHECK_SOON(atomic_load(&runs.waiting) == round + 1);
		sley_graph_cancel(graph);
		/* Its outcome is its own. */
		(void)counts(graph, &count, NULL, 0);
		CHECK_EQ(sley_graph_wait(graph), -ECANCELED);
		CHECK_EQ(atomic_load(&runs.code), -ECANCELED);
		CHECK_EQ(atomic_load(&count), round);
		/* The next run is clean. */
		(void)counts(graph, &count, NULL, 0);
		CHECK_EQ(sley_graph_wait(graph), 0);
		CHECK_EQ(atomic_load(&count), round + 1);
	}
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s21_a_cancelled_node_takes_those_along_that_need_it)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct event_node gate = { SLEY_EVENT_INIT, 0, 0 };
	atomic_int count = 0;
	sley_node first, victim, behind, other;

	first = submit(graph,
		       SLEY_NODE_SPEC(.fn = wait_for_event, .arg = &gate));
	victim = counts(graph, &count, &first, 1);
	behind = counts(graph, &count, &victim, 1);
	other = counts(graph, &count, &first, 1);
	CHECK_EQ(sley_node_cancel(graph, victim), 0);
	CHECK_EQ(sley_node_cancel(graph, victim), 0);
	sley_event_set(&gate.event);
	let_end(graph, behind);
	let_end(graph, other);
	check_outcome(graph, victim, SLEY_OUTCOME_SKIPPED, -ECANCELED);
	check_outcome(graph, behind, SLEY_OUTCOME_SKIPPED, -ECANCELED);
	CHECK_EQ(sley_node_cancel(graph, victim), -ESRCH);
	CHECK_EQ(sley_node_cancel(graph, other), -ESRCH);
	CHECK_EQ(sley_node_cancel(graph, SLEY_NO_NODE), -ESRCH);
	CHECK_EQ(sley_graph_wait(graph), -ECANCELED);
	CHECK_EQ(atomic_load(&count), 1);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s21_a_cancelled_node_that_runs_is_asked_to_end)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct event_node runs = { SLEY_EVENT_INIT, 0, 0 };
	sley_node running;

	running = submit(graph,
			 SLEY_NODE_SPEC(.fn = wait_for_event, .arg = &runs));
	CHECK_SOON(atomic_load(&runs.waiting) == 1);
	CHECK_EQ(sley_node_cancel(graph, running), 0);
	let_end(graph, running);
	check_outcome(graph, running, SLEY_OUTCOME_FAILURE, -ECANCELED);
	CHECK_EQ(sley_graph_wait(graph), -ECANCELED);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- as text ------------------------------------------------------------------------------- */

TEST_WORKERS(s09_a_node_says_why_it_was_skipped)
{
	static const char whole[] =
		"solve was skipped <- a node was skipped <- read failed: "
		"Input/output error";
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	sley_node read, mesh, solve;
	char text[200];

	read = submit(graph, SLEY_NODE_SPEC(.fn = fail, .name = "read"));
	mesh = submit(graph, SLEY_NODE_SPEC(.fn = fail, .after = &read,
					    .nr_after = 1));
	solve = submit(graph, SLEY_NODE_SPEC(.fn = fail, .after = &mesh,
					     .nr_after = 1, .name = "solve"));
	let_end(graph, solve);
	CHECK_EQ(sley_node_explain(graph, solve, text, sizeof(text)),
		 sizeof(whole) - 1);
	CHECK_STR(text, whole);
	for (size_t size = 0; size < sizeof(whole) + 1; size++) {
		memset(text, 'x', sizeof(text));
		CHECK_EQ(sley_node_explain(graph, solve, text, size),
			 sizeof(whole) - 1);
		CHECK_EQ(text[size], 'x');
		if (!size)
			continue;
		CHECK_EQ(strlen(text),
			 size < sizeof(whole) ? size - 1 : sizeof(whole) - 1);
		CHECK(!strncmp(text, whole, strlen(text)));
	}
	CHECK_EQ(sley_graph_wait(graph), -EIO);
	CHECK_EQ(sley_node_explain(graph, solve, text, sizeof(text)), -ESRCH);
	CHECK_EQ(sley_node_explain(graph, SLEY_NO_NODE, text, 10), -ESRCH);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- when it is over -------------------------------------------------------------------- */

static void check_why(struct sley_graph *graph, const char *why)
{
	char text[300] = "";
	int length = sley_graph_explain(graph, text, sizeof(text));

	CHECK_EQ(length, why ? (int)strlen(why) : -ESRCH);
	CHECK_STR(text, why ? why : "");
}

TEST_WORKERS(s09_who_waited_can_ask_why_it_failed)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct event_node later = { .waiting = 0 };
	atomic_int count = 0;
	sley_node first;

	check_why(graph, NULL);
	first = submit(graph, SLEY_NODE_SPEC(.fn = fail, .name = "read"));
	(void)counts(graph, &count, &first, 1);
	CHECK_EQ(sley_graph_wait(graph), -EIO);
	check_why(graph, "read failed: Input/output error");
	/* Until the next one, also if that is given up. */
	(void)submit(graph,
		     SLEY_NODE_SPEC(.fn = wait_for_event, .arg = &later));
	CHECK_EQ(sley_graph_wait_until(graph, in_ms(1)), -ETIMEDOUT);
	check_why(graph, NULL);
	sley_event_set(&later.event);
	(void)counts(graph, &count, NULL, 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	check_why(graph, NULL);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s09_a_scope_that_was_taken_along_has_the_error_of_who_did)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct sley_graph_scope *scope;
	sley_node first;

	CHECK_EQ(sley_graph_scope_begin(&scope, graph, NULL), 0);
	first = submit(graph, SLEY_NODE_SPEC(.fn = fail, .name = "read"));
	(void)submit(graph,
		     SLEY_NODE_SPEC(.fn = fail, .name = "parse", .scope = scope,
				    .after = &first, .nr_after = 1));
	CHECK_EQ(sley_graph_scope_wait(scope), -EIO);
	check_why(graph,
		  "parse was skipped <- read failed: Input/output error");
	sley_graph_scope_end(scope);
	CHECK_EQ(sley_graph_wait(graph), -EIO);
	check_why(graph, "read failed: Input/output error");
	sley_graph_destroy(graph);
	stop(rt);
}

/* Nobody took it along: it says so. */
TEST_WORKERS(s09_a_node_that_was_cancelled_says_so)
{
	struct sley *rt = start();
	struct sley_graph *graph = graph_new(NULL);
	struct order order = { .nr = 0 };
	sley_node first = SLEY_NO_NODE, next = SLEY_NO_NODE;
	char text[100];

	sley_graph_cancel(graph);
	first = submit(graph, SLEY_NODE_SPEC(.fn = write_down, .arg = &order,
					     .name = "read"));
	CHECK_SOON(sley_node_outcome(graph, first, NULL) ==
		   SLEY_OUTCOME_SKIPPED);
	CHECK_GT(sley_node_explain(graph, first, text, sizeof(text)), 0);
	CHECK_STR(text, "read was cancelled");
	next = submit(graph, SLEY_NODE_SPEC(.fn = write_down, .arg = &order,
					    .after = &first, .nr_after = 1,
					    .name = "parse"));
	CHECK_SOON(sley_node_outcome(graph, next, NULL) ==
		   SLEY_OUTCOME_SKIPPED);
	CHECK_GT(sley_node_explain(graph, next, text, sizeof(text)), 0);
	CHECK_STR(text, "parse was skipped <- read was cancelled");
	CHECK_EQ(sley_graph_wait(graph), -ECANCELED);
	CHECK_EQ(order.nr, 0);
	sley_graph_destroy(graph);
	stop(rt);
}
