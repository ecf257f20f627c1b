/* SPDX-License-Identifier: MIT */
/*
 * graph_worker_class.c - what nodes of a class cost their workers.
 */
#include "core/sched/worker.h"

#include "harness/test.h"

#include <sley/sley.h>

#define NODES 1000

static int count(void *arg)
{
	(*(int *)arg)++;
	return 0;
}

static int wait_for_all(void *arg)
{
	return sley_event_wait(arg);
}

/* A chain of nodes on the only worker there is: how many turns that takes. */
static uint64_t count_turns(int32_t priority)
{
	struct sley_config config = *test_config();
	struct sley_worker_class class = { .name = "all" };
	struct sley_graph *graph;
	sley_node last = SLEY_NO_NODE;
	struct sley_event all = SLEY_EVENT_INIT;
	int nr = 0;
	struct sley *rt;
	uint64_t turns;

	config.workers = 1;
	CHECK_EQ(sley_create(&rt, &config), 0);
	CHECK_EQ(sley_bind(rt), 0);
	CHECK_EQ(sley_graph_create(&graph, SLEY_GRAPH_OPTIONS(.classes = &class,
							      .nr_classes = 1)),
		 0);
	for (int i = 0; i <= NODES; i++)
		CHECK_EQ(sley_graph_submit(
				 graph, &last,
				 SLEY_NODE_SPEC(.fn = i ? count : wait_for_all,
						.arg = i ? (void *)&nr : &all,
						.after = &last, .nr_after = !!i,
						.priority = priority,
						.worker_class =
							SLEY_OF_CLASS(0))),
			 0);
	sley_event_set(&all);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(nr, NODES);
	sley_graph_destroy(graph);
	sley_unbind(rt);
	/* Nothing is left in it: the worker may look around, and that is all. */
	turns = load_relaxed(&rt->worker[0]->counters.turns);
	CHECK_EQ(sley_destroy(rt), 0);
	return turns;
}

TEST(a_chain_in_a_class_is_kept_by_its_worker)
{
	/* Chaos looks around all the time: then each node has a call. */
	uint64_t calls = test_is_chaotic() ? NODES : 0;

	CHECK_LE(count_turns(0), NODES + calls + NODES / 2);
}

TEST(what_has_a_priority_of_its_own_has_its_turn_in_the_queue)
{
	CHECK_GE(count_turns(-1), 2 * NODES);
}
