/* SPDX-License-Identifier: MIT */
/*
 * graph_deadlock.c - nodes that wait for what waits for them, and are told.
 */
#include "conformance/graph/graph.h"

#include "graph/node/deadlock.h"

#include <stdio.h>

/* ---- what was reported ------------------------------------------------------------- */

static struct {
	atomic_int nr;
	char line[600];
} told;

static void hear(void *self, const char *line)
{
	(void)self;
	snprintf(told.line, sizeof(told.line), "%s", line);
	atomic_fetch_add(&told.nr, 1);
}

static struct sley *begin_slowly(void)
{
	struct sley_config config = *test_config();

	config.report = hear;
	return start_with(&config);
}

/* In a tenth of the time, where the build lets a test say so. */
static struct sley *begin(void)
{
#ifdef SLEY_CHAOS
	deadlock_first_ns_for_tests = DEADLOCK_FIRST_NS / 10;
#endif
	return begin_slowly();
}

/* ---- one node ------------------------------------------------------------------------ */

struct outer {
	struct sley_graph *graph;
	int value;
	int nr; /* nodes between it and the one in the scope */
	int heard;
	uint64_t waited_ns;
};

/* A node that uses some memory. */
static sley_node put(struct sley_graph *graph, struct sley_access access,
		     struct sley_node_spec spec)
{
	spec.size = sizeof(spec);
	spec.access = &access;
	spec.nr_access = 1;
	return submit(graph, &spec);
}

/* Submits a node that reads what it writes itself, and waits for that. */
static int wait_for_reader(void *arg)
{
	struct outer *outer = arg;
	struct sley_graph_scope *scope = NULL;
	sley_node last = SLEY_NO_NODE;
	uint64_t since_ns;

	CHECK_EQ(sley_graph_scope_begin(&scope, outer->graph, NULL), 0);
	for (int i = 0; i < outer->nr; i++)
		last = put(outer->graph, SLEY_IN(outer->value),
			   (struct sley_node_spec){
				   .fn = pass, .after = &last, .nr_after = 1 });
	(void)put(outer->graph, SLEY_IN(outer->value),
		  (struct sley_node_spec){ .fn = pass,
					   .name = "inner",
					   .scope = scope,
					   .after = &last,
					   .nr_after = 1 });
	since_ns = sley_now();
	outer->heard = sley_graph_scope_wait(scope);
	outer->waited_ns = sley_now() - since_ns;
	sley_graph_scope_end(scope);
	return 0;
}

static void check_told(struct sley *rt, int nr)
{
	struct outer outer = { .graph = graph_new(NULL), .nr = nr };

	(void)put(outer.graph, SLEY_OUT(outer.value),
		  (struct sley_node_spec){ .fn = wait_for_reader,
					   .arg = &outer,
					   .name = "outer" });
	CHECK_EQ(sley_graph_wait(outer.graph), 0);
	CHECK_EQ(outer.heard, -EDEADLK);
	CHECK_GE(outer.waited_ns, deadlock_first_ns());
	CHECK_EQ(atomic_load(&told.nr), 1);
	CHECK_STR(told.line,
		  "graph: nodes wait in a cycle: outer waits for a scope <- "
		  "inner is in it, and comes after outer");
	sley_graph_destroy(outer.graph);
	stop(rt);
}

TEST_WORKERS(s32_a_node_that_waits_for_who_reads_what_it_writes_is_told)
{
	check_told(begin(), 0);
}

TEST(s32_it_is_told_after_a_quarter_of_a_second_and_not_before)
{
	CHECK_EQ(deadlock_first_ns(), 250 * SLEY_MSEC);
	check_told(begin_slowly(), 0);
}

TEST_WORKERS(s32_and_so_it_is_however_many_are_in_between)
{
	check_told(begin(), 5000);
}

TEST(s32_in_steps_it_is_told_when_none_is_left)
{
	struct sley *rt = begin();
	struct outer outer = { .graph = graph_new(
				       SLEY_GRAPH_OPTIONS(.stepped = true,
							  .name = "steps")) };

	CHECK_EQ(sley_graph_add(outer.graph, wait_for_reader, &outer,
				SLEY_OUT(outer.value)),
		 0);
	CHECK_EQ(sley_graph_wait(outer.graph), 0);
	CHECK_EQ(outer.heard, -EDEADLK);
	CHECK_STR(
		told.line,
		"steps: a node waits for nodes that only a later step would run");
	sley_graph_destroy(outer.graph);
	stop(rt);
}

