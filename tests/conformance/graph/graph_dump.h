/* SPDX-License-Identifier: MIT */
/*
 * graph_dump.h - reading pictures of graphs, in tests.
 *
 * What is in a picture is read from both texts line by line.  Each of them is also
 * checked for its form, by a reader of as much of the format as is used.
 */
#ifndef SLEY_TESTS_CONFORMANCE_GRAPH_GRAPH_DUMP_H
#define SLEY_TESTS_CONFORMANCE_GRAPH_GRAPH_DUMP_H

#include "conformance/graph/graph.h"
#include "conformance/json.h"

#include <stdio.h>

static char text[4 << 20];
static size_t length;

static inline int take_text(void *arg, const char *piece, size_t size)
{
	(void)arg;
	CHECK_LT(length + size, sizeof(text));
	memcpy(text + length, piece, size);
	length += size;
	text[length] = '\0';
	return 0;
}

static inline void dump(struct sley_graph *graph,
			enum sley_graph_dump_format format)
{
	length = 0;
	text[0] = '\0';
	CHECK_EQ(sley_graph_dump(graph, format, take_text, NULL), 0);
}

/* ---- the form of it ------------------------------------------------------------------ */

/* One value, and the version of its schema. */
static inline void check_json(void)
{
	CHECK(!strncmp(text, "{\"sley_graph\":1,\n\"name\":\"", 25));
	CHECK(!strcmp(skip_value(text), "\n"));
}

/* Quotes are closed in their line, and braces at the end. */
static inline void check_dot(void)
{
	bool quoted = false;

	CHECK(!strncmp(text, "digraph \"", 9));
	CHECK(length > 3 && !strcmp(text + length - 3, "\n}\n"));
	for (const char *at = text; *at; at++) {
		CHECK((unsigned char)*at >= 0x20 || *at == '\n' || *at == '\t');
		if (quoted && *at == '\\') {
			at++;
			CHECK(*at == '"' || *at == '\\' || *at == 'n');
		} else if (*at == '"') {
			quoted = !quoted;
		} else {
			CHECK(*at != '\n' || !quoted);
		}
	}
	CHECK(!quoted);
}

static inline int count(const char *word)
{
	int nr = 0;

	for (const char *at = text; (at = strstr(at, word)); at++)
		nr++;
	return nr;
}

/* The line that begins so, after a new-line and @indent; NULL: none. */
static inline const char *line_after(const char *indent, const char *begin)
{
	static char copy[8192];
	char with_indent[100];
	const char *at;

	(void)snprintf(with_indent, sizeof(with_indent), "\n%s%s", indent,
		       begin);
	at = strstr(text, with_indent);
	if (!at)
		return NULL;
	(void)snprintf(copy, sizeof(copy), "%.*s", (int)strcspn(at + 1, "\n"),
		       at + 1);
	return copy;
}

/* In the DOT text. */
static inline const char *line(const char *begin)
{
	return line_after("\t", begin);
}

static inline bool line_has(const char *begin, const char *word)
{
	const char *found = line(begin);

	return found && strstr(found, word);
}

/* ---- JSON: a node and an edge are a line each --------------------------------------- */

static inline bool json_node_has(int id, const char *member)
{
	char begin[40];
	const char *found;

	(void)snprintf(begin, sizeof(begin), "\"id\":%d,", id);
	found = line_after("{", begin);
	return found && strstr(found, member);
}

/* A number of a node that has it. */
static inline long json_time(int id, const char *key)
{
	char begin[40], member[40];
	const char *found;

	(void)snprintf(begin, sizeof(begin), "\"id\":%d,", id);
	(void)snprintf(member, sizeof(member), "\"%s\":", key);
	found = line_after("{", begin);
	found = found ? strstr(found, member) : NULL;
	CHECK(found != NULL);
	found += strlen(member);
	CHECK(*found >= '0' && *found <= '9');
	return strtol(found, NULL, 10);
}

static inline bool json_edge_is(int from, int to, const char *kind)
{
	char begin[80];

	(void)snprintf(begin, sizeof(begin),
		       "\"from\":%d,\"to\":%d,\"kind\":\"%s\"}", from, to,
		       kind);
	return line_after("{", begin) != NULL;
}

static inline bool json_is_critical(int id)
{
	const char *at = strstr(text, "\n\"critical_path\":[");
	char *end;

	CHECK(at != NULL);
	for (at = strchr(at, '['); *at != ']'; at = end) {
		if (at[1] == ']')
			return false;
		if (strtol(at + 1, &end, 10) == id)
			return true;
	}
	return false;
}

/* Both, and all of the form they should have; the DOT text is the one that stays. */
static inline void check_dump(struct sley_graph *graph)
{
	dump(graph, SLEY_GRAPH_DUMP_JSON);
	check_json();
	dump(graph, SLEY_GRAPH_DUMP_DOT);
	check_dot();
}

/* The same, and the JSON text is the one that stays. */
static inline void check_json_dump(struct sley_graph *graph)
{
	check_dump(graph);
	dump(graph, SLEY_GRAPH_DUMP_JSON);
}

#endif
