/* SPDX-License-Identifier: MIT */
/*
 * dump_svg.c - a snapshot for browsers.
 *
 * Coordinates are whole numbers, so that no locale puts commas in them.  Edges are
 * below nodes, and those that matter above the others.  What there is no room for
 * is in the title of a node, which browsers show to who points at it.
 */
#include "graph/log/formats.h"
#include "graph/log/layout.h"

#include <errno.h>
#include <inttypes.h>
#include <sley/error.h>

#define LETTERS_MIN 9 /* of the names, that there is room for */
#define LETTERS_MAX 24
#define LETTERS_TITLE 96
#define LETTER_WIDTH 7
#define NODE_HEIGHT 44
#define RANK_GAP 52
#define MARGIN 24
#define HEAD_HEIGHT 88
#define WIDTH_MIN 480
#define STATE_WIDTH 96   /* of what the legend says of a state */
#define SAMPLE_WIDTH 120 /* and of an edge                     */
#define ARROW 8
#define SLOPE_MAX 0.4f

struct canvas {
	struct pen *pen;
	const struct snapshot *snapshot;
	struct layout layout;
	struct layout_sizes sizes;
	int32_t left; /* of the nodes, so that they are in the middle */
	int32_t width;
	int32_t height;
	uint32_t letters;
	uint64_t longest_ns;
};

static float x_of(const struct canvas *canvas, uint32_t vertex, float offset)
{
	return (float)canvas->left + canvas->layout.x[vertex] + offset;
}

/* The upper edge of its rank. */
static float y_of(const struct canvas *canvas, uint32_t vertex)
{
	return HEAD_HEIGHT + MARGIN +
	       (float)canvas->layout.rank[vertex] * (NODE_HEIGHT + RANK_GAP);
}

/* ---- edges ------------------------------------------------------------------------------ */

/* Which are drawn later, above the others. */
enum edge_class {
	EDGE_PLAIN,
	EDGE_CRITICAL,
	EDGE_POISONED,
	NR_EDGE_CLASSES,
};

static const char *const edge_class_name[] = { "e", "c", "p" };

static enum edge_class class_of(const struct drawn_edge *edge)
{
	return edge->poisoned   ? EDGE_POISONED
	       : edge->critical ? EDGE_CRITICAL
				: EDGE_PLAIN;
}

/* A point of an edge, and how far to the right it goes there, for one down. */
struct point {
	float x;
	float y;
	float slope;
};

static struct point leaves(const struct canvas *canvas,
			   const struct layout_segment *segment)
{
	return (struct point){
		.x = x_of(canvas, segment->from, segment->leaves),
		.y = y_of(canvas, segment->from) + NODE_HEIGHT,
	};
}

static struct point arrives(const struct canvas *canvas,
			    const struct layout_segment *segment)
{
	return (struct point){
		.x = x_of(canvas, segment->to, segment->arrives),
		.y = y_of(canvas, segment->to),
	};
}

/* From the point before to the one after, but not so that it meets others. */
static float slope_at(const struct point *before, const struct point *after)
{
	float slope = (after->x - before->x) / (after->y - before->y);

	return slope > SLOPE_MAX    ? SLOPE_MAX
	       : slope < -SLOPE_MAX ? -SLOPE_MAX
				    : slope;
}

static void put_curve(struct canvas *canvas, const struct point *from,
		      const struct point *to)
{
	float step = (to->y - from->y) / 2;

	pen_put(canvas->pen, "C%d %d %d %d %d %d",
		(int)(from->x + from->slope * step), (int)(from->y + step),
		(int)(to->x - to->slope * step), (int)(to->y - step),
		(int)to->x, (int)to->y);
}

/* Past the nodes of a rank: a straight line, from *@point, which moves on. */
static void put_bend(struct canvas *canvas, struct point *point)
{
	point->x += point->slope * NODE_HEIGHT;
	point->y += NODE_HEIGHT;
	pen_put(canvas->pen, "L%d %d", (int)point->x, (int)point->y);
}

