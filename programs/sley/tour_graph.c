/* SPDX-License-Identifier: MIT */
/*
 * tour_graph.c - stops of the tour: a graph, a failing graph, a plan, subprocesses.
 */
#include "tour.h"

#include "screen.h"

#include <errno.h>
#include <sley/sley.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a graph -------------------------------------------------------------------- */

#define SIDE 101 /* of a square; row 0 and column 0 are given */

static int add_neighbours(void *arg)
{
	uint64_t *cell = arg;

	*cell = cell[-SIDE] + cell[-1];
	return 0;
}

static int fill_square(struct sley_graph *graph, uint64_t *square)
{
	int err = 0;

	for (int i = SIDE; i < SIDE * SIDE && !err; i++) {
		uint64_t *cell = &square[i];

		if (i % SIDE)
			err = sley_graph_add(graph, add_neighbours, cell,
					     SLEY_IN(cell[-SIDE]),
					     SLEY_IN(cell[-1]),
					     SLEY_OUT(*cell));
	}
	return err ? err : sley_graph_wait(graph);
}

/* The number of cells that differ from the result of a serial loop. */
static int count_wrong(const uint64_t *square)
{
	int wrong = 0;

	for (int i = SIDE; i < SIDE * SIDE; i++)
		wrong += i % SIDE &&
			 square[i] != square[i - SIDE] + square[i - 1];
	return wrong;
}

void tour_graph(struct outcome *out)
{
	uint64_t *square = tour_alloc(SIDE * SIDE, sizeof(*square));
	char each[SCREEN_NUMBER_SIZE];
	struct sley_graph *graph = NULL;
	int err = sley_graph_create(&graph, NULL);

	for (int i = 0; i < SIDE; i++)
		square[i] = square[i * SIDE] = 1;
	outcome_start(out);
	if (!err)
		err = fill_square(graph, square);
	outcome_stop(out);
	sley_graph_destroy(graph);
	if (err)
		outcome_trouble(out, "a graph: %s", sley_strerror(err));
	/* The second row counts up. */
	if (square[2 * SIDE - 1] != SIDE || count_wrong(square))
		outcome_trouble(out, "%d cells are wrong", count_wrong(square));
	free(square);
	outcome_result(out, "%s a node",
		       screen_time(each,
				   outcome_ns(out) / (SIDE - 1) / (SIDE - 1)));
}

/* ---- failures ------------------------------------------------------------------- */

#define NR_CHAINS 1000
#define NR_STEPS 4
#define BAD_CHAIN 417

struct chain {
	int done[NR_STEPS]; /* the number of steps up to this step */
};

struct works {
	struct chain chain[NR_CHAINS];
	struct sley_graph *graph;
	sley_node last; /* of the bad chain */
	char why[100];
};

static int first_step(void *arg)
{
	*(int *)arg = 1;
	return 0;
}

static int next_step(void *arg)
{
	int *done = arg;

	*done = done[-1] + 1;
	return 0;
}

static int bad_step(void *arg)
{
	(void)arg;
	return -EBADMSG;
}

/* Runs after the last step of the bad chain, whether that step succeeds or not. */
static int ask_why(void *arg)
{
	struct works *works = arg;

	return sley_node_explain(works->graph, works->last, works->why,
				 sizeof(works->why));
}

static int submit_chain(struct works *works, int number)
{
	static const char *const names[] = { "read", "mesh", "solve", "draw" };
	int *done = works->chain[number].done, err = 0;

	for (int i = 0; i < NR_STEPS && !err; i++) {
		bool bad = number == BAD_CHAIN && i == 1;
		struct sley_access use[] = { SLEY_OUT(done[i]),
					     SLEY_IN(done[i ? i - 1 : 0]) };
		struct sley_node_spec spec = {
			.size = sizeof(spec),
			.fn = bad ? bad_step
			      : i ? next_step
				  : first_step,
			.arg = &done[i],
			.access = use,
			.nr_access = i ? 2 : 1,
			.name = names[i],
		};

		err = sley_graph_submit(
			works->graph, number == BAD_CHAIN ? &works->last : NULL,
			&spec);
	}
	return err;
}

static int submit_works(struct works *works)
{
	int err = sley_graph_create(&works->graph, NULL);

	for (int i = 0; i < NR_CHAINS && !err; i++)
		err = submit_chain(works, i);
	if (err)
		return err;
	return sley_graph_submit(works->graph, NULL,
				 SLEY_NODE_SPEC(.fn = ask_why, .arg = works,
						.order = &works->last,
						.nr_order = 1));
}

void tour_failure(struct outcome *out)
{
	struct works *works = tour_alloc(1, sizeof(*works));
	char ran[SCREEN_NUMBER_SIZE], all[SCREEN_NUMBER_SIZE];
	uint64_t nr_ran = 0;
	int err;

	outcome_start(out);
	err = submit_works(works);
	if (!err)
		err = sley_graph_wait(works->graph);
	outcome_stop(out);
	sley_graph_destroy(works->graph);
	if (err != -EBADMSG)
		outcome_trouble(out, "waiting returned %s", sley_strerror(err));
	for (int i = 0; i < NR_CHAINS * NR_STEPS; i++)
		nr_ran += works->chain[i / NR_STEPS].done[i % NR_STEPS] ==
			  i % NR_STEPS + 1;
	if (nr_ran != NR_CHAINS * NR_STEPS - 3)
		outcome_trouble(out, "%d nodes ran", (int)nr_ran);
	if (!works->why[0])
		outcome_trouble(out, "nobody knows why");
	outcome_result(out, "%s of %s ran", screen_count(ran, nr_ran),
		       screen_count(all, NR_CHAINS * NR_STEPS));
	outcome_note(out, "%s", works->why);
	free(works);
}

