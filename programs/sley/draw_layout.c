/* SPDX-License-Identifier: MIT */
/*
 * draw_layout.c - see draw_layout.h.
 *
 * All arrays are in a single piece of memory, whose size is counted before.
 */
#include "draw_layout.h"

#include <stdlib.h>
#include <string.h>

#define BENDS_MAX (1u << 16)
#define SWEEPS 16
#define FITS 100
#define CROSSINGS_COUNTED 2048 /* segments, at most: all pairs are looked at */
#define BEND_WEIGHT 4 /* a bend in a long edge is worse than one at its end */

/* ---- vertices and segments ------------------------------------------------------------ */

static uint32_t count_bends(const struct draw_graph *graph)
{
	uint64_t nr = 0;

	for (uint32_t i = 0; i < graph->nr_edges; i++) {
		const struct draw_edge *edge = &graph->edge[i];

		nr += graph->node[edge->to].rank -
		      graph->node[edge->from].rank - 1;
	}
	return nr <= BENDS_MAX ? (uint32_t)nr : 0;
}

static void *take(char **at, size_t nr)
{
	void *memory = *at;

	*at += nr * sizeof(uint32_t);
	return memory;
}

static int allocate(struct layout *layout)
{
	size_t nr = layout->nr + 1, nr_segments = layout->nr_segments + 1;
	size_t nr_edges = layout->graph->nr_edges + 1;
	size_t size;
	char *at;

	size = nr * 11 * sizeof(uint32_t) +
	       (layout->nr_ranks + 2) * sizeof(uint32_t) +
	       nr_segments * 3 * sizeof(uint32_t) +
	       nr_segments * sizeof(struct layout_segment) +
	       nr_edges * sizeof(uint32_t);
	at = layout->memory = calloc(1, size);
	if (!at)
		return -1;
	layout->x = take(&at, nr);
	layout->rank = take(&at, nr);
	layout->place = take(&at, nr);
	layout->best = take(&at, nr);
	layout->up = take(&at, nr);
	layout->down = take(&at, nr);
	layout->row = take(&at, nr);
	layout->mean = take(&at, nr);
	layout->weight = take(&at, nr);
	layout->count = take(&at, nr);
	layout->first = take(&at, layout->nr_ranks + 2);
	layout->key = take(&at, nr + nr_segments);
	layout->in = take(&at, nr_segments);
	layout->out = take(&at, nr_segments);
	layout->chain = take(&at, nr_edges);
	layout->segment = (void *)at;
	return 0;
}

static bool is_bend(const struct layout *layout, uint32_t vertex)
{
	return vertex >= layout->graph->nr;
}

/* From one rank to the next, by way of bends, which come from *@bend on. */
static void add_edge(struct layout *layout, uint32_t i, uint32_t *bend,
		     bool bends)
{
	const struct draw_edge *edge = &layout->graph->edge[i];
	uint32_t nr = layout_span(layout, edge), from = edge->from;

	layout->chain[i] = nr > 1 && !bends ? LAYOUT_NONE : layout->nr_segments;
	if (layout->chain[i] == LAYOUT_NONE)
		return;
	for (uint32_t k = 1; k <= nr; k++) {
		uint32_t to = k < nr ? (*bend)++ : edge->to;

		layout->rank[to] = layout->rank[edge->from] + k;
		layout->segment[layout->nr_segments++] =
			(struct layout_segment){ .from = from, .to = to };
		from = to;
	}
}

/* Counts in @first, of @nr: where each begins, in all. */
static void sum_up(uint32_t *first, uint32_t nr)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t count = first[i];

		first[i] = sum;
		sum += count;
	}
	first[nr] = sum;
}

