/* SPDX-License-Identifier: MIT */
/*
 * plan.h - what is measured: the rows, who takes part in them, and the bars.
 */
#ifndef BENCH_PLAN_H
#define BENCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#define PLAN_PEERS_MAX 9 /* with PLAN_BEFORE */
#define PLAN_BARS_MAX 8
#define PLAN_BEFORE_MAX 5

/* What an earlier build of sley is called where it takes part. */
#define PLAN_BEFORE "before"

/* The metric of a run that was counted and not timed. */
#define PLAN_INSTRUCTIONS "instructions"

/* Somebody who takes part in a row; the first of a row is sley. */
struct plan_peer {
	const char *name;    /* as it is printed                          */
	const char *program; /* in the directory of programs              */
	const char *row;     /* which of its rows; NULL: the same         */
	const char *package; /* what Debian calls it; NULL: nothing       */
	bool single;         /* knows one worker only                     */
	int workers;         /* always so many; 0: as many as the row     */
};

/*
 * A bar: metric <= factor * the peer's metric + plus.  Without a peer it is
 * metric <= plus.  Where more is better it is >=.
 */
struct plan_bar {
	const char *metric;
	const char *peer;
	double factor;
	double plus;
	int workers; /* 0: any number */
};

struct plan_row {
	const char *name;
	const char *about;
	int workers[3]; /* the counts that are measured, ended by 0 */
	int workers_min;
	int workers_max;
	bool calibrated;  /* more workers than one need as many cores */
	const char *form; /* our metric that the peers call `ns`      */
	struct plan_peer peers[PLAN_PEERS_MAX]; /* ended by a NULL name   */
	struct plan_bar bars[PLAN_BARS_MAX];    /* ended by a NULL metric */
	/* Bars against PLAN_BEFORE, ended the same way. */
	struct plan_bar before[PLAN_BEFORE_MAX];
};

extern const struct plan_row plan_rows[];
extern const size_t plan_nr_rows;

/* The row called @name, or NULL. */
const struct plan_row *plan_find(const char *name);

/* Is more of it better?  That is so for `gflops`, and what ends in `_gflops`. */
bool plan_more_is_better(const char *metric);

/* The bar of @row for this metric, or NULL; @peer NULL: the absolute one. */
const struct plan_bar *plan_bar(const struct plan_row *row, int workers,
				const char *metric, const char *peer);

#endif
