/* SPDX-License-Identifier: MIT */
/*
 * tbb.cpp - the peer oneTBB.
 *
 * spawn   one task_group, used again and again: a batch of run(), then wait();
 *         the caller counts as a worker, as is usual in TBB
 *
 * The rows that fork and join are in tbb_fork.cpp, the rows about loops in
 * tbb_range.cpp, the rows about graphs in tbb_dag.cpp, the row about tasks from a
 * plain thread in tbb_outside.cpp.
 */
#include "tbb.h"

#include "../tally.h"

#include <oneapi/tbb/task_group.h>

static void spawn_batches(uint64_t batches)
{
	oneapi::tbb::task_group group;

	for (uint64_t i = 0; i < batches; i++) {
		for (int j = 0; j < SPAWN_BATCH; j++)
			group.run([] { tally_one(); });
		group.wait();
	}
}

static void run_spawn(const struct measure *m)
{
	uint64_t batches = measure_size(m, SPAWN_BATCHES);
	uint64_t warm = batches / 10, start = 0;

	tbb_run(m, [&] {
		spawn_batches(warm);
		start = measure_now();
		spawn_batches(batches);
		measure_report_each("ns", start, batches * SPAWN_BATCH);
	});
	MEASURE_CHECK(m, tally_sum() == (warm + batches) * SPAWN_BATCH);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "spawn", run_spawn },         { "fib", tbb_fib },
		{ "coarse", tbb_coarse },       { "skynet", tbb_skynet },
		{ "nqueens", tbb_nqueens },     { "uts", tbb_uts },
		{ "matmul", tbb_matmul },       { "for-tiny", tbb_for_tiny },
		{ "for-saxpy", tbb_for_saxpy }, { "reduce", tbb_reduce },
		{ "scan", tbb_scan },           { "sort", tbb_sort },
		{ "dag-chain", tbb_dag },       { "dag-wavefront", tbb_dag },
		{ "dag-tree", tbb_dag },        { "dag-random", tbb_dag },
		{ "outside", tbb_outside },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
