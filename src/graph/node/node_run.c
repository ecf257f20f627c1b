/* SPDX-License-Identifier: MIT */
/*
 * node_run.c - runs a node, and releases its successors.
 *
 * The worker that ends a node keeps a successor that is ready, and runs it next, in
 * the worker's own loop (core/sched/worker.c): a chain of a million nodes needs no
 * queue and no stack.  The other successors are queued, where thieves find them.
 *
 * A node is not touched after its place was given back.  A graph is not touched
 * after the node was counted off: a waiter may destroy it.
 *
 * Edges:
 *
 *   NR1  failed nodes are counted -> a submitter looks for room : no share has them
 *       any more
 */
#include "core/sched/place.h"
#include "core/life/drain.h"
#include "core/task/turn.h"
#include "endpoint/endpoint.h"
#include "graph/node/failures.h"
#include "graph/node/graph.h"
#include "graph/placement/placement.h"
#include "graph/node/stepped.h"
#include "graph/node/watch.h"

#include <sley/time.h>

/* ---- the turn ------------------------------------------------------------------- */

bool node_is_skipped(const struct node *node)
{
	const struct sley_graph_scope *scope = node->scope;

	return failure_has_cause(&node->failure) ||
	       task_is_cancelled(&node->task) ||
	       /* relaxed: set before submission; or the node is marked, too. */
	       load_relaxed(&scope->cancelled) ||
	       runtime_is_cancelled(scope->graph->rt);
}

/* True: @node is skipped, and has its outcome. */
static bool skip(struct node *node)
{
	if (likely(!node_is_skipped(node)) ||
	    task_flags(&node->task) & TASK_MUST_RUN)
		return false;
	failure_set_skipped(&node->failure);
	return true;
}

void graph_turn(void *task)
{
	struct node *node = node_of(task);

	if (unlikely(node->scope->graph->watch))
		watch_begin(node);
	if (likely(!skip(node)))
		failure_set_result(&node->failure, node->fn(node->task.arg));
}

void graph_turn_elsewhere(void *task)
{
	struct node *node = node_of(task);
	const struct placement *placement = node->placement;
	struct endpoint_end *end = placement->end;
	struct endpoint_work work = {
		.fn = node->fn,
		.arg = node->task.arg,
		.arg_size = placement->arg_size,
		.deadline_ns = SLEY_FOREVER,
	};

	if (unlikely(node->scope->graph->watch))
		watch_begin(node);
	if (unlikely(skip(node)))
		return;
	placement->on->ops->run(placement->on, &work, end);
	node->failure.outcome = end->outcome;
	node->failure.code = end->code;
}

/* ---- the successors --------------------------------------------------------------- */

void graph_ready(struct node *node)
{
	struct sley *rt = node->scope->graph->rt;
	struct worker *worker = worker_current();

	if (unlikely(node->scope->graph->stepped)) {
		step_ready(node->scope->graph, node);
		return;
	}
	if (unlikely(placement_matters(node))) {
		placement_ready(node);
		return;
	}
	if (unlikely(!worker || worker->rt != rt || !rt->nr_workers)) {
		place_accepted(&node->task);
		return;
	}
	node->task.fiber = NULL;
	place_spawned(worker, &node->task);
}

/*
 * Releases all successors of @node.  Returns the ready successors, chained by next,
 * in the order in which they were submitted.  The edge list has the reverse order,
 * but later nodes of a program are needed later.
 */
static struct node *release_successors(const struct sley_graph *graph,
				       struct node *node)
{
	const struct node_store *store = &graph->store;
	bool traced = graph->watch & WATCH_TRACE;
	bool well = failure_is_success(&node->failure);
	struct node *first = NULL;
	uint32_t id;

	if (unlikely(!well))
		failure_note_first(&node->failure, &node->scope->first,
				   node->index);
	id = edges_close(&node->successors, well);
	while (id) {
		struct edge edge = *node_store_edge(store, id);
		struct node *to =
			node_store_node(store, edge.to & ~EDGE_ORDER_ONLY);

		if (unlikely(!well) && !(edge.to & EDGE_ORDER_ONLY))
			node_poison(to, node);
		if (unlikely(traced))
			watch_release(to, id);
		if (node_count_off(to)) {
			to->next = first;
			first = to;
		}
		id = edge.next;
	}
	return first;
}

/* Queues @node and the rest of its chain, in this order. */
static void make_ready(struct node *node)
{
	while (node) {
		struct node *next = node->next;

		graph_ready(node);
		node = next;
	}
}

/*
 * Queues the chain from @first on, except for the node that the worker may run next.
 * Returns that node, or NULL.  @first may be NULL.  If @first may not be kept, or
 * only while its queue is empty, it is queued, too, to stay before the rest of the
 * chain.
 */
static struct node *make_others_ready(struct node *first)
{
	if (!first)
		return NULL;
	if (unlikely(!turn_is_usual(&first->task) && first->next)) {
		make_ready(first);
		return NULL;
	}
	make_ready(first->next);
	return first;
}

/* ---- the end ----------------------------------------------------------------------- */

