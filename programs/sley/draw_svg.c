/* SPDX-License-Identifier: MIT */
/*
 * draw_svg.c - a graph for browsers.
 *
 * Coordinates are whole numbers, so that no locale writes commas.  Edges are
 * below nodes, and important edges are above other edges.  A node's title has the text
 * that does not fit; browsers show the title where the mouse is.
 */
#include "draw_layout.h"
#include "draw_text.h"

#include <inttypes.h>
#include <stdlib.h>

#define LETTERS_MIN 9 /* of the names, that there is room for */
#define LETTERS_MAX 24
#define LETTERS_TITLE 96
#define LETTER_WIDTH 7
#define NODE_HEIGHT 44
#define RANK_GAP 52
#define MARGIN 24
#define HEAD_HEIGHT 88
#define WIDTH_MIN 480
#define STATE_WIDTH 96   /* of the text of a state in the legend */
#define SAMPLE_WIDTH 120 /* and of an edge                     */
#define ARROW 8
#define SLOPE_MAX 0.4f

#define EDGE "#8a94a3"
#define CRITICAL "#1f2937"
#define FAILURE "#d11a2a"

/* The colours of a state. */
static const struct {
	const char *fill;
	const char *line;
} style[NR_DRAW_STATES] = {
	[DRAW_WAITING] = { "#f4f5f7", "#a3abb8" },
	[DRAW_READY] = { "#e3effd", "#3b82d6" },
	[DRAW_RUNNING] = { "#fff1c9", "#d99a00" },
	[DRAW_DONE] = { "#ddf3e4", "#2f9e5b" },
	[DRAW_FAILED] = { "#ffd9d9", FAILURE },
	[DRAW_SKIPPED] = { "#f3e8f7", "#9b59b6" },
};

struct draw_canvas {
	FILE *file;
	const struct draw_graph *graph;
	struct layout layout;
	struct layout_sizes sizes;
	int32_t left; /* of the nodes, to center all */
	int32_t width;
	int32_t height;
	uint32_t letters;
	uint64_t longest_ns;
};

static float x_of(const struct draw_canvas *canvas, uint32_t vertex,
		  float offset)
{
	return (float)canvas->left + canvas->layout.x[vertex] + offset;
}

/* The upper edge of its rank. */
static float y_of(const struct draw_canvas *canvas, uint32_t vertex)
{
	return HEAD_HEIGHT + MARGIN +
	       (float)canvas->layout.rank[vertex] * (NODE_HEIGHT + RANK_GAP);
}

/* ---- edges ------------------------------------------------------------------------------ */

/* Which are drawn later, above the others. */
enum edge_class {
	EDGE_PLAIN,
	EDGE_CRITICAL,
	EDGE_FAILURE,
	NR_EDGE_CLASSES,
};

static const char *const edge_class_name[] = { "e", "c", "p" };

static enum edge_class class_of(const struct draw_edge *edge)
{
	return edge->failure    ? EDGE_FAILURE
	       : edge->critical ? EDGE_CRITICAL
				: EDGE_PLAIN;
}

/* A point of an edge, and how far to the right it goes there, for one down. */
struct point {
	float x;
	float y;
	float slope;
};

static struct point leaves(const struct draw_canvas *canvas,
			   const struct layout_segment *segment)
{
	return (struct point){
		.x = x_of(canvas, segment->from, segment->leaves),
		.y = y_of(canvas, segment->from) + NODE_HEIGHT,
	};
}

static struct point arrives(const struct draw_canvas *canvas,
			    const struct layout_segment *segment)
{
	return (struct point){
		.x = x_of(canvas, segment->to, segment->arrives),
		.y = y_of(canvas, segment->to),
	};
}

/* From the point before to the point after, clear of other edges. */
static float slope_at(const struct point *before, const struct point *after)
{
	float slope = (after->x - before->x) / (after->y - before->y);

	return slope > SLOPE_MAX    ? SLOPE_MAX
	       : slope < -SLOPE_MAX ? -SLOPE_MAX
				    : slope;
}

static void put_curve(struct draw_canvas *canvas, const struct point *from,
		      const struct point *to)
{
	float step = (to->y - from->y) / 2;

	fprintf(canvas->file, "C%d %d %d %d %d %d",
		(int)(from->x + from->slope * step), (int)(from->y + step),
		(int)(to->x - to->slope * step), (int)(to->y - step),
		(int)to->x, (int)to->y);
}

/* Past the nodes of a rank: a straight line, from *@point, which moves on. */
static void put_bend(struct draw_canvas *canvas, struct point *point)
{
	point->x += point->slope * NODE_HEIGHT;
	point->y += NODE_HEIGHT;
	fprintf(canvas->file, "L%d %d", (int)point->x, (int)point->y);
}

