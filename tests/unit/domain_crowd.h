/* SPDX-License-Identifier: MIT */
/*
 * domain_crowd.h - members of a domain and their host in one process: the pages are plain
 * memory, and all happens one after the other.
 */
#ifndef SLEY_TESTS_UNIT_DOMAIN_CROWD_H
#define SLEY_TESTS_UNIT_DOMAIN_CROWD_H

#include "harness/test.h"

#include "domain/broker.h"
#include "domain/wants.h"

#include <string.h>

struct crowd {
	struct host_page host;
	struct member_page page[DOMAIN_MEMBERS_MAX];
	struct domain_view view[DOMAIN_MEMBERS_MAX];
	struct wants wants[DOMAIN_MEMBERS_MAX];
	struct broker broker;
	uint32_t nr_cores;
};

static struct crowd crowd;

static const struct ledger_terms usual = { .weight = LEDGER_WEIGHT };

static inline void crowd_begin(uint32_t nr_cores,
			       const struct ledger_options *options)
{
	memset(&crowd, 0, sizeof(crowd));
	crowd.nr_cores = nr_cores;
	broker_init(&crowd.broker, &crowd.host, 1, 1, nr_cores, options);
}

static inline void crowd_admit(uint32_t member,
			       const struct ledger_terms *terms)
{
	struct domain_view *view = &crowd.view[member];

	memset(&crowd.page[member], 0, sizeof(crowd.page[member]));
	*view = (struct domain_view){ .self = member,
				      .nr_cores = crowd.nr_cores,
				      .own = &crowd.page[member],
				      .host = &crowd.host };
	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++)
		view->page[i] = &crowd.page[i];
	wants_init(&crowd.wants[member], view);
	crowd.page[member].runs = MEMBER_RUNS_NOTHING;
	broker_admit(&crowd.broker, member, 1, &crowd.page[member], terms);
}

/* Each member says that it lives; then the host ticks.  Returns the ejected. */
static inline uint64_t crowd_tick(void)
{
	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++) {
		if (crowd.broker.page[i])
			member_beat(&crowd.page[i]);
	}
	return broker_tick(&crowd.broker, false);
}

/* @member takes all that it was given; returns how many cores. */
static inline uint32_t crowd_take(uint32_t member)
{
	uint32_t nr = 0;

	while (cores_take_any(&crowd.view[member]) != DOMAIN_NO_CORE)
		nr++;
	return nr;
}

static inline uint32_t nr_of_kind(uint32_t member, enum core_kind kind)
{
	uint32_t nr = 0;

	for (uint32_t core = 0; core < crowd.nr_cores; core++)
		nr += core_kind(crowd.page[member].core[core]) == kind &&
		      cores_hold(&crowd.view[member], core);
	return nr;
}

static inline void crowd_want(uint32_t member, uint32_t nr, uint32_t level)
{
	wants_tell(&crowd.wants[member], nr, level);
}

static inline void crowd_run(uint32_t member, uint32_t level)
{
	crowd.page[member].runs = level;
}

/* The first member comes, and runs on all cores at @level; then the second one. */
static inline void crowd_of_two(uint32_t nr_cores, uint32_t level,
				const struct ledger_options *options)
{
	crowd_begin(nr_cores, options);
	crowd_admit(0, &usual);
	CHECK_EQ(crowd_tick(), 0);
	CHECK_EQ(crowd_take(0), nr_cores);
	crowd_run(0, level);
	crowd_admit(1, &usual);
	CHECK_EQ(crowd_tick(), 0);
}

/* @member gives the cores that the host wishes.  Returns how many. */
static inline uint32_t crowd_obey(uint32_t member)
{
	uint32_t nr = 0;

	for (uint32_t core = 0; core < crowd.nr_cores; core++) {
		uint32_t to = wish_member(host_wish(&crowd.host, core));

		if (cores_is_busy(&crowd.view[member], core))
			nr += wants_serve_peer(&crowd.wants[member], core, to);
	}
	return nr;
}

/* For @nr members that always want more; .used: core-ticks of each. */
static inline void crowd_compete(uint32_t nr, uint32_t ticks, uint64_t *used)
{
	for (uint32_t tick = 0; tick < ticks; tick++) {
		CHECK_EQ(crowd_tick(), 0);
		for (uint32_t i = 0; i < nr; i++)
			(void)crowd_obey(i);
		for (uint32_t i = 0; i < nr; i++) {
			uint32_t busy;

			(void)crowd_take(i);
			busy = nr_of_kind(i, CORE_BUSY);
			used[i] += busy;
			crowd_run(i, busy ? 32 : MEMBER_RUNS_NOTHING);
			crowd_want(i, crowd.nr_cores - busy, 32);
		}
	}
}

static inline void crowd_check_share(uint64_t used, uint64_t of, uint32_t part,
				     uint32_t parts)
{
	CHECK_GE(used * parts * 10, of * part * 9);
	CHECK_GE(of * part * 11, used * parts * 10);
}

#endif
