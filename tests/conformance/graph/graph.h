/* SPDX-License-Identifier: MIT */
/*
 * graph.h - small nodes for the tests of graphs.
 */
#ifndef SLEY_TESTS_CONFORMANCE_GRAPH_GRAPH_H
#define SLEY_TESTS_CONFORMANCE_GRAPH_GRAPH_H

#include <stdlib.h>

#include "conformance/bound.h"

static inline struct sley_graph *
graph_new(const struct sley_graph_options *options)
{
	struct sley_graph *graph = NULL;

	CHECK_EQ(sley_graph_create(&graph, options), 0);
	CHECK(graph != NULL);
	return graph;
}

/* The id of the node that @spec asks for, which the graph must take. */
static inline sley_node submit(struct sley_graph *graph,
			       const struct sley_node_spec *spec)
{
	sley_node id = SLEY_NO_NODE;

	CHECK_EQ(sley_graph_submit(graph, &id, spec), 0);
	CHECK_NE(id, SLEY_NO_NODE);
	return id;
}

/* The same for @fn(@arg) in @scope, or in no scope. */
static inline sley_node submit_in(struct sley_graph *graph,
				  struct sley_graph_scope *scope,
				  sley_node_fn *fn, void *arg)
{
	return submit(graph,
		      SLEY_NODE_SPEC(.fn = fn, .arg = arg, .scope = scope));
}

/* What the graph says to @spec; no caller hears the id. */
static inline int try_submit(struct sley_graph *graph,
			     struct sley_node_spec spec)
{
	spec.size = sizeof(spec);
	return sley_graph_submit(graph, NULL, &spec);
}

static inline int pass(void *arg)
{
	(void)arg;
	return 0;
}

static inline int fail(void *arg)
{
	(void)arg;
	return -EIO;
}

static inline int waits_for(void *event)
{
	return sley_event_wait(event);
}

/* What ran when. */
struct order {
	atomic_int nr;
	atomic_int what[1000];
};

struct entry {
	struct order *order;
	int what;
	int says;
};

static inline int write_down(void *arg)
{
	const struct entry *entry = arg;
	struct order *order = entry->order;

	atomic_store(&order->what[atomic_fetch_add(&order->nr, 1)],
		     entry->what);
	return entry->says;
}

static inline sley_node node_that(struct sley_graph *graph,
				  const struct entry *entry,
				  const sley_node *after, uint32_t nr)
{
	return submit(graph,
		      SLEY_NODE_SPEC(.fn = write_down, .arg = (void *)entry,
				     .arg_size = sizeof(*entry), .after = after,
				     .nr_after = nr));
}

/* A node that writes @what down, after others. */
static inline sley_node node(struct sley_graph *graph, struct order *order,
			     int what, const sley_node *after, uint32_t nr)
{
	struct entry entry = { order, what, 0 };

	return node_that(graph, &entry, after, nr);
}

static inline int count_up(void *arg)
{
	atomic_fetch_add((atomic_int *)arg, 1);
	return 0;
}

static inline sley_node counts(struct sley_graph *graph, atomic_int *count,
			       const sley_node *after, uint32_t nr)
{
	return submit(graph, SLEY_NODE_SPEC(.fn = count_up, .arg = count,
					    .after = after, .nr_after = nr));
}

#endif
