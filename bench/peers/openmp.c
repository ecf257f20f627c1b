/* SPDX-License-Identifier: MIT */
/*
 * openmp.c - the peers libgomp (built with gcc) and libomp (with clang).
 *
 * spawn   a thread of the team makes a batch of tasks, then waits for the batch;
 *         in both libraries, a team of one thread runs each task at once
 *
 * The rows that fork and join are in openmp_fork.c, the rows about loops in
 * openmp_range.c, the rows about graphs in openmp_dag.c.
 */
#include "openmp.h"

#include "../tally.h"

#include <sys/resource.h>

static void spawn_batches(uint64_t batches)
{
	for (uint64_t i = 0; i < batches; i++) {
		for (int j = 0; j < SPAWN_BATCH; j++) {
#pragma omp task
			tally_one();
		}
#pragma omp taskwait
	}
}

static void run_spawn(const struct measure *m)
{
	uint64_t batches = measure_size(m, SPAWN_BATCHES);
	uint64_t warm = batches / 10, start = 0;

#pragma omp parallel num_threads(m->workers)
#pragma omp single
	{
		spawn_batches(warm);
		start = measure_now();
		spawn_batches(batches);
		measure_report_each("ns", start, batches * SPAWN_BATCH);
	}
	MEASURE_CHECK(m, tally_sum() == (warm + batches) * SPAWN_BATCH);
}

/*
 * Some rows recurse deeply.  The libraries read the stack size when they are loaded,
 * and the kernel reads the limit when the program starts: so start again.
 */
static void enlarge_stacks(char **argv)
{
	struct rlimit limit;

	if (getenv("OMP_STACKSIZE") != NULL ||
	    getrlimit(RLIMIT_STACK, &limit) != 0)
		return;
	if (limit.rlim_max > 256u << 20)
		limit.rlim_cur = 256u << 20;
	setrlimit(RLIMIT_STACK, &limit);
	setenv("OMP_STACKSIZE", "256M", 1);
	execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "spawn", run_spawn },
		{ "fib", openmp_fib },
		{ "coarse", openmp_coarse },
		{ "skynet", openmp_skynet },
		{ "nqueens", openmp_nqueens },
		{ "uts", openmp_uts },
		{ "matmul", openmp_matmul },
		{ "for-tiny", openmp_for_tiny },
		{ "for-saxpy", openmp_for_saxpy },
		{ "reduce", openmp_reduce },
		{ "scan", openmp_scan },
		{ "dag-chain", openmp_dag },
		{ "dag-wavefront", openmp_dag },
		{ "dag-tree", openmp_dag },
		{ "dag-random", openmp_dag },
		{ "dag-stencil", openmp_dag_stencil },
	};

	enlarge_stacks(argv);
	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
