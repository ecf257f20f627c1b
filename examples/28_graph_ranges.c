/* SPDX-License-Identifier: MIT */
/*
 * 28_graph_ranges.c - an image is blurred in strips, each of which also reads the row
 * above and the row below: the graph finds the dependencies by the ranges of bytes.
 *
 *   cc 28_graph_ranges.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <string.h>

enum { ROW = 64, STRIP = 10 * ROW, STRIPS = 16, ROUNDS = 20 };
enum { IMAGE = STRIPS * STRIP + 2 * ROW };
static int32_t image[2 * IMAGE], expected[2 * IMAGE];
static struct strip {
	int32_t *to, *from;
} strips[ROUNDS][STRIPS];

static int blur(void *arg)
{
	const struct strip *s = arg;
	const int32_t *at = s->from;

	for (int i = 0; i < STRIP; i++, at++)
		s->to[i] = (at[-ROW] + 2 * *at + at[ROW]) / 4;
	return 0;
}

static void root(void *arg)
{
	struct sley_graph *graph;
	int err = sley_graph_create(&graph, NULL);

	for (int i = 0; i < ROUNDS * STRIPS && !err; i++) {
		int round = i / STRIPS, at = ROW + i % STRIPS * STRIP;
		struct strip *s = &strips[round][i % STRIPS];

		s->to = image + (round + 1) % 2 * IMAGE + at;
		s->from = image + round % 2 * IMAGE + at;
		err = sley_graph_add(
			graph, blur, s, SLEY_OUT_N(s->to, STRIP * 4),
			SLEY_IN_N(s->from - ROW, (STRIP + 2 * ROW) * 4));
		/* The same now, in the order of the program. */
		blur(&(struct strip){ s->to - image + expected,
				      s->from - image + expected });
	}
	*(int *)arg = err ? err : sley_graph_wait(graph);
	sley_graph_destroy(graph);
}

int main(void)
{
	int err = 0;

	for (int i = 0; i < STRIPS * STRIP; i++)
		image[ROW + i] = expected[ROW + i] = i * 7919 % 1000;
	return sley_run(NULL, root, &err) || err ||
	       memcmp(expected, image, sizeof(image));
}
