/* SPDX-License-Identifier: MIT */
/*
 * 33_graph.c - each step starts when its inputs are ready: no beans, no coffee.
 *
 *   cc 33_graph.c $(pkg-config --cflags --libs sley)
 */
#include <errno.h>
#include <sley/sley.h>
#include <stdio.h>
#include <string.h>

static int water, tea, coffee, cups;
static struct sley_graph *g;
static char why[100];

static int make(void *it)
{
	if (!it)
		return -ENOENT; /* the shop has no beans */
	*(int *)it = 1 + water;
	return 0;
}

static int explain(void *node)
{
	return sley_node_explain(g, *(sley_node *)node, why, sizeof(why));
}

static void root(void *err)
{
	struct sley_access use[] = { SLEY_IN(water), SLEY_OUT(coffee) };
	sley_node beans, brew;

	if (sley_graph_create(&g, NULL) ||
	    sley_graph_add(g, make, &water, SLEY_OUT(water)) ||
	    sley_graph_add(g, make, &tea, SLEY_IN(water), SLEY_OUT(tea)) ||
	    sley_graph_submit(g, &beans,
			      SLEY_NODE_SPEC(.fn = make, .name = "shop")) ||
	    sley_graph_submit(g, &brew,
			      SLEY_NODE_SPEC(.fn = make, .arg = &coffee,
					     .name = "brew", .access = use,
					     .nr_access = 2, .after = &beans,
					     .nr_after = 1)) ||
	    sley_graph_add(g, make, &cups, SLEY_IN(coffee), SLEY_OUT(cups)) ||
	    sley_graph_submit(g, NULL,
			      SLEY_NODE_SPEC(.fn = explain, .arg = &brew,
					     .order = &brew, .nr_order = 1)))
		return;
	*(int *)err = sley_graph_wait(g);
	sley_graph_destroy(g);
}

int main(void)
{
	int err = 0;

	return sley_run(NULL, root, &err) || puts(why) < 0 || err != -ENOENT ||
	       tea != 2 || coffee || cups || !strstr(why, "<- shop failed");
}
