/* SPDX-License-Identifier: MIT */
/*
 * calibration.c - asks between the rounds how many cores there are.
 */
#include "calibration.h"

#include "child.h"

#include <stdio.h>
#include <unistd.h>

/* How many cores there are now; 0: unknown. */
static double ask(const struct calibration *c)
{
	static struct series answer;
	struct series_summary summary;
	char workers[16];
	const char *argv[] = { c->program, "calibrate", workers,
			       c->quick ? "quick" : NULL, NULL };

	answer.nr = 0;
	snprintf(workers, sizeof(workers), "%d", c->workers);
	if (child_run(argv, &answer) != CHILD_OK ||
	    !series_summary(&answer, CALIBRATION_METRIC, &summary))
		return 0;
	return summary.median;
}

void calibration_init(struct calibration *c, const char *directory, int workers,
		      bool quick, int spare)
{
	*c = (struct calibration){ .workers = workers, .quick = quick };
	c->spare = quick ? 0 : spare;
	if (workers < 2 || spare < 0 ||
	    snprintf(c->program, sizeof(c->program), "%s/calibrate",
		     directory) >= (int)sizeof(c->program) ||
	    access(c->program, X_OK) != 0)
		return;
	c->before = ask(c);
	c->known = c->before > 0;
}

double calibration_least(const struct calibration *c)
{
	return CALIBRATION_LEAST * c->workers;
}

bool calibration_holds(struct calibration *c)
{
	double after, least;

	if (!c->known)
		return true;
	after = ask(c);
	least = after < c->before ? after : c->before;
	c->before = after;
	if (least < calibration_least(c) && c->spare > 0) {
		c->spare--;
		c->repeated++;
		return false;
	}
	series_add(&c->series, CALIBRATION_METRIC, least);
	return true;
}
