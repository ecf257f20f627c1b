/* SPDX-License-Identifier: MIT */
/*
 * ledger.c - see ledger.h.  The words of the cores are ledger_walk.c's business.
 *
 * Rejected: a queue of wants in the order of their arrival.  The ledger would have to hear
 * of each want, and a member that dies or lies would leave its wants behind; instead each
 * tick begins with what the pages say now.  And a share of cores for each member, reckoned
 * from the number of members: there would be a rule for cores that cannot be divided, and
 * another for weights.  The cores that a member has used until now, by weight, do both.
 */
#include "domain/ledger.h"

#include "base/assert.h"
#include "base/bits.h"
#include "domain/ledger_walk.h"

#include <string.h>

/* Of ->used: a core for a tick, of a member of the usual weight. */
#define CORE_TICK 1024u
#define WEIGHTS DOMAIN_MEMBERS_MAX /* a weight of 1 for each member of a user */
#define DISPUTE_TICKS 256u         /* then disputes are forgotten */
#define NOBODY DOMAIN_MEMBERS_MAX

void ledger_init(struct ledger *ledger, uint32_t nr_cores,
		 const struct ledger_options *options)
{
	sley_assert(nr_cores && nr_cores <= DOMAIN_CORES_MAX);
	memset(ledger, 0, sizeof(*ledger));
	ledger->options = *options;
	ledger->nr_cores = nr_cores;
	for (uint32_t core = 0; core < nr_cores; core++) {
		struct ledger_core *at = &ledger->core[core];

		at->member = at->reclaim = at->wish = DOMAIN_NOBODY;
		ledger_free(ledger, core);
	}
}

void ledger_admit(struct ledger *ledger, uint32_t member,
		  const struct ledger_terms *terms)
{
	sley_assert(member < DOMAIN_MEMBERS_MAX && terms->weight);
	sley_assert(!((ledger->live | ledger->leaving) >> member & 1));
	ledger->member[member] = (struct ledger_member){
		.terms = *terms,
		.beaten = ledger->tick,
		.runs = DOMAIN_LEVELS,
	};
	ledger->live |= 1ull << member;
}

void ledger_set_terms(struct ledger *ledger, uint32_t member,
		      const struct ledger_terms *terms)
{
	sley_assert(ledger->live >> member & 1 && terms->weight);
	ledger->member[member].terms = *terms;
}

static void leaves(struct ledger *ledger, uint64_t members)
{
	ledger->live &= ~members;
	for (; members; members &= members - 1)
		ledger->member[bits_first(members)].rumours =
			ledger->tick + LEDGER_RUMOUR_TICKS;
}

void ledger_retire(struct ledger *ledger, uint32_t member)
{
	if (!(ledger->live >> member & 1))
		return;
	leaves(ledger, 1ull << member);
	ledger->leaving |= 1ull << member;
}

const char *ledger_reason(uint32_t fault)
{
	switch (fault) {
	case LEDGER_GARBAGE:
		return "the page has words of cores that are none";
	case LEDGER_CLAIMS:
		return "a word claims a core that the member does not have";
	case LEDGER_DISPUTES:
		return "the member and others dispute about cores";
	default:
		return "no fault";
	}
}

/* ---- the members --------------------------------------------------------------------- */

static uint32_t ticks_since(const struct ledger *ledger, uint32_t tick)
{
	return ledger->tick - tick;
}

/* The level of a want that has waited, within what the member may have. */
static uint32_t level_of(const struct ledger *ledger,
			 const struct ledger_member *member, uint32_t level)
{
	uint32_t age = ledger->options.age_ticks;
	uint32_t steps = age ? ticks_since(ledger, member->waiting) / age : 0;

	if (level < member->terms.highest)
		level = member->terms.highest;
	return level > steps ? level - steps : 0;
}

static uint32_t runs_of(const struct ledger_member *member, uint32_t runs)
{
	if (runs >= DOMAIN_LEVELS)
		return DOMAIN_LEVELS;
	return runs < member->terms.highest ? member->terms.highest : runs;
}

