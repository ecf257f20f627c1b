/* SPDX-License-Identifier: MIT */
/*
 * formats.h - writes a snapshot of a graph as text: for dot(1), or as JSON.
 */
#ifndef SLEY_GRAPH_LOG_FORMATS_H
#define SLEY_GRAPH_LOG_FORMATS_H

#include "graph/log/snapshot.h"
#include "graph/log/pen.h"

/* The colours of a state, as hexadecimal numbers with a hash, and its name. */
struct dump_style {
	const char *fill;
	const char *line;
	const char *name;
};

extern const struct dump_style dump_style[NR_DRAWN_STATES];

#define DUMP_EDGE "#8a94a3"
#define DUMP_CRITICAL "#1f2937"
#define DUMP_POISONED "#d11a2a"

/* The time a node took, by whom, and what is wrong with it. */
void dump_put_fate(struct pen *pen, const struct drawn_node *node);

/* What the whole says: nodes, edges, the critical path, what was left out. */
void dump_put_summary(struct pen *pen, const struct snapshot *snapshot);

void dump_dot(struct pen *pen, const struct snapshot *snapshot);
void dump_json(struct pen *pen, const struct snapshot *snapshot);

#endif
