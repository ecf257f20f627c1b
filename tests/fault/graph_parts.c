/* SPDX-License-Identifier: MIT */
/*
 * graph_parts.c - scopes, buffers, gangs, classes and accesses of graphs; plans.
 */
#include "fault/sweep.h"

#include <errno.h>
#include <stdatomic.h>

static atomic_int nr_ran;

static int count(void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_ran, 1);
	return 0;
}

static int submit(struct sley_graph *graph, const struct sley_node_spec *spec)
{
	int gang = spec->gang > 1 ? (int)spec->gang : 1;

	return TRY(sley_graph_submit(graph, NULL, spec), -ENOMEM) ? gang : 0;
}

/* As many ranges as the first table has no room for. */
static int submit_accesses(struct sley_graph *graph,
			   struct sley_graph_scope *scope)
{
	static char cell[200];
	int nr = 0;

	for (int i = 0; i < 200; i++) {
		struct sley_access access = SLEY_OUT(cell[i]);

		nr += submit(graph,
			     SLEY_NODE_SPEC(.fn = count, .scope = scope,
					    .access = &access, .nr_access = 1));
	}
	return nr;
}

static int submit_buffer(struct sley_graph *graph,
			 struct sley_graph_scope *scope)
{
	struct sley_access access;
	void *memory;
	int nr;

	if (!TRY(sley_graph_buffer(graph, scope, 1000, &memory), -ENOMEM))
		return 0;
	access = SLEY_INOUT_N(memory, 1000);
	nr = submit(graph, SLEY_NODE_SPEC(.fn = count, .scope = scope,
					  .access = &access, .nr_access = 1));
	sley_graph_buffer_drop(graph, memory);
	return nr;
}

static void parts_scene(void *arg)
{
	struct sley_graph_scope *scope;
	struct sley_graph *graph;
	int nr = 0;

	(void)arg;
	if (!TRY(sley_graph_create(&graph, NULL), -ENOMEM))
		return;
	if (TRY(sley_graph_scope_begin(&scope, graph, NULL), -ENOMEM)) {
		nr += submit_accesses(graph, scope);
		nr += submit_buffer(graph, scope);
		nr += submit(graph, SLEY_NODE_SPEC(.fn = count, .scope = scope,
						   .gang = 2));
		sley_graph_scope_end(scope);
	}
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(atomic_load(&nr_ran), nr);
	sley_graph_destroy(graph);
}

SCENARIO(graphs_in_parts)
{
	trial_play(parts_scene);
}

/* Nodes that want nothing but a class need no memory; these do. */
static void class_scene(void *arg)
{
	uint64_t first = 1;
	struct sley_worker_class classes[] = {
		{ .name = "all" },
		{ .name = "first", .workers = &first, .nr_words = 1 },
	};
	struct sley_graph *graph;
	int nr = 0;

	(void)arg;
	if (!TRY(sley_graph_create(&graph,
				   SLEY_GRAPH_OPTIONS(.classes = classes,
						      .nr_classes = 2)),
		 -ENOMEM))
		return;
	for (uint32_t i = 0; i < 10; i++) {
		nr += submit(graph,
			     SLEY_NODE_SPEC(.fn = count,
					    .worker_class =
						    SLEY_OF_CLASS(i % 2)));
		nr += submit(graph,
			     SLEY_NODE_SPEC(.fn = count, .eligible = &first,
					    .nr_eligible = 1,
					    .worker_class = SLEY_OF_CLASS(0)));
	}
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(atomic_load(&nr_ran), nr);
	sley_graph_destroy(graph);
}

SCENARIO(graphs_with_classes)
{
	trial_play(class_scene);
}

static bool build(struct sley_plan *plan)
{
	sley_node last = SLEY_NO_NODE;
	static int cell;

	for (int i = 0; i < 100; i++) {
		struct sley_access access = SLEY_INOUT(cell);

		if (!TRY(sley_plan_add(
				 plan, &last,
				 SLEY_NODE_SPEC(.fn = count, .access = &access,
						.nr_access = 1, .after = &last,
						.nr_after = 1)),
			 -ENOMEM))
			return false;
	}
	return TRY(sley_plan_seal(plan), -ENOMEM);
}

static void plan_scene(void *arg)
{
	struct sley_plan *plan;

	(void)arg;
	if (!TRY(sley_plan_create(&plan, NULL), -ENOMEM))
		return;
	if (build(plan)) {
		for (int i = 1; i <= 2; i++) {
			if (!TRY(sley_plan_run(plan, NULL), -ENOMEM))
				break;
			CHECK_EQ(atomic_load(&nr_ran), 100 * i);
		}
	}
	sley_plan_destroy(plan);
}

SCENARIO(plans)
{
	trial_play(plan_scene);
}
