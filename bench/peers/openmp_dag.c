/* SPDX-License-Identifier: MIT */
/*
 * openmp_dag.c - the peers libgomp and libomp in the rows about graphs: `omp task
 * depend`; a thread of the team makes all tasks, and waits for them.
 *
 * cold_ns is the first turn of the process.  OpenMP has no graph that could be
 * created or destroyed: no fresh_ns, and no plan.
 *
 * `depend` is the only way to an edge in OpenMP.  For explicit_ns each task names
 * its own cell and the cells of its predecessors; for infer_ns also its input.
 */
#include "openmp.h"

#include "../problems/dag.h"
#include "../problems/stencil.h"

/*
 * The number of items in a clause is fixed at compile time.  The formatter does not
 * know clauses.
 */
/* clang-format off */
static void make_task(uint64_t *cell, const uint32_t *read, uint32_t nr)
{
	switch (nr) {
	case 0:
#pragma omp task firstprivate(cell) depend(inout : cell[0])
		dag.visit(cell);
		break;
	case 1:
#pragma omp task firstprivate(cell) depend(inout : cell[0]) \
	depend(in : *dag_cell(read[0]))
		dag.visit(cell);
		break;
	case 2:
#pragma omp task firstprivate(cell) depend(inout : cell[0]) \
	depend(in : *dag_cell(read[0]), *dag_cell(read[1]))
		dag.visit(cell);
		break;
	case 3:
#pragma omp task firstprivate(cell) depend(inout : cell[0]) \
	depend(in : *dag_cell(read[0]), *dag_cell(read[1]), *dag_cell(read[2]))
		dag.visit(cell);
		break;
	case 4:
#pragma omp task firstprivate(cell) depend(inout : cell[0]) \
	depend(in : *dag_cell(read[0]), *dag_cell(read[1]), *dag_cell(read[2]), \
		*dag_cell(read[3]))
		dag.visit(cell);
		break;
	}
}
/* clang-format on */

static void run_named(void *arg)
{
	(void)arg;
	for (uint32_t i = 1; i <= dag.nr; i++)
		make_task(dag_cell(i), dag.node[i].read, dag.node[i].nr_after);
#pragma omp taskwait
}

static void run_inferred(void *arg)
{
	(void)arg;
	for (uint32_t i = 1; i <= dag.nr; i++)
		make_task(dag_cell(i), dag.node[i].read, dag.node[i].nr_read);
#pragma omp taskwait
}

void openmp_dag(const struct measure *m)
{
	dag_make(m, DAG_FULL);
#pragma omp parallel num_threads(m->workers)
#pragma omp single
	{
		dag_measure_first(m, "cold_ns", run_named, NULL);
		dag_measure(m, "explicit_ns", DAG_TURNS_SLOW, run_named, NULL);
		dag_measure(m, "infer_ns", DAG_TURNS_SLOW, run_inferred, NULL);
	}
}

static void run_stencil(void *arg)
{
	(void)arg;
	for (uint32_t step = 1; step <= stencil.steps; step++) {
		for (uint32_t i = 0; i < stencil.width; i++) {
			struct stencil_cell *left = stencil_left(step, i);
			struct stencil_cell *middle = stencil_middle(step, i);
			struct stencil_cell *right = stencil_right(step, i);
			struct stencil_cell *out = &stencil.cell[step][i];

			/* clang-format off */
#pragma omp task firstprivate(out) \
	depend(in : *left, *middle, *right) depend(out : *out)
			/* clang-format on */
			stencil_visit(out);
		}
	}
#pragma omp taskwait
}

void openmp_dag_stencil(const struct measure *m)
{
	struct stencil_peer peer = { .m = m, .steps = STENCIL_STEPS };

	peer.run = run_stencil;
#pragma omp parallel num_threads(m->workers)
#pragma omp single
	stencil_measure(&peer);
}
