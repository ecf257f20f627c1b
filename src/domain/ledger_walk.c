/* SPDX-License-Identifier: MIT */
/*
 * ledger_walk.c - see ledger_walk.h.
 *
 * A member that holds a core since generation g has the word {g, BUSY}, {g, IDLE} or
 * {g, NONE}, or has given the core on: {g+1, GIVEN}.  So each word says since which
 * generation the writer has had the core: since_of().
 *
 * A member that had the core several times shows the last time only.  If it holds the core,
 * the giver's word {g-1, GIVEN} must be there, since a giver that gets the core again gets
 * it of the holder: was_given().  If it has given the core on, the giver before it may have
 * overwritten its word, and the walk goes on where the core went.
 *
 * A second member that says that it holds the core, with a generation since the last tick,
 * is in *dispute* with the member of which it took the core.  One of the two lies: the first
 * claims what it never got, or the second hides what it gave.  Disputes with two members are
 * too many, and so are several ticks of them with one: few for a member that claims, for
 * anybody can do that at any time, and an honest member does not believe the same liar again
 * when the host has published the dispute (cores.h); more for a member that denies.  Disputes
 * of a tick count once, since a liar can give all cores at a time.
 *
 * The word of a second member that has given the core on names the receiver, and not the
 * giver: anybody may have fooled the member.  So this member alone is *doubted*, a tick
 * counts as above, and an honest member believes no peer for a while.  Nothing is said of the
 * receiver, since the giver's word is there.
 *
 * NONE claims nothing.
 */
#include "domain/ledger_walk.h"

#include "base/bits.h"

static uint64_t word_of(const struct ledger_sights *sights, uint32_t member,
			uint32_t core)
{
	return sights->of[member].core[core];
}

/* Since which generation the writer of @word had the core. */
static uint64_t since_of(uint64_t word)
{
	return core_generation(word) - (core_kind(word) == CORE_GIVEN);
}

/* Is it a word that a member may write? */
static bool is_sane(uint64_t word, uint32_t writer)
{
	if (core_kind(word) == CORE_GIVEN)
		return core_member(word) < DOMAIN_MEMBERS_MAX &&
		       core_member(word) != writer && core_generation(word);
	return core_kind(word) < CORE_GIVEN;
}

static bool was_given(const struct ledger *ledger,
		      const struct ledger_sights *sights, uint32_t core,
		      uint32_t to, uint64_t generation)
{
	uint64_t left = (ledger->live | ledger->leaving) & ~(1ull << to);

	for (; left; left &= left - 1) {
		uint64_t word =
			word_of(sights, (uint32_t)bits_first(left), core);

		if (core_is_given_to(word, to) &&
		    core_generation(word) == generation)
			return true;
	}
	return false;
}

/* ---- following the hand-overs -------------------------------------------------------- */

static void settle(struct ledger *ledger, uint32_t core,
		   enum ledger_state state, uint32_t member,
		   uint64_t generation)
{
	struct ledger_core *at = &ledger->core[core];

	if (at->state == state && at->member == member &&
	    at->generation == generation)
		return;
	if (at->member != member)
		at->since = ledger->tick;
	at->state = (uint8_t)state;
	at->member = (uint8_t)member;
	at->generation = generation;
	at->wish = DOMAIN_NOBODY;
}

/* Has the word of the member at which the core is led on?  Then the state is new. */
static bool follow_once(struct ledger *ledger,
			const struct ledger_sights *sights, uint32_t core)
{
	struct ledger_core *at = &ledger->core[core];
	uint64_t begin = at->generation + (at->state == LEDGER_GIVEN);
	uint64_t word = word_of(sights, at->member, core);
	uint64_t since = since_of(word);

	if (!is_sane(word, at->member) || since < begin ||
	    since - begin > DOMAIN_WINDOW)
		return false;
	if (since > begin && core_kind(word) != CORE_GIVEN &&
	    !was_given(ledger, sights, core, at->member, since - 1))
		return false;
	switch (core_kind(word)) {
	case CORE_GIVEN:
		settle(ledger, core, LEDGER_GIVEN, core_member(word),
		       core_generation(word));
		return true;
	case CORE_NONE:
		settle(ledger, core, LEDGER_FREE, DOMAIN_NOBODY, since);
		return false;
	default:
		settle(ledger, core, LEDGER_HELD, at->member, since);
		at->idle = core_kind(word) == CORE_IDLE;
		return false;
	}
}

