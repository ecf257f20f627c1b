/* SPDX-License-Identifier: MIT */
/*
 * openmp.h - the rows of the peers libgomp and libomp.
 */
#ifndef BENCH_OPENMP_H
#define BENCH_OPENMP_H

#include "../measure.h"

void openmp_fib(const struct measure *m);
void openmp_coarse(const struct measure *m);
void openmp_skynet(const struct measure *m);
void openmp_nqueens(const struct measure *m);
void openmp_uts(const struct measure *m);
void openmp_matmul(const struct measure *m);
void openmp_for_tiny(const struct measure *m);
void openmp_for_saxpy(const struct measure *m);
void openmp_reduce(const struct measure *m);
void openmp_scan(const struct measure *m);
void openmp_dag(const struct measure *m);
void openmp_dag_stencil(const struct measure *m);

#endif
