/* SPDX-License-Identifier: MIT */
/*
 * dump_dot.c - a snapshot for dot(1).
 */
#include "graph/log/formats.h"

#include <inttypes.h>
#include <sley/error.h>

#define LETTERS 80

static void put_node(struct pen *pen, const struct snapshot *snapshot,
		     uint32_t i)
{
	const struct drawn_node *node = &snapshot->node[i];
	const struct dump_style *style = &dump_style[node->state];
	char text[DRAWN_NAME];

	pen_put(pen, "\tn%" PRIu32 " [label=\"", i);
	pen_put_name(pen, drawn_name(node, text), LETTERS);
	pen_put(pen, "\\n");
	dump_put_fate(pen, node);
	if (node->state == DRAWN_FAILED) {
		pen_put(pen, "\\n");
		pen_put_name(pen, sley_strerror(node->code), LETTERS);
	}
	pen_put(pen, "\", fillcolor=\"%s\", color=\"%s\"", style->fill,
		node->critical ? DUMP_CRITICAL : style->line);
	if (node->critical)
		pen_put(pen, ", penwidth=2.5");
	pen_put(pen, "];\n");
}

static void put_edge(struct pen *pen, const struct drawn_edge *edge)
{
	const char *colour = edge->poisoned   ? DUMP_POISONED
			     : edge->critical ? DUMP_CRITICAL
					      : DUMP_EDGE;

	pen_put(pen, "\tn%" PRIu32 " -> n%" PRIu32 " [color=\"%s\"%s%s];\n",
		edge->from, edge->to, colour,
		edge->order_only ? ", style=dashed" : "",
		edge->critical || edge->poisoned ? ", penwidth=2.5" : "");
}

void dump_dot(struct pen *pen, const struct snapshot *snapshot)
{
	pen_put(pen, "digraph \"");
	pen_put_name(pen, snapshot->name, LETTERS);
	pen_put(pen, "\" {\n\tlabel=\"");
	pen_put_name(pen, snapshot->name, LETTERS);
	pen_put(pen, ": ");
	dump_put_summary(pen, snapshot);
	pen_put(pen, "\";\n\tfontname=\"sans-serif\";\n"
		     "\tnode [shape=box, style=\"rounded,filled\", "
		     "fontname=\"sans-serif\"];\n");
	for (uint32_t i = 0; i < snapshot->nr; i++)
		put_node(pen, snapshot, i);
	for (uint32_t i = 0; i < snapshot->nr_edges; i++)
		put_edge(pen, &snapshot->edge[i]);
	pen_put(pen, "}\n");
}