static void follow(struct ledger *ledger, const struct ledger_sights *sights,
		   uint32_t core)
{
	uint64_t members = ledger->live | ledger->leaving;
	const struct ledger_core *at = &ledger->core[core];

	/* Each step leads to a word with a higher generation: each member once. */
	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++) {
		if (at->state == LEDGER_FREE || !(members >> at->member & 1) ||
		    !follow_once(ledger, sights, core))
			return;
	}
}

/* ---- lies ---------------------------------------------------------------------------- */

static void fault(struct ledger *ledger, uint32_t member,
		  enum ledger_fault fault)
{
	if (!ledger->member[member].fault)
		ledger->member[member].fault = (uint8_t)fault;
}

/* One more tick with something that may be a lie of @member; @nr_max are too many. */
static void mark(struct ledger *ledger, uint32_t member,
		 struct ledger_marks *marks, uint32_t nr_max)
{
	if (!marks->nr || marks->last != ledger->tick)
		marks->nr++;
	marks->last = ledger->tick;
	if (marks->nr >= nr_max)
		fault(ledger, member, LEDGER_DISPUTES);
}

/* @a and @b contradict each other. */
static void dispute_with(struct ledger *ledger, uint32_t a, uint32_t b)
{
	struct ledger_member *member = &ledger->member[a];

	member->disputes |= 1ull << b;
	if (member->disputes & (member->disputes - 1))
		fault(ledger, a, LEDGER_DISPUTES);
}

bool ledger_is_remembered(const struct ledger *ledger, uint32_t member)
{
	uint32_t until = ledger->member[member].rumours;

	return until && (int32_t)(until - ledger->tick) > 0;
}

/* False: nobody can have given the core to @member. */
static bool dispute(struct ledger *ledger, uint32_t member, uint64_t word)
{
	struct ledger_member *claimant = &ledger->member[member];
	/* The one to know whether @member can have had the core. */
	uint32_t witness = core_member(word);

	if (!core_is_held(word)) {
		claimant->doubted = true;
		mark(ledger, member, &claimant->claims, LEDGER_CLAIMS_MAX);
		return true;
	}
	if (witness >= DOMAIN_MEMBERS_MAX || witness == member)
		return false;
	if (!(ledger->live >> witness & 1))
		return ledger_is_remembered(ledger, witness);
	mark(ledger, member, &claimant->claims, LEDGER_CLAIMS_MAX);
	mark(ledger, witness, &ledger->member[witness].denials,
	     LEDGER_DENIALS_MAX);
	dispute_with(ledger, member, witness);
	dispute_with(ledger, witness, member);
	return true;
}

/*
 * @word, of @member, is not where the walk has ended, and is newer than where it began.
 */
static void judge_claim(struct ledger *ledger,
			const struct ledger_sights *sights, uint32_t core,
			uint32_t member, uint64_t word)
{
	uint64_t end = ledger->core[core].generation;

	if (core_kind(word) == CORE_NONE ||
	    (core_kind(word) == CORE_GIVEN && core_generation(word) <= end)) {
		return;
	} else if (!was_given(ledger, sights, core, member,
			      since_of(word) - 1) &&
		   !dispute(ledger, member, word)) {
		fault(ledger, member, LEDGER_CLAIMS);
	}
}

/*
 * Is @word, of @member, a word, and within what can have happened since the last tick?  A
 * receiver may have believed a give at the end of the window, and gave the core on.
 */
static bool is_of_account(struct ledger *ledger, uint32_t core, uint32_t member,
			  uint64_t word)
{
	uint64_t end = ledger->core[core].generation;

	if (is_sane(word, member) &&
	    (core_generation(word) <= end ||
	     core_generation(word) - end <= DOMAIN_WINDOW + DOMAIN_LEAP))
		return true;
	fault(ledger, member, LEDGER_GARBAGE);
	return false;
}

/*
 * The walk has ended at a member with nonsense, or that says that it has got the core again,
 * and no word of a giver is there.  The word before that may have led on, and is lost.  So
 * nothing is said of the words of others.
 */
static bool is_broken(const struct ledger *ledger,
		      const struct ledger_sights *sights, uint32_t core)
{
	const struct ledger_core *at = &ledger->core[core];
	uint64_t begin = at->generation + (at->state == LEDGER_GIVEN);
	uint64_t word;

	if (at->state == LEDGER_FREE || !(ledger->live >> at->member & 1))
		return false;
	word = word_of(sights, at->member, core);
	return !is_sane(word, at->member) || since_of(word) > begin;
}