static void chain_add(struct share *share, struct node *node)
{
	node->next = share->first;
	if (!share->first)
		share->last = node;
	share->first = node;
}

/* The pages for the edges of @node, none of which is in a list any more. */
static noinline void give_pages(const struct node_store *store,
				struct share *share, const struct node *node)
{
	uint32_t index = node->pages;

	while (index) {
		struct node *place = node_store_node(store, index);
		uint32_t next = (uint32_t)((struct page *)(void *)place)->next;

		place->index = index;
		chain_add(share, place);
		index = next;
	}
}

/* Counts @nr more nodes in @share. */
static uint32_t share_add(struct share *share, uint32_t nr)
{
	/* relaxed: only this worker writes; see has_room() for the readers. */
	nr += load_relaxed(&share->nr);
	/* relaxed: as above. */
	store_relaxed(&share->nr, nr);
	return nr;
}

/* Is the queue of the default level empty, as far as a glance tells? */
static bool has_nothing(const struct worker *worker)
{
	return !ring_size(&worker->ring) && next_empty(&worker->next);
}

/* Submitters wait with patience, and @nr more nodes have ended. */
static noinline void tell_patient(struct sley_graph *graph, uint32_t nr,
				  const struct worker *idle)
{
	/* relaxed: a guess; a submitter that is woken looks for room itself. */
	uint32_t before = add_relaxed(&graph->nr_freed, nr);

	if (before + nr >= graph->batch || (idle && has_nothing(idle)))
		sley_event_set(&graph->room);
}

/*
 * All nodes in @share are over, and not touched afterwards.  Meanwhile a node may be
 * counted nowhere, but never twice: so a submitter may see too little room, but never
 * room that is not there.  @idle: the worker, if it does not go on with a node; or
 * NULL.
 */
static void settle(struct sley_graph *graph, struct share *share,
		   const struct worker *idle)
{
	/* relaxed: only this worker writes. */
	uint32_t nr = load_relaxed(&share->nr);

	/* relaxed: NR1, or NS1 of node_store.h, publishes it. */
	store_relaxed(&share->nr, 0);
	if (unlikely(share->nr_failed))
		(void)add_release(&graph->nr_failed,
				  share->nr_failed); /* NR1 */
	share->nr_failed = 0;
	if (share->first)
		node_store_give(&graph->store, share->first, share->last,
				share->nr_places);
	share->first = NULL;
	share->nr_places = 0;
	if (unlikely(graph_look(graph, &graph->full)))
		sley_event_set(&graph->room);
	/* relaxed: a submitter that is overlooked runs out of patience. */
	else if (unlikely(load_relaxed(&graph->patient)))
		tell_patient(graph, nr, idle);
	(void)countdown_sub(&share->scope->pending, nr);
}

/* True: @node may stay in @share, since no submitter waits for room. */
static bool end(struct sley_graph *graph, struct share *share,
		struct node *node)
{
	struct sley_graph_scope *scope = node->scope;

	if (unlikely(share->scope != scope)) {
		/* relaxed: only this worker writes. */
		if (load_relaxed(&share->nr))
			settle(graph, share, NULL);
		share->scope = scope;
	}
	if (unlikely(graph_look(graph, &graph->cancelling)))
		graph_await_cancel(graph);
	if (unlikely(node->pages))
		give_pages(&graph->store, share, node);
	if (likely(failure_is_success(&node->failure))) {
		if (unlikely(node->placement))
			placement_free(node->placement, graph->rt);
		chain_add(share, node);
		share->nr_places++;
	} else {
		share->nr_failed++;
		failures_add(scope, node);
	}
	return share_add(share, 1) < graph->bulk &&
	       likely(!graph_look(graph, &graph->full));
}

static struct sley_task *after_turn(struct worker *worker,
				    struct sley_task *task)
{
	struct node *node = node_of(task);
	struct sley_graph *graph = node->scope->graph;
	struct share alone = { .first = NULL };
	struct share *share = &alone;
	struct node *kept;
	bool may_stay;

	if (unlikely(graph->watch))
		watch_end(node, worker->index);
	kept = make_others_ready(release_successors(graph, node));
	if (likely(worker->index < graph->nr_share))
		share = &graph->share[worker->index];
	may_stay = end(graph, share, node);
	drain_count_finished(worker);
	if (kept && !turn_may_keep(worker, &kept->task) &&
	    !placement_may_keep(worker, kept)) {
		graph_ready(kept);
		kept = NULL;
	}
	/* The kept node may take long, while a waiter waits for the other scope. */
	if (!kept || !may_stay || unlikely(kept->scope != share->scope))
		settle(graph, share, kept ? NULL : worker);
	if (!kept)
		return NULL;
	kept->task.fiber = NULL;
	return &kept->task;
}

void graph_complete(struct sley_graph *graph, struct node *node)
{
	struct share alone = { .scope = node->scope };
	struct node *first = release_successors(graph, node);

	(void)end(graph, &alone, node);
	make_ready(first);
	settle(graph, &alone, NULL);
}

/* A node waits for no inbox. */
static void poke(struct sley_task *task)
{
	(void)task;
}

const struct turns graph_turns = { after_turn, poke };
