/* SPDX-License-Identifier: MIT */
/*
 * runs.c - runs: scopes that come one after the other.
 *
 * The end of a run submits a node that waits for the run, with the same wait as a
 * user's node, and then admits another run.  This node is the gate of the next run:
 * all nodes of the next run come after it.
 *
 *      run 1:  a ─► b          e1: waits for run 1
 *      run 2:                  e1 ─► c, e1 ─► d     e1 ─► e2: waits for run 2
 *
 * A node that uses the output of a node of an earlier run waits for that node, but
 * is not skipped if it fails: see wire.c.
 *
 * Everything here is under the graph's lock.
 */
#include "core/life/after_fork.h"
#include "graph/node/graph.h"
#include "graph/node/submit.h"

#include <errno.h>
#include <sley/error.h>
#include <sley/graph_run.h>
#include <sley/time.h>

/* The function of the end node: the run is over. */
static int pass(void *arg)
{
	struct sley_graph_scope *run = *(struct sley_graph_scope **)arg;
	struct sley_graph *graph = run->graph;

	sley_mutex_lock(&graph->lock);
	scope_await(run);
	run->nr_waiting--;
	graph->nr_runs--;
	scopes_reap(graph);
	sley_cond_notify_all(&graph->space);
	sley_mutex_unlock(&graph->lock);
	return 0;
}

bool run_goes_on(const struct node *node)
{
	return node->fn == pass &&
	       scope_is_busy(*(struct sley_graph_scope **)node->task.arg);
}

static int admit(struct sley_graph *graph, uint64_t deadline_ns)
{
	int err = 0;

	while (!err && !graph->open_run && graph->nr_runs >= graph->max_runs)
		err = sley_cond_wait_until(&graph->space, &graph->lock,
					   deadline_ns);
	if (err)
		return err == -ETIMEDOUT ? -EAGAIN : err;
	return graph->open_run ? -EBUSY : 0;
}

int sley_graph_run_begin_until(struct sley_graph_scope **out,
			       struct sley_graph *graph, uint64_t deadline_ns)
{
	struct sley_graph_scope *run;
	int err = sley_graph_scope_begin(&run, graph, NULL);

	*out = NULL;
	if (err)
		return err;
	sley_mutex_lock(&graph->lock);
	err = admit(graph, deadline_ns);
	if (!err) {
		graph->nr_runs++;
		graph->open_run = run->run = run;
		run->number = ++graph->nr_begun;
		run->gate = graph->last_end;
	}
	sley_mutex_unlock(&graph->lock);
	if (err)
		sley_graph_scope_end(run);
	else
		*out = run;
	return err;
}

int sley_graph_run_begin(struct sley_graph_scope **run,
			 struct sley_graph *graph)
{
	return sley_graph_run_begin_until(run, graph, SLEY_FOREVER);
}

int sley_graph_run_end(struct sley_graph_scope *run)
{
	struct sley_graph *graph = run->graph;
	struct sley_node_spec spec = {
		.size = sizeof(spec),
		.fn = pass,
		.arg = &run,
		.arg_size = sizeof(run),
		.order = &run->gate, /* a run may have no nodes */
		.nr_order = 1,
		.name = "end of a run",
	};
	sley_node end = SLEY_NO_NODE;
	int err;

	if (unlikely(runtime_is_lost(graph->rt)))
		return SLEY_EFORKED;
	sley_mutex_lock(&graph->lock);
	sley_check(graph->open_run == run,
		   "the run was ended before: end each run once");
	run->nr_waiting++; /* so the run is not freed */
	sley_mutex_unlock(&graph->lock);
	err = submit_last(graph, &end, &spec);
	sley_mutex_lock(&graph->lock);
	if (err) {
		run->nr_waiting--;
	} else {
		graph->last_end = run->end = end;
		graph->open_run = NULL;
		sley_cond_notify_all(&graph->space);
	}
	sley_mutex_unlock(&graph->lock);
	return err;
}

/* ---- allowed predecessors ---------------------------------------------------------- */

/* A predecessor that is in no run may itself be a successor of a later run. */
static int check_others(const struct sley_graph_scope *run,
			const struct predecessors *found)
{
	struct sley_graph *graph = run->graph;
	const struct node *own = submit_own_node(graph);
	const struct node *end =
		node_store_node(&graph->store, node_index_of(run->end));

	if (run->end == SLEY_NO_NODE ||
	    edges_look(&end->successors, node_life_of(run->end)) != EDGES_ADDED)
		return 0;
	/* @end must not end meanwhile: it cannot in a step, or in a node of @run. */
	if (!graph->stepped && !(own && own->scope->run == run))
		return 0;
	return deadlock_check(graph, end, found);
}

/*
 * No predecessor may be in a later run.  That run may be under construction already,
 * but its nodes wait for the end of this run.  Nor may a predecessor be a successor
 * of a later run.
 */
int run_check(const struct sley_graph_scope *scope,
	      const struct predecessors *found)
{
	const struct sley_graph *graph = scope->graph;
	const struct node_list *list = &found->list;
	bool others = false;

	for (uint32_t i = 0; i < list->nr; i++) {
		uint32_t index = node_index_of(list->node[i]);
		uint32_t life = node_life_of(list->node[i]);
		const struct node *from = node_store_node(&graph->store, index);

		if (edges_look(&from->successors, life) != EDGES_ADDED)
			continue;
		if (!from->scope->run)
			others |= list->node[i] != scope->gate;
		else if ((int32_t)(from->scope->run->number -
				   scope->run->number) > 0)
			return -EDEADLK;
	}
	if (likely(!others || graph->nr_begun == scope->run->number))
		return 0;
	return check_others(scope->run, found);
}