/* The segments of each vertex side by side, in and out. */
static void join(struct layout *layout)
{
	uint32_t nr = layout->nr;

	for (uint32_t i = 0; i < layout->nr_segments; i++) {
		layout->up[layout->segment[i].to]++;
		layout->down[layout->segment[i].from]++;
	}
	sum_up(layout->up, nr);
	sum_up(layout->down, nr);
	/* For now: how many segments each vertex has got so far. */
	memset(layout->place, 0, nr * sizeof(uint32_t));
	memset(layout->best, 0, nr * sizeof(uint32_t));
	for (uint32_t i = 0; i < layout->nr_segments; i++) {
		uint32_t from = layout->segment[i].from;
		uint32_t to = layout->segment[i].to;

		layout->in[layout->up[to] + layout->place[to]++] = i;
		layout->out[layout->down[from] + layout->best[from]++] = i;
	}
}

/* At first in the order of submission; bends to the right. */
static void line_up(struct layout *layout)
{
	for (uint32_t i = 0; i < layout->nr; i++)
		layout->first[layout->rank[i]]++;
	sum_up(layout->first, layout->nr_ranks);
	memset(layout->count, 0, layout->nr * sizeof(uint32_t));
	for (uint32_t i = 0; i < layout->nr; i++) {
		uint32_t rank = layout->rank[i];
		uint32_t place = layout->count[rank]++;

		layout->row[layout->first[rank] + place] = i;
		layout->place[i] = place;
	}
}

/* ---- order --------------------------------------------------------------------------------- */

/* @list, by layout->key, then by the vertex: no two vertices are equal.  Shell's sort. */
static void sort(const struct layout *layout, uint32_t *list, uint32_t nr)
{
	uint32_t step = 1;

	while (step < nr / 3)
		step = 3 * step + 1;
	for (; step; step /= 3) {
		for (uint32_t i = step; i < nr; i++) {
			uint32_t this = list[i], at = i;
			float key = layout->key[this];

			while (at >= step) {
				uint32_t other = list[at - step];

				if (layout->key[other] < key ||
				    (layout->key[other] <= key && other < this))
					break;
				list[at] = other;
				at -= step;
			}
			list[at] = this;
		}
	}
}

/* The mean place of the vertices above (or below); without any, the old place. */
static float barycentre(const struct layout *layout, uint32_t vertex,
			bool above)
{
	const uint32_t *first = above ? layout->up : layout->down;
	const uint32_t *list = above ? layout->in : layout->out;
	uint32_t nr = first[vertex + 1] - first[vertex];
	float sum = 0;

	if (!nr)
		return (float)layout->place[vertex];
	for (uint32_t i = first[vertex]; i < first[vertex + 1]; i++) {
		const struct layout_segment *segment =
			&layout->segment[list[i]];

		sum += (float)layout->place[above ? segment->from : segment->to];
	}
	return sum / (float)nr;
}

static void sort_rank(struct layout *layout, uint32_t rank, bool above)
{
	uint32_t *row = layout->row + layout->first[rank];
	uint32_t nr = layout->first[rank + 1] - layout->first[rank];

	for (uint32_t i = 0; i < nr; i++)
		layout->key[row[i]] = barycentre(layout, row[i], above);
	sort(layout, row, nr);
	for (uint32_t i = 0; i < nr; i++)
		layout->place[row[i]] = i;
}

static bool cross(const struct layout *layout, const struct layout_segment *a,
		  const struct layout_segment *b)
{
	uint32_t a_from = layout->place[a->from], a_to = layout->place[a->to];
	uint32_t b_from = layout->place[b->from], b_to = layout->place[b->to];

	return layout->rank[a->from] == layout->rank[b->from] &&
	       ((a_from < b_from && a_to > b_to) ||
		(a_from > b_from && a_to < b_to));
}

static uint32_t count_crossings(const struct layout *layout)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < layout->nr_segments; i++) {
		for (uint32_t k = i + 1; k < layout->nr_segments; k++)
			nr += cross(layout, &layout->segment[i],
				    &layout->segment[k]);
	}
	return nr;
}

