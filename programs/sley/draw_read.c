/* SPDX-License-Identifier: MIT */
/*
 * draw_read.c - a graph from JSON: from the library, or from an unknown author.
 *
 * draw_json.c has read the document.  This file checks each member against the schema,
 * and each node and edge against the nodes and edges before it.
 */
#include "draw.h"
#include "draw_json.h"

#include <inttypes.h>
#include <stdlib.h>

#define VERSION 1
#define NODES_MAX (1 << 20) /* as many as a graph can have in its picture */
#define EDGES_MAX (8 << 20)
#define TIME_MAX ((json_int_t)1 << 62)
#define WORKER_MAX (1 << 24)

struct reader {
	struct draw_graph *graph;
	const char *path;
	json_int_t now_ns;
};

/* ---- nodes ----------------------------------------------------------------- */

static int read_times(const struct reader *reader, const struct place *place,
		      struct draw_node *node)
{
	bool has_run = draw_has_run(node);
	bool has_ended = has_run && node->state != DRAW_RUNNING;
	json_int_t start_ns = 0, end_ns = reader->now_ns, worker = 0;

	if (place_get_if(place, "start_ns", has_run, TIME_MAX, &start_ns) ||
	    place_get_if(place, "end_ns", has_ended, TIME_MAX, &end_ns) ||
	    place_get_if(place, "worker", has_ended, WORKER_MAX, &worker))
		return -1;
	if (has_ended && end_ns < start_ns)
		return place_wrong(place, "end_ns", "it is before start_ns");
	node->start_ns = (uint64_t)start_ns;
	node->worker = (uint32_t)worker;
	/* A node may have begun while the graph was being written. */
	if (has_run && end_ns > start_ns)
		node->took_ns = (uint64_t)(end_ns - start_ns);
	return 0;
}

static int read_error(const struct place *place, struct draw_node *node)
{
	const json_t *code = json_object_get(place->object, "code");
	bool failed;

	if (!json_is_integer(code) || json_integer_value(code) < INT32_MIN ||
	    json_integer_value(code) > INT32_MAX)
		return place_wrong(place, "code",
				   "an error number is expected");
	failed = json_integer_value(code) != 0;
	if (failed != (node->state == DRAW_FAILED) &&
	    node->state != DRAW_SKIPPED)
		return place_wrong(place, "code",
				   failed ? "0 is expected in this state"
					  : "a failed node has an error");
	if (failed)
		return place_get_text(place, "error", &node->error);
	if (!json_is_null(json_object_get(place->object, "error")))
		return place_wrong(place, "error",
				   "null is expected for code 0");
	return 0;
}

static int read_node(const struct reader *reader, const struct place *place,
		     struct draw_node *node)
{
	json_int_t id, depth;
	unsigned int state;

	if (place_get_number(place, "id", NODES_MAX, &id))
		return -1;
	if ((size_t)id != place->index)
		return place_wrong(
			place, "id",
			"%zu is expected: ids count the nodes from 0",
			place->index);
	if (place_get_text(place, "name", &node->name) ||
	    place_get_word(place, "state", draw_state_name, NR_DRAW_STATES,
			   &state) ||
	    place_get_number(place, "depth", UINT32_MAX, &depth))
		return -1;
	node->state = (enum draw_state)state;
	node->depth = (uint32_t)depth;
	if (read_times(reader, place, node))
		return -1;
	return read_error(place, node);
}

static int read_nodes(struct reader *reader, const struct place *whole)
{
	struct place place = { .path = reader->path, .array = "nodes" };
	struct draw_graph *graph = reader->graph;
	const json_t *nodes;
	size_t nr;

	if (place_get_array(whole, "nodes", NODES_MAX, &nodes))
		return -1;
	nr = json_array_size(nodes);
	graph->node = calloc(nr + 1, sizeof(*graph->node));
	if (!graph->node)
		return draw_complain(reader->path,
				     "there is no memory for its nodes");
	graph->nr = (uint32_t)nr;
	for (size_t i = 0; i < nr; i++) {
		if (place_get_element(&place, nodes, i) ||
		    read_node(reader, &place, &graph->node[i]))
			return -1;
	}
	return 0;
}

/* ---- edges ----------------------------------------------------------------- */

static int read_end(const struct reader *reader, const struct place *place,
		    const char *key, uint32_t *out)
{
	uint32_t nr = reader->graph->nr;
	json_int_t id;

	if (place_get_number(place, key, TIME_MAX, &id))
		return -1;
	if (id >= (json_int_t)nr)
		return place_wrong(place, key,
				   "there is no node %" JSON_INTEGER_FORMAT
				   " among %" PRIu32,
				   id, nr);
	*out = (uint32_t)id;
	return 0;
}

static int read_edge(const struct reader *reader, const struct place *place,
		     struct draw_edge *edge)
{
	static const char *const words[] = { "need", "order", "failure" };
	unsigned int kind;

	if (read_end(reader, place, "from", &edge->from) ||
	    read_end(reader, place, "to", &edge->to) ||
	    place_get_word(place, "kind", words, 3, &kind))
		return -1;
	if (edge->from >= edge->to)
		return place_wrong(place, "",
				   "it leads from node %" PRIu32
				   " back to %" PRIu32
				   ": a node depends on earlier nodes only",
				   edge->from, edge->to);
	edge->order_only = kind == 1;
	edge->failure = kind == 2;
	return 0;
}

