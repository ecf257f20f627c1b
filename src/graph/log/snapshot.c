/* SPDX-License-Identifier: MIT */
/*
 * snapshot.c - see snapshot.h.
 */
#include "graph/log/snapshot.h"

#include "base/atomic.h"
#include "os/clock.h"
#include "os/symbol.h"

#include <errno.h>

/* ---- the copy ------------------------------------------------------------------------- */

/*
 * The words of a record are written one after the other.  A node has ended if all
 * words of its end are there; before that it counts as running.
 */
static void copy_fate(struct drawn_node *node,
		      const struct node_log_record *record, uint64_t now_ns)
{
	/* relaxed: see node_log.h; this holds for the next loads, too. */
	uint64_t begin_ns = load_relaxed(&record->begin_ns);
	/* relaxed: as above. */
	uint64_t end_ns = load_relaxed(&record->end_ns);
	/* relaxed: as above. */
	uint32_t end = load_relaxed(&record->end);
	enum sley_outcome outcome = node_log_outcome(end);

	/* relaxed: as above. */
	node->code = load_relaxed(&record->code);
	node->worker = node_log_worker(end);
	node->begin_ns = begin_ns;
	if (!begin_ns)
		node->state = DRAWN_WAITING;
	else if (!end_ns || !outcome)
		node->state = DRAWN_RUNNING;
	else if (outcome == SLEY_OUTCOME_SUCCESS)
		node->state = DRAWN_DONE;
	else if (outcome == SLEY_OUTCOME_SKIPPED)
		node->state = DRAWN_SKIPPED;
	else
		node->state = node->code ? DRAWN_FAILED : DRAWN_RUNNING;
	if (node->state == DRAWN_RUNNING)
		end_ns = now_ns;
	if (drawn_has_run(node) && end_ns > begin_ns)
		node->took_ns = end_ns - begin_ns;
}

static void copy_edges(struct snapshot *snapshot, const struct node_log *log,
		       uint32_t to)
{
	const struct drawn_node *node = &snapshot->node[to];

	for (uint32_t i = 0; i < node->nr_edges; i++) {
		uint32_t from = log->edge[node->first_edge + i];

		snapshot->edge[node->first_edge + i] = (struct drawn_edge){
			.from = from & ~PICTURE_ORDER_ONLY,
			.to = to,
			.order_only = from & PICTURE_ORDER_ONLY,
		};
	}
}

static size_t nodes_size(const struct snapshot *snapshot)
{
	return ((size_t)snapshot->nr + 1) * sizeof(*snapshot->node);
}

static size_t edges_size(const struct snapshot *snapshot)
{
	return ((size_t)snapshot->nr_edges + 1) * sizeof(*snapshot->edge);
}

int snapshot_copy(struct snapshot *snapshot, const struct node_log *log)
{
	uint64_t now_ns = os_now();

	*snapshot = (struct snapshot){
		.mem = log->mem,
		.now_ns = now_ns,
		.nr = log->nr,
		.nr_edges = log->nr_edges,
		.nr_left_out = log->nr_left_out,
		.nr_edges_left_out = log->nr_edges_left_out,
	};
	snapshot->node = mem_alloc(log->mem, nodes_size(snapshot));
	snapshot->edge = mem_alloc(log->mem, edges_size(snapshot));
	if (!snapshot->node || !snapshot->edge) {
		snapshot_destroy(snapshot);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < snapshot->nr; i++) {
		const struct node_log_record *record = &log->record[i];
		struct drawn_node *node = &snapshot->node[i];

		node->name = record->name;
		node->fn = record->fn;
		node->depth = record->depth;
		node->first_edge = record->first_edge;
		node->nr_edges = record->nr_edges;
		copy_fate(node, record, now_ns);
		copy_edges(snapshot, log, i);
	}
	return 0;
}

void snapshot_destroy(struct snapshot *snapshot)
{
	mem_free(snapshot->mem, snapshot->node, nodes_size(snapshot));
	mem_free(snapshot->mem, snapshot->edge, edges_size(snapshot));
}

/* ---- numbers ----------------------------------------------------------------------------- */

static bool has_ended(const struct drawn_node *node)
{
	return node->state >= DRAWN_DONE;
}

/* All predecessors of @node have been looked at. */
static void look_at(struct snapshot *snapshot, struct drawn_node *node)
{
	bool ready = true;

	node->before = PICTURE_NONE;
	for (uint32_t i = 0; i < node->nr_edges; i++) {
		uint32_t number = node->first_edge + i;
		struct drawn_edge *edge = &snapshot->edge[number];
		const struct drawn_node *from = &snapshot->node[edge->from];

		ready = ready && has_ended(from);
		edge->poisoned = !edge->order_only &&
				 node->state == DRAWN_SKIPPED &&
				 from->state >= DRAWN_FAILED;
		if (from->path_ns > node->path_ns) {
			node->path_ns = from->path_ns;
			node->before = number;
		}
	}
	node->path_ns += node->took_ns;
	if (node->state == DRAWN_WAITING && ready)
		node->state = DRAWN_READY;
}

static void mark_critical(struct snapshot *snapshot, uint32_t last)
{
	struct drawn_node *node = &snapshot->node[last];

	snapshot->critical_ns = node->path_ns;
	node->critical = true;
	while (node->before != PICTURE_NONE) {
		struct drawn_edge *edge = &snapshot->edge[node->before];

		edge->critical = true;
		node = &snapshot->node[edge->from];
		node->critical = true;
	}
}

void snapshot_compute(struct snapshot *snapshot)
{
	uint64_t last_ns = 0, longest_ns = 0;
	uint32_t last = PICTURE_NONE;

	snapshot->first_ns = snapshot->now_ns;
	for (uint32_t i = 0; i < snapshot->nr; i++) {
		struct drawn_node *node = &snapshot->node[i];

		look_at(snapshot, node);
		if (!drawn_has_run(node))
			continue;
		if (node->begin_ns < snapshot->first_ns)
			snapshot->first_ns = node->begin_ns;
		if (node->begin_ns + node->took_ns > last_ns)
			last_ns = node->begin_ns + node->took_ns;
		if (node->path_ns > longest_ns) {
			longest_ns = node->path_ns;
			last = i;
		}
	}
	if (last == PICTURE_NONE)
		return;
	snapshot->total_ns = last_ns - snapshot->first_ns;
	mark_critical(snapshot, last);
}

const char *drawn_name(const struct drawn_node *node, char text[DRAWN_NAME])
{
	const void *code;

	if (node->name)
		return node->name;
	/* os_symbol() takes the address of a function as a data pointer. */
	code = (const void *)(uintptr_t)node->fn;
	os_symbol(text, DRAWN_NAME, code);
	return text;
}