static void sweep(struct layout *layout, bool down)
{
	for (uint32_t i = 1; i < layout->nr_ranks; i++)
		sort_rank(layout, down ? i : layout->nr_ranks - 1 - i, down);
}

static void restore(struct layout *layout)
{
	memcpy(layout->place, layout->best, layout->nr * sizeof(uint32_t));
	for (uint32_t i = 0; i < layout->nr; i++)
		layout->row[layout->first[layout->rank[i]] + layout->place[i]] =
			i;
}

static void order(struct layout *layout)
{
	bool counts = layout->nr_segments <= CROSSINGS_COUNTED;
	uint32_t fewest = UINT32_MAX;

	for (unsigned int i = 0; i < SWEEPS; i++) {
		uint32_t nr = 0;

		sweep(layout, i % 2 == 0);
		if (counts)
			nr = count_crossings(layout);
		if (nr >= fewest && counts)
			continue;
		fewest = nr;
		memcpy(layout->best, layout->place,
		       layout->nr * sizeof(uint32_t));
	}
	restore(layout);
}

/* ---- where they stand ------------------------------------------------------------------------ */

static float width_of(const struct layout *layout, uint32_t vertex)
{
	return (float)(is_bend(layout, vertex) ? layout->sizes->bend
					       : layout->sizes->node);
}

/* Between the middles of two neighbours of a rank. */
static float distance(const struct layout *layout, uint32_t a, uint32_t b)
{
	return (width_of(layout, a) + width_of(layout, b)) / 2 +
	       (float)layout->sizes->gap;
}

static void begin_in_the_middle(struct layout *layout)
{
	for (uint32_t rank = 0; rank < layout->nr_ranks; rank++) {
		const uint32_t *row = layout->row + layout->first[rank];
		uint32_t nr = layout->first[rank + 1] - layout->first[rank];
		float x = 0;

		for (uint32_t i = 0; i < nr; i++) {
			if (i)
				x += distance(layout, row[i - 1], row[i]);
			layout->x[row[i]] = x;
		}
		for (uint32_t i = 0; i < nr; i++)
			layout->x[row[i]] -= x / 2;
	}
}

/* The mean of all joined vertices. */
static float wish(const struct layout *layout, uint32_t vertex)
{
	uint32_t nr_up = layout->up[vertex + 1] - layout->up[vertex];
	uint32_t nr_down = layout->down[vertex + 1] - layout->down[vertex];
	float sum = 0;

	if (!nr_up && !nr_down)
		return layout->x[vertex];
	for (uint32_t i = 0; i < nr_up; i++) {
		uint32_t number = layout->in[layout->up[vertex] + i];

		sum += layout->x[layout->segment[number].from];
	}
	for (uint32_t i = 0; i < nr_down; i++) {
		uint32_t number = layout->out[layout->down[vertex] + i];

		sum += layout->x[layout->segment[number].to];
	}
	return sum / (float)(nr_up + nr_down);
}

/* Join the last two blocks, as long as the two overlap. */
static uint32_t pool(struct layout *layout, uint32_t nr)
{
	float *mean = layout->mean, *weight = layout->weight;

	while (nr > 1 && mean[nr - 2] > mean[nr - 1]) {
		float sum = weight[nr - 2] + weight[nr - 1];

		mean[nr - 2] = (mean[nr - 2] * weight[nr - 2] +
				mean[nr - 1] * weight[nr - 1]) /
			       sum;
		weight[nr - 2] = sum;
		layout->count[nr - 2] += layout->count[nr - 1];
		nr--;
	}
	return nr;
}

