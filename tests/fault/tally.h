/* SPDX-License-Identifier: MIT */
/*
 * tally.h - what was swept, over all scenarios of this program.
 *
 * Each scenario runs in a process of its own; they add to one shared page.  If
 * $SLEY_PROOF names a file, it gets a line of JSON for each scenario and one
 * for the sites.
 */
#ifndef SLEY_TESTS_FAULT_TALLY_H
#define SLEY_TESTS_FAULT_TALLY_H

#include "fault/trial.h"

struct tally {
	const char *scenario;
	uint64_t start_ns;
	unsigned nr_trials;
	unsigned nr_once;
	unsigned nr_forever;
	unsigned nr_tolerated; /* trials after which nobody was told */
	bool site[TRIAL_SITES_MAX];
};

void tally_begin(struct tally *tally, const char *scenario);
void tally_add(struct tally *tally, const struct trial_board *board);
void tally_end(const struct tally *tally);

/* By all scenarios so far: was it made to fail, with its n-th error? */
bool tally_was_struck(int site, bool forever, int variant);
int tally_nr_scenarios(void);
void tally_write_sites(int nr_registered, int nr_hit, int nr_unreachable);

#endif
