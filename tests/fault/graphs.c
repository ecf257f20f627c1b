/* SPDX-License-Identifier: MIT */
/*
 * graphs.c - graphs: what was submitted runs, what could not be leaves nothing.
 */
#include "fault/sweep.h"

#include <errno.h>
#include <stdatomic.h>

#define WIDTH 50 /* more than a node has edges of its own */

static atomic_int nr_ran;

static int count(void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_ran, 1);
	return 0;
}

static int fail(void *arg)
{
	(void)arg;
	return -EIO;
}

struct scene {
	struct sley_graph *graph;
	struct sley_event event;
	sley_node before[WIDTH];
	int nr_accepted;
};

static int wait_for_event(void *arg)
{
	struct scene *s = arg;

	CHECK_EQ(sley_event_wait(&s->event), 0);
	return count(arg);
}

static bool submit(struct scene *s, const struct sley_node_spec *spec,
		   sley_node *id)
{
	bool ok = TRY(sley_graph_submit(s->graph, id, spec), -ENOMEM);

	s->nr_accepted += ok && spec->fn != fail;
	return ok;
}

/* Pages of edges, and more of them than the first block has places. */
static void submit_wide(struct scene *s)
{
	uint32_t nr = 0;

	for (int i = 0; i < WIDTH; i++)
		nr += submit(s, SLEY_NODE_SPEC(.fn = wait_for_event, .arg = s),
			     &s->before[nr]);
	for (int i = 0; i < 40; i++)
		(void)submit(s,
			     SLEY_NODE_SPEC(.fn = count, .after = s->before,
					    .nr_after = nr),
			     NULL);
}

/* As a task: a node that waits needs a stack. */
static void graph_scene(void *arg)
{
	struct scene s = { .event = SLEY_EVENT_INIT };

	(void)arg;
	if (!TRY(sley_graph_create(&s.graph, NULL), -ENOMEM))
		return;
	for (int round = 0; round < 2; round++) {
		sley_node bad = SLEY_NO_NODE;
		bool failed;
		int err;

		submit_wide(&s);
		failed = submit(&s, SLEY_NODE_SPEC(.fn = fail), &bad);
		sley_event_set(&s.event);
		err = sley_graph_wait(s.graph);
		CHECK_EQ(err, failed ? -EIO : 0);
		CHECK_EQ(atomic_load(&nr_ran), s.nr_accepted);
	}
	sley_graph_destroy(s.graph);
}

SCENARIO(graphs)
{
	trial_play(graph_scene);
}

/* Cancels need barriers, and what they do without. */
static void cancel_scene(void *arg)
{
	struct scene s = { .event = SLEY_EVENT_INIT };
	sley_node id = SLEY_NO_NODE;

	(void)arg;
	if (!TRY(sley_graph_create(&s.graph,
				   SLEY_GRAPH_OPTIONS(.max_nodes = 4)),
		 -ENOMEM))
		return;
	for (int i = 0; i < 20; i++)
		(void)submit(&s, SLEY_NODE_SPEC(.fn = count), &id);
	(void)sley_node_cancel(s.graph, id);
	sley_graph_cancel(s.graph);
	(void)submit(&s, SLEY_NODE_SPEC(.fn = count), &id);
	CHECK(sley_graph_wait(s.graph) <= 0);
	CHECK_LE(atomic_load(&nr_ran), s.nr_accepted);
	sley_graph_destroy(s.graph);
}

SCENARIO(graphs_that_are_cancelled)
{
	trial_play(cancel_scene);
}