/* ---- a plan --------------------------------------------------------------------- */

#define PLAN_NODES 1000
#define PLAN_RUNS 100

/* The parameter of a run: the first node sets the sum, the other nodes add to it. */
struct tally {
	long first;
	long sum;
};

static int begin_tally(void *arg)
{
	struct tally *tally = sley_plan_param();

	(void)arg;
	tally->sum = tally->first;
	return 0;
}

static int add_to_tally(void *arg)
{
	struct tally *tally = sley_plan_param();

	__atomic_fetch_add(&tally->sum, *(int *)arg, __ATOMIC_RELAXED);
	return 0;
}

/* All other nodes come after the first node, in no order. */
static int record_plan(struct sley_plan *plan)
{
	sley_node first;
	int err =
		sley_plan_add(plan, &first, SLEY_NODE_SPEC(.fn = begin_tally));

	for (int i = 1; i < PLAN_NODES && !err; i++)
		err = sley_plan_add(
			plan, NULL,
			SLEY_NODE_SPEC(.fn = add_to_tally, .arg = &i,
				       .arg_size = sizeof(i), .after = &first,
				       .nr_after = 1));
	return err ? err : sley_plan_seal(plan);
}

void tour_plan(struct outcome *out)
{
	char each[SCREEN_NUMBER_SIZE];
	struct sley_plan *plan = NULL;
	int err = sley_plan_create(&plan, NULL);

	if (!err)
		err = record_plan(plan);
	outcome_start(out);
	for (long i = 0; i < PLAN_RUNS && !err; i++) {
		struct tally tally = { .first = i };

		err = sley_plan_run(plan, &tally);
		if (tally.sum != i + PLAN_NODES * (PLAN_NODES - 1) / 2)
			outcome_trouble(out, "run %ld: the sum is %ld", i,
					tally.sum);
	}
	outcome_stop(out);
	sley_plan_destroy(plan);
	if (err)
		outcome_trouble(out, "a plan: %s", sley_strerror(err));
	outcome_result(out, "%s a node",
		       screen_time(each,
				   outcome_ns(out) / PLAN_RUNS / PLAN_NODES));
}

/* ---- subprocesses --------------------------------------------------------------- */

#define NR_CALLS 40

static struct sley_subprocess *subprocess;
static int no_server; /* the error, if there is no fork server */

/* Runs in the subprocess; every second call ends the subprocess. */
static int live_or_die(struct sley_subprocess_work *work)
{
	int number = *(const int *)work->arg;

	if (number % 2)
		_exit(3);
	return number;
}

void tour_subprocesses_begin(void)
{
	no_server = sley_subprocess_register("live_or_die", live_or_die);
	if (!no_server)
		no_server = sley_subprocesses_init();
}

void tour_subprocesses_end(void)
{
	sley_subprocesses_exit();
}

struct call {
	int number;
	int result;
	char why[SLEY_SUBPROCESS_TEXT_MAX];
};

static int call_subprocess(void *arg)
{
	struct call *call = arg;
	struct sley_subprocess_result result = { .data = NULL };

	call->result = sley_subprocess_call(subprocess, live_or_die,
					    &call->number, sizeof(call->number),
					    &result);
	memcpy(call->why, result.text, sizeof(call->why));
	return call->result;
}

static int call_all(struct call *calls)
{
	struct sley_graph *graph;
	int err = sley_graph_create(&graph, NULL);

	if (err)
		return err;
	for (int i = 0; i < NR_CALLS && !err; i++) {
		calls[i].number = i;
		err = sley_graph_add(graph, call_subprocess, &calls[i],
				     SLEY_OUT(calls[i].result));
	}
	if (!err)
		err = sley_graph_wait(graph);
	sley_graph_destroy(graph);
	return err;
}

void tour_subprocesses(struct outcome *out)
{
	struct call *calls = tour_alloc(NR_CALLS, sizeof(*calls));
	int nr_lost = 0, nr_right = 0, err = no_server;

	outcome_start(out);
	if (!err)
		err = sley_subprocess_create(
			&subprocess,
			SLEY_SUBPROCESS_OPTIONS(.max_restarts = NR_CALLS));
	if (!err) {
		err = call_all(calls);
		sley_subprocess_destroy(subprocess);
	}
	outcome_stop(out);
	if (err != SLEY_ECHILD)
		outcome_trouble(out, "waiting returned %s", sley_strerror(err));
	for (int i = 0; i < NR_CALLS; i++) {
		bool lost = calls[i].result == SLEY_ECHILD;

		nr_lost += lost;
		nr_right += i % 2 ? lost : calls[i].result == i;
	}
	if (nr_right != NR_CALLS)
		outcome_trouble(out, "%d of %d calls ended as they should",
				nr_right, NR_CALLS);
	outcome_result(out, "%d lost, %d right", nr_lost, NR_CALLS - nr_lost);
	outcome_note(out, "%s", calls[1].why);
	free(calls);
}