/* All segments of an edge, upright at both of its ends. */
static void put_curves(struct draw_canvas *canvas,
		       const struct layout_segment *segment, uint32_t nr)
{
	struct point from = leaves(canvas, &segment[0]);

	fprintf(canvas->file, " d=\"M%d %d", (int)from.x, (int)from.y);
	for (uint32_t i = 0; i < nr; i++) {
		struct point to = arrives(canvas, &segment[i]);

		if (i + 1 < nr) {
			struct point next = arrives(canvas, &segment[i + 1]);

			to.slope = slope_at(&from, &next);
			to.x -= to.slope * NODE_HEIGHT / 2;
		} else {
			to.y -= ARROW;
		}
		put_curve(canvas, &from, &to);
		if (i + 1 < nr)
			put_bend(canvas, &to);
		from = to;
	}
	fprintf(canvas->file, "\"/>\n");
}

static void put_edge(struct draw_canvas *canvas, uint32_t i)
{
	const struct layout *layout = &canvas->layout;
	const struct draw_edge *edge = &canvas->graph->edge[i];
	const char *name = edge_class_name[class_of(edge)];
	struct layout_segment direct = { .from = edge->from, .to = edge->to };
	uint32_t chain = layout->chain[i];

	fprintf(canvas->file, "<path class=\"%s%s\" marker-end=\"url(#%s)\"",
		name, edge->order_only ? " o" : "", name);
	if (chain == LAYOUT_NONE)
		put_curves(canvas, &direct, 1);
	else
		put_curves(canvas, &layout->segment[chain],
			   layout_span(layout, edge));
}

static void put_edges(struct draw_canvas *canvas)
{
	for (int class = EDGE_PLAIN; class < NR_EDGE_CLASSES; class ++) {
		for (uint32_t i = 0; i < canvas->graph->nr_edges; i++) {
			if ((int)class_of(&canvas->graph->edge[i]) == class)
				put_edge(canvas, i);
		}
	}
}

/* ---- nodes ------------------------------------------------------------------------------ */

static void put_title(struct draw_canvas *canvas, const struct draw_node *node,
		      const char *name)
{
	FILE *file = canvas->file;

	fprintf(file, "<title>");
	text_put_name(file, name, LETTERS_TITLE);
	fprintf(file, ": %s", draw_state_name[node->state]);
	if (node->state == DRAW_FAILED) {
		fprintf(file, ", ");
		text_put_name(file, node->error, LETTERS_TITLE);
	}
	if (draw_has_run(node)) {
		fprintf(file, ", ");
		text_put_time(file, node->took_ns);
	}
	if (node->state == DRAW_DONE || node->state == DRAW_FAILED)
		fprintf(file, " on worker %" PRIu32, node->worker);
	if (node->depth)
		fprintf(file, ", scope of depth %" PRIu32, node->depth);
	fprintf(file, "</title>\n");
}

/* The running time of a node and the worker; or why there is no time. */
static void put_fate(FILE *file, const struct draw_node *node)
{
	if (!draw_has_run(node)) {
		fprintf(file, "%s", draw_state_name[node->state]);
		return;
	}
	text_put_time(file, node->took_ns);
	if (node->state != DRAW_RUNNING)
		fprintf(file, " \302\267 w%" PRIu32, node->worker);
}

/* Cut, with dots, if the text is too long. */
static void put_short(struct draw_canvas *canvas, const char *name)
{
	bool fits = text_count(name, LETTERS_TITLE) <= canvas->letters;

	text_put_name(canvas->file, name,
		      fits ? canvas->letters : canvas->letters - 1);
	if (!fits)
		fprintf(canvas->file, "\342\200\246");
}

/* The running time, as a part of the longest. */
static void put_bar(struct draw_canvas *canvas, const struct draw_node *node,
		    int32_t x, int32_t y)
{
	uint64_t room = (uint64_t)(canvas->sizes.node - 20);

	if (!node->took_ns)
		return;
	fprintf(canvas->file,
		"<rect x=\"%" PRId32 "\" y=\"%" PRId32 "\" width=\"%" PRIu64
		"\" height=\"3\" rx=\"1\" fill=\"%s\"/>\n",
		x + 10, y + NODE_HEIGHT - 7,
		1 + (uint64_t)((double)room * (double)node->took_ns /
			       (double)canvas->longest_ns),
		style[node->state].line);
}

