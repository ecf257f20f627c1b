/* SPDX-License-Identifier: MIT */
/*
 * pictures.c - graphs that are drawn, where there is no memory.
 */
#include "fault/sweep.h"

#include <errno.h>

static int nothing(void *arg)
{
	(void)arg;
	return 0;
}

static int put(void *arg, const char *text, size_t length)
{
	(void)text;
	*(size_t *)arg += length;
	return 0;
}

static void draw(struct sley_graph *graph, enum sley_graph_dump_format format)
{
	size_t length = 0;

	if (TRY(sley_graph_dump(graph, format, put, &length), -ENOMEM))
		CHECK_GT(length, 0);
	else
		CHECK_EQ(length, 0); /* nothing, rather than a part */
}

static void use_picture(void *arg)
{
	struct sley_graph *graph;
	sley_node last = SLEY_NO_NODE;

	(void)arg;
	if (!TRY(sley_graph_create(&graph, SLEY_GRAPH_OPTIONS(.picture = true)),
		 -ENOMEM))
		return;
	for (int i = 0; i < 3; i++)
		(void)TRY(sley_graph_submit(graph, &last,
					    SLEY_NODE_SPEC(.fn = nothing,
							   .after = &last,
							   .nr_after = 1)),
			  -ENOMEM);
	CHECK_EQ(sley_graph_wait(graph), 0);
	draw(graph, SLEY_GRAPH_DUMP_DOT);
	draw(graph, SLEY_GRAPH_DUMP_JSON);
	sley_graph_destroy(graph);
}

SCENARIO(pictures)
{
	trial_play(use_picture);
}
