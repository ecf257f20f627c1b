/* SPDX-License-Identifier: MIT */
/*
 * calibration.h - did each worker of a measurement have a core?
 *
 * Two CPUs of a virtual machine may be two threads of one core, or may share
 * cores with another machine for a while.  Then two workers cannot be twice as
 * fast as one worker.  So the program `calibrate` runs the same serial work on
 * one CPU and on as many CPUs as there are workers, between the rounds of a row,
 * and reports how many cores the CPUs were worth.  A round with too few cores
 * before or after is repeated.  As many rounds may be repeated as were asked
 * for; after that every round counts.
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
	bool known;    /* `calibrate` was built, and runs on this machine */
	double before; /* the cores before the round                      */
	int spare;     /* rounds that may still be repeated               */
	int repeated;
	struct series series; /* the lower figure of each round that counts */
};

/* @directory: of the programs.  @workers 1, or @spare < 0: no calibration. */
void calibration_init(struct calibration *c, const char *directory, int workers,
		      bool quick, int spare);

/* At the end of a round: false if the round has to be repeated. */
bool calibration_holds(struct calibration *c);

/* How many cores are enough. */
double calibration_least(const struct calibration *c);

#endif