static void put_node(struct draw_canvas *canvas, uint32_t i)
{
	const struct draw_node *node = &canvas->graph->node[i];
	int32_t x = (int32_t)x_of(canvas, i, 0);
	int32_t y = (int32_t)y_of(canvas, i);
	int32_t left = x - canvas->sizes.node / 2;
	FILE *file = canvas->file;
	const char *name = node->name;

	fprintf(file, "<g class=\"s%d%s\">", (int)node->state,
		node->critical ? " k" : "");
	put_title(canvas, node, name);
	fprintf(file,
		"<rect class=\"b\" x=\"%" PRId32 "\" y=\"%" PRId32
		"\" width=\"%" PRId32 "\" height=\"%d\" rx=\"8\"/>\n",
		left, y, canvas->sizes.node, NODE_HEIGHT);
	fprintf(file, "<text class=\"n\" x=\"%" PRId32 "\" y=\"%" PRId32 "\">",
		x, y + 17);
	put_short(canvas, name);
	fprintf(file,
		"</text>\n<text class=\"t\" x=\"%" PRId32 "\" y=\"%" PRId32
		"\">",
		x, y + 31);
	put_fate(file, node);
	fprintf(file, "</text>\n");
	put_bar(canvas, node, left, y);
	fprintf(file, "</g>\n");
}

/* ---- around them ------------------------------------------------------------------------- */

static void put_style(FILE *file)
{
	fprintf(file,
		"<style>\ntext{font-family:\"DejaVu Sans\",Verdana,sans-serif;"
		"fill:#1f2937}\n"
		".h{font-size:17px;font-weight:bold}\n"
		".u{font-size:12px;fill:#5b6675}\n.l{font-size:11px}\n"
		".n{font-size:12px;font-weight:bold;text-anchor:middle}\n"
		".t{font-size:10px;fill:#4b5563;text-anchor:middle}\n");
	fprintf(file,
		".b{stroke-width:1.2}\n"
		".k .b{stroke:" CRITICAL ";stroke-width:2.6}\n"
		"path{fill:none}\n.e{stroke:" EDGE ";stroke-width:1.1}\n");
	fprintf(file, ".c{stroke:" CRITICAL ";stroke-width:2.6}\n"
		      ".p{stroke:" FAILURE ";stroke-width:2.2}\n"
		      ".o{stroke-dasharray:5 4}\n");
	for (int i = 0; i < NR_DRAW_STATES; i++)
		fprintf(file, ".s%d .b{fill:%s;stroke:%s}\n", i, style[i].fill,
			style[i].line);
	/* The path is bold, with nodes in every state. */
	fprintf(file, ".k .b{stroke:" CRITICAL "}\n</style>\n");
}

static void put_marker(FILE *file, const char *id, const char *colour)
{
	fprintf(file,
		"<marker id=\"%s\" markerUnits=\"userSpaceOnUse\" "
		"markerWidth=\"%d\" markerHeight=\"8\" refX=\"0\" refY=\"4\" "
		"orient=\"auto\"><path d=\"M0 0.5L%d 4L0 7.5z\" "
		"style=\"fill:%s\"/></marker>\n",
		id, ARROW, ARROW, colour);
}

static int32_t put_sample(struct draw_canvas *canvas, int32_t x,
			  const char *class, const char *text)
{
	int32_t y = HEAD_HEIGHT - 18;

	fprintf(canvas->file,
		"<path class=\"%s\" d=\"M%" PRId32 " %" PRId32 "h22\"/>\n"
		"<text class=\"l\" x=\"%" PRId32 "\" y=\"%" PRId32
		"\">%s</text>\n",
		class, x, y, x + 28, y + 4, text);
	return x + SAMPLE_WIDTH;
}

static void put_legend(struct draw_canvas *canvas)
{
	const struct draw_graph *graph = canvas->graph;
	int32_t x = MARGIN, y = HEAD_HEIGHT - 18;

	for (int i = 0; i < NR_DRAW_STATES; i++) {
		if (!graph->count[i])
			continue;
		fprintf(canvas->file,
			"<g class=\"s%d\"><rect class=\"b\" x=\"%" PRId32
			"\" y=\"%" PRId32
			"\" width=\"18\" height=\"12\" rx=\"3\"/>"
			"<text class=\"l\" x=\"%" PRId32 "\" y=\"%" PRId32
			"\">%" PRIu32 " %s</text></g>\n",
			i, x, y - 6, x + 24, y + 4, graph->count[i],
			draw_state_name[i]);
		x += STATE_WIDTH;
	}
	if (graph->critical_ns)
		x = put_sample(canvas, x, "c", "critical path");
	if (graph->nr_failure)
		x = put_sample(canvas, x, "p", "led to a skip");
	if (graph->nr_order_only)
		(void)put_sample(canvas, x, "e o", "order only");
}

