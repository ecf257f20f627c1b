/* SPDX-License-Identifier: MIT */
/*
 * submit.c - adds a node.
 *
 * The order makes sure that a failure leaves nothing behind.  First the spec is
 * checked, a place is taken, the predecessors are found, edges for them are
 * reserved, and the runtime counts the node.  Then the edges are added, to lists
 * that their owners may close at any moment.  At last the guard is removed.  See
 * node.h.
 *
 * Edges: the edges of node.h and of the mutex, and
 *
 *  NR1  see graph/node/node_run.c
 */
#include "core/life/after_fork.h"
#include "core/task/spawn.h"
#include "core/task/turn.h"
#include "graph/node/failures.h"
#include "graph/node/graph.h"
#include "graph/node/kin.h"
#include "graph/placement/placement.h"
#include "graph/node/spec.h"
#include "graph/node/stepped.h"
#include "graph/node/submit.h"
#include "graph/node/watch.h"
#include "graph/node/wire.h"

#include <errno.h>
#include <sley/error.h>
#include <sley/time.h>
#include <string.h>

/* Looks for a node that joins the submitter: the first pause, the longest pause. */
#define LOOK_FIRST_NS 2000000u
#define LOOK_LAST_NS 64000000u

/* ---- room ---------------------------------------------------------------------------- */

const struct node *submit_own_node(const struct sley_graph *graph)
{
	const struct strand *strand = strand_current();

	return strand ? kin_node(graph, strand->task) : NULL;
}

/*
 * Nodes that have ended, but still have their places.  In this order a node that
 * moves from a share to another count meanwhile is not counted twice.
 */
static uint32_t nr_ended(const struct sley_graph *graph)
{
	uint32_t nr = load_acquire(&graph->nr_failed); /* NR1 */

	for (uint32_t i = 0; i < graph->nr_share; i++) {
		/* relaxed: NR1, NS1 of node_store.h or GR1 of graph.h. */
		nr += load_relaxed(&graph->share[i].nr);
	}
	return nr;
}

/* Are there fewer than @max nodes that have not ended? */
static bool are_fewer(const struct sley_graph *graph, uint32_t max)
{
	uint32_t nr_taken = node_store_nr_taken(&graph->store);

	/* A share may still count forgotten nodes: then the sum is below 0. */
	return (int32_t)(nr_taken - nr_ended(graph) - max) < 0;
}

static noinline bool has_room_after_all(struct sley_graph *graph)
{
	/* relaxed: a guess; are_fewer() counts, by NR1. */
	uint32_t nr_failed = load_relaxed(&graph->nr_failed);

	if (unlikely((int32_t)(nr_failed - graph->max_failed) > 0))
		failures_thin_out(graph);
	return are_fewer(graph, graph->max_nodes);
}

static bool has_room(struct sley_graph *graph)
{
	return likely(graph->store.nr_taken < graph->max_nodes) ||
	       has_room_after_all(graph);
}

/*
 * Waits until a batch of nodes has ended, or the patience is used up; the caller
 * checks whether there is room then.  With the lock, which is released meanwhile.
 */
static int wait_for_batch(struct sley_graph *graph, uint64_t deadline_ns)
{
	uint64_t now = sley_now(), until = deadline_ns;
	int err = 0;

	if (deadline_ns > now && deadline_ns - now > graph->patience_ns)
		until = now + graph->patience_ns;
	/* relaxed: this and the next are hints, which a worker may overlook. */
	(void)add_relaxed(&graph->patient, 1);
	/* relaxed: as above. */
	store_relaxed(&graph->nr_freed, 0);
	sley_event_clear(&graph->room);
	/* An event that is set from here on is not overlooked. */
	if (!has_room(graph)) {
		sley_mutex_unlock(&graph->lock);
		err = sley_event_wait_until(&graph->room, until);
		sley_mutex_lock(&graph->lock);
	}
	/* relaxed: as above. */
	(void)sub_relaxed(&graph->patient, 1);
	return err == -ETIMEDOUT && until != deadline_ns ? 0 : err;
}

