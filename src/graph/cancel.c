/* SPDX-License-Identifier: MIT */
/*
 * cancel.c - nodes that are not wanted any more.
 *
 * A node that has not started is told by a word, and skips itself when its turn
 * comes (run.c).  One that runs is a task, and is cancelled as such; but its place
 * may be another one's at any moment.  So who cancels says so, in cancelling, then
 * looks whether it has ended; and who ends looks whether anybody is about to cancel
 * before the place is given back.  os_membarrier() comes in between on the rare
 * side: either sees the other.
 *
 * Edges:
 *
 *   K1  who cancels is done -> who ends goes on : the flags of the task, which the
 *       next node in its place sets anew
 */
#include "core/wait.h"
#include "graph/graph.h"

#include <errno.h>

void graph_await_cancel(struct sley_graph *graph)
{
	while (load_acquire(&graph->cancelling)) /* K1 */
		spin_hint(&graph->cancelling);
}

static void begin(struct sley_graph *graph)
{
	/* relaxed: the barrier orders it. */
	(void)add_relaxed(&graph->cancelling, 1);
	os_membarrier();
}

static void end(struct sley_graph *graph)
{
	(void)sub_release(&graph->cancelling, 1); /* K1 */
}

/* Between begin() and end().  It has not ended if @life is open. */
static bool cancel_running(struct node *node, uint32_t life)
{
	if (edges_look(&node->consumers, life) != EDGES_ADDED)
		return false;
	if (task_cancel(&node->task))
		task_enqueue(&node->task);
	return true;
}

int sley_node_cancel(struct sley_graph *graph, sley_node id)
{
	struct node *node;
	bool there;

	if (id == SLEY_NO_NODE)
		return -ESRCH;
	node = places_node(&graph->places, node_index_of(id));
	begin(graph);
	/* relaxed: a request; that of another life is none. */
	store_relaxed(&node->skipped, node_life_of(id));
	there = cancel_running(node, node_life_of(id));
	end(graph);
	return there ? 0 : -ESRCH;
}

/*
 * Those that start from now on see the word.  Those that looked at it before were
 * RUNNING by then, and are seen to be: the barrier of begin() is in between.
 */
void sley_graph_cancel(struct sley_graph *graph)
{
	uint32_t nr;

	sley_mutex_lock(&graph->lock);
	nr = graph->places.nr_used;
	sley_mutex_unlock(&graph->lock);
	/* relaxed: the barrier orders it. */
	store_relaxed(&graph->cancelled, 1);
	begin(graph);
	for (uint32_t i = 1; i < nr; i++) {
		struct node *node = places_node(&graph->places, i);
		uint32_t state = task_state_of(task_load(&node->task));

		if (state == TASK_RUNNING || state == TASK_BLOCKED)
			(void)cancel_running(node,
					     edges_life(&node->consumers));
	}
	end(graph);
}
