/* SPDX-License-Identifier: MIT */
/*
 * subprocess_graph.c - nodes that run in a subprocess, and graphs in there.
 */
#include "conformance/subprocess/subprocess.h"
#include "conformance/graph/graph.h"

/* ---- a node that calls ---------------------------------------------------------------- */

struct step {
	struct sley_subprocess *subprocess;
	sley_subprocess_fn *fn;
	uint64_t from, to;
};

static int call_subprocess(void *arg)
{
	struct step *step = arg;
	struct sley_subprocess_result result = { .data = &step->to,
						 .size = sizeof(step->to) };

	return sley_subprocess_call(step->subprocess, step->fn, &step->from,
				    sizeof(step->from), &result);
}

TEST_WORKERS(s27_nodes_call_subprocesses_side_by_side)
{
	struct sley_subprocess *subprocesses[2];
	struct step steps[10];
	struct sley_graph *graph;
	struct sley *rt;

	begin_subprocesses();
	rt = start();
	for (int i = 0; i < 2; i++)
		subprocesses[i] = subprocess_new(NULL);
	graph = graph_new(NULL);
	for (int i = 0; i < 10; i++) {
		steps[i] = (struct step){ .subprocess = subprocesses[i % 2],
					  .fn = add_one,
					  .from = (uint64_t)i };
		CHECK_EQ(sley_graph_submit(graph, NULL,
					   SLEY_NODE_SPEC(.fn = call_subprocess,
							  .arg = &steps[i])),
			 0);
	}
	CHECK_EQ(sley_graph_wait(graph), 0);
	for (int i = 0; i < 10; i++)
		CHECK_EQ(steps[i].to, i + 1);
	sley_graph_destroy(graph);
	for (int i = 0; i < 2; i++)
		sley_subprocess_destroy(subprocesses[i]);
	stop(rt);
	sley_subprocesses_exit();
}

