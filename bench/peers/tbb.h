/* SPDX-License-Identifier: MIT */
/*
 * tbb.h - the rows of the peer oneTBB, and the set-up of the workers.
 */
#ifndef BENCH_TBB_H
#define BENCH_TBB_H

#include "../measure.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#define TBB_STACK (256u << 20) /* some rows recurse deeply */

/* Runs @fn in an arena of m->workers; the caller counts as a worker. */
template <typename Fn> void tbb_run(const struct measure *m, Fn fn)
{
	using oneapi::tbb::global_control;
	global_control limit(global_control::max_allowed_parallelism,
			     (size_t)m->workers);
	global_control stack(global_control::thread_stack_size, TBB_STACK);
	oneapi::tbb::task_arena arena(m->workers);

	arena.execute(fn);
}

void tbb_fib(const struct measure *m);
void tbb_coarse(const struct measure *m);
void tbb_skynet(const struct measure *m);
void tbb_nqueens(const struct measure *m);
void tbb_uts(const struct measure *m);
void tbb_matmul(const struct measure *m);
void tbb_for_tiny(const struct measure *m);
void tbb_for_saxpy(const struct measure *m);
void tbb_reduce(const struct measure *m);
void tbb_scan(const struct measure *m);
void tbb_sort(const struct measure *m);
void tbb_dag(const struct measure *m);
void tbb_outside(const struct measure *m);

#endif
