/* SPDX-License-Identifier: MIT */
/*
 * draw_read.c - a graph from JSON: from the library, or from an unknown author.
 *
 * jansson reads the text, and refuses text that is no JSON or no UTF-8, a name twice in
 * an object, a zero byte, and values that are nested too deeply.  This file bounds how
 * many bytes jansson reads and how much memory jansson takes.  Then each member is
 * checked.  The first fault ends the reading, and is told with its place: the line and
 * column of a fault in the text, the member (nodes[3].worker) of a wrong value.
 */
#include "draw.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 1
#define BYTES_MAX (256u << 20)
#define MEMORY_MAX ((size_t)2 << 30)
#define NODES_MAX (1 << 20) /* as many as a graph can have in its picture */
#define EDGES_MAX (8 << 20)
#define TIME_MAX ((json_int_t)1 << 62)
#define WORKER_MAX (1 << 24)

struct reader {
	struct draw_graph *graph;
	FILE *file;
	const char *path;
	size_t nr_bytes;
	int error; /* of reading */
	json_int_t now_ns;
};

/* A member of the whole, or of an element of one of its arrays. */
struct place {
	const struct reader *reader;
	const json_t *object;
	const char *array; /* NULL: of the whole */
	size_t index;
};

/* ---- complaints ----------------------------------------------------------- */

/* Returns -1.  Of @text only characters that no terminal obeys are printed. */
static int complain(const struct reader *reader, const char *text)
{
	fprintf(stderr, "sley draw: %s: ", reader->path);
	for (; *text; text++)
		fputc(*text < 0x20 || *text > 0x7e ? '?' : *text, stderr);
	fputc('\n', stderr);
	return -1;
}

__attribute__((format(printf, 3, 4))) static int
wrong(const struct place *place, const char *key, const char *format, ...)
{
	char what[200], text[320];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (place->array)
		snprintf(text, sizeof(text), "%s[%zu]%s%s: %s", place->array,
			 place->index, *key ? "." : "", key, what);
	else
		snprintf(text, sizeof(text), "%s: %s", key, what);
	return complain(place->reader, text);
}

/* ---- memory ---------------------------------------------------------------- */

/* The memory that jansson has now.  A file is read by a single thread. */
static size_t memory_used;
static bool memory_refused; /* jansson does not always say so */

static void *bounded_malloc(size_t size)
{
	void *memory;

	memory = size <= MEMORY_MAX - memory_used ? malloc(size) : NULL;
	memory_refused = memory_refused || !memory;
	memory_used += malloc_usable_size(memory);
	if (memory_used > MEMORY_MAX)
		memory_used = MEMORY_MAX;
	return memory;
}

static void bounded_free(void *memory)
{
	size_t size = malloc_usable_size(memory);

	memory_used -= size < memory_used ? size : memory_used;
	free(memory);
}

/* ---- the text -------------------------------------------------------------- */

static size_t next_bytes(void *buffer, size_t size, void *arg)
{
	struct reader *reader = arg;
	size_t nr = fread(buffer, 1, size, reader->file);

	if (ferror(reader->file))
		reader->error = errno;
	reader->nr_bytes += nr;
	return reader->nr_bytes > BYTES_MAX ? 0 : nr;
}

static int read_text(struct reader *reader)
{
	json_error_t error = { .line = 0 };
	char text[JSON_ERROR_TEXT_LENGTH + 80];

	json_set_alloc_funcs(bounded_malloc, bounded_free);
	reader->graph->document = json_load_callback(
		next_bytes, reader, JSON_REJECT_DUPLICATES, &error);
	if (reader->error)
		return complain(reader, strerror(reader->error));
	if (reader->nr_bytes > BYTES_MAX)
		return complain(reader, "is longer than 256 MiB");
	if (reader->graph->document)
		return 0;
	if (memory_refused)
		return complain(reader, "takes more than 2 GiB of memory, or "
					"more than there is");
	snprintf(text, sizeof(text), "line %d, column %d: %s", error.line,
		 error.column, error.text);
	return complain(reader, text);
}

/* ---- members --------------------------------------------------------------- */