TEST_WORKERS(s27_a_crash_fails_a_node_and_not_the_program)
{
	struct step crashing, after;
	struct sley_subprocess *subprocess;
	struct sley_graph *graph;
	sley_node first, second;
	struct sley *rt;
	char text[128];
	int code = 0;

	begin_subprocesses();
	rt = start();
	subprocess = subprocess_new(NULL);
	graph = graph_new(NULL);
	crashing = (struct step){ .subprocess = subprocess, .fn = crash };
	after = (struct step){ .subprocess = subprocess, .fn = add_one };
	CHECK_EQ(sley_graph_submit(graph, &first,
				   SLEY_NODE_SPEC(.fn = call_subprocess,
						  .arg = &crashing,
						  .name = "mesh")),
		 0);
	CHECK_EQ(sley_graph_submit(
			 graph, &second,
			 SLEY_NODE_SPEC(.fn = call_subprocess, .arg = &after,
					.after = &first, .nr_after = 1,
					.name = "solve")),
		 0);
	CHECK_EVENTUALLY(sley_node_outcome(graph, second, &code) !=
				 SLEY_OUTCOME_NONE ||
			 (sley_yield(), false));
	CHECK_EQ(sley_node_outcome(graph, second, &code), SLEY_OUTCOME_SKIPPED);
	CHECK_EQ(code, SLEY_ECHILD);
	CHECK_GT(sley_node_explain(graph, second, text, sizeof(text)), 0);
	CHECK_STR(text, "solve was skipped <- mesh failed: the subprocess "
			"that should run it has ended");
	CHECK_EQ(sley_graph_wait(graph), SLEY_ECHILD);
	/* The next run is clean. */
	CHECK_EQ(sley_graph_submit(graph, NULL,
				   SLEY_NODE_SPEC(.fn = call_subprocess,
						  .arg = &after)),
		 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(after.to, 1);
	sley_graph_destroy(graph);
	sley_subprocess_destroy(subprocess);
	stop(rt);
	sley_subprocesses_exit();
}

/* ---- a graph in a subprocess -------------------------------------------- */

struct sum {
	atomic_int total;
	int limit; /* a number above it fails */
};

struct term {
	struct sum *sum;
	int number;
};

static int add_term(void *arg)
{
	const struct term *term = arg;

	if (term->number > term->sum->limit)
		return -ERANGE;
	atomic_fetch_add(&term->sum->total, term->number);
	return 0;
}

static int end_of_sum(void *arg)
{
	(void)arg;
	return 0;
}

/* Numbers to 10 are added up, and a last one waits for all. */
static int run_graph(struct sum *sum, char *text)
{
	struct sley_graph *graph = graph_new(NULL);
	sley_node nodes[10], last;
	int err;

	for (int i = 0; i < 10; i++) {
		struct term term = { sum, i + 1 };

		CHECK_EQ(sley_graph_submit(
				 graph, &nodes[i],
				 SLEY_NODE_SPEC(.fn = add_term, .arg = &term,
						.arg_size = sizeof(term),
						.name = "term")),
			 0);
	}
	CHECK_EQ(sley_graph_submit(
			 graph, &last,
			 SLEY_NODE_SPEC(.fn = end_of_sum, .after = nodes,
					.nr_after = 10, .name = "sum")),
		 0);
	while (sley_node_outcome(graph, last, NULL) == SLEY_OUTCOME_NONE)
		sley_yield();
	err = sley_node_explain(graph, last, text, SLEY_SUBPROCESS_TEXT_MAX);
	if (sum->limit < 10)
		CHECK_GT(err, 0);
	else
		CHECK_EQ(err, -ESRCH); /* it did not fail */
	err = sley_graph_wait(graph);
	sley_graph_destroy(graph);
	return err;
}

/* A runtime of its own in the subprocess, for this call. */
static int sum_below(struct sley_subprocess_work *work)
{
	struct sum sum = { .total = 0, .limit = *(const int *)work->arg };
	struct sley *rt = NULL;
	int err, total;

	CHECK_EQ(sley_create(&rt, SLEY_CONFIG(.workers = 2)), 0);
	CHECK_EQ(sley_bind(rt), 0);
	err = run_graph(&sum, work->text);
	sley_unbind(rt);
	CHECK_EQ(sley_destroy(rt), 0);
	total = atomic_load(&sum.total);
	memcpy(work->result, &total, sizeof(total));
	work->result_size = sizeof(total);
	return err;
}

TEST_WORKERS(s27_a_subprocess_runs_a_graph_and_its_failure_comes_up)
{
	int limit = 100, total = 0;
	struct sley_subprocess_result result = { .data = &total,
						 .size = sizeof(total) };
	struct sley_subprocess *subprocess;
	struct sley *rt;

	CHECK_EQ(sley_subprocess_register("sum_below", sum_below), 0);
	begin_subprocesses();
	rt = start();
	subprocess = subprocess_new(NULL);
	CHECK_EQ(sley_subprocess_call(subprocess, sum_below, &limit,
				      sizeof(limit), &result),
		 0);
	CHECK_EQ(total, 55);
	limit = 7;
	CHECK_EQ(sley_subprocess_call(subprocess, sum_below, &limit,
				      sizeof(limit), &result),
		 -ERANGE);
	CHECK_EQ(result.outcome, SLEY_OUTCOME_FAILURE);
	check_contains(result.text, "sum was skipped <- term failed: ");
	CHECK_EQ(sley_subprocess_restarts(subprocess), 0);
	sley_subprocess_destroy(subprocess);
	stop(rt);
	sley_subprocesses_exit();
}

/* ---- a subprocess of a subprocess --------------------------------------- */

/* It has a fork server and a subprocess of its own. */
static int pass_on(struct sley_subprocess_work *work)
{
	struct sley_subprocess_result result = {
		.data = work->result, .size = SLEY_SUBPROCESS_DATA_MAX
	};
	struct sley_subprocess *subprocess;
	int err;

	CHECK_EQ(sley_subprocesses_init(), 0);
	subprocess =
		subprocess_new(SLEY_SUBPROCESS_OPTIONS(.name = "grandchild"));
	err = sley_subprocess_call(subprocess, work->arg_size ? crash : say_pid,
				   NULL, 0, &result);
	memcpy(work->text, result.text, sizeof(result.text));
	work->result_size = result.size;
	sley_subprocess_destroy(subprocess);
	sley_subprocesses_exit();
	return err;
}

TEST(s27_levels_nest_and_what_fails_below_is_told_above)
{
	pid_t pid = 0;
	struct sley_subprocess_result result = { .data = &pid,
						 .size = sizeof(pid) };
	struct sley_subprocess *subprocess;
	struct sley *rt;

	CHECK_EQ(sley_subprocess_register("pass_on", pass_on), 0);
	begin_subprocesses();
	rt = start();
	subprocess = subprocess_new(NULL);
	CHECK_EQ(sley_subprocess_call(subprocess, pass_on, NULL, 0, &result),
		 0);
	CHECK_NE(pid, 0);
	CHECK_NE(pid, sley_subprocess_pid(subprocess));
	CHECK_EQ(sley_subprocess_call(subprocess, pass_on, "x", 1, &result),
		 SLEY_ECHILD);
	/* The subprocess lives: it is its own subprocess that has died. */
	CHECK_EQ(result.outcome, SLEY_OUTCOME_FAILURE);
	CHECK_STR(result.text, "crash: grandchild was killed by signal 11 "
			       "(Segmentation fault)");
	CHECK_EQ(sley_subprocess_restarts(subprocess), 0);
	sley_subprocess_destroy(subprocess);
	stop(rt);
	sley_subprocesses_exit();
}
