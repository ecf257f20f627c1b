/* SPDX-License-Identifier: MIT */
/*
 * graph.c - the life of a graph.
 */
#include "graph/node/graph.h"

#include "base/options.h"
#include "core/life/after_fork.h"
#include "core/wait/wait.h"
#include "graph/log/node_log.h"
#include "graph/node/watch.h"
#include "graph/placement/classes.h"

#include <errno.h>
#include <sley/time.h>

#define MAX_NODES_DEFAULT 65536
#define MAX_NODES_MAX (1u << 24)
#define ARENA_DEFAULT ((uint64_t)64 << 20)
#define BULK_MAX 64
#define BULKS 256 /* shares that make up the whole graph, at least */
#define BATCH_MAX 1024
#define BATCHES 4 /* batches that make up the whole graph, at least */
#define PATIENCE_NS 1000000u
#define FAILED_MIN 1024u

/* ---- life -------------------------------------------------------------------------- */

static size_t graph_size(const struct sley *rt)
{
	return sizeof(struct sley_graph) +
	       rt->nr_workers * sizeof(struct share);
}

static bool is_over(void *arg, sley_node id)
{
	struct sley_graph *graph = arg;
	struct node *node = node_store_node(&graph->store, node_index_of(id));

	if (edges_look(&node->successors, node_life_of(id)) != EDGES_GONE)
		return false;
	/* A log has edges from nodes that are gone, too. */
	return likely(!graph->log) || !node_log_has(graph->log, id);
}

static void init(struct sley_graph *graph, struct sley *rt,
		 const struct sley_graph_options *options)
{
	uint32_t max = options->max_nodes ? options->max_nodes
					  : MAX_NODES_DEFAULT;
	uint32_t bulk = max / BULKS;

	graph->rt = rt;
	graph->name = options->name ? options->name : "graph";
	graph->max_nodes = max;
	/* Not less than max_nodes: submit.c looks at it only in a full graph. */
	graph->max_failed = max < FAILED_MIN ? FAILED_MIN : max;
	/* A task that migrated would not come back to the share of its worker. */
	graph->nr_share = rt->migratable ? 0 : rt->nr_workers;
	if (bulk > BULK_MAX)
		bulk = BULK_MAX;
	graph->bulk = bulk && graph->nr_share ? bulk : 1;
	graph->batch = max / BATCHES < BATCH_MAX ? max / BATCHES : BATCH_MAX;
	graph->patience_ns = PATIENCE_NS;
	graph->max_runs = options->max_runs ? options->max_runs : 2;
	graph->stepped = options->stepped;
	graph->membarrier = rt->idle.membarrier;
	graph->root.graph = graph;
	arena_init(&graph->arena,
		   options->arena_bytes ? options->arena_bytes : ARENA_DEFAULT);
	graph->map.is_over = is_over;
	graph->map.arg = graph;
	access_map_init(&graph->map, &rt->mem);
	/* Nodes that are stepped are no tasks, and in no track. */
	graph->watch = rt->trace.full && !graph->stepped ? WATCH_TRACE : 0;
}

static void release(struct sley_graph *graph)
{
	struct mem *mem = &graph->rt->mem;

	classes_close(graph->classes, graph->rt);
	node_log_destroy(graph->log);
	mem_free(mem, graph, graph_size(graph->rt));
}

/* The part that may fail: 0 or an error. */
static int allocate(struct sley_graph *graph,
		    const struct sley_graph_options *options)
{
	int err = classes_create(&graph->classes, graph->rt, options);

	if (!err && options->picture) {
		graph->log =
			node_log_create(&graph->rt->mem, options->max_picture);
		graph->watch |= WATCH_PICTURE;
		if (!graph->log)
			err = -ENOMEM;
	}
	return err ? err : node_store_init(&graph->store, graph->max_nodes);
}

int sley_graph_create(struct sley_graph **out,
		      const struct sley_graph_options *given)
{
	struct sley_graph_options options;
	struct sley_graph *graph;
	struct sley *rt;
	int err = options_take(&options, given);

	*out = NULL;
	if (!err && (options.max_nodes > MAX_NODES_MAX ||
		     options.max_picture > PICTURE_MAX))
		err = -EINVAL;
	if (!err)
		err = runtime_of_caller(&rt);
	if (err)
		return err;
	graph = mem_alloc(&rt->mem, graph_size(rt));
	if (!graph)
		return -ENOMEM;
	init(graph, rt, &options);
	err = allocate(graph, &options);
	if (err) {
		release(graph);
		return err;
	}
	*out = graph;
	return 0;
}

void sley_graph_destroy(struct sley_graph *graph)
{
	struct mem *mem;

	if (!graph || unlikely(runtime_is_lost(graph->rt)))
		return;
	sley_mutex_lock(&graph->lock);
	scope_await(&graph->root);
	(void)scope_forget(&graph->root);
	sley_mutex_unlock(&graph->lock);
	sley_check(!graph->scopes,
		   "end all scopes of the graph before it is destroyed");
	mem = &graph->rt->mem;
	access_map_destroy(&graph->map);
	predecessors_destroy(&graph->predecessors, mem);
	node_store_destroy(&graph->store);
	arena_destroy(&graph->arena);
	release(graph);
}
