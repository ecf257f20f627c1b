/* SPDX-License-Identifier: MIT */
/*
 * dump_json.c - a snapshot for programs; <sley/graph_dump.h> has the schema.
 *
 * A node or an edge is a line of its own, so that grep and diff are of use.
 */
#include "graph/log/formats.h"

#include <inttypes.h>
#include <sley/error.h>

#define VERSION 1

/* Before the next element of an array: the first one has no comma. */
static void put_next(struct pen *pen, bool *first)
{
	pen_put(pen, *first ? "\n" : ",\n");
	*first = false;
}

static void put_time(struct pen *pen, const char *key, uint64_t ns, bool known)
{
	if (known)
		pen_put(pen, ",\"%s\":%" PRIu64, key, ns);
	else
		pen_put(pen, ",\"%s\":null", key);
}

/* Times count from the first beginning, so that doubles can hold them. */
static void put_times(struct pen *pen, const struct snapshot *snapshot,
		      const struct drawn_node *node)
{
	uint64_t start_ns = node->begin_ns - snapshot->first_ns;
	bool has_run = drawn_has_run(node);
	bool has_ended = has_run && node->state != DRAWN_RUNNING;

	put_time(pen, "start_ns", start_ns, has_run);
	put_time(pen, "end_ns", start_ns + node->took_ns, has_ended);
	if (has_ended)
		pen_put(pen, ",\"worker\":%" PRIu32, node->worker);
	else
		pen_put(pen, ",\"worker\":null");
}

static void put_error(struct pen *pen, const struct drawn_node *node)
{
	int code = node->state >= DRAWN_FAILED ? node->code : 0;

	pen_put(pen, ",\"code\":%d,\"error\":", code);
	if (code)
		pen_put_json(pen, sley_strerror(code));
	else
		pen_put(pen, "null");
}

static void put_node(struct pen *pen, const struct snapshot *snapshot,
		     uint32_t i)
{
	const struct drawn_node *node = &snapshot->node[i];
	char text[DRAWN_NAME];

	pen_put(pen, "{\"id\":%" PRIu32 ",\"name\":", i);
	pen_put_json(pen, drawn_name(node, text));
	pen_put(pen, ",\"state\":\"%s\",\"depth\":%" PRIu32,
		dump_style[node->state].name, node->depth);
	put_times(pen, snapshot, node);
	put_error(pen, node);
	pen_put(pen, "}");
}

static void put_edge(struct pen *pen, const struct drawn_edge *edge)
{
	pen_put(pen,
		"{\"from\":%" PRIu32 ",\"to\":%" PRIu32 ",\"kind\":\"%s\"}",
		edge->from, edge->to,
		edge->order_only ? "order"
		: edge->poisoned ? "failure"
				 : "need");
}

/* A node has a higher number than all it depends on: this is the path's order. */
static void put_critical_path(struct pen *pen, const struct snapshot *snapshot)
{
	const char *comma = "";

	pen_put(pen, "\n],\n\"critical_path\":[");
	for (uint32_t i = 0; i < snapshot->nr; i++) {
		if (!snapshot->node[i].critical)
			continue;
		pen_put(pen, "%s%" PRIu32, comma, i);
		comma = ",";
	}
	pen_put(pen, "]\n}\n");
}

void dump_json(struct pen *pen, const struct snapshot *snapshot)
{
	bool first = true;

	pen_put(pen, "{\"sley_graph\":%d,\n\"name\":", VERSION);
	pen_put_json(pen, snapshot->name);
	pen_put(pen,
		",\n\"now_ns\":%" PRIu64 ",\n\"nodes_left_out\":%" PRIu64
		",\n\"edges_left_out\":%" PRIu64 ",\n\"nodes\":[",
		snapshot->now_ns - snapshot->first_ns, snapshot->nr_left_out,
		snapshot->nr_edges_left_out);
	for (uint32_t i = 0; i < snapshot->nr; i++) {
		put_next(pen, &first);
		put_node(pen, snapshot, i);
	}
	pen_put(pen, "\n],\n\"edges\":[");
	first = true;
	for (uint32_t i = 0; i < snapshot->nr_edges; i++) {
		put_next(pen, &first);
		put_edge(pen, &snapshot->edge[i]);
	}
	put_critical_path(pen, snapshot);
}