static void see(struct ledger *ledger, struct ledger_member *member,
		const struct ledger_sight *sight)
{
	uint32_t level = want_level(sight->want);

	/* A process that does nothing need not say that it lives. */
	if (sight->beat != member->beat || (!member->nr_had && !member->wanted))
		member->beaten = ledger->tick;
	member->beat = sight->beat;
	member->stopped = ticks_since(ledger, member->beaten) >=
			  ledger->options.late_ticks;
	member->runs = runs_of(member, sight->runs);
	member->nr_want = level < DOMAIN_LEVELS ? want_nr(sight->want) : 0;
	member->wanted = member->nr_want;
	if (!member->nr_want)
		member->waiting = ledger->tick;
	member->level = level_of(ledger, member, level);
	member->is_urgent = level < DOMAIN_LEVEL_DEFAULT;
	if (member->stopped)
		member->nr_want = 0;
	if (ledger->tick % DISPUTE_TICKS == 0) {
		member->disputes = 0;
		member->doubted = false;
		member->claims.nr = member->denials.nr = 0;
	}
	member->nr_busy = member->nr_idle = member->nr_coming = 0;
}

static void count_cores(struct ledger *ledger)
{
	for (uint32_t core = 0; core < ledger->nr_cores; core++) {
		const struct ledger_core *at = &ledger->core[core];
		struct ledger_member *member;

		if (at->state == LEDGER_FREE)
			continue;
		member = &ledger->member[at->member];
		if (at->state == LEDGER_GIVEN)
			member->nr_coming++;
		else if (at->idle)
			member->nr_idle++;
		else
			member->nr_busy++;
	}
}

/* A member that uses no core and wants none takes nothing of its user's weight. */
static uint32_t nr_of_user(const struct ledger *ledger, uint32_t user)
{
	uint32_t nr = 0;

	for (uint64_t left = ledger->live; left; left &= left - 1) {
		const struct ledger_member *member =
			&ledger->member[bits_first(left)];

		nr += member->active && member->terms.user == user;
	}
	return nr ? nr : 1;
}

static void weigh(struct ledger *ledger, struct ledger_member *member)
{
	uint32_t nr = ledger->options.by_user
			      ? nr_of_user(ledger, member->terms.user)
			      : 1;

	member->weight = member->terms.weight * WEIGHTS / nr;
}

/* What the busy cores of a tick cost; a member that comes back begins with the others. */
static void charge(struct ledger *ledger, uint64_t price)
{
	uint64_t least = UINT64_MAX, left;

	for (left = ledger->live; left; left &= left - 1) {
		struct ledger_member *member =
			&ledger->member[bits_first(left)];

		weigh(ledger, member);
		/* A core that came is what the want has waited for. */
		if (member->nr_busy > member->nr_had)
			member->waiting = ledger->tick;
		member->nr_had = member->nr_busy;
		member->used += price * member->nr_busy * LEDGER_WEIGHT *
				WEIGHTS / member->weight;
		if (member->active && member->used < least)
			least = member->used;
	}
	for (left = ledger->live; left; left &= left - 1) {
		struct ledger_member *member =
			&ledger->member[bits_first(left)];
		bool active = member->nr_busy || member->nr_want;

		if (active && !member->active && least != UINT64_MAX &&
		    member->used < least)
			member->used = least;
		member->active = active;
	}
}

/* What is under way counts as given. */
static void take_off(struct ledger *ledger)
{
	for (uint64_t left = ledger->live; left; left &= left - 1) {
		struct ledger_member *member =
			&ledger->member[bits_first(left)];

		member->nr_want = member->nr_want > member->nr_coming
					  ? member->nr_want - member->nr_coming
					  : 0;
	}
}

/* ---- rule 1: cores that nobody uses -------------------------------------------------- */

static bool goes_before(const struct ledger *ledger, uint32_t a, uint32_t b)
{
	const struct ledger_member *x = &ledger->member[a];
	const struct ledger_member *y = &ledger->member[b];

	if (x->level != y->level)
		return x->level < y->level;
	if (x->used != y->used)
		return x->used < y->used;
	/* The one that comes next behind the last. */
	return (a - ledger->last - 1) % DOMAIN_MEMBERS_MAX <
	       (b - ledger->last - 1) % DOMAIN_MEMBERS_MAX;
}