/* All segments of an edge, upright at both of its ends. */
static void put_curves(struct canvas *canvas,
		       const struct layout_segment *segment, uint32_t nr)
{
	struct point from = leaves(canvas, &segment[0]);

	pen_put(canvas->pen, " d=\"M%d %d", (int)from.x, (int)from.y);
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
	pen_put(canvas->pen, "\"/>\n");
}

static void put_edge(struct canvas *canvas, uint32_t i)
{
	const struct layout *layout = &canvas->layout;
	const struct drawn_edge *edge = &canvas->snapshot->edge[i];
	const char *name = edge_class_name[class_of(edge)];
	struct layout_segment direct = { .from = edge->from, .to = edge->to };
	uint32_t chain = layout->chain[i];

	pen_put(canvas->pen, "<path class=\"%s%s\" marker-end=\"url(#%s)\"",
		name, edge->order_only ? " o" : "", name);
	if (chain == LAYOUT_NONE)
		put_curves(canvas, &direct, 1);
	else
		put_curves(canvas, &layout->segment[chain],
			   layout_span(layout, edge));
}

static void put_edges(struct canvas *canvas)
{
	for (int class = EDGE_PLAIN; class < NR_EDGE_CLASSES; class ++) {
		for (uint32_t i = 0; i < canvas->snapshot->nr_edges; i++) {
			if ((int)class_of(&canvas->snapshot->edge[i]) == class)
				put_edge(canvas, i);
		}
	}
}

/* ---- nodes ------------------------------------------------------------------------------ */

static void put_title(struct canvas *canvas, const struct drawn_node *node,
		      const char *name)
{
	struct pen *pen = canvas->pen;

	pen_put(pen, "<title>");
	pen_put_name(pen, PEN_XML, name, LETTERS_TITLE);
	pen_put(pen, ": %s", dump_style[node->state].name);
	if (node->state == DRAWN_FAILED) {
		pen_put(pen, ", ");
		pen_put_name(pen, PEN_XML, sley_strerror(node->code),
			     LETTERS_TITLE);
	}
	if (drawn_has_run(node)) {
		pen_put(pen, ", ");
		pen_put_time(pen, node->took_ns);
	}
	if (node->state == DRAWN_DONE || node->state == DRAWN_FAILED)
		pen_put(pen, " on worker %" PRIu32, node->worker);
	if (node->depth)
		pen_put(pen, ", scope of depth %" PRIu32, node->depth);
	pen_put(pen, "</title>\n");
}

/* Cut, with dots, if it is too long. */
static void put_short(struct canvas *canvas, const char *name)
{
	bool fits = pen_count(name, LETTERS_TITLE) <= canvas->letters;

	pen_put_name(canvas->pen, PEN_XML, name,
		     fits ? canvas->letters : canvas->letters - 1);
	if (!fits)
		pen_put(canvas->pen, "\342\200\246");
}

/* How long it took, as a part of the longest. */
static void put_bar(struct canvas *canvas, const struct drawn_node *node,
		    int32_t x, int32_t y)
{
	uint64_t room = (uint64_t)(canvas->sizes.node - 20);

	if (!node->took_ns)
		return;
	pen_put(canvas->pen,
		"<rect x=\"%" PRId32 "\" y=\"%" PRId32 "\" width=\"%" PRIu64
		"\" height=\"3\" rx=\"1\" fill=\"%s\"/>\n",
		x + 10, y + NODE_HEIGHT - 7,
		1 + (uint64_t)((double)room * (double)node->took_ns /
			       (double)canvas->longest_ns),
		dump_style[node->state].line);
}

