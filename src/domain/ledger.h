/* SPDX-License-Identifier: MIT */
/*
 * ledger.h - what the host knows of the cores, and what it decides on its tick.
 *
 * Pure code: copies of all pages go in, decisions come out.  No system call, no clock, no
 * atomic operation, so that a simulator runs years of it (tests/unit/domain_ledger.c).
 * domain/broker.h makes the copies and carries the decisions out.
 *
 * Of each core the ledger knows the last hand-over that it has followed:
 *
 *   LEDGER_HELD    .member has it since .generation
 *   LEDGER_GIVEN   it was given to .member with .generation, and not taken yet
 *   LEDGER_FREE    it is the host's
 *
 * From there a tick follows the words: the holder gave the core to X, X took the core and
 * gave it to Y, ...  Each member is passed once, at its last word (domain/ledger_walk.c).
 *
 * A word above the end of the walk is a lie, unless a giver was there that gave the core to
 * the writer: then the giver has lied, and the writer believed it.  A lie is mended in the
 * tick: the host gives the core to the rightful holder again, with a generation above all
 * words of this core.  The liar is ejected.
 *
 * Nobody can tell the liar if a giver hides a give: then the giver and the receiver
 * are in dispute, or the receiver is doubted (domain/ledger_walk.c).  An honest member may be
 * fooled for several cores, until the host tells it (.disputed and .doubted of the host
 * page), so what happened until a tick counts once, however many cores it is about.
 *
 * Decisions, in this order:
 *
 *   1. cores of dead members, idle cores, and if these are not enough those of stopped
 *      members, go to the most urgent want
 *   2. a want that is strictly more urgent than what another member runs: a wish for one
 *      of the cores of the member that runs the least urgent level
 *   3. equals: the member that got less until now, by weight, gets cores of the member
 *      that got more: at once if the receiver has no more cores than the giver afterwards,
 *      else after a quantum
 *
 * Options: ageing (a want that waits for .age_ticks counts as a level more urgent for each
 * time), the most urgent level of a member, and the weight of a member or of its user.  A want
 * grows older from the most urgent level on that counts.
 *
 * A member is stopped if the beat stands still while the member has busy cores or a want.
 *
 * Every loop is bounded by the numbers of cores and members.
 */
#ifndef SLEY_DOMAIN_LEDGER_H
#define SLEY_DOMAIN_LEDGER_H

#include "domain/cores.h"

#include <stdbool.h>
#include <stdint.h>

/* So long a member may still take what one that is not there any more has given away. */
#define LEDGER_RUMOUR_TICKS 8u
/* Ticks with claims of a member that are no clear lies, and with denials. */
#define LEDGER_CLAIMS_MAX 3u
#define LEDGER_DENIALS_MAX 16u
#define LEDGER_WEIGHT 100u /* of a member like any other */
#define LEDGER_WEIGHT_MAX 10000u

enum ledger_state { LEDGER_FREE, LEDGER_HELD, LEDGER_GIVEN };

enum ledger_fault {
	LEDGER_FINE,
	LEDGER_GARBAGE,  /* a word of a core that is none            */
	LEDGER_CLAIMS,   /* it says that it has a core, which it has not */
	LEDGER_DISPUTES, /* it and others say different things, too often */
};

struct ledger_options {
	uint32_t late_ticks;    /* a beat stands still: stopped               */
	uint32_t quantum_ticks; /* equals take turns                          */
	uint32_t age_ticks;     /* 0: no ageing                               */
	bool by_user; /* members of one user that use or want cores have the
			 weight of one together                             */
};

#define LEDGER_OPTIONS_DEFAULT                                                 \
	((struct ledger_options){ .late_ticks = 3, .quantum_ticks = 10 })

/* What a member may have. */
struct ledger_terms {
	uint32_t user;
	uint32_t weight; /* 1 to LEDGER_WEIGHT_MAX; LEDGER_WEIGHT is usual */
	uint32_t highest; /* the most urgent level that counts: of a want, and of what
			     the member runs                                     */
};

/* A copy of what a member page says. */
struct ledger_sight {
	uint32_t beat;
	uint32_t runs;
	uint64_t want;
	uint64_t core[DOMAIN_CORES_MAX];
};

struct ledger_sights {
	struct ledger_sight of[DOMAIN_MEMBERS_MAX];
	/* The words of this core did not stand still: nothing is said of it. */
	bool blurred[DOMAIN_CORES_MAX];
};