/* The member of @set with the most urgent want, or NOBODY. */
static uint32_t most_urgent(const struct ledger *ledger, uint64_t set)
{
	uint32_t best = NOBODY;

	for (uint64_t left = set; left; left &= left - 1) {
		uint32_t member = (uint32_t)bits_first(left);

		if (ledger->member[member].nr_want &&
		    (best == NOBODY || goes_before(ledger, member, best)))
			best = member;
	}
	return best;
}

static void served(struct ledger *ledger, uint32_t member)
{
	ledger->member[member].nr_want--;
	ledger->member[member].nr_coming++;
	ledger->last = member;
}

typedef bool core_test(const struct ledger *ledger,
		       const struct ledger_core *at, uint32_t for_member);

static bool is_free(const struct ledger *ledger, const struct ledger_core *at,
		    uint32_t for_member)
{
	(void)ledger;
	(void)for_member;
	return at->state == LEDGER_FREE;
}

/* The member of a blurred core may be gone. */
static bool may_reclaim(const struct ledger *ledger,
			const struct ledger_core *at, uint32_t for_member)
{
	return at->reclaim == DOMAIN_NOBODY && at->member != for_member &&
	       ledger->live >> at->member & 1;
}

/* A holder that wants cores has a worker for the core. */
static bool is_idle(const struct ledger *ledger, const struct ledger_core *at,
		    uint32_t for_member)
{
	return at->state == LEDGER_HELD && at->idle &&
	       may_reclaim(ledger, at, for_member) &&
	       !ledger->member[at->member].nr_want;
}

/* A receiver that wants nothing any more may sleep; and it may be about to take the core. */
static bool is_untaken(const struct ledger *ledger,
		       const struct ledger_core *at, uint32_t for_member)
{
	return at->state == LEDGER_GIVEN &&
	       may_reclaim(ledger, at, for_member) &&
	       !ledger->member[at->member].wanted &&
	       ticks_since(ledger, at->since) >= 1;
}

/* Is the core with a member that does nothing with it, and does not answer? */
static bool is_stuck(const struct ledger *ledger, const struct ledger_core *at,
		     uint32_t for_member)
{
	if (at->state == LEDGER_FREE || at->member == for_member ||
	    at->reclaim != DOMAIN_NOBODY)
		return false;
	if (at->state == LEDGER_GIVEN)
		return ticks_since(ledger, at->since) >=
		       ledger->options.late_ticks;
	return !at->idle && ledger->member[at->member].stopped;
}

static uint32_t find_core(const struct ledger *ledger, core_test *test,
			  uint32_t for_member)
{
	uint32_t core = 0;

	while (core < ledger->nr_cores &&
	       !test(ledger, &ledger->core[core], for_member))
		core++;
	return core;
}

/* True: @member gets a core that nobody uses. */
static bool serve(struct ledger *ledger, uint32_t member)
{
	uint32_t core = find_core(ledger, is_free, member);

	if (core < ledger->nr_cores) {
		ledger_give(ledger, core, member);
		return true;
	}
	core = find_core(ledger, is_idle, member);
	if (core == ledger->nr_cores)
		core = find_core(ledger, is_untaken, member);
	if (core < ledger->nr_cores) {
		ledger->core[core].reclaim = (uint8_t)member;
		return true;
	}
	core = find_core(ledger, is_stuck, member);
	if (core < ledger->nr_cores)
		ledger_give(ledger, core, member);
	return core < ledger->nr_cores;
}

static void serve_all(struct ledger *ledger)
{
	for (uint32_t i = 0; i < ledger->nr_cores; i++) {
		uint32_t member = most_urgent(ledger, ledger->live);

		if (member == NOBODY || !serve(ledger, member))
			return;
		served(ledger, member);
	}
}

/* ---- rules 2 and 3: wishes ----------------------------------------------------------- */

/* Rule 3: shall @member get a core of @holder, which runs the same level? */
static bool is_due(const struct ledger *ledger, uint32_t member,
		   const struct ledger_core *at)
{
	const struct ledger_member *to = &ledger->member[member];
	const struct ledger_member *from = &ledger->member[at->member];
	uint64_t has = to->nr_busy + to->nr_idle + to->nr_coming;
	uint64_t gives = (uint64_t)from->nr_busy * to->weight;

	if (from->used < to->used)
		return false;
	if (gives > (has + 1) * from->weight)
		return true;
	return gives > has * from->weight && from->used > to->used &&
	       ticks_since(ledger, at->since) >= ledger->options.quantum_ticks;
}