/* By target; the edges to the same node stay in their order. */
static int sort_edges(struct draw_graph *graph, const struct draw_edge *edge,
		      size_t nr)
{
	size_t *first = calloc((size_t)graph->nr + 1, sizeof(*first));

	graph->edge = calloc(nr + 1, sizeof(*graph->edge));
	if (!first || !graph->edge) {
		free(first);
		return -1;
	}
	for (size_t i = 0; i < nr; i++)
		first[edge[i].to + 1]++;
	for (uint32_t i = 0; i < graph->nr; i++)
		first[i + 1] += first[i];
	for (size_t i = 0; i < nr; i++)
		graph->edge[first[edge[i].to]++] = edge[i];
	graph->nr_edges = (uint32_t)nr;
	free(first);
	return 0;
}

static int read_edges(struct reader *reader, const struct place *whole)
{
	struct place place = { .path = reader->path, .array = "edges" };
	struct draw_edge *edge;
	const json_t *edges;
	size_t nr;
	int err = 0;

	if (place_get_array(whole, "edges", EDGES_MAX, &edges))
		return -1;
	nr = json_array_size(edges);
	edge = calloc(nr + 1, sizeof(*edge));
	if (!edge)
		return draw_complain(reader->path,
				     "there is no memory for its edges");
	for (size_t i = 0; i < nr && !err; i++) {
		err = place_get_element(&place, edges, i);
		err = err ? err : read_edge(reader, &place, &edge[i]);
	}
	if (!err && sort_edges(reader->graph, edge, nr))
		err = draw_complain(reader->path,
				    "there is no memory for its edges");
	free(edge);
	return err;
}

/* ---- the critical path ----------------------------------------------------- */

/* Edges are sorted by @to: the first edge to @to, or the end. */
static uint32_t find_edges(const struct draw_graph *graph, uint32_t to)
{
	uint32_t low = 0, high = graph->nr_edges;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (graph->edge[middle].to < to)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool mark_edge(struct draw_graph *graph, uint32_t from, uint32_t to)
{
	uint32_t i = find_edges(graph, to);

	for (; i < graph->nr_edges && graph->edge[i].to == to; i++) {
		if (graph->edge[i].from != from)
			continue;
		graph->edge[i].critical = true;
		return true;
	}
	return false;
}

static int read_critical_path(struct reader *reader, const struct place *whole)
{
	struct place place = { .path = reader->path, .array = "critical_path" };
	struct draw_graph *graph = reader->graph;
	const json_t *path;
	json_int_t before = 0;

	if (place_get_array(whole, "critical_path", NODES_MAX, &path))
		return -1;
	for (size_t i = 0; i < json_array_size(path); i++) {
		const json_t *value = json_array_get(path, i);
		json_int_t id = json_integer_value(value);

		place.index = i;
		if (!json_is_integer(value) || id < 0 ||
		    id >= (json_int_t)graph->nr)
			return place_wrong(&place, "",
					   "the id of a node is expected");
		if (i && !mark_edge(graph, (uint32_t)before, (uint32_t)id))
			return place_wrong(
				&place, "",
				"no edge leads to this node from the one "
				"before it");
		graph->node[id].critical = true;
		before = id;
	}
	return 0;
}

/* ---- all of it ------------------------------------------------------------- */

static int read_head(struct reader *reader, const struct place *whole)
{
	struct draw_graph *graph = reader->graph;
	json_int_t version, nodes, edges;

	if (!json_is_object(whole->object) ||
	    !json_object_get(whole->object, "sley_graph"))
		return draw_complain(reader->path,
				     "is no graph: there is no member "
				     "\"sley_graph\" in it");
	if (place_get_number(whole, "sley_graph", INT32_MAX, &version))
		return -1;
	if (version != VERSION)
		return place_wrong(whole, "sley_graph",
				   "the version is %" JSON_INTEGER_FORMAT
				   ", and this program knows version %d",
				   version, VERSION);
	if (place_get_text(whole, "name", &graph->name) ||
	    place_get_number(whole, "now_ns", TIME_MAX, &reader->now_ns) ||
	    place_get_number(whole, "nodes_left_out", TIME_MAX, &nodes) ||
	    place_get_number(whole, "edges_left_out", TIME_MAX, &edges))
		return -1;
	graph->nr_left_out = (uint64_t)nodes;
	graph->nr_edges_left_out = (uint64_t)edges;
	return 0;
}

int draw_read(struct draw_graph *graph, FILE *file, const char *path)
{
	struct reader reader = { .graph = graph, .path = path };
	struct place whole = { .path = path };
	json_t *document;
	int err;

	*graph = (struct draw_graph){ .nr = 0 };
	err = draw_load(&document, file, path);
	graph->document = document;
	if (err)
		return -1;
	whole.object = document;
	if (read_head(&reader, &whole) || read_nodes(&reader, &whole) ||
	    read_edges(&reader, &whole) || read_critical_path(&reader, &whole))
		return -1;
	return 0;
}

void draw_destroy(struct draw_graph *graph)
{
	free(graph->node);
	free(graph->edge);
	json_decref(graph->document);
}
