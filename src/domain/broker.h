/* SPDX-License-Identifier: MIT */
/*
 * broker.h - the hand of the host: copies the pages of the members for the ledger, and
 * writes what the ledger decides into the page of the host.
 *
 * One thread.  No system call but to wake the receiver of a core.
 *
 * The copy of the words of one core is taken twice.  If both are the same, all of them were
 * true at one moment, and the ledger can tell a lie from a hand-over that is under way.  If
 * they differ again and again, the ledger leaves this core alone in this tick.
 */
#ifndef SLEY_DOMAIN_BROKER_H
#define SLEY_DOMAIN_BROKER_H

#include "domain/ledger.h"

struct broker {
	struct ledger ledger;
	struct host_page *own;
	/* NULL: nobody is there, or the member is leaving and .sights has its words. */
	const struct member_page foreign *page[DOMAIN_MEMBERS_MAX];
	struct ledger_sights sights;
};

/* @own is all zero.  All cores are the host's. */
void broker_init(struct broker *broker, struct host_page *own,
		 uint64_t generation, uint64_t tick_ns, uint32_t nr_cores,
		 const struct ledger_options *options);

/* @page stays mapped until broker_retire(). */
void broker_admit(struct broker *broker, uint32_t member, uint64_t generation,
		  const struct member_page foreign *page,
		  const struct ledger_terms *terms);

/* @member, which is there, may have something else from now on. */
void broker_set_terms(struct broker *broker, uint32_t member,
		      const struct ledger_terms *terms);

/* @member has left, or is dead: @page may go now.  The next tick needs no page. */
void broker_retire(struct broker *broker, uint32_t member);

/*
 * Looks, decides, and writes.  Returns the members that are ejected: their faults are in
 * .ledger.member, and the caller retires them before the next tick.
 *
 * @between: it is not yet time for the next tick, but a member has asked (member_asks()).
 */
must_check uint64_t broker_tick(struct broker *broker, bool between);

#endif
