/* SPDX-License-Identifier: MIT */
/*
 * plan.h - the plan of the measurements: rows, participants and bars.
 */
#ifndef BENCH_PLAN_H
#define BENCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#define PLAN_PEERS_MAX 9 /* with PLAN_BEFORE */
#define PLAN_BARS_MAX 10
#define PLAN_BEFORE_MAX 5

/* The name of an earlier build of sley as a participant. */
#define PLAN_BEFORE "before"

/* The metric of a run whose instructions were counted; the run was not timed. */
#define PLAN_INSTRUCTIONS "instructions"

/* A participant of a row; the first participant of a row is sley. */
struct plan_peer {
	const char *name;    /* in the results                            */
	const char *program; /* in the directory of programs              */
	const char *row;     /* the row of the program; NULL: same name   */
	const char *package; /* the package in Debian; NULL: none         */
	bool single;         /* has one worker only                       */
	int workers;         /* fixed; 0: as many as the row              */
};

/*
 * A bar: metric <= factor * the peer's metric + plus.  Without a peer:
 * metric <= plus.  Where more is better, >= takes the place of <=.
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
	int workers[4]; /* the counts that are measured, ended by 0 */
	int workers_min;
	int workers_max;
	bool calibrated;  /* each worker needs a core, from two on    */
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

/* Is more better?  Yes for `gflops`, and for names that end in `_gflops`. */
bool plan_more_is_better(const char *metric);

/* The bar of @row for this metric, or NULL; @peer NULL: the absolute bar. */
const struct plan_bar *plan_bar(const struct plan_row *row, int workers,
				const char *metric, const char *peer);

#endif
