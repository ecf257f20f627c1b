/* SPDX-License-Identifier: MIT */
/*
 * tbb_dag.cpp - the peer oneTBB in the rows about graphs: a flow graph whose nodes
 * are continue_nodes.
 *
 * cold_ns       the first graph of the process: built, run and destroyed
 * fresh_ns      the same, again and again
 * record_ns     a graph is built and destroyed, not run
 * run_ns        an existing graph is run again
 *
 * A flow graph cannot be filled anew, so there is no explicit_ns.
 */
#include "../problems/dag.h"
#include "tbb.h"

#include <oneapi/tbb/flow_graph.h>

#include <deque>

namespace flow = oneapi::tbb::flow;

using flow_node = flow::continue_node<flow::continue_msg>;

class flow_dag
{
      public:
	flow_dag()
	{
		nodes_.emplace_back(graph_, [](const flow::continue_msg &) {});
		for (uint32_t i = 1; i <= dag.nr; i++)
			add(i);
	}

	void run()
	{
		for (flow_node *first : first_)
			first->try_put(flow::continue_msg());
		graph_.wait_for_all();
	}

      private:
	void add(uint32_t number)
	{
		const struct dag_node *node = &dag.node[number];
		uint64_t *cell = dag_cell(number);

		nodes_.emplace_back(graph_, [cell](const flow::continue_msg &) {
			(void)dag.visit(cell);
		});
		for (uint32_t i = 0; i < node->nr_after; i++)
			flow::make_edge(nodes_[node->read[i]], nodes_.back());
		if (node->nr_after == 0)
			first_.push_back(&nodes_.back());
	}

	flow::graph graph_;
	std::deque<flow_node> nodes_; /* [0] is unused */
	std::deque<flow_node *> first_;
};

static void run_again(void *arg)
{
	static_cast<flow_dag *>(arg)->run();
}

static void build_and_run(void *)
{
	flow_dag graph;

	graph.run();
}

static void measure_building()
{
	uint64_t start = measure_now();

	for (int i = 0; i < DAG_TURNS_SLOW; i++)
		flow_dag graph;
	measure_report_each("record_ns", start,
			    (uint64_t)DAG_TURNS_SLOW * dag.nr);
}

void tbb_dag(const struct measure *m)
{
	dag_make(m, DAG_FULL);
	tbb_run(m, [&] {
		dag_measure_first(m, "cold_ns", build_and_run, NULL);
		dag_measure(m, "fresh_ns", DAG_TURNS_SLOW, build_and_run, NULL);
		measure_building();
		flow_dag graph;
		dag_measure(m, "run_ns", DAG_TURNS, run_again, &graph);
	});
}
