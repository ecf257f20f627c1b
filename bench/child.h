/* SPDX-License-Identifier: MIT */
/*
 * child.h - runs one measurement in a process of its own.
 */
#ifndef BENCH_CHILD_H
#define BENCH_CHILD_H

#include "series.h"

enum child_result {
	CHILD_OK,
	CHILD_SKIPPED, /* it does not have the row, or this machine cannot */
	CHILD_FAILED,  /* it said a count is wrong, crashed or hung        */
};

/*
 * Runs @argv (ended by NULL) and adds the `metric value` lines it prints to
 * @series.  What it prints on stderr goes to ours.
 */
enum child_result child_run(const char *const *argv, struct series *series);

/*
 * Runs @argv under valgrind's callgrind, and adds how many instructions it took,
 * from its start to its end, to @series; what it measures itself is dropped.
 */
enum child_result child_count(const char *const *argv, struct series *series);

#endif