static void put_node(struct canvas *canvas, uint32_t i)
{
	const struct drawn_node *node = &canvas->snapshot->node[i];
	int32_t x = (int32_t)x_of(canvas, i, 0);
	int32_t y = (int32_t)y_of(canvas, i);
	int32_t left = x - canvas->sizes.node / 2;
	struct pen *pen = canvas->pen;
	char text[DRAWN_NAME];
	const char *name = drawn_name(node, text);

	pen_put(pen, "<g class=\"s%d%s\">", (int)node->state,
		node->critical ? " k" : "");
	put_title(canvas, node, name);
	pen_put(pen,
		"<rect class=\"b\" x=\"%" PRId32 "\" y=\"%" PRId32
		"\" width=\"%" PRId32 "\" height=\"%d\" rx=\"8\"/>\n",
		left, y, canvas->sizes.node, NODE_HEIGHT);
	pen_put(pen, "<text class=\"n\" x=\"%" PRId32 "\" y=\"%" PRId32 "\">",
		x, y + 17);
	put_short(canvas, name);
	pen_put(pen,
		"</text>\n<text class=\"t\" x=\"%" PRId32 "\" y=\"%" PRId32
		"\">",
		x, y + 31);
	dump_put_fate(pen, node);
	pen_put(pen, "</text>\n");
	put_bar(canvas, node, left, y);
	pen_put(pen, "</g>\n");
}

/* ---- around them ------------------------------------------------------------------------- */

static void put_style(struct pen *pen)
{
	pen_put(pen,
		"<style>\ntext{font-family:\"DejaVu Sans\",Verdana,sans-serif;"
		"fill:#1f2937}\n"
		".h{font-size:17px;font-weight:bold}\n"
		".u{font-size:12px;fill:#5b6675}\n.l{font-size:11px}\n"
		".n{font-size:12px;font-weight:bold;text-anchor:middle}\n"
		".t{font-size:10px;fill:#4b5563;text-anchor:middle}\n");
	pen_put(pen,
		".b{stroke-width:1.2}\n"
		".k .b{stroke:" DUMP_CRITICAL ";stroke-width:2.6}\n"
		"path{fill:none}\n.e{stroke:" DUMP_EDGE ";stroke-width:1.1}\n");
	pen_put(pen, ".c{stroke:" DUMP_CRITICAL ";stroke-width:2.6}\n"
		     ".p{stroke:" DUMP_POISONED ";stroke-width:2.2}\n"
		     ".o{stroke-dasharray:5 4}\n");
	for (int i = 0; i < NR_DRAWN_STATES; i++)
		pen_put(pen, ".s%d .b{fill:%s;stroke:%s}\n", i,
			dump_style[i].fill, dump_style[i].line);
	/* The path is bold, whatever became of its nodes. */
	pen_put(pen, ".k .b{stroke:" DUMP_CRITICAL "}\n</style>\n");
}

static void put_marker(struct pen *pen, const char *id, const char *colour)
{
	pen_put(pen,
		"<marker id=\"%s\" markerUnits=\"userSpaceOnUse\" "
		"markerWidth=\"%d\" markerHeight=\"8\" refX=\"0\" refY=\"4\" "
		"orient=\"auto\"><path d=\"M0 0.5L%d 4L0 7.5z\" "
		"style=\"fill:%s\"/></marker>\n",
		id, ARROW, ARROW, colour);
}

static int32_t put_sample(struct canvas *canvas, int32_t x, const char *class,
			  const char *text)
{
	int32_t y = HEAD_HEIGHT - 18;

	pen_put(canvas->pen,
		"<path class=\"%s\" d=\"M%" PRId32 " %" PRId32 "h22\"/>\n"
		"<text class=\"l\" x=\"%" PRId32 "\" y=\"%" PRId32
		"\">%s</text>\n",
		class, x, y, x + 28, y + 4, text);
	return x + SAMPLE_WIDTH;
}

static void put_legend(struct canvas *canvas)
{
	const struct snapshot *snapshot = canvas->snapshot;
	int32_t x = MARGIN, y = HEAD_HEIGHT - 18;

	for (int i = 0; i < NR_DRAWN_STATES; i++) {
		if (!snapshot->count[i])
			continue;
		pen_put(canvas->pen,
			"<g class=\"s%d\"><rect class=\"b\" x=\"%" PRId32
			"\" y=\"%" PRId32
			"\" width=\"18\" height=\"12\" rx=\"3\"/>"
			"<text class=\"l\" x=\"%" PRId32 "\" y=\"%" PRId32
			"\">%" PRIu32 " %s</text></g>\n",
			i, x, y - 6, x + 24, y + 4, snapshot->count[i],
			dump_style[i].name);
		x += STATE_WIDTH;
	}
	if (snapshot->critical_ns)
		x = put_sample(canvas, x, "c", "critical path");
	if (snapshot->nr_poisoned)
		x = put_sample(canvas, x, "p", "taken along");
	if (snapshot->nr_order_only)
		(void)put_sample(canvas, x, "e o", "order only");
}