/* The same without patience: waits until there is any room. */
static int wait_for_any(struct sley_graph *graph, uint64_t deadline_ns)
{
	int err = 0;

	graph_ask(graph, &graph->full);
	while (!err && !has_room(graph)) {
		sley_event_clear(&graph->room);
		/* An event that is set from here on is not overlooked. */
		if (has_room(graph))
			break;
		sley_mutex_unlock(&graph->lock);
		err = sley_event_wait_until(&graph->room, deadline_ns);
		sley_mutex_lock(&graph->lock);
	}
	/* relaxed: the other waiters have counted themselves. */
	(void)sub_relaxed(&graph->full, 1);
	return err;
}

/* With the lock, which is released meanwhile: 0, -EAGAIN or -ECANCELED. */
static noinline int wait_for_room(struct sley_graph *graph,
				  uint64_t deadline_ns)
{
	int err = 0;

	if (likely(graph->batch > 1))
		err = wait_for_batch(graph, deadline_ns);
	if (!err && !has_room(graph))
		err = wait_for_any(graph, deadline_ns);
	/* The event may have been meant for another waiter as well. */
	/* relaxed: waiters count themselves under the lock. */
	if (load_relaxed(&graph->full))
		sley_event_set(&graph->room);
	return err == -ETIMEDOUT ? -EAGAIN : err;
}

/* Past the limit: for a node, and for tasks that a node joins. */
static int go_past(const struct sley_graph *graph)
{
	return are_fewer(graph, graph->store.max_nodes) ? 0 : -EAGAIN;
}

/* For a task that a node may join later: looks from time to time whether it does. */
static int wait_and_look(struct sley_graph *graph, uint64_t deadline_ns)
{
	uint64_t pause_ns = LOOK_FIRST_NS;
	int err = -EAGAIN;

	while (err == -EAGAIN) {
		uint64_t now = sley_now(), until = deadline_ns;

		if (kin_is_awaited(graph))
			return go_past(graph);
		if (deadline_ns > now && deadline_ns - now > pause_ns)
			until = now + pause_ns;
		err = wait_for_room(graph, until);
		if (until == deadline_ns)
			break;
		if (pause_ns < LOOK_LAST_NS)
			pause_ns *= 2;
	}
	return err;
}

/* The graph is full.  0: the caller may submit all the same. */
static noinline int find_room(struct sley_graph *graph, uint64_t deadline_ns)
{
	/* A node that waited here would wait for itself. */
	if (submit_own_node(graph))
		return go_past(graph);
	/* Only steps make room, and the submitter itself makes them. */
	if (graph->stepped)
		return -EAGAIN;
	if (kin_may_be_awaited())
		return wait_and_look(graph, deadline_ns);
	return wait_for_room(graph, deadline_ns);
}

static int take_place(struct sley_graph *graph, uint64_t deadline_ns, bool last,
		      struct node **node)
{
	int err = 0;

	if (unlikely(!has_room(graph)) && !last)
		err = find_room(graph, deadline_ns);
	if (err)
		return err;
	*node = node_store_take(&graph->store);
	return *node ? 0 : -ENOMEM;
}

/* ---- the submission ------------------------------------------------------------------------- */

/* The runtime waits for @node from here on: 0, or an error. */
static int count(struct sley_graph_scope *scope, struct node *node)
{
	struct sley *rt = scope->graph->rt;
	struct worker *worker = worker_current();
	int err;

	if (unlikely(scope->graph->stepped)) {
		node->task.fiber = NULL; /* no worker runs it */
	} else if (likely(worker && worker->rt == rt)) {
		drain_count_spawned(worker);
		task_set_accepted_by(&node->task, worker);
	} else {
		err = spawn_count_foreign(rt);
		if (err)
			return err;
		task_set_accepted_by(&node->task, rt->worker[0]);
	}
	if (!scope->credit) {
		scope->credit = scope->nr_waiting ? 1 : GRAPH_CREDIT;
		countdown_add(&scope->pending, scope->credit);
	}
	scope->credit--;
	return 0;
}

