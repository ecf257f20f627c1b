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

/* What became of a participant. */
enum entry_state {
	ENTRY_OK,
	ENTRY_MISSING, /* the program was not built         */
	ENTRY_SINGLE,  /* knows one worker only             */
	ENTRY_SKIPPED, /* this machine cannot run it        */
	ENTRY_FAILED,
};

/* One participant of the row that is being measured. */
struct entry {
	const struct plan_peer *peer;
	const char *directory; /* where its program is */
	enum entry_state state;
	struct series series;
};

/* All participants of one row at one number of workers; the first is sley. */
struct results {
	const struct plan_row *row;
	int workers;
	struct plan_peer before; /* sley again, of an earlier build */
	size_t nr;
	struct entry entries[PLAN_PEERS_MAX];
	struct calibration calibration;
};

/* The bars that were judged, and those that could not be. */
struct tally {
	int ok, missed, open;
};

void print_head(void);
void print_table(const struct results *r, struct tally *tally);
void print_json(FILE *file, const struct results *r);

#endif
