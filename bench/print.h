/* SPDX-License-Identifier: MIT */
/*
 * print.h - the results of one row, as a table or as JSON lines.
 */
#ifndef BENCH_PRINT_H
#define BENCH_PRINT_H

#include "calibration.h"
#include "plan.h"
#include "series.h"

#include <stdio.h>

/* The state of a participant. */
enum entry_state {
	ENTRY_OK,
	ENTRY_MISSING, /* the program was not built         */
	ENTRY_SINGLE,  /* has one worker only               */
	ENTRY_SKIPPED, /* this machine cannot run the row   */
	ENTRY_FAILED,
};

/* One participant of the row that is being measured. */
struct entry {
	const struct plan_peer *peer;
	const char *directory; /* of the program */
	enum entry_state state;
	struct series series;
};

/* All participants of one row at one number of workers; the first is sley. */
struct results {
	const struct plan_row *row;
	int workers;
	struct plan_peer before; /* an earlier build of sley */
	size_t nr;
	struct entry entries[PLAN_PEERS_MAX];
	struct calibration calibration;
};

/* The number of bars that held, that were missed, and that could not be judged. */
struct tally {
	int ok, missed, open;
};

void print_head(void);
void print_table(const struct results *r, struct tally *tally);
void print_json(FILE *file, const struct results *r);

#endif