/* Without the distances in between, each place is at least the place before. */
static void fit_rank(struct layout *layout, uint32_t rank)
{
	const uint32_t *row = layout->row + layout->first[rank];
	uint32_t nr = layout->first[rank + 1] - layout->first[rank];
	uint32_t nr_blocks = 0, at = 0;
	float offset = 0;

	for (uint32_t i = 0; i < nr; i++) {
		if (i)
			offset += distance(layout, row[i - 1], row[i]);
		layout->mean[nr_blocks] = wish(layout, row[i]) - offset;
		layout->weight[nr_blocks] =
			is_bend(layout, row[i]) ? BEND_WEIGHT : 1;
		layout->count[nr_blocks] = 1;
		nr_blocks = pool(layout, nr_blocks + 1);
	}
	offset = 0;
	for (uint32_t block = 0; block < nr_blocks; block++) {
		for (uint32_t i = 0; i < layout->count[block]; i++, at++) {
			if (at)
				offset +=
					distance(layout, row[at - 1], row[at]);
			layout->x[row[at]] = layout->mean[block] + offset;
		}
	}
}

static void fit(struct layout *layout)
{
	begin_in_the_middle(layout);
	for (unsigned int i = 0; i < FITS; i++) {
		for (uint32_t rank = 0; rank < layout->nr_ranks; rank++)
			fit_rank(layout,
				 i % 2 ? layout->nr_ranks - 1 - rank : rank);
	}
}

static void move_to_margin(struct layout *layout)
{
	float left = 0, right = 0;

	for (uint32_t i = 0; i < layout->nr; i++) {
		float half = width_of(layout, i) / 2;

		if (!i || layout->x[i] - half < left)
			left = layout->x[i] - half;
		if (!i || layout->x[i] + half > right)
			right = layout->x[i] + half;
	}
	for (uint32_t i = 0; i < layout->nr; i++)
		layout->x[i] -= left;
	layout->width = right - left;
}

/* ---- ports --------------------------------------------------------------------------------------- */

/* @list, of @nr segments, side by side at one end: in the order of the other end. */
static void spread(struct layout *layout, uint32_t *list, uint32_t nr,
		   bool leaves)
{
	float room = (float)(layout->sizes->node * 3 / 4);
	float step = (float)layout->sizes->port;

	if (nr < 2)
		return;
	if (step * (float)(nr - 1) > room)
		step = room / (float)(nr - 1);
	for (uint32_t i = 0; i < nr; i++) {
		struct layout_segment *segment = &layout->segment[list[i]];

		layout->key[list[i]] =
			layout->x[leaves ? segment->to : segment->from];
	}
	sort(layout, list, nr);
	for (uint32_t i = 0; i < nr; i++) {
		struct layout_segment *segment = &layout->segment[list[i]];
		float offset = ((float)i - (float)(nr - 1) / 2) * step;

		if (leaves)
			segment->leaves = offset;
		else
			segment->arrives = offset;
	}
}

static void spread_all(struct layout *layout)
{
	for (uint32_t i = 0; i < layout->graph->nr; i++) {
		spread(layout, layout->in + layout->up[i],
		       layout->up[i + 1] - layout->up[i], false);
		spread(layout, layout->out + layout->down[i],
		       layout->down[i + 1] - layout->down[i], true);
	}
}

/* ---- all of it ------------------------------------------------------------------------------------ */

int layout_make(struct layout *layout, const struct draw_graph *graph,
		const struct layout_sizes *sizes)
{
	uint32_t nr_bends = count_bends(graph), bend = graph->nr;

	*layout = (struct layout){
		.graph = graph,
		.sizes = sizes,
		.nr = graph->nr + nr_bends,
		.nr_segments = graph->nr_edges + nr_bends,
		.nr_ranks = graph->nr_ranks,
	};
	if (allocate(layout))
		return -1;
	layout->nr_segments = 0;
	for (uint32_t i = 0; i < graph->nr; i++)
		layout->rank[i] = graph->node[i].rank;
	for (uint32_t i = 0; i < graph->nr_edges; i++)
		add_edge(layout, i, &bend, nr_bends);
	join(layout);
	line_up(layout);
	order(layout);
	fit(layout);
	move_to_margin(layout);
	spread_all(layout);
	return 0;
}

void layout_destroy(struct layout *layout)
{
	free(layout->memory);
}
