/* SPDX-License-Identifier: MIT */
/*
 * graph_endpoint.c - nodes that an endpoint runs: a subprocess, and graphs there.
 */
#include <sys/mman.h>

#include "conformance/subprocess/subprocess.h"
#include "conformance/graph/graph.h"

/* ---- what a node leaves, over there -------------------------------------------------- */

/* Shared with all subprocesses: mapped before the server was forked. */
static struct board {
	atomic_int pid;
	atomic_int sum;
	atomic_bool go;
	int data[1000]; /* plain: the edges of the graph order it */
} * board;

static struct sley *begin(void)
{
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(board != MAP_FAILED);
	begin_subprocesses();
	return start();
}

static void end(struct sley *rt)
{
	stop(rt);
	sley_subprocesses_exit();
	CHECK_EQ(munmap(board, sizeof(*board)), 0);
}

static int sign(void *arg)
{
	(void)arg;
	atomic_store(&board->pid, getpid());
	return 0;
}

static int add_to_sum(void *arg)
{
	int number;

	memcpy(&number, arg, sizeof(number));
	atomic_fetch_add(&board->sum, number);
	return number < 0 ? number : 0;
}

static int die(void *arg)
{
	(void)arg;
	(void)crash(NULL);
	return 0;
}

static int hang_there(void *arg)
{
	(void)arg;
	return hang(NULL);
}

static int await_go(void *arg)
{
	(void)arg;
	while (!atomic_load(&board->go))
		test_nap_ms(1);
	return 0;
}

static sley_node add_on(struct sley_graph *graph,
			struct sley_subprocess *subprocess, sley_node_fn *fn,
			const char *name, sley_node after)
{
	sley_node id = SLEY_NO_NODE;

	id = submit(graph,
		    SLEY_NODE_SPEC(.fn = fn, .name = name, .after = &after,
				   .nr_after = 1,
				   .on = sley_subprocess_endpoint(subprocess)));
	return id;
}

static void add_number(struct sley_graph *graph,
		       struct sley_subprocess *subprocess, int number)
{
	CHECK_EQ(sley_graph_submit(
			 graph, NULL,
			 SLEY_NODE_SPEC(.fn = add_to_sum, .arg = &number,
					.arg_size = sizeof(number),
					.on = sley_subprocess_endpoint(
						subprocess))),
		 0);
}

/* ---- it runs there ------------------------------------------------------------------- */

/* Each passes the address by value: @arg is a copy of the pointer. */
static int fill_data(void *arg)
{
	int *data = *(int **)arg;

	for (int i = 0; i < 1000; i++)
		data[i] = i;
	return 0;
}

static int double_data(void *arg)
{
	int *data = *(int **)arg;

	for (int i = 0; i < 1000; i++)
		data[i] *= 2;
	return 0;
}

static void add_to_data(struct sley_graph *graph, struct sley_subprocess *child,
			sley_node_fn *fn)
{
	const struct sley_access access = SLEY_INOUT(board->data);
	int *data = board->data;

	CHECK_EQ(sley_graph_submit(
			 graph, NULL,
			 SLEY_NODE_SPEC(.fn = fn, .arg = (void *)&data,
					.arg_size = sizeof(data),
					.access = &access, .nr_access = 1,
					.on = child ? sley_subprocess_endpoint(
							      child)
						    : NULL)),
		 0);
}

/* What the headers advise instead of buffers, which a subprocess cannot reach. */
TEST_WORKERS(s22_data_flows_through_memory_that_was_shared_before)
{
	struct sley *rt = begin();
	struct sley_subprocess *children[2] = { subprocess_new(NULL),
						subprocess_new(NULL) };
	struct sley_graph *graph = graph_new(NULL);

	for (int round = 0; round < 10; round++) {
		add_to_data(graph, children[0], fill_data);
		add_to_data(graph, NULL, double_data);
		add_to_data(graph, children[1], double_data);
		CHECK_EQ(sley_graph_wait(graph), 0);
		for (int i = 0; i < 1000; i++)
			CHECK_EQ(board->data[i], 4 * i);
		memset(board->data, 0, sizeof(board->data));
	}
	sley_graph_destroy(graph);
	for (int i = 0; i < 2; i++)
		sley_subprocess_destroy(children[i]);
	end(rt);
}

