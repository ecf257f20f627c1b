/* SPDX-License-Identifier: MIT */
/*
 * draw_layout.h - where the nodes of a graph stand, and how edges get by them.
 *
 * In ranks, from top to bottom: a node stands below all it depends on.  An edge
 * that passes ranks has a bend in each of them, a vertex as the nodes are, but thin;
 * so all is made of segments from one rank to the next.
 *
 *   1. The order in each rank: by the mean place of its neighbours in
 *      the rank above, then below, and again (the barycentre heuristic); the order
 *      with the fewest crossings is kept.
 *   2. Where each stands: as near to the mean of all its neighbours as the order and
 *      the widths allow.  That is a least-squares fit under constraints, which
 *      pooling vertices that are in each other's way solves at once for a rank.
 *   3. Where a segment leaves or reaches a node: side by side, in the order of where
 *      they come from.
 *
 * Edges are without bends if there would be too many of them.
 *
 * Rejected: a library (graphviz alone is larger than all of sley), springs (nobody
 * sees the order of time in what they make).
 */
#ifndef SLEY_PROGRAM_DRAW_LAYOUT_H
#define SLEY_PROGRAM_DRAW_LAYOUT_H

#include "draw.h"

#define LAYOUT_NONE UINT32_MAX

struct layout_sizes {
	int32_t node; /* wide                  */
	int32_t bend;
	int32_t gap;  /* between two of them   */
	int32_t port; /* between two arrows    */
};

struct layout_segment {
	uint32_t from; /* vertices: the nodes, then the bends */
	uint32_t to;
	float leaves; /* from the middle of the vertex */
	float arrives;
};

struct layout {
	const struct draw_graph *graph;
	const struct layout_sizes *sizes;
	uint32_t nr; /* vertices                                   */
	uint32_t nr_segments;
	uint32_t nr_ranks;
	void *memory;
	/* Of each vertex. */
	float *x; /* its middle; 0 is the left margin           */
	uint32_t *rank;
	uint32_t *place; /* in its rank                                */
	uint32_t *best;  /* place of the best order so far             */
	uint32_t *up;    /* the first of the segments that lead to it  */
	uint32_t *down;  /* that come from it                          */
	/* Of each rank. */
	uint32_t *first; /* in row                                     */
	uint32_t *row;   /* vertices by rank and place                 */
	/* Of each segment. */
	struct layout_segment *segment;
	uint32_t *in;  /* by the vertex they lead to                 */
	uint32_t *out; /* by the vertex they come from               */
	float *key;    /* or of each vertex: what is sorted by       */
	/* Of each edge. */
	uint32_t *chain; /* its first segment, or LAYOUT_NONE          */
	/* Of each block of vertices in each other's way. */
	float *mean;
	float *weight;
	uint32_t *count;
	float width;
};

/* 0 or -1: no memory; then there is nothing to destroy. */
int layout_make(struct layout *layout, const struct draw_graph *graph,
		const struct layout_sizes *sizes);
void layout_destroy(struct layout *layout);

/* So many segments has an edge that has any. */
static inline uint32_t layout_span(const struct layout *layout,
				   const struct draw_edge *edge)
{
	return layout->rank[edge->to] - layout->rank[edge->from];
}

#endif
