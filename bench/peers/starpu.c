/* SPDX-License-Identifier: MIT */
/*
 * starpu.c - the peer StarPU in the rows about graphs: starpu_task_insert() with
 * the handles of the cells that a task uses.
 *
 * The submitting thread is not a worker.  Cells get handles before the timing
 * starts.  Problems are smaller than ours: a task takes several microseconds.
 */
#include "../measure.h"
#include "../problems/dag.h"
#include "../problems/stencil.h"

#include <starpu.h>

#define TURNS 3

static void visit_dag(void *buffers[], void *cell)
{
	(void)buffers;
	(void)dag.visit(cell);
}

static void visit_stencil(void *buffers[], void *task)
{
	(void)buffers;
	(void)stencil_visit(task);
}

static struct starpu_codelet dag_codelet = {
	.cpu_funcs = { visit_dag },
	.nbuffers = STARPU_VARIABLE_NBUFFERS,
	.name = "dag",
};

static struct starpu_codelet stencil_codelet = {
	.cpu_funcs = { visit_stencil },
	.nbuffers = 4,
	.modes = { STARPU_R, STARPU_R, STARPU_R, STARPU_W },
	.name = "stencil",
};

static void start(const struct measure *m)
{
	struct starpu_conf conf;

	setenv("STARPU_SILENT", "1", 0);
	starpu_conf_init(&conf);
	conf.ncpus = m->workers;
	conf.ncuda = 0;
	conf.nopencl = 0;
	MEASURE_CHECK(m, starpu_init(&conf) == 0);
	MEASURE_CHECK(m, starpu_cpu_worker_get_count() == (unsigned)m->workers);
}

static void name(starpu_data_handle_t *handle, const void *at, size_t size)
{
	starpu_variable_data_register(handle, STARPU_MAIN_RAM, (uintptr_t)at,
				      size);
}

/* ---- dag-chain and its like ------------------------------------------------------- */

static starpu_data_handle_t cells[2 * DAG_CELLS];

static void run_dag(void *arg)
{
	const struct measure *m = arg;

	for (uint32_t i = 1; i <= dag.nr; i++) {
		const struct dag_node *node = &dag.node[i];
		struct starpu_data_descr use[DAG_READS + 1];
		uint32_t nr = 0;

		for (; nr < node->nr_read; nr++) {
			use[nr].handle = cells[node->read[nr]];
			use[nr].mode = STARPU_R;
		}
		use[nr].handle = cells[i];
		use[nr++].mode = STARPU_RW;
		MEASURE_CHECK(m, starpu_task_insert(
					 &dag_codelet, STARPU_DATA_MODE_ARRAY,
					 use, nr, STARPU_CL_ARGS_NFREE,
					 dag_cell(i), (size_t)0, 0) == 0);
	}
	starpu_task_wait_for_all();
}

static void starpu_dag(const struct measure *m)
{
	start(m);
	dag_make(m, DAG_SMALL);
	for (uint32_t i = 1; i <= dag.nr; i++) {
		name(&cells[i], dag_cell(i), sizeof(dag.cell[0]));
		name(&cells[i + DAG_INPUT], &dag.cell[i + DAG_INPUT],
		     sizeof(dag.cell[0]));
	}
	dag_measure(m, "infer_ns", TURNS, run_dag, (void *)m);
	for (uint32_t i = 1; i <= dag.nr; i++) {
		starpu_data_unregister(cells[i]);
		starpu_data_unregister(cells[i + DAG_INPUT]);
	}
	starpu_shutdown();
}

/* ---- dag-stencil --------------------------------------------------------------------- */

static starpu_data_handle_t rows[STENCIL_STEPS_SLOW + 1][STENCIL_WIDTH];

static void run_stencil(void *arg)
{
	const struct measure *m = arg;
	uint32_t width = stencil.width;

	for (uint32_t step = 1; step <= stencil.steps; step++) {
		starpu_data_handle_t *from = rows[step - 1];

		for (uint32_t i = 0; i < width; i++) {
			int err = starpu_task_insert(
				&stencil_codelet, STARPU_R,
				from[(i + width - 1) % width], STARPU_R,
				from[i], STARPU_R, from[(i + 1) % width],
				STARPU_W, rows[step][i], STARPU_CL_ARGS_NFREE,
				&stencil.cell[step][i], (size_t)0, 0);

			MEASURE_CHECK(m, err == 0);
		}
	}
	starpu_task_wait_for_all();
}

static void starpu_stencil(const struct measure *m)
{
	struct stencil_peer peer = { .m = m, .steps = STENCIL_STEPS_SLOW };

	start(m);
	for (int step = 0; step <= STENCIL_STEPS_SLOW; step++) {
		for (int i = 0; i < STENCIL_WIDTH; i++)
			name(&rows[step][i], &stencil.cell[step][i],
			     sizeof(stencil.cell[step][i]));
	}
	peer.run = run_stencil;
	peer.arg = (void *)m;
	stencil_measure(&peer);
	for (int step = 0; step <= STENCIL_STEPS_SLOW; step++) {
		for (int i = 0; i < STENCIL_WIDTH; i++)
			starpu_data_unregister(rows[step][i]);
	}
	starpu_shutdown();
}

int main(int argc, char **argv)
{
	static const struct measure_row rows_of[] = {
		{ "dag-chain", starpu_dag },
		{ "dag-wavefront", starpu_dag },
		{ "dag-tree", starpu_dag },
		{ "dag-random", starpu_dag },
		{ "dag-stencil", starpu_stencil },
	};

	return measure_main(argc, argv, rows_of,
			    sizeof(rows_of) / sizeof(rows_of[0]));
}
