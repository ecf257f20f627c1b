/* SPDX-License-Identifier: MIT */
/*
 * sites.c - the last test: no site was left out.
 *
 * Linked last, so that it runs last.
 */
#include "fault/sweep.h"
#include "fault/tally.h"
#include "fault/tolerated.h"

#include <stdio.h>
#include <stdlib.h>

#define NR_SCENARIOS_MIN 30 /* fewer: a filter was given */

/* Once and for ever; once cannot be where another call must fail first. */
static bool is_swept(int site, const struct tolerated *rule)
{
	return tally_was_struck(site, true, 0) &&
	       ((rule && rule->second) || tally_was_struck(site, false, 0));
}

/* Nobody gets there: tolerated.c says why. */
static bool is_argued(const struct tolerated *rule)
{
	return rule && (rule->rule == NO_SWEEP ||
			(rule->not_sanitized && test_sanitizer()));
}

TEST(every_site_fails_once_and_for_ever)
{
	int nr_sites = trial_nr_sites(), nr_hit = 0, nr_unreachable = 0;
	int nr_missed = 0;
	char name[160];

	if (tally_nr_scenarios() < NR_SCENARIOS_MIN || getenv("FAULT_REPLAY"))
		test_skip("not all scenarios ran");
	for (int i = 0; i < nr_sites; i++) {
		const struct tolerated *rule =
			tolerated_find(trial_site(i), trial_site(i)->error[0]);
		bool swept = is_swept(i, rule);
		bool argued = is_argued(rule) && !swept;

		nr_hit += swept;
		nr_unreachable += argued;
		if (swept || argued)
			continue;
		trial_site_name(name, sizeof(name), i);
		printf("     %s: was not made to fail\n", name);
		nr_missed++;
	}
	tally_write_sites(nr_sites, nr_hit, nr_unreachable);
	printf("     %d sites, %d swept, %d unreachable\n", nr_sites, nr_hit,
	       nr_unreachable);
	fflush(stdout);
	CHECK_EQ(nr_missed, 0);
}