TEST_WORKERS(s26_a_node_runs_in_a_subprocess_without_being_registered)
{
	struct sley *rt = begin();
	struct sley_subprocess *subprocess = subprocess_new(NULL);
	struct sley_graph *graph = graph_new(NULL);

	(void)add_on(graph, subprocess, sign, "sign", SLEY_NO_NODE);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(atomic_load(&board->pid), sley_subprocess_pid(subprocess));
	for (int i = 1; i <= 10; i++)
		add_number(graph, subprocess, i);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(atomic_load(&board->sum), 55);
	sley_graph_destroy(graph);
	sley_subprocess_destroy(subprocess);
	end(rt);
}

TEST_WORKERS(s26_its_edges_are_those_of_any_node)
{
	struct sley *rt = begin();
	struct sley_subprocess *subprocess = subprocess_new(NULL);
	struct sley_graph *graph = graph_new(NULL);
	struct order order = { .nr = 0 };
	sley_node there, here;

	here = node(graph, &order, 1, NULL, 0);
	there = add_on(graph, subprocess, await_go, "there", here);
	(void)node(graph, &order, 2, &there, 1);
	CHECK_EVENTUALLY(atomic_load(&order.nr) == 1 || (sley_yield(), false));
	CHECK_EQ(sley_node_outcome(graph, there, NULL), SLEY_OUTCOME_NONE);
	atomic_store(&board->go, true);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(atomic_load(&order.nr), 2);
	CHECK_EQ(atomic_load(&order.what[1]), 2);
	sley_graph_destroy(graph);
	sley_subprocess_destroy(subprocess);
	end(rt);
}

TEST(s30_a_graph_in_steps_waits_for_its_subprocess)
{
	struct sley *rt = begin();
	struct sley_subprocess *subprocess = subprocess_new(NULL);
	struct sley_graph *graph =
		graph_new(SLEY_GRAPH_OPTIONS(.stepped = true));

	(void)add_on(graph, subprocess, sign, "sign", SLEY_NO_NODE);
	CHECK_EQ(atomic_load(&board->pid), 0);
	CHECK_EQ(sley_graph_step(graph), 1);
	CHECK_EQ(atomic_load(&board->pid), sley_subprocess_pid(subprocess));
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	sley_subprocess_destroy(subprocess);
	end(rt);
}

TEST_WORKERS(s10_a_subprocess_that_is_busy_holds_up_no_worker)
{
	struct sley *rt = begin();
	struct sley_subprocess *subprocess = subprocess_new(NULL);
	struct sley_graph *graph = graph_new(NULL);
	atomic_int count = 0;
	sley_node last = SLEY_NO_NODE;

	/* More of them than there are workers, or places in its ring. */
	for (int i = 0; i < 40; i++)
		(void)add_on(graph, subprocess, await_go, "await",
			     SLEY_NO_NODE);
	for (int i = 0; i < 100; i++)
		last = counts(graph, &count, &last, 1);
	CHECK_EVENTUALLY(atomic_load(&count) == 100 || (sley_yield(), false));
	atomic_store(&board->go, true);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	sley_subprocess_destroy(subprocess);
	end(rt);
}

/* ---- it fails there ------------------------------------------------------------------- */

TEST_WORKERS(s24_a_node_that_dies_over_there_says_how)
{
	struct sley *rt = begin();
	struct sley_subprocess *subprocess =
		subprocess_new(SLEY_SUBPROCESS_OPTIONS(.name = "mesher"));
	struct sley_graph *graph = graph_new(NULL);
	sley_node first, second;
	char text[256];
	int code = 0;

	first = add_on(graph, subprocess, die, "mesh", SLEY_NO_NODE);
	second = add_on(graph, subprocess, sign, "solve", first);
	CHECK_EVENTUALLY(sley_node_outcome(graph, second, NULL) !=
				 SLEY_OUTCOME_NONE ||
			 (sley_yield(), false));
	CHECK_EQ(sley_node_outcome(graph, first, &code), SLEY_OUTCOME_ENDPOINT);
	CHECK_EQ(code, SLEY_ECHILD);
	CHECK_EQ(sley_node_outcome(graph, second, &code), SLEY_OUTCOME_SKIPPED);
	CHECK_GT(sley_node_explain(graph, second, text, sizeof(text)), 0);
	check_contains(text, "solve was skipped <- mesh failed: ");
	check_contains(text, "mesher was killed by signal 11");
	CHECK_EQ(sley_graph_wait(graph), SLEY_ECHILD);
	CHECK_EQ(atomic_load(&board->pid), 0);
	/* The next run is clean, in the next life of the subprocess. */
	(void)add_on(graph, subprocess, sign, "sign", SLEY_NO_NODE);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(atomic_load(&board->pid), sley_subprocess_pid(subprocess));
	sley_graph_destroy(graph);
	sley_subprocess_destroy(subprocess);
	end(rt);
}

