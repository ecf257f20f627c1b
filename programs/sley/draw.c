/* SPDX-License-Identifier: MIT */
/*
 * draw.c - sley draw: a picture of a graph that ran.
 *
 * All of the input is read and checked, and everything has its place, before the
 * output is opened: a file that cannot be drawn costs nobody an old picture.
 */
#include "command.h"
#include "draw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int trouble(const char *path)
{
	fprintf(stderr, "sley draw: %s: %s\n", path, strerror(errno));
	return STATUS_TROUBLE;
}

static int read_graph(struct draw_graph *graph, const char *path)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *file = is_stdin ? stdin : fopen(path, "r");
	int err;

	if (!file) {
		(void)trouble(path);
		return -1;
	}
	err = draw_read(graph, file, is_stdin ? "standard input" : path);
	if (!is_stdin)
		(void)fclose(file);
	if (err)
		draw_destroy(graph);
	return err;
}

/* NULL is standard output, which main.c looks after. */
static int write_picture(struct draw_canvas *canvas, const char *path)
{
	FILE *file;
	bool lost;

	if (!path) {
		draw_svg(canvas, stdout);
		return STATUS_OK;
	}
	file = fopen(path, "w");
	if (!file)
		return trouble(path);
	draw_svg(canvas, file);
	lost = ferror(file);
	if (fclose(file) || lost)
		return trouble(path);
	return STATUS_OK;
}

static int draw(const char *input, const char *output)
{
	struct draw_graph graph;
	struct draw_canvas *canvas;
	int status = STATUS_TROUBLE;

	if (read_graph(&graph, input))
		return STATUS_TROUBLE;
	draw_compute(&graph);
	canvas = draw_canvas_create(&graph);
	if (canvas) {
		status = write_picture(canvas, output);
		draw_canvas_destroy(canvas);
	} else {
		(void)trouble(input);
	}
	draw_destroy(&graph);
	return status;
}

static int run(int argc, char **argv)
{
	const char *input = NULL, *output = NULL;

	for (int i = 1; i < argc; i++) {
		const char **word = &input;

		if (strcmp(argv[i], "-o") == 0) {
			word = &output;
			i++;
		} else if (argv[i][0] == '-' && argv[i][1]) {
			fprintf(stderr, "sley draw: there is no option '%s'\n",
				argv[i]);
			return command_usage(&command_draw);
		}
		if (i == argc || *word)
			return command_usage(&command_draw);
		*word = argv[i];
	}
	if (!input)
		return command_usage(&command_draw);
	return draw(input, output);
}

const struct command command_draw = {
	.name = "draw",
	.arguments = "FILE [-o SVG]",
	.summary = "draw a graph that was written as JSON",
	.help = "FILE is what sley_graph_dump() wrote with "
		"SLEY_GRAPH_DUMP_JSON; - is standard\n"
		"input.  The picture is an SVG file, for any browser.  It goes "
		"to standard\noutput without -o.\n",
	.run = run,
};
