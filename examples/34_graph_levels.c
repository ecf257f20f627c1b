/* SPDX-License-Identifier: MIT */
/*
 * 34_graph_levels.c - nodes that run graphs, in a subprocess with its own runtime.
 *
 *	cc 34_graph_levels.c $(pkg-config --cflags --libs sley)
 */
#include <errno.h>
#include <sley/sley.h>
#include <stdio.h>

static int check(void *number)
{
	return *(int *)number == 77 ? -ERANGE : 0;
}

/* Runs ten nodes, each @on: @fn with @number, @number + @step and so on. */
static int run(sley_node_fn *fn, int number, int step, struct sley_endpoint *on)
{
	struct sley_graph *graph;
	int err = sley_graph_create(&graph, NULL);

	for (int i = 0; i < 10 && !err; i++, number += step)
		err = sley_graph_submit(
			graph, NULL,
			SLEY_NODE_SPEC(.fn = fn, .arg = &number,
				       .arg_size = sizeof(number), .on = on));
	if (!err)
		err = sley_graph_wait(graph);
	sley_graph_destroy(graph);
	return err;
}

/* Runs in the subprocess; the graph runs on the workers there. */
static int run_ten(void *number)
{
	static struct sley *lower; /* for all nodes that run here */
	if (!lower && (sley_create(&lower, NULL) || sley_bind(lower)))
		return -ENOMEM;
	return run(check, *(int *)number, 1, NULL);
}

static void root(void *err)
{
	struct sley_subprocess *it = NULL;

	if (!sley_subprocess_create(&it, NULL))
		*(int *)err = run(run_ten, 0, 10, sley_subprocess_endpoint(it));
	sley_subprocess_destroy(it);
}

int main(void)
{
	int err = 0;

	if (sley_subprocesses_init() || sley_run(NULL, root, &err))
		return 1;
	sley_subprocesses_exit();
	printf("two levels below: %s\n", sley_strerror(err));
	return err == -ERANGE ? 0 : 1;
}
