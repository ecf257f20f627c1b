/* SPDX-License-Identifier: MIT */
/*
 * fork_forms.h - the problems that are solved with both forms of fork and join,
 * and that the program `sley-count` needs, too.
 */
#ifndef BENCH_FORK_FORMS_H
#define BENCH_FORK_FORMS_H

#include "rows.h"

struct queens_board;

long fib_inline(long n);
long fib_plain(long n);
long queens_inline(const struct queens_board *board, int row);
long queens_plain(const struct queens_board *board, int row);

#endif
