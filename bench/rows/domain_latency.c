/* SPDX-License-Identifier: MIT */
/*
 * domain_latency.c - rows `domain-latency` and `domain-latency-outside`: urgent tasks of a
 * process while two others, members of the same domain, compute on all cores.
 * problems/overtake.h says what is measured.
 *
 *   yield_...    strict; tasks of 5 ms that yield every 100 us
 *   long_...     strict; tasks of 5 ms that never yield
 *   relaxed_...  relaxed; tasks of 5 ms that yield every 100 us
 *
 * In the second row the urgent process is no member.
 */
#include "domain.h"

#include "../problems/overtake.h"

struct latency {
	struct domain domain;
	bool strict;
	bool outside; /* the urgent process is no member */
	/* Of the urgent process. */
	struct sley *rt;
	struct sley_group group;
	struct urgent *urgent;
};

struct urgent {
	struct sley_task task;
	struct overtake *overtake;
	uint32_t i;
};

/* ---- a hog -------------------------------------------------------------------------- */

struct hog {
	struct overtake *overtake;
	int nth;
};

static void hog_task(void *arg)
{
	const struct hog *hog = arg;
	struct overtake *overtake = hog->overtake;
	uint32_t until_yield = overtake->yield_pieces;

	for (uint32_t i = 0; i < overtake->task_pieces; i++) {
		overtake_piece(overtake, hog->nth);
		if (--until_yield == 0) {
			sley_yield();
			until_yield = overtake->yield_pieces;
		}
	}
	if (!overtake_is_over(overtake))
		MEASURE_CHECK(overtake->m, sley_schedule(hog_task, arg) == 0);
}

static void hog_run(struct overtake *overtake, int nth, void *arg)
{
	const struct latency *latency = arg;
	int nr = CPU_COUNT(measure_cpus());
	struct hog hog = { overtake, nth };
	struct sley *rt = domain_member(&latency->domain, nr, latency->strict);

	for (int i = 0; i < 2 * nr; i++)
		MEASURE_CHECK(overtake->m,
			      sley_schedule_on(rt, hog_task, &hog, NULL) == 0);
	__atomic_fetch_add(&overtake->ready, 1, __ATOMIC_RELEASE);
	sley_destroy(rt);
}

/* ---- the urgent process ------------------------------------------------------------- */

static void urgent_task(void *arg)
{
	const struct urgent *urgent = arg;

	overtake_run(urgent->overtake, urgent->i);
}

static void urgent_begin(struct overtake *overtake, void *arg)
{
	struct latency *latency = arg;
	int nr = CPU_COUNT(measure_cpus());

	latency->urgent = calloc(overtake->nr, sizeof(*latency->urgent));
	MEASURE_CHECK(overtake->m, latency->urgent != NULL);
	if (latency->outside)
		MEASURE_CHECK(overtake->m,
			      sley_create(&latency->rt,
					  SLEY_CONFIG(.workers = nr)) == 0);
	else
		latency->rt =
			domain_member(&latency->domain, nr, latency->strict);
}

static void urgent_submit(struct overtake *overtake, uint32_t i, void *arg)
{
	struct latency *latency = arg;
	struct urgent *urgent = &latency->urgent[i];

	urgent->overtake = overtake;
	urgent->i = i;
	MEASURE_CHECK(
		overtake->m,
		sley_spawn_on(latency->rt, &latency->group, &urgent->task,
			      urgent_task, urgent,
			      SLEY_OPTIONS(.priority = SLEY_PRIORITY_MIN)) ==
			0);
}

static void urgent_end(struct overtake *overtake, void *arg)
{
	struct latency *latency = arg;

	(void)overtake;
	sley_join(&latency->group);
	sley_destroy(latency->rt);
	free(latency->urgent);
}

/* ---- the rows ----------------------------------------------------------------------- */

static void measure_one(const struct measure *m, const char *name, bool strict,
			bool outside, uint32_t yield_pieces)
{
	struct latency latency = { .domain = { .m = m },
				   .strict = strict,
				   .outside = outside,
				   .group = SLEY_GROUP_INIT };
	struct overtake_way way = { hog_run, urgent_begin, urgent_submit,
				    urgent_end, &latency };

	domain_start(&latency.domain);
	overtake_measure(m, name, OVERTAKE_TASK_PIECES, yield_pieces, &way);
	domain_stop(&latency.domain);
}

void row_domain_latency(const struct measure *m)
{
	crowd_needs_two_cpus();
	measure_one(m, "yield", true, false, OVERTAKE_YIELD_PIECES);
	measure_one(m, "long", true, false, OVERTAKE_NEVER);
	measure_one(m, "relaxed", false, false, OVERTAKE_YIELD_PIECES);
}

void row_domain_latency_outside(const struct measure *m)
{
	crowd_needs_two_cpus();
	measure_one(m, "yield", true, true, OVERTAKE_YIELD_PIECES);
	measure_one(m, "long", true, true, OVERTAKE_NEVER);
}