TEST_WORKERS(s24_what_it_returns_over_there_is_its_code)
{
	struct sley *rt = begin();
	struct sley_subprocess *subprocess = subprocess_new(NULL);
	struct sley_graph *graph = graph_new(NULL);

	add_number(graph, subprocess, -ERANGE);
	CHECK_EQ(sley_graph_wait(graph), -ERANGE);
	CHECK_EQ(sley_subprocess_restarts(subprocess), 0);
	sley_graph_destroy(graph);
	sley_subprocess_destroy(subprocess);
	end(rt);
}

TEST_WORKERS(s24_a_node_that_hangs_over_there_is_killed_or_cancelled)
{
	struct sley *rt = begin();
	struct sley_subprocess *subprocess =
		subprocess_new(SLEY_SUBPROCESS_OPTIONS(.call_ns = 50000000));
	struct sley_graph *graph = graph_new(NULL);
	sley_node id;
	int code = 0;

	(void)add_on(graph, subprocess, hang_there, "hang", SLEY_NO_NODE);
	CHECK_EQ(sley_graph_wait(graph), SLEY_ECHILD);
	id = add_on(graph, subprocess, hang_there, "hang", SLEY_NO_NODE);
	CHECK_EQ(sley_node_cancel(graph, id), 0);
	CHECK_EVENTUALLY(sley_node_outcome(graph, id, NULL) !=
				 SLEY_OUTCOME_NONE ||
			 (sley_yield(), false));
	CHECK_EQ(sley_node_outcome(graph, id, &code), SLEY_OUTCOME_SKIPPED);
	CHECK_EQ(code, -ECANCELED);
	CHECK_EQ(sley_graph_wait(graph), -ECANCELED);
	sley_graph_destroy(graph);
	sley_subprocess_destroy(subprocess);
	end(rt);
}

TEST_WORKERS(s21_what_waits_for_a_subprocess_is_cancelled_with_its_graph)
{
	struct sley *rt = begin();
	struct sley_subprocess *subprocess = subprocess_new(NULL);
	struct sley_graph *graph = graph_new(NULL);

	/* One that runs there, some in its ring, and some behind that. */
	for (int i = 0; i < 40; i++)
		(void)add_on(graph, subprocess, hang_there, "hang",
			     SLEY_NO_NODE);
	sley_graph_cancel(graph);
	CHECK_EQ(sley_graph_wait(graph), -ECANCELED);
	sley_graph_destroy(graph);
	sley_subprocess_destroy(subprocess);
	end(rt);
}

/* ---- what is refused ------------------------------------------------------------------- */

TEST(s26_what_an_endpoint_cannot_run_is_refused_at_once)
{
	struct sley *rt = begin();
	struct sley_subprocess *subprocess = subprocess_new(NULL);
	struct sley_graph *graph = graph_new(NULL);
	struct sley_plan *plan = NULL;
	uint64_t all = ~UINT64_C(0);
	sley_node id = 1;
	struct sley_node_spec spec = { .size = sizeof(spec),
				       .fn = sign,
				       .on = sley_subprocess_endpoint(
					       subprocess) };
	struct sley_node_spec bad = spec;

	bad.arg = &all;
	CHECK_EQ(sley_graph_submit(graph, &id, &bad), -EFAULT);
	CHECK_EQ(id, SLEY_NO_NODE);
	bad = spec;
	bad.gang = 2;
	CHECK_EQ(sley_graph_submit(graph, NULL, &bad), -EINVAL);
	bad = spec;
	bad.worker_class = SLEY_OF_CLASS(0);
	CHECK_EQ(sley_graph_submit(graph, NULL, &bad), -EINVAL);
	bad = spec;
	bad.affinity = SLEY_ON_WORKER(0);
	CHECK_EQ(sley_graph_submit(graph, NULL, &bad), -EINVAL);
	bad = spec;
	bad.eligible = &all;
	bad.nr_eligible = 1;
	CHECK_EQ(sley_graph_submit(graph, NULL, &bad), -EINVAL);
	CHECK_EQ(sley_plan_create(&plan, NULL), 0);
	CHECK_EQ(sley_plan_add(plan, NULL, &spec), -EINVAL);
	sley_plan_destroy(plan);
	CHECK_EQ(sley_graph_wait(graph), 0);
	sley_graph_destroy(graph);
	sley_subprocess_destroy(subprocess);
	end(rt);
}