static int get_text(const struct place *place, const char *key,
		    const char **out)
{
	const json_t *value = json_object_get(place->object, key);

	if (!json_is_string(value))
		return wrong(place, key, "a text is expected");
	*out = json_string_value(value);
	return 0;
}

static int get_number(const struct place *place, const char *key,
		      json_int_t max, json_int_t *out)
{
	const json_t *value = json_object_get(place->object, key);

	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    json_integer_value(value) > max)
		return wrong(place, key,
			     "a whole number from 0 to %" JSON_INTEGER_FORMAT
			     " is expected",
			     max);
	*out = json_integer_value(value);
	return 0;
}

/* A number if @is_there, otherwise null, and *@out stays. */
static int get_if(const struct place *place, const char *key, bool is_there,
		  json_int_t max, json_int_t *out)
{
	if (is_there)
		return get_number(place, key, max, out);
	if (!json_is_null(json_object_get(place->object, key)))
		return wrong(place, key, "null is expected in this state");
	return 0;
}

/* *@out: the index among the @nr words. */
static int get_word(const struct place *place, const char *key,
		    const char *const *word, unsigned int nr, unsigned int *out)
{
	const char *text;

	if (get_text(place, key, &text))
		return -1;
	for (*out = 0; *out < nr; ++*out) {
		if (!strcmp(text, word[*out]))
			return 0;
	}
	return wrong(place, key, "\"%.40s\" is none of its words", text);
}

static int get_array(const struct place *place, const char *key, size_t max,
		     const json_t **out)
{
	*out = json_object_get(place->object, key);
	if (!json_is_array(*out))
		return wrong(place, key, "an array is expected");
	if (json_array_size(*out) > max)
		return wrong(place, key, "there are more than %zu", max);
	return 0;
}

/* The next element of an array of objects. */
static int get_element(struct place *place, const json_t *array, size_t index)
{
	place->index = index;
	place->object = json_array_get(array, index);
	if (!json_is_object(place->object))
		return wrong(place, "", "an object is expected");
	return 0;
}

/* ---- nodes ----------------------------------------------------------------- */

static int read_times(const struct place *place, struct draw_node *node)
{
	bool has_run = draw_has_run(node);
	bool has_ended = has_run && node->state != DRAW_RUNNING;
	json_int_t start_ns = 0, end_ns = place->reader->now_ns, worker = 0;

	if (get_if(place, "start_ns", has_run, TIME_MAX, &start_ns) ||
	    get_if(place, "end_ns", has_ended, TIME_MAX, &end_ns) ||
	    get_if(place, "worker", has_ended, WORKER_MAX, &worker))
		return -1;
	if (has_ended && end_ns < start_ns)
		return wrong(place, "end_ns", "it is before start_ns");
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
		return wrong(place, "code", "an error number is expected");
	failed = json_integer_value(code) != 0;
	if (failed != (node->state == DRAW_FAILED) &&
	    node->state != DRAW_SKIPPED)
		return wrong(place, "code",
			     failed ? "0 is expected in this state"
				    : "a failed node has an error");
	if (failed)
		return get_text(place, "error", &node->error);
	if (!json_is_null(json_object_get(place->object, "error")))
		return wrong(place, "error", "null is expected for code 0");
	return 0;
}

static int read_node(const struct place *place, struct draw_node *node)
{
	json_int_t id, depth;
	unsigned int state;

	if (get_number(place, "id", NODES_MAX, &id))
		return -1;
	if ((size_t)id != place->index)
		return wrong(place, "id",
			     "%zu is expected: ids count the nodes from 0",
			     place->index);
	if (get_text(place, "name", &node->name) ||
	    get_word(place, "state", draw_state_name, NR_DRAW_STATES, &state) ||
	    get_number(place, "depth", UINT32_MAX, &depth))
		return -1;
	node->state = (enum draw_state)state;
	node->depth = (uint32_t)depth;
	return read_times(place, node) || read_error(place, node) ? -1 : 0;
}

