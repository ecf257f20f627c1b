/* SPDX-License-Identifier: MIT */
/*
 * draw.h - a graph that ran, as "sley draw" reads, checks and draws it.
 *
 * The file comes from elsewhere, so draw_read() believes nothing: draw_read() takes a
 * graph that keeps to the schema of <sley/graph_dump.h>, or says which member is wrong
 * and where.  All code behind draw_read() may rely on this:
 *
 *   - an edge leads from a node to a node with a higher number, so there are no cycles;
 *   - the states, times, workers and errors of a node fit together;
 *   - names are UTF-8 without a zero byte; every other character is possible.
 */
#ifndef SLEY_PROGRAM_DRAW_H
#define SLEY_PROGRAM_DRAW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum draw_state {
	DRAW_WAITING, /* for others     */
	DRAW_READY,   /* and not begun  */
	DRAW_RUNNING,
	DRAW_DONE,
	DRAW_FAILED,
	DRAW_SKIPPED,
	NR_DRAW_STATES,
};

/* By the words of the schema. */
extern const char *const draw_state_name[NR_DRAW_STATES];

struct draw_node {
	const char *name;
	const char *error; /* NULL: none                                     */
	uint64_t start_ns;
	uint64_t took_ns; /* so far                                         */
	uint32_t rank;    /* nodes of the chain with the most, up to it     */
	uint32_t worker;
	uint32_t depth;
	enum draw_state state;
	bool critical;
};

struct draw_edge {
	uint32_t from;
	uint32_t to;
	bool order_only;
	bool critical;
	bool failure; /* the node it leads to was skipped for it */
};

struct draw_graph {
	void *document; /* owns all texts */
	const char *name;
	struct draw_node *node;
	struct draw_edge *edge; /* by the node they lead to */
	uint32_t nr;
	uint32_t nr_edges;
	uint64_t nr_left_out;
	uint64_t nr_edges_left_out;
	/* From here on: what draw_compute() finds. */
	uint32_t nr_ranks;
	uint32_t nr_failure;    /* edges */
	uint32_t nr_order_only; /* edges */
	uint64_t critical_ns;
	uint64_t total_ns; /* from the first beginning to the last end */
	uint32_t count[NR_DRAW_STATES];
};

static inline bool draw_has_run(const struct draw_node *node)
{
	return node->state >= DRAW_RUNNING && node->state <= DRAW_FAILED;
}

/*
 * Reads @file, which messages call @path.  0, or -1 after a message on standard
 * error.  Either way draw_destroy() is next, or the picture.
 */
int draw_read(struct draw_graph *graph, FILE *file, const char *path);
void draw_destroy(struct draw_graph *graph);

/* What follows from nodes and edges: ranks, counts, sums. */
void draw_compute(struct draw_graph *graph);

/* ---- the picture ---------------------------------------------------------- */

struct draw_canvas;

/* Finds a place for everything.  NULL: no memory. */
struct draw_canvas *draw_canvas_create(const struct draw_graph *graph);
void draw_canvas_destroy(struct draw_canvas *canvas);

/* As SVG; @file knows whether it was written. */
void draw_svg(struct draw_canvas *canvas, FILE *file);

#endif