/* ---- two nodes ------------------------------------------------------------------------- */

struct member {
	struct sley_graph_scope *other;
	struct sley_event *both;
	atomic_int *nr_there;
	int heard;
	uint64_t patience_ns; /* 0: it waits for ever */
};

static int wait_for_other(void *arg)
{
	struct member *member = arg;

	if (atomic_fetch_add(member->nr_there, 1) == 1)
		sley_event_set(member->both);
	CHECK_EQ(sley_event_wait(member->both), 0);
	if (member->patience_ns)
		member->heard = sley_graph_scope_wait_until(
			member->other, sley_now() + member->patience_ns);
	else
		member->heard = sley_graph_scope_wait(member->other);
	return 0;
}

static void submit_member(struct sley_graph *graph,
			  struct sley_graph_scope *scope, struct member *member,
			  const char *name)
{
	CHECK_EQ(sley_graph_submit(graph, NULL,
				   SLEY_NODE_SPEC(.fn = wait_for_other,
						  .arg = member, .name = name,
						  .scope = scope)),
		 0);
}

/* Two, each in a scope that the other waits for; the first one for ever, or not. */
static void play_two(struct member member[2], bool has_deadline)
{
	struct sley *rt = begin();
	uint64_t patience_ns = has_deadline ? 2 * deadlock_first_ns() : 0;
	struct sley_graph *graph = graph_new(NULL);
	struct sley_event both = SLEY_EVENT_INIT;
	struct sley_graph_scope *scope[2];
	atomic_int nr_there = 0;

	for (int i = 0; i < 2; i++)
		CHECK_EQ(sley_graph_scope_begin(&scope[i], graph, NULL), 0);
	for (int i = 0; i < 2; i++) {
		member[i] = (struct member){ scope[!i], &both, &nr_there, 1,
					     i ? 0 : patience_ns };
		submit_member(graph, scope[i], &member[i], i ? "b" : "a");
	}
	CHECK_EQ(sley_graph_wait(graph), 0);
	for (int i = 0; i < 2; i++)
		sley_graph_scope_end(scope[i]);
	sley_graph_destroy(graph);
	stop(rt);
}

TEST_WORKERS(s32_two_that_wait_for_the_scopes_of_each_other_are_told)
{
	struct member member[2];

	play_two(member, false);
	/* One of them went on, so the other one could. */
	CHECK_EQ(atomic_load(&told.nr), 1);
	CHECK_EQ(member[0].heard + member[1].heard, -EDEADLK);
	CHECK_STR(told.line,
		  member[0].heard ? "graph: nodes wait in a cycle: a waits for "
				    "a scope <- b is in it <- b waits for a "
				    "scope <- a is in it"
				  : "graph: nodes wait in a cycle: b waits for "
				    "a scope <- a is in it <- a waits for a "
				    "scope <- b is in it");
}

TEST_WORKERS(s32_who_waits_with_a_deadline_is_in_no_circle)
{
	struct member member[2];

	play_two(member, true);
	/* The first one goes on in the end, and so does the other. */
	CHECK_EQ(atomic_load(&told.nr), 0);
	CHECK_EQ(member[0].heard, -ETIMEDOUT);
	CHECK_EQ(member[1].heard, 0);
}

/* ---- runs -------------------------------------------------------------------------------- */

struct late {
	struct sley_graph_scope *next;
	struct sley_event begun;
	int heard;
};

static int wait_for_next_run(void *arg)
{
	struct late *late = arg;

	CHECK_EQ(sley_event_wait(&late->begun), 0);
	late->heard = sley_graph_scope_wait(late->next);
	return 0;
}