static bool is_better(const struct ledger *ledger, const struct ledger_core *a,
		      const struct ledger_core *b)
{
	const struct ledger_member *x = &ledger->member[a->member];
	const struct ledger_member *y = &ledger->member[b->member];

	if (x->runs != y->runs)
		return x->runs > y->runs;
	return x->used > y->used;
}

static bool may_ask_for(const struct ledger *ledger, uint32_t member,
			const struct ledger_core *at)
{
	const struct ledger_member *from;

	if (at->state != LEDGER_HELD || at->idle || at->member == member ||
	    at->wish != DOMAIN_NOBODY)
		return false;
	from = &ledger->member[at->member];
	if (from->stopped || from->runs == DOMAIN_LEVELS)
		return false;
	if (from->runs != ledger->member[member].level)
		return from->runs > ledger->member[member].level;
	return is_due(ledger, member, at);
}

/*
 * @member wants a core for more urgent work than what runs on the core that it shall get.
 * The kernel may run this work beside any less urgent work, so all of it counts.  Work that
 * may not overtake waits until a holder comes to a pick, which the kernel is not to hold up.
 */
static void press(struct ledger *ledger, uint32_t member, bool slow)
{
	uint32_t level = ledger->member[member].level;
	uint64_t left = ledger->member[member].is_urgent ? ledger->live : 0;

	for (; left; left &= left - 1) {
		uint64_t bit = left & -left;
		uint32_t runs = ledger->member[bits_first(left)].runs;

		if (runs <= level || runs == DOMAIN_LEVELS)
			continue;
		ledger->pressed |= bit;
		ledger->slow |= slow ? bit : 0;
	}
}

static bool wish(struct ledger *ledger, uint32_t member)
{
	struct ledger_core *best = NULL;

	for (uint32_t core = 0; core < ledger->nr_cores; core++) {
		struct ledger_core *at = &ledger->core[core];

		if (may_ask_for(ledger, member, at) &&
		    (!best || is_better(ledger, at, best)))
			best = at;
	}
	if (!best)
		return false;
	if (ledger->member[best->member].runs > ledger->member[member].level)
		press(ledger, member, false);
	best->wish = (uint8_t)member;
	best->nr_wishes++;
	best->wished = ledger->tick;
	ledger->member[best->member].nr_busy--;
	return true;
}

static void wish_all(struct ledger *ledger)
{
	uint64_t set = ledger->live;

	/* Each turn either makes a wish or takes a member out of the set. */
	for (uint32_t i = 0; i < ledger->nr_cores + DOMAIN_MEMBERS_MAX; i++) {
		uint32_t member = most_urgent(ledger, set);

		if (member == NOBODY)
			return;
		if (wish(ledger, member))
			served(ledger, member);
		else
			set &= ~(1ull << member);
	}
}

/* A wish stands while its member wants a core, and the holder has not obeyed. */
static void keep_wish(struct ledger *ledger, struct ledger_core *at)
{
	struct ledger_member *to;

	if (at->wish == DOMAIN_NOBODY)
		return;
	to = &ledger->member[at->wish];
	if (at->state != LEDGER_HELD || at->idle || !to->nr_want ||
	    !(ledger->live >> at->wish & 1)) {
		at->wish = DOMAIN_NOBODY;
		return;
	}
	if (ledger->member[at->member].runs > to->level)
		press(ledger, at->wish, ticks_since(ledger, at->wished) > 1);
	served(ledger, at->wish);
	ledger->member[at->member].nr_busy--;
}

/* ---- the tick ------------------------------------------------------------------------ */

/* One member alone has all cores. */
static void give_to_one(struct ledger *ledger)
{
	if (!is_pow2(ledger->live))
		return;
	for (uint32_t core = 0; core < ledger->nr_cores; core++) {
		if (ledger->core[core].state == LEDGER_FREE)
			ledger_give(ledger, core,
				    (uint32_t)bits_first(ledger->live));
	}
}