static int read_nodes(struct reader *reader, const struct place *whole)
{
	struct place place = { .reader = reader, .array = "nodes" };
	struct draw_graph *graph = reader->graph;
	const json_t *nodes;
	size_t nr;

	if (get_array(whole, "nodes", NODES_MAX, &nodes))
		return -1;
	nr = json_array_size(nodes);
	graph->node = calloc(nr + 1, sizeof(*graph->node));
	if (!graph->node)
		return complain(reader, "there is no memory for its nodes");
	graph->nr = (uint32_t)nr;
	for (size_t i = 0; i < nr; i++) {
		if (get_element(&place, nodes, i) ||
		    read_node(&place, &graph->node[i]))
			return -1;
	}
	return 0;
}

/* ---- edges ----------------------------------------------------------------- */

static int read_end(const struct place *place, const char *key, uint32_t *out)
{
	uint32_t nr = place->reader->graph->nr;
	json_int_t id;

	if (get_number(place, key, TIME_MAX, &id))
		return -1;
	if (id >= (json_int_t)nr)
		return wrong(place, key,
			     "there is no node %" JSON_INTEGER_FORMAT
			     " among %" PRIu32,
			     id, nr);
	*out = (uint32_t)id;
	return 0;
}

static int read_edge(const struct place *place, struct draw_edge *edge)
{
	static const char *const words[] = { "need", "order", "failure" };
	unsigned int kind;

	if (read_end(place, "from", &edge->from) ||
	    read_end(place, "to", &edge->to) ||
	    get_word(place, "kind", words, 3, &kind))
		return -1;
	if (edge->from >= edge->to)
		return wrong(place, "",
			     "it leads from node %" PRIu32 " back to %" PRIu32
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
	struct place place = { .reader = reader, .array = "edges" };
	struct draw_edge *edge;
	const json_t *edges;
	size_t nr;
	int err = 0;

	if (get_array(whole, "edges", EDGES_MAX, &edges))
		return -1;
	nr = json_array_size(edges);
	edge = calloc(nr + 1, sizeof(*edge));
	if (!edge)
		return complain(reader, "there is no memory for its edges");
	for (size_t i = 0; i < nr && !err; i++) {
		err = get_element(&place, edges, i);
		err = err ? err : read_edge(&place, &edge[i]);
	}
	if (!err && sort_edges(reader->graph, edge, nr))
		err = complain(reader, "there is no memory for its edges");
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
	struct place place = { .reader = reader, .array = "critical_path" };
	struct draw_graph *graph = reader->graph;
	const json_t *path;
	json_int_t before = 0;

	if (get_array(whole, "critical_path", NODES_MAX, &path))
		return -1;
	for (size_t i = 0; i < json_array_size(path); i++) {
		const json_t *value = json_array_get(path, i);
		json_int_t id = json_integer_value(value);

		place.index = i;
		if (!json_is_integer(value) || id < 0 ||
		    id >= (json_int_t)graph->nr)
			return wrong(&place, "",
				     "the id of a node is expected");
		if (i && !mark_edge(graph, (uint32_t)before, (uint32_t)id))
			return wrong(&place, "",
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
		return complain(reader, "is no graph: there is no member "
					"\"sley_graph\" in it");
	if (get_number(whole, "sley_graph", INT32_MAX, &version))
		return -1;
	if (version != VERSION)
		return wrong(whole, "sley_graph",
			     "the version is %" JSON_INTEGER_FORMAT
			     ", and this program knows version %d",
			     version, VERSION);
	if (get_text(whole, "name", &graph->name) ||
	    get_number(whole, "now_ns", TIME_MAX, &reader->now_ns) ||
	    get_number(whole, "nodes_left_out", TIME_MAX, &nodes) ||
	    get_number(whole, "edges_left_out", TIME_MAX, &edges))
		return -1;
	graph->nr_left_out = (uint64_t)nodes;
	graph->nr_edges_left_out = (uint64_t)edges;
	return 0;
}

int draw_read(struct draw_graph *graph, FILE *file, const char *path)
{
	struct reader reader = { .graph = graph, .file = file, .path = path };
	struct place whole = { .reader = &reader };

	*graph = (struct draw_graph){ .nr = 0 };
	if (read_text(&reader))
		return -1;
	whole.object = graph->document;
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
