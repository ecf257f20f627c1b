/* SPDX-License-Identifier: MIT */
/*
 * 30_graph_subprocess.c - code that crashes in a subprocess: one node is lost.
 *
 *	cc 30_graph_subprocess.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sley_subprocess *parser;

/* Runs in the subprocess, and crashes for some texts. */
static int count_words(struct sley_subprocess_work *work)
{
	int words = 1;

	if (strchr(work->arg, '!'))
		abort();
	for (const char *at = work->arg; *at; at++)
		words += *at == ' ';
	return words;
}

static int parse(void *text)
{
	struct sley_subprocess_result result = { .data = NULL };
	size_t size = strlen(text) + 1;
	int nr = sley_subprocess_call(parser, count_words, text, size, &result);

	printf("\"%s\": %d words %s\n", (char *)text, nr, result.text);
	return nr;
}

static void root(void *lost)
{
	static char texts[][8] = { "a b c", "boom!", "d e" };
	struct sley_graph *graph;

	if (sley_subprocess_create(&parser, 0) || sley_graph_create(&graph, 0))
		exit(1);
	for (int i = 0; i < 3; i++)
		if (sley_graph_add(graph, parse, texts[i], SLEY_IN(texts[i])))
			exit(1);
	*(bool *)lost = sley_graph_wait(graph) == SLEY_ECHILD;
	sley_graph_destroy(graph);
	sley_subprocess_destroy(parser);
}

int main(void)
{
	bool lost = false;

	if (sley_subprocess_register("count_words", count_words) ||
	    sley_subprocesses_init() || sley_run(NULL, root, &lost))
		return 1;
	sley_subprocesses_exit();
	return lost ? 0 : 1;
}