/* ---- a lower runtime -------------------------------------------------------------------- */

/* A graph of numbers up to @most, wherever this is; above 10 they fail. */
static int sum_here(int most)
{
	struct sley_graph *graph = graph_new(NULL);
	int err;

	for (int i = 1; i <= most; i++) {
		int number = i > 10 ? -ERANGE : i;

		CHECK_EQ(sley_graph_submit(
				 graph, NULL,
				 SLEY_NODE_SPEC(.fn = add_to_sum,
						.arg = &number,
						.arg_size = sizeof(number))),
			 0);
	}
	err = sley_graph_wait(graph);
	sley_graph_destroy(graph);
	return err;
}

/* In a subprocess: a runtime that is there for all nodes to come, and its graphs. */
static int sum_below(void *arg)
{
	static struct sley *lower;
	int most;

	if (!lower) {
		CHECK_EQ(sley_create(&lower, SLEY_CONFIG(.workers = 2)), 0);
		CHECK_EQ(sley_bind(lower), 0);
	}
	memcpy(&most, arg, sizeof(most));
	return sum_here(most);
}

/* In a subprocess: one of its own, before it has threads, and a graph down there. */
static int sum_two_below(void *arg)
{
	static struct sley_subprocess *subprocess;
	static struct sley *lower;
	struct sley_graph *graph;
	int err;

	if (!lower) {
		CHECK_EQ(sley_subprocesses_init(), 0);
		CHECK_EQ(sley_create(&lower, NULL), 0);
		CHECK_EQ(sley_bind(lower), 0);
		subprocess = subprocess_new(
			SLEY_SUBPROCESS_OPTIONS(.name = "grandchild"));
	}
	graph = graph_new(NULL);
	CHECK_EQ(
		sley_graph_submit(graph, NULL,
				  SLEY_NODE_SPEC(.fn = sum_below, .arg = arg,
						 .arg_size = sizeof(int),
						 .on = sley_subprocess_endpoint(
							 subprocess))),
		0);
	err = sley_graph_wait(graph);
	sley_graph_destroy(graph);
	return err;
}

static int run_below(sley_node_fn *fn, int most,
		     struct sley_subprocess *subprocess)
{
	struct sley_graph *graph = graph_new(NULL);
	int err;

	CHECK_EQ(
		sley_graph_submit(graph, NULL,
				  SLEY_NODE_SPEC(.fn = fn, .arg = &most,
						 .arg_size = sizeof(most),
						 .on = sley_subprocess_endpoint(
							 subprocess))),
		0);
	err = sley_graph_wait(graph);
	sley_graph_destroy(graph);
	return err;
}

static void check_levels(sley_node_fn *fn)
{
	struct sley *rt = begin();
	struct sley_subprocess *subprocess = subprocess_new(NULL);

	CHECK_EQ(run_below(fn, 10, subprocess), 0);
	CHECK_EQ(atomic_load(&board->sum), 55);
	CHECK_EQ(run_below(fn, 4, subprocess), 0);
	CHECK_EQ(atomic_load(&board->sum), 65);
	/* What fails below is told above, and is no death. */
	CHECK_EQ(run_below(fn, 11, subprocess), -ERANGE);
	CHECK_EQ(sley_subprocess_restarts(subprocess), 0);
	sley_subprocess_destroy(subprocess);
	end(rt);
}

TEST_WORKERS(s27_a_node_runs_a_graph_in_the_runtime_of_a_subprocess)
{
	check_levels(sum_below);
}

TEST_WORKERS(s27_and_that_one_in_the_runtime_of_its_own_subprocess)
{
	check_levels(sum_two_below);
}
