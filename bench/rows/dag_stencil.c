/* SPDX-License-Identifier: MIT */
/*
 * dag_stencil.c - row `dag-stencil`: each node names three cells to read and a cell
 * to write.
 */
#include "rows.h"

#include "../problems/stencil.h"

static void run(void *arg)
{
	struct sley_graph *graph = arg;
	int err = 0;

	for (uint32_t step = 1; step <= stencil.steps; step++) {
		for (uint32_t i = 0; i < stencil.width; i++) {
			struct stencil_cell *out = &stencil.cell[step][i];

			err |= sley_graph_add(graph, stencil_visit, out,
					      SLEY_IN(*stencil_left(step, i)),
					      SLEY_IN(*stencil_middle(step, i)),
					      SLEY_IN(*stencil_right(step, i)),
					      SLEY_OUT(*out));
		}
	}
	err |= sley_graph_wait(graph);
	if (err != 0)
		stencil.cell[1][0].value++; /* which the check finds */
}

static void root(void *arg)
{
	struct stencil_peer sley = { .m = arg, .steps = STENCIL_STEPS };
	struct sley_graph *graph;

	MEASURE_CHECK(sley.m, sley_graph_create(&graph, NULL) == 0);
	sley.run = run;
	sley.arg = graph;
	stencil_measure(&sley);
	sley_graph_destroy(graph);
}

void row_dag_stencil(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
