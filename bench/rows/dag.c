/* SPDX-License-Identifier: MIT */
/*
 * dag.c - rows `dag-chain`, `dag-wavefront`, `dag-tree`, `dag-random`: a task of
 * the runtime submits a graph, and waits for the graph.
 *
 * cold_ns       the first graph of the process: created, filled, run and destroyed;
 *               each node names its predecessors
 * fresh_ns      the same, again and again
 * explicit_ns   one graph is filled again and again, as in a program that has work
 *               all day
 * infer_ns      the same, but each node names the cells that it uses
 * record_ns     a plan of these nodes is recorded, sealed and destroyed, not run
 * run_ns        the plan is run again and again
 */
#include "rows.h"

#include "../problems/dag.h"

struct fill {
	const struct measure *m;
	struct sley_graph *graph;
	struct sley_plan *plan;
	sley_node id[DAG_NODES_MAX + 1];
};

/* @plan: to be run later, else at once. */
static void submit_named(struct fill *fill, uint32_t number, bool plan)
{
	const struct dag_node *node = &dag.node[number];
	sley_node after[DAG_READS];
	struct sley_node_spec spec = {
		.size = sizeof(spec),
		.fn = dag.visit,
		.arg = dag_cell(number),
		.after = after,
		.nr_after = node->nr_after,
	};
	int err;

	for (uint32_t i = 0; i < node->nr_after; i++)
		after[i] = fill->id[node->read[i]];
	err = plan ? sley_plan_add(fill->plan, &fill->id[number], &spec)
		   : sley_graph_submit(fill->graph, &fill->id[number], &spec);
	MEASURE_CHECK(fill->m, err == 0);
}

static void run_named(void *arg)
{
	struct fill *fill = arg;

	for (uint32_t i = 1; i <= dag.nr; i++)
		submit_named(fill, i, false);
	MEASURE_CHECK(fill->m, sley_graph_wait(fill->graph) == 0);
}

/* A graph for one turn. */
static void run_fresh(void *arg)
{
	struct fill *fill = arg;

	MEASURE_CHECK(fill->m, sley_graph_create(&fill->graph, NULL) == 0);
	run_named(fill);
	sley_graph_destroy(fill->graph);
}

static void submit_inferred(const struct fill *fill, uint32_t number)
{
	const struct dag_node *node = &dag.node[number];
	struct sley_access access[DAG_READS + 1];
	uint32_t nr = 0;
	int err;

	while (nr < node->nr_read) {
		access[nr] = SLEY_IN(*dag_cell(node->read[nr]));
		nr++;
	}
	access[nr++] = SLEY_INOUT(*dag_cell(number));
	err = sley_graph_submit(
		fill->graph, NULL,
		SLEY_NODE_SPEC(.fn = dag.visit, .arg = dag_cell(number),
			       .access = access, .nr_access = nr));
	MEASURE_CHECK(fill->m, err == 0);
}

static void run_inferred(void *arg)
{
	const struct fill *fill = arg;

	for (uint32_t i = 1; i <= dag.nr; i++)
		submit_inferred(fill, i);
	MEASURE_CHECK(fill->m, sley_graph_wait(fill->graph) == 0);
}

static void record(struct fill *fill)
{
	MEASURE_CHECK(fill->m, sley_plan_create(&fill->plan, NULL) == 0);
	for (uint32_t i = 1; i <= dag.nr; i++)
		submit_named(fill, i, true);
	MEASURE_CHECK(fill->m, sley_plan_seal(fill->plan) == 0);
}

/* Times recording: page faults included, since a plan's memory is given back. */
static void measure_recording(struct fill *fill)
{
	uint64_t start = measure_now();

	for (int i = 0; i < DAG_TURNS_SLOW; i++) {
		record(fill);
		sley_plan_destroy(fill->plan);
	}
	measure_report_each("record_ns", start,
			    (uint64_t)DAG_TURNS_SLOW * dag.nr);
}

static void run_recorded(void *arg)
{
	const struct fill *fill = arg;

	MEASURE_CHECK(fill->m, sley_plan_run(fill->plan, NULL) == 0);
}

static void root(void *arg)
{
	static struct fill fill;
	const struct measure *m = arg;

	fill.m = m;
	dag_make(m, DAG_FULL);
	dag_measure_first(m, "cold_ns", run_fresh, &fill);
	dag_measure(m, "fresh_ns", DAG_TURNS_SLOW, run_fresh, &fill);
	MEASURE_CHECK(m, sley_graph_create(&fill.graph, NULL) == 0);
	dag_measure(m, "explicit_ns", DAG_TURNS, run_named, &fill);
	dag_measure(m, "infer_ns", DAG_TURNS, run_inferred, &fill);
	sley_graph_destroy(fill.graph);
	measure_recording(&fill);
	record(&fill);
	dag_measure(m, "run_ns", DAG_TURNS, run_recorded, &fill);
	sley_plan_destroy(fill.plan);
}

void row_dag(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
