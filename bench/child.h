/* SPDX-License-Identifier: MIT */
/*
 * child.h - runs one measurement in a separate process.
 */
#ifndef BENCH_CHILD_H
#define BENCH_CHILD_H

#include "series.h"

enum child_result {
	CHILD_OK,
	CHILD_SKIPPED, /* no such row, or this machine cannot run the row */
	CHILD_FAILED,  /* the program found a wrong count, crashed or hung */
};

/*
 * Runs @argv (ended by NULL) and adds the printed `metric value` lines to
 * @series.  The program shares our stderr.
 */
enum child_result child_run(const char *const *argv, struct series *series);

/*
 * Runs @argv under valgrind's callgrind, and adds the number of instructions,
 * from start to end, to @series; the times that the program prints are dropped.
 */
enum child_result child_count(const char *const *argv, struct series *series);

#endif