TEST_WORKERS(s32_a_node_of_a_run_does_not_wait_for_the_next_one)
{
	struct sley *rt = begin();
	struct sley_graph *graph = graph_new(NULL);
	struct late late = { .heard = 1 };
	struct sley_graph_scope *run;

	CHECK_EQ(sley_graph_run_begin(&run, graph), 0);
	CHECK_EQ(sley_graph_submit(graph, NULL,
				   SLEY_NODE_SPEC(.fn = wait_for_next_run,
						  .arg = &late, .name = "late",
						  .scope = run)),
		 0);
	CHECK_EQ(sley_graph_run_end(run), 0);
	CHECK_EQ(sley_graph_run_begin(&late.next, graph), 0);
	CHECK_EQ(sley_graph_submit(graph, NULL,
				   SLEY_NODE_SPEC(.fn = pass, .name = "next",
						  .scope = late.next)),
		 0);
	CHECK_EQ(sley_graph_run_end(late.next), 0);
	sley_event_set(&late.begun);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(late.heard, -EDEADLK);
	CHECK_EQ(atomic_load(&told.nr), 1);
	sley_graph_scope_end(run);
	sley_graph_scope_end(late.next);
	sley_graph_destroy(graph);
	stop(rt);
}

/* ---- a circle that is closed later ---------------------------------------------------------- */

struct trap {
	struct sley_graph *graph;
	struct sley_graph_scope *scope;
	int value;
	int heard;
};

static int wait_for_scope(void *arg)
{
	struct trap *trap = arg;

	trap->heard = sley_graph_scope_wait(trap->scope);
	return 0;
}

/* When the other one has looked already: a reader of what that one writes. */
static int close_it(void *arg)
{
	struct trap *trap = arg;

	CHECK_EQ(sley_sleep(deadlock_first_ns() * 8 / 5), 0);
	(void)put(trap->graph, SLEY_IN(trap->value),
		  (struct sley_node_spec){ .fn = pass, .scope = trap->scope });
	return 0;
}

TEST_WORKERS(s32_a_circle_is_found_though_it_is_closed_later)
{
	struct sley *rt = begin();
	struct trap trap = { .graph = graph_new(NULL), .heard = 1 };

	CHECK_EQ(sley_graph_scope_begin(&trap.scope, trap.graph, NULL), 0);
	CHECK_EQ(sley_graph_submit(trap.graph, NULL,
				   SLEY_NODE_SPEC(.fn = close_it, .arg = &trap,
						  .scope = trap.scope)),
		 0);
	CHECK_EQ(sley_graph_add(trap.graph, wait_for_scope, &trap,
				SLEY_OUT(trap.value)),
		 0);
	CHECK_EQ(sley_graph_wait(trap.graph), 0);
	CHECK_EQ(trap.heard, -EDEADLK);
	sley_graph_scope_end(trap.scope);
	sley_graph_destroy(trap.graph);
	stop(rt);
}

/* ---- no circle ------------------------------------------------------------------------------- */

static int sleep_long(void *arg)
{
	(void)arg;
	return sley_sleep(deadlock_first_ns() * 8 / 5);
}

struct nest {
	struct sley_graph *graph;
	int depth;
};

/* Each waits for a scope in which the next one waits, at last for a sleeper. */
static int wait_for_nested(void *arg)
{
	const struct nest *nest = arg;
	struct nest inner = { nest->graph, nest->depth - 1 };
	struct sley_graph_scope *scope = NULL;
	int err;

	CHECK_EQ(sley_graph_scope_begin(&scope, nest->graph, NULL), 0);
	CHECK_EQ(sley_graph_submit(
			 nest->graph, NULL,
			 SLEY_NODE_SPEC(.fn = inner.depth ? wait_for_nested
							  : sleep_long,
					.arg = &inner, .scope = scope)),
		 0);
	err = sley_graph_scope_wait(scope);
	sley_graph_scope_end(scope);
	return err;
}

TEST_WORKERS(s32_who_waits_for_long_waits_in_no_circle)
{
	struct sley *rt = begin();
	struct nest nest = { graph_new(NULL), 5 };
	int value;

	/* What comes after it is in no scope that it waits for. */
	CHECK_EQ(sley_graph_add(nest.graph, wait_for_nested, &nest,
				SLEY_OUT(value)),
		 0);
	CHECK_EQ(sley_graph_add(nest.graph, pass, NULL, SLEY_IN(value)), 0);
	CHECK_EQ(sley_graph_wait(nest.graph), 0);
	CHECK_EQ(atomic_load(&told.nr), 0);
	sley_graph_destroy(nest.graph);
	stop(rt);
}