static int32_t legend_width(const struct snapshot *snapshot)
{
	int32_t width = 0;

	for (int i = 0; i < NR_DRAWN_STATES; i++)
		width += snapshot->count[i] ? STATE_WIDTH : 0;
	width += snapshot->critical_ns ? SAMPLE_WIDTH : 0;
	width += snapshot->nr_poisoned ? SAMPLE_WIDTH : 0;
	return width + (snapshot->nr_order_only ? SAMPLE_WIDTH : 0);
}

static void put_head(struct canvas *canvas)
{
	struct pen *pen = canvas->pen;

	pen_put(pen,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%" PRId32
		"\" height=\"%" PRId32 "\" viewBox=\"0 0 %" PRId32 " %" PRId32
		"\">\n",
		canvas->width, canvas->height, canvas->width, canvas->height);
	put_style(pen);
	pen_put(pen, "<defs>\n");
	put_marker(pen, "e", DUMP_EDGE);
	put_marker(pen, "c", DUMP_CRITICAL);
	put_marker(pen, "p", DUMP_POISONED);
	pen_put(pen,
		"</defs>\n<rect x=\"0.5\" y=\"0.5\" width=\"%" PRId32
		"\" height=\"%" PRId32 "\" rx=\"10\" fill=\"#ffffff\" "
		"stroke=\"#dfe3e8\"/>\n<text class=\"h\" x=\"%d\" y=\"32\">",
		canvas->width - 1, canvas->height - 1, MARGIN);
	pen_put_name(pen, PEN_XML, canvas->snapshot->name, LETTERS_TITLE);
	pen_put(pen, "</text>\n<text class=\"u\" x=\"%d\" y=\"52\">", MARGIN);
	dump_put_summary(pen, canvas->snapshot);
	pen_put(pen, "</text>\n");
	put_legend(canvas);
}

/* How wide nodes are, for all of their names. */
static void measure(struct canvas *canvas)
{
	const struct snapshot *snapshot = canvas->snapshot;
	uint32_t letters = LETTERS_MIN;
	char text[DRAWN_NAME];

	for (uint32_t i = 0; i < snapshot->nr; i++) {
		const struct drawn_node *node = &snapshot->node[i];
		uint32_t nr = pen_count(drawn_name(node, text), LETTERS_MAX);

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

static void place(struct canvas *canvas)
{
	int32_t inner = (int32_t)canvas->layout.width;
	int32_t nr_ranks = (int32_t)canvas->layout.nr_ranks;
	int32_t legend = legend_width(canvas->snapshot);

	canvas->width = (inner > legend ? inner : legend) + 2 * MARGIN;
	if (canvas->width < WIDTH_MIN)
		canvas->width = WIDTH_MIN;
	canvas->left = (canvas->width - inner) / 2;
	canvas->height = HEAD_HEIGHT + 2 * MARGIN +
			 nr_ranks * (NODE_HEIGHT + RANK_GAP) - RANK_GAP;
}

int dump_svg(struct pen *pen, const struct snapshot *snapshot)
{
	struct canvas canvas = { .pen = pen, .snapshot = snapshot };

	measure(&canvas);
	if (layout_make(&canvas.layout, snapshot, &canvas.sizes))
		return -ENOMEM;
	place(&canvas);
	put_head(&canvas);
	put_edges(&canvas);
	for (uint32_t i = 0; i < snapshot->nr; i++)
		put_node(&canvas, i);
	pen_put(pen, "</svg>\n");
	layout_destroy(&canvas.layout);
	return 0;
}
