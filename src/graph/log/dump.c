/* SPDX-License-Identifier: MIT */
/*
 * dump.c - <sley/graph_dump.h>, and what both formats have in common.
 */
#include "graph/log/formats.h"

#include "graph/node/graph.h"

#include <errno.h>
#include <inttypes.h>
#include <sley/error.h>

const struct dump_style dump_style[NR_DRAWN_STATES] = {
	[DRAWN_WAITING] = { "#f4f5f7", "#a3abb8", "waiting" },
	[DRAWN_READY] = { "#e3effd", "#3b82d6", "ready" },
	[DRAWN_RUNNING] = { "#fff1c9", "#d99a00", "running" },
	[DRAWN_DONE] = { "#ddf3e4", "#2f9e5b", "done" },
	[DRAWN_FAILED] = { "#ffd9d9", DUMP_POISONED, "failed" },
	[DRAWN_SKIPPED] = { "#f3e8f7", "#9b59b6", "skipped" },
};

void dump_put_fate(struct pen *pen, const struct drawn_node *node)
{
	if (!drawn_has_run(node)) {
		pen_put(pen, "%s", dump_style[node->state].name);
		return;
	}
	pen_put_time(pen, node->took_ns);
	if (node->state != DRAWN_RUNNING)
		pen_put(pen, " \302\267 w%" PRIu32, node->worker);
}

static void put_left_out(struct pen *pen, uint64_t nr, const char *what)
{
	if (nr)
		pen_put(pen, ", %" PRIu64 " more %s left out", nr, what);
}

void dump_put_summary(struct pen *pen, const struct snapshot *snapshot)
{
	pen_put(pen, "%" PRIu32 " nodes, %" PRIu32 " edges", snapshot->nr,
		snapshot->nr_edges);
	put_left_out(pen, snapshot->nr_left_out, "nodes");
	put_left_out(pen, snapshot->nr_edges_left_out, "edges");
	if (!snapshot->critical_ns)
		return;
	pen_put(pen, "; critical path ");
	pen_put_time(pen, snapshot->critical_ns);
	pen_put(pen, " of ");
	pen_put_time(pen, snapshot->total_ns);
}

static int dump(struct snapshot *snapshot, enum sley_graph_dump_format format,
		sley_graph_dump_fn *put, void *arg)
{
	struct pen *pen = mem_alloc(snapshot->mem, sizeof(*pen));
	int err;

	if (!pen)
		return -ENOMEM;
	pen->put = put;
	pen->arg = arg;
	snapshot_compute(snapshot);
	if (format == SLEY_GRAPH_DUMP_JSON)
		dump_json(pen, snapshot);
	else
		dump_dot(pen, snapshot);
	err = pen_end(pen);
	mem_free(snapshot->mem, pen, sizeof(*pen));
	return err;
}

int sley_graph_dump(struct sley_graph *graph,
		    enum sley_graph_dump_format format, sley_graph_dump_fn *put,
		    void *arg)
{
	struct snapshot snapshot;
	int err;

	if (!graph->log || (unsigned int)format > SLEY_GRAPH_DUMP_JSON)
		return -EINVAL;
	sley_mutex_lock(&graph->lock);
	err = snapshot_copy(&snapshot, graph->log);
	sley_mutex_unlock(&graph->lock);
	if (err)
		return err;
	snapshot.name = graph->name;
	err = dump(&snapshot, format, put, arg);
	snapshot_destroy(&snapshot);
	return err;
}
