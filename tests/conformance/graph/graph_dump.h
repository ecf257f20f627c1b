/* SPDX-License-Identifier: MIT */
/*
 * graph_dump.h - reading pictures of graphs, in tests.
 *
 * What is in a picture is read from the DOT text, line by line.  That of the SVG is
 * checked for its form, by a reader of as much of XML as is used.
 */
#ifndef SLEY_TESTS_CONFORMANCE_GRAPH_GRAPH_DUMP_H
#define SLEY_TESTS_CONFORMANCE_GRAPH_GRAPH_DUMP_H

#include "conformance/graph/graph.h"

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

static inline bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '-' || c == ':';
}

static inline const char *skip_name(const char *at)
{
	CHECK(is_name(*at));
	while (is_name(*at))
		at++;
	return at;
}

/* Text up to one of @ends; entities are whole. */
static inline const char *skip_text(const char *at, const char *ends)
{
	for (; !strchr(ends, *at); at++) {
		unsigned char c = (unsigned char)*at;

		CHECK(c >= 0x20 || c == '\n');
		CHECK(c != '<');
		if (c == '&')
			CHECK(!strncmp(at, "&amp;", 5) ||
			      !strncmp(at, "&lt;", 4) ||
			      !strncmp(at, "&gt;", 4) ||
			      !strncmp(at, "&quot;", 6));
	}
	return at;
}

static inline const char *skip_attributes(const char *at)
{
	while (*at == ' ') {
		at = skip_name(at + 1);
		CHECK(at[0] == '=' && at[1] == '"');
		at = skip_text(at + 2, "\"");
		CHECK(*at == '"');
		at++;
	}
	return at;
}

/* Elements are closed in the order in which they were opened, and there is one. */
static inline void check_xml(void)
{
	const char *open[32], *at = text;
	size_t nr = 0, nr_roots = 0;

	while (*(at = skip_text(at, "<"))) {
		const char *name = at + 1 + (at[1] == '/');
		size_t size = (size_t)(skip_name(name) - name);

		if (at[1] == '/') {
			CHECK_GT(nr, 0);
			nr--;
			CHECK(!strncmp(open[nr], name, size + 1) ||
			      open[nr][size] == ' ');
			CHECK(!strncmp(open[nr], name, size));
			at = name + size;
		} else {
			CHECK_LT(nr, ARRAY_SIZE(open));
			nr_roots += !nr;
			open[nr++] = name;
			at = skip_attributes(name + size);
			if (*at == '/') {
				at++;
				nr--;
			}
		}
		CHECK(*at == '>');
		at++;
		CHECK(nr || !strcmp(at, "\n"));
		if (!nr)
			break;
	}
	CHECK_EQ(nr, 0);
	CHECK_EQ(nr_roots, 1);
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

/* The line that begins so, in the DOT text; NULL: none. */
static inline const char *line(const char *begin)
{
	static char copy[1024];
	char with_tab[100];
	const char *at;

	(void)snprintf(with_tab, sizeof(with_tab), "\n\t%s", begin);
	at = strstr(text, with_tab);
	if (!at)
		return NULL;
	(void)snprintf(copy, sizeof(copy), "%.*s", (int)strcspn(at + 1, "\n"),
		       at + 1);
	return copy;
}

static inline bool line_has(const char *begin, const char *word)
{
	const char *found = line(begin);

	return found && strstr(found, word);
}

/* Both, and all of the form they should have. */
static inline void check_dump(struct sley_graph *graph)
{
	dump(graph, SLEY_GRAPH_DUMP_SVG);
	check_xml();
	dump(graph, SLEY_GRAPH_DUMP_DOT);
	check_dot();
}

#endif
