/* SPDX-License-Identifier: MIT */
/*
 * ledger_walk.h - from the words of all members to the state of each core, and to the
 * members that lie.  See domain/ledger.h.
 */
#ifndef SLEY_DOMAIN_LEDGER_WALK_H
#define SLEY_DOMAIN_LEDGER_WALK_H

#include "domain/ledger.h"

/*
 * Follows the hand-overs of all cores, mends lies, and sets the faults of members.  Returns
 * the members to be ejected.
 */
must_check uint64_t ledger_walk(struct ledger *ledger,
				const struct ledger_sights *sights);

/* The host has @core, with a generation that no member's word has. */
void ledger_free(struct ledger *ledger, uint32_t core);

/* The host gives the core to @member. */
void ledger_give(struct ledger *ledger, uint32_t core, uint32_t member);

/*
 * The host says, too, that the core was given, to a member that did not believe or cannot ask
 * the giver.  Of the same generation: the receiver may be taking it, and takes it once.
 */
void ledger_confirm(struct ledger *ledger, uint32_t core);

/* Was @member there until a few ticks ago?  Then it may have given anything. */
must_check bool ledger_is_remembered(const struct ledger *ledger,
				     uint32_t member);

/*
 * Cores of @gone members become free.  But for blurred cores of members that are still
 * leaving.
 *
 * All that is under way is confirmed by the host: the giver may be gone; and the words of
 * others may still give a core to the index of a gone member, which the next member there
 * would believe if the host told of nothing newer.
 */
void ledger_bury(struct ledger *ledger, const struct ledger_sights *sights,
		 uint64_t gone);

#endif
