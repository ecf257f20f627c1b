/* SPDX-License-Identifier: MIT */
/*
 * calibration.h - were the CPUs that a row was measured on really as many?
 *
 * Two CPUs of a virtual machine may be two threads of one core, or have to
 * share it with somebody else for a while.  Then two workers cannot be twice as
 * fast as one, whatever they do.  So the program `calibrate` runs the same
 * serial work on one CPU and on as many as there are workers, between the
 * rounds of a row, and says how many cores that was worth.  A round that was
 * short of cores before or after it is measured again; as many rounds in all
 * as were asked for, then they count as they are.
 */
#ifndef BENCH_CALIBRATION_H
#define BENCH_CALIBRATION_H

#include "series.h"

#define CALIBRATION_METRIC "cores"
#define CALIBRATION_LEAST 0.9 /* of a core, for each worker */

struct calibration {
	char program[4096];
	int workers;
	bool quick;
	bool known;    /* the program is there, and this machine can run it */
	double before; /* what it said before the round                     */
	int spare;     /* rounds that may still be repeated                 */
	int repeated;
	struct series series; /* the lower figure of each round that counts */
};

/* @directory: of the programs.  @workers 1, or @spare < 0: is not asked. */
void calibration_init(struct calibration *c, const char *directory, int workers,
		      bool quick, int spare);

/* At the end of a round: false if it has to be repeated. */
bool calibration_holds(struct calibration *c);

/* How many cores are enough. */
double calibration_least(const struct calibration *c);

#endif