static int32_t legend_width(const struct draw_graph *graph)
{
	int32_t width = 0;

	for (int i = 0; i < NR_DRAW_STATES; i++)
		width += graph->count[i] ? STATE_WIDTH : 0;
	width += graph->critical_ns ? SAMPLE_WIDTH : 0;
	width += graph->nr_failure ? SAMPLE_WIDTH : 0;
	return width + (graph->nr_order_only ? SAMPLE_WIDTH : 0);
}

static void put_left_out(FILE *file, uint64_t nr, const char *what)
{
	if (nr)
		fprintf(file, ", %" PRIu64 " more %s left out", nr, what);
}

/* The summary: nodes, edges, the critical path, nodes left out. */
static void put_summary(FILE *file, const struct draw_graph *graph)
{
	fprintf(file, "%" PRIu32 " nodes, %" PRIu32 " edges", graph->nr,
		graph->nr_edges);
	put_left_out(file, graph->nr_left_out, "nodes");
	put_left_out(file, graph->nr_edges_left_out, "edges");
	if (!graph->critical_ns)
		return;
	fprintf(file, "; critical path ");
	text_put_time(file, graph->critical_ns);
	fprintf(file, " of ");
	text_put_time(file, graph->total_ns);
}

static void put_head(struct draw_canvas *canvas)
{
	FILE *file = canvas->file;

	fprintf(file,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%" PRId32
		"\" height=\"%" PRId32 "\" viewBox=\"0 0 %" PRId32 " %" PRId32
		"\">\n",
		canvas->width, canvas->height, canvas->width, canvas->height);
	put_style(file);
	fprintf(file, "<defs>\n");
	put_marker(file, "e", EDGE);
	put_marker(file, "c", CRITICAL);
	put_marker(file, "p", FAILURE);
	fprintf(file,
		"</defs>\n<rect x=\"0.5\" y=\"0.5\" width=\"%" PRId32
		"\" height=\"%" PRId32 "\" rx=\"10\" fill=\"#ffffff\" "
		"stroke=\"#dfe3e8\"/>\n<text class=\"h\" x=\"%d\" y=\"32\">",
		canvas->width - 1, canvas->height - 1, MARGIN);
	text_put_name(file, canvas->graph->name, LETTERS_TITLE);
	fprintf(file, "</text>\n<text class=\"u\" x=\"%d\" y=\"52\">", MARGIN);
	put_summary(file, canvas->graph);
	fprintf(file, "</text>\n");
	put_legend(canvas);
}

/* How wide nodes are, for all of their names. */
static void measure(struct draw_canvas *canvas)
{
	const struct draw_graph *graph = canvas->graph;
	uint32_t letters = LETTERS_MIN;

	for (uint32_t i = 0; i < graph->nr; i++) {
		const struct draw_node *node = &graph->node[i];
		uint32_t nr = text_count(node->name, LETTERS_MAX);

		if (nr > letters)
			letters = nr;
		if (node->took_ns > canvas->longest_ns)
			canvas->longest_ns = node->took_ns;
	}
	canvas->letters = letters;
	canvas->sizes = (struct layout_sizes){
		.node = (int32_t)letters * LETTER_WIDTH + 28,
		.bend = 4,
		.gap = 18,
		.port = 14,
	};
}

static void place(struct draw_canvas *canvas)
{
	int32_t inner = (int32_t)canvas->layout.width;
	int32_t nr_ranks = (int32_t)canvas->layout.nr_ranks;
	int32_t legend = legend_width(canvas->graph);

	canvas->width = (inner > legend ? inner : legend) + 2 * MARGIN;
	if (canvas->width < WIDTH_MIN)
		canvas->width = WIDTH_MIN;
	canvas->left = (canvas->width - inner) / 2;
	canvas->height = HEAD_HEIGHT + 2 * MARGIN +
			 nr_ranks * (NODE_HEIGHT + RANK_GAP) - RANK_GAP;
}

struct draw_canvas *draw_canvas_create(const struct draw_graph *graph)
{
	struct draw_canvas *canvas = calloc(1, sizeof(*canvas));

	if (!canvas)
		return NULL;
	canvas->graph = graph;
	measure(canvas);
	if (layout_make(&canvas->layout, graph, &canvas->sizes)) {
		free(canvas);
		return NULL;
	}
	place(canvas);
	return canvas;
}

void draw_canvas_destroy(struct draw_canvas *canvas)
{
	layout_destroy(&canvas->layout);
	free(canvas);
}

void draw_svg(struct draw_canvas *canvas, FILE *file)
{
	canvas->file = file;
	put_head(canvas);
	put_edges(canvas);
	for (uint32_t i = 0; i < canvas->graph->nr; i++)
		put_node(canvas, i);
	fprintf(file, "</svg>\n");
}