struct ledger_core {
	uint64_t word; /* what the host's word of the core shall be             */
	uint64_t generation;
	uint8_t state; /* enum ledger_state                                     */
	uint8_t member;
	bool idle; /* HELD: no worker runs on it                           */
	uint8_t reclaim; /* take the idle or untaken core for it; DOMAIN_NOBODY */
	uint8_t wish; /* the holder shall give it to this member; the same   */
	uint32_t nr_wishes; /* ever: each is obeyed once                      */
	uint32_t since; /* the tick of the last hand-over                      */
	uint32_t wished; /* the tick of the wish                                */
};

/* Ticks in which a member may have lied. */
struct ledger_marks {
	uint32_t nr;
	uint32_t last;
};

struct ledger_member {
	struct ledger_terms terms;
	uint32_t weight; /* in this tick, DOMAIN_MEMBERS_MAX times               */
	uint32_t beat;
	uint32_t beaten; /* the tick when .beat changed last                     */
	bool stopped;
	uint32_t runs; /* a level, or DOMAIN_LEVELS                           */
	uint32_t level; /* of its want, with ageing and cap                    */
	bool is_urgent; /* its want is for work that may overtake              */
	uint32_t nr_want; /* cores that it wants, and that are not under way     */
	bool wanted; /* it wanted cores in the last tick                    */
	uint32_t waiting; /* the tick since which it has wanted a core           */
	uint32_t nr_busy, nr_idle, nr_coming;
	uint32_t nr_had; /* of the last tick: .nr_busy                           */
	uint64_t used; /* core-ticks by weight                                 */
	bool active; /* has busy cores, or wants some                        */
	uint64_t disputes; /* the members that say something else about a core */
	bool doubted; /* says that it gave a core that nobody gave to it  */
	struct ledger_marks claims, denials;
	uint32_t rumours; /* until this tick others may take what it gave; 0: never */
	uint8_t fault; /* enum ledger_fault                                     */
};

struct ledger {
	struct ledger_options options;
	uint32_t nr_cores;
	uint32_t tick;
	uint32_t last; /* the member that was served last                      */
	uint64_t live; /* members                                              */
	uint64_t leaving; /* members that have left, died or were ejected: their
			     words are looked at once more, of each core          */
	/* Results of a tick: */
	uint64_t ejected; /* members whose .fault says why; they are not live now */
	uint64_t pressed; /* members that run less urgent work than an urgent want */
	uint64_t slow; /* the same, of a want that stands for more than a tick */
	struct ledger_core core[DOMAIN_CORES_MAX];
	struct ledger_member member[DOMAIN_MEMBERS_MAX];
};

/* @nr_cores is 1 to DOMAIN_CORES_MAX.  All cores are free. */
void ledger_init(struct ledger *ledger, uint32_t nr_cores,
		 const struct ledger_options *options);

/* The page of @member is new.  Not while the index is live or leaving. */
void ledger_admit(struct ledger *ledger, uint32_t member,
		  const struct ledger_terms *terms);

/* @member, which is live, has other terms from the next tick on. */
void ledger_set_terms(struct ledger *ledger, uint32_t member,
		      const struct ledger_terms *terms);

/* @member writes no more words that count.  The next tick needs its page. */
void ledger_retire(struct ledger *ledger, uint32_t member);

/*
 * Decides.  The caller then makes the host's words those of ledger->core, carries out
 * .reclaim, and tells the result by ledger_reclaimed().  Members that were leaving are
 * gone afterwards, unless a core was blurred.
 *
 * @between: a member has asked, and it is not yet time for the next tick.  Then all is
 * decided as ever, but nobody gets older.
 */
void ledger_tick(struct ledger *ledger, const struct ledger_sights *sights,
		 bool between);

/* @core was reclaimed: .word is new.  Or was not. */
void ledger_reclaimed(struct ledger *ledger, uint32_t core, bool done);

/* The members that are in dispute with another one: these do not believe each other. */
must_check uint64_t ledger_disputed(const struct ledger *ledger);

/* The members that were fooled, or lie: these believe nobody. */
must_check uint64_t ledger_doubted(const struct ledger *ledger);

/* Does anybody need a tick, or can the host sleep until a member comes, leaves or asks? */
must_check bool ledger_is_quiet(const struct ledger *ledger);

/* For people: why a member was ejected. */
const char *ledger_reason(uint32_t fault);

#endif