/* True: another one than the end of the walk holds the core. */
static bool judge(struct ledger *ledger, const struct ledger_sights *sights,
		  uint32_t core, uint64_t begin, uint32_t member)
{
	const struct ledger_core *at = &ledger->core[core];
	uint64_t word = word_of(sights, member, core);
	bool is_end = at->state == LEDGER_HELD && at->member == member;

	if (is_end && since_of(word) < at->generation)
		fault(ledger, member, LEDGER_CLAIMS);
	else if (is_end && since_of(word) > at->generation)
		judge_claim(ledger, sights, core, member, word);
	else if (!is_end && core_generation(word) > begin)
		judge_claim(ledger, sights, core, member, word);
	return !is_end && core_generation(word) > begin && core_is_held(word);
}

/* All words of the core are below the host's next one, and nobody loses the core. */
static void mend(struct ledger *ledger, uint32_t core, uint64_t top)
{
	struct ledger_core *at = &ledger->core[core];
	uint32_t since = at->since;

	at->generation = top;
	if (at->state == LEDGER_FREE)
		ledger_free(ledger, core);
	else
		ledger_give(ledger, core, at->member);
	at->since = since;
}

static void judge_all(struct ledger *ledger, const struct ledger_sights *sights,
		      uint32_t core, uint64_t begin)
{
	bool broken = is_broken(ledger, sights, core), twice = false;
	uint64_t end = ledger->core[core].generation, top = end;

	for (uint64_t left = ledger->live; left; left &= left - 1) {
		uint32_t member = (uint32_t)bits_first(left);
		uint64_t word = word_of(sights, member, core);

		if (!is_of_account(ledger, core, member, word))
			continue;
		if (!broken || member == ledger->core[core].member)
			twice |= judge(ledger, sights, core, begin, member);
		if (core_generation(word) > top)
			top = core_generation(word);
	}
	if (top > end || twice)
		mend(ledger, core, top);
}

static uint64_t guilty(const struct ledger *ledger)
{
	uint64_t members = 0;

	for (uint64_t left = ledger->live; left; left &= left - 1) {
		uint32_t member = (uint32_t)bits_first(left);

		if (ledger->member[member].fault)
			members |= 1ull << member;
	}
	return members;
}

uint64_t ledger_walk(struct ledger *ledger, const struct ledger_sights *sights)
{
	for (uint32_t core = 0; core < ledger->nr_cores; core++) {
		uint64_t begin = ledger->core[core].generation;

		if (sights->blurred[core])
			continue;
		follow(ledger, sights, core);
		judge_all(ledger, sights, core, begin);
	}
	return guilty(ledger);
}

/* ---- the host's own words ------------------------------------------------------------ */

void ledger_free(struct ledger *ledger, uint32_t core)
{
	struct ledger_core *at = &ledger->core[core];

	settle(ledger, core, LEDGER_FREE, DOMAIN_NOBODY,
	       at->generation + DOMAIN_LEAP);
	at->word = core_word(at->generation, CORE_IDLE, DOMAIN_NOBODY);
}

void ledger_give(struct ledger *ledger, uint32_t core, uint32_t member)
{
	struct ledger_core *at = &ledger->core[core];

	settle(ledger, core, LEDGER_GIVEN, member,
	       at->generation + DOMAIN_LEAP);
	at->word = core_word(at->generation, CORE_GIVEN, member);
	/* A member that had the core, too, has so much time again to say that it lives. */
	at->since = ledger->tick;
}

void ledger_confirm(struct ledger *ledger, uint32_t core)
{
	struct ledger_core *at = &ledger->core[core];

	at->word = core_word(at->generation, CORE_GIVEN, at->member);
}

void ledger_bury(struct ledger *ledger, const struct ledger_sights *sights,
		 uint64_t gone)
{
	for (uint32_t core = 0; core < ledger->nr_cores; core++) {
		struct ledger_core *at = &ledger->core[core];

		if (at->state == LEDGER_FREE ||
		    (sights->blurred[core] &&
		     ledger->leaving >> at->member & 1))
			continue;
		if (gone >> at->member & 1 || !(ledger->live >> at->member & 1))
			ledger_free(ledger, core);
		else if (gone && at->state == LEDGER_GIVEN)
			ledger_confirm(ledger, core);
	}
}
