/* SPDX-License-Identifier: MIT */
/*
 * io_busy.c - descriptors are heard although no worker ever has nothing to do.
 */
#include "conformance/graph/graph.h"
#include "conformance/io/pairs.h"

#define NODES_BEFORE 10000 /* the reactor, too, is old by then */

struct busy {
	struct pair pair;
	struct sley_graph *graph;
	struct sley_event begun;
	sley_node last; /* of the chain so far: the node that runs */
	int nr;
	atomic_bool done;
};

static void read_a_byte(void *arg)
{
	struct busy *busy = arg;
	char byte;

	sley_event_set(&busy->begun);
	CHECK_EQ(sley_io_read(busy->pair.from, &byte, 1), 1);
	atomic_store(&busy->done, true);
}

/* Goes on with a node that comes after this one, until the byte was read. */
static int go_on(void *arg)
{
	struct busy *busy = arg;

	CHECK_EQ(sley_event_wait(&busy->begun), 0);
	if (++busy->nr == NODES_BEFORE)
		CHECK_EQ(write(busy->pair.to, "x", 1), 1);
	if (!atomic_load(&busy->done))
		busy->last = submit(busy->graph,
				    SLEY_NODE_SPEC(.fn = go_on, .arg = busy,
						   .after = &busy->last,
						   .nr_after = 1));
	return 0;
}

/*
 * The worker keeps the next node in hand, and looks for other work now and then.  With
 * one worker the reader waits when the node writes: the node waited for the reader.
 */
TEST_WORKERS(a_chain_without_an_end_does_not_starve_a_reader)
{
	struct sley *rt = start();
	struct busy busy = { .pair = open_pair(PAIR_PIPE),
			     .graph = graph_new(NULL),
			     .begun = SLEY_EVENT_INIT };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	busy.last = submit_in(busy.graph, NULL, go_on, &busy);
	sley_spawn(&group, &task, read_a_byte, &busy);
	sley_join(&group);
	CHECK_EQ(sley_graph_wait(busy.graph), 0);
	sley_graph_destroy(busy.graph);
	close_pair(&busy.pair);
	stop(rt);
}