/* A member that does not believe the giver believes the host. */
static bool is_refused(const struct ledger *ledger,
		       const struct ledger_core *at)
{
	return at->state == LEDGER_GIVEN &&
	       core_generation(at->word) < at->generation &&
	       ticks_since(ledger, at->since) >= 1;
}

static void tidy(struct ledger *ledger)
{
	for (uint32_t core = 0; core < ledger->nr_cores; core++) {
		struct ledger_core *at = &ledger->core[core];

		at->reclaim = DOMAIN_NOBODY;
		if (is_refused(ledger, at))
			ledger_confirm(ledger, core);
		if (at->state == LEDGER_HELD)
			at->word = core_word(at->generation, CORE_SEEN,
					     at->member);
		else if (at->state == LEDGER_FREE &&
			 core_kind(at->word) != CORE_IDLE)
			ledger_free(ledger, core);
	}
}

static void see_all(struct ledger *ledger, const struct ledger_sights *sights)
{
	for (uint64_t left = ledger->live; left; left &= left - 1) {
		uint32_t member = (uint32_t)bits_first(left);

		see(ledger, &ledger->member[member], &sights->of[member]);
	}
}

static bool is_any_blurred(const struct ledger *ledger,
			   const struct ledger_sights *sights)
{
	uint32_t core = 0;

	while (core < ledger->nr_cores && !sights->blurred[core])
		core++;
	return core < ledger->nr_cores;
}

/*
 * Members that are not live any more are gone, too.  But nothing was said of a blurred core,
 * and what they did with it may lead from the member before to the one behind: their words
 * are looked at again, for some ticks.
 */
static void let_go(struct ledger *ledger, const struct ledger_sights *sights)
{
	uint64_t gone = ledger->leaving | ledger->ejected;
	uint64_t left = is_any_blurred(ledger, sights) ? gone : 0;

	leaves(ledger, ledger->ejected);
	ledger->leaving = 0;
	for (; left; left &= left - 1) {
		uint32_t member = (uint32_t)bits_first(left);

		if (ledger_is_remembered(ledger, member))
			ledger->leaving |= 1ull << member;
	}
	ledger_bury(ledger, sights, gone);
}

void ledger_tick(struct ledger *ledger, const struct ledger_sights *sights,
		 bool between)
{
	ledger->tick += !between;
	ledger->pressed = ledger->slow = 0;
	ledger->ejected = ledger_walk(ledger, sights);
	let_go(ledger, sights);
	tidy(ledger);
	see_all(ledger, sights);
	count_cores(ledger);
	charge(ledger, between ? 0 : CORE_TICK);
	take_off(ledger);
	for (uint32_t core = 0; core < ledger->nr_cores; core++)
		keep_wish(ledger, &ledger->core[core]);
	serve_all(ledger);
	wish_all(ledger);
	give_to_one(ledger);
}

void ledger_reclaimed(struct ledger *ledger, uint32_t core, bool done)
{
	struct ledger_core *at = &ledger->core[core];
	uint32_t member = at->reclaim;

	at->reclaim = DOMAIN_NOBODY;
	if (!done)
		return;
	/* Of the word that is there already: without a leap. */
	at->generation += at->state == LEDGER_GIVEN;
	at->generation -= DOMAIN_LEAP - 1;
	ledger_give(ledger, core, member);
}

uint64_t ledger_disputed(const struct ledger *ledger)
{
	uint64_t members = 0;

	for (uint64_t left = ledger->live; left; left &= left - 1) {
		uint32_t member = (uint32_t)bits_first(left);

		if (ledger->member[member].disputes)
			members |= 1ull << member;
	}
	return members;
}

uint64_t ledger_doubted(const struct ledger *ledger)
{
	uint64_t members = 0;

	for (uint64_t left = ledger->live; left; left &= left - 1) {
		uint32_t member = (uint32_t)bits_first(left);

		if (ledger->member[member].doubted)
			members |= 1ull << member;
	}
	return members;
}

bool ledger_is_quiet(const struct ledger *ledger)
{
	return !ledger->leaving && !(ledger->live & (ledger->live - 1)) &&
	       find_core(ledger, is_free, NOBODY) == ledger->nr_cores;
}