static void fill(struct node *node, struct sley_graph_scope *scope,
		 const struct sley_node_spec *spec, uint32_t flags)
{
	unsigned int level = (unsigned int)(spec->priority + LEVEL_DEFAULT);
	struct sley_task *task = &node->task;

	flags |= runtime_task_flags(scope->graph->rt) | TASK_TURNS;
	/* Where bound threads run the tasks, each runs the nodes it submitted. */
	if (unlikely(!scope->graph->rt->nr_workers || placement_matters(node)))
		flags |= TASK_PINNED;

	task->fn = unlikely(spec->on) ? graph_turn_elsewhere : graph_turn;
	task->arg = spec->arg;
	if (spec->arg_size)
		task->arg = memcpy(node->arg, spec->arg, spec->arg_size);
	task->group = (struct sley_group *)(uintptr_t)&graph_turns;
	task->name = spec->name;
	task_build(task, level, flags);
	node->fn = spec->fn;
	node->scope = scope;
	/* relaxed: no other thread knows the node yet. */
	store_relaxed(&node->nr_missing, NODE_GUARD);
	failure_clear(&node->failure);
	node->stamp = PASS_NEVER;
}

/* The submission has failed: undoes it. */
static noinline void give_up(struct sley_graph *graph, struct node *node)
{
	if (node->placement)
		placement_free(node->placement, graph->rt);
	wire_give_up(graph, node);
	node_store_give(&graph->store, node, node, 1);
}

static void note(struct sley_graph_scope *scope, uint32_t nr_edges)
{
	uint32_t nr_taken = scope->graph->store.nr_taken;

	scope->stats.submitted++;
	scope->stats.edges += nr_edges;
	if (nr_taken > scope->stats.most)
		scope->stats.most = nr_taken;
}

/* Takes a place and adds all *@nr edges; the guard stays.  With the lock. */
static int add(struct sley_graph *graph, const struct sley_node_spec *spec,
	       uint64_t deadline_ns, bool last, struct node **out, uint32_t *nr)
{
	struct sley_graph_scope *scope = spec->scope ? spec->scope
						     : &graph->root;
	struct predecessors *found = &graph->predecessors;
	struct node *node;
	int err = take_place(graph, deadline_ns, last, &node);

	if (err)
		return err;
	node->pages = 0;
	err = placement_create(&node->placement, graph, spec);
	if (!err)
		err = wire_find(scope, node, spec, found);
	if (!err)
		err = count(scope, node);
	if (err) {
		give_up(graph, node);
		return err;
	}
	fill(node, scope, spec, last ? TASK_MUST_RUN : 0);
	edges_open(&node->successors, edges_life(&node->successors));
	if (spec->nr_access)
		access_note(&graph->map, spec->access, spec->nr_access,
			    node_id_of(node));
	*nr = wire(graph, node, found, last);
	if (unlikely(graph->watch))
		watch_submitted(node, found, *nr, last);
	note(scope, *nr);
	*out = node;
	return 0;
}

static int submit(struct sley_graph *graph, sley_node *id,
		  const struct sley_node_spec *spec, uint64_t deadline_ns,
		  bool last)
{
	struct node *node = NULL;
	uint32_t nr = 0;
	int err;

	if (unlikely(runtime_is_lost(graph->rt)))
		return SLEY_EFORKED;
	/* A step runs one node after the other. */
	if (unlikely(graph->stepped && spec->gang > 1))
		return SLEY_EGANG;
	sley_mutex_lock(&graph->lock);
	err = add(graph, spec, deadline_ns, last, &node, &nr);
	if (!err && id)
		*id = node_id_of(node);
	sley_mutex_unlock(&graph->lock);
	if (err)
		return err;
	if (unlikely(graph->stepped))
		step_submitted(graph, node, nr);
	else if (node_guard_off(node, nr))
		graph_ready(node);
	return 0;
}

int submit_last(struct sley_graph *graph, sley_node *id,
		const struct sley_node_spec *spec)
{
	return submit(graph, id, spec, SLEY_FOREVER, true);
}

int sley_graph_submit_until(struct sley_graph *graph, sley_node *id,
			    const struct sley_node_spec *given,
			    uint64_t deadline_ns)
{
	const struct sley_node_spec *spec = NULL;
	struct sley_node_spec copy;
	int err = spec_check(&spec, &copy, given);

	if (!err && spec->scope && spec->scope->graph != graph)
		err = -EINVAL;
	if (!err)
		err = submit(graph, id, spec, deadline_ns, false);
	/* Not earlier: *@id may be one of the nodes that the spec names. */
	if (err && id)
		*id = SLEY_NO_NODE;
	return err;
}

int sley_graph_submit(struct sley_graph *graph, sley_node *id,
		      const struct sley_node_spec *spec)
{
	return sley_graph_submit_until(graph, id, spec, SLEY_FOREVER);
}
