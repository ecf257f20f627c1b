/* SPDX-License-Identifier: MIT */
/*
 * broker.c - see broker.h.
 */
#include "domain/broker.h"

#include "base/assert.h"
#include "base/bits.h"

#include <string.h>

#define COPIES_MAX 4

void broker_init(struct broker *broker, struct host_page *own,
		 uint64_t generation, uint64_t tick_ns, uint32_t nr_cores,
		 const struct ledger_options *options)
{
	memset(broker, 0, sizeof(*broker));
	broker->own = own;
	ledger_init(&broker->ledger, nr_cores, options);
	host_page_begin(own, generation, tick_ns, nr_cores);
	for (uint32_t core = 0; core < nr_cores; core++) {
		host_core_set(own, core, broker->ledger.core[core].word);
		host_wish_set(own, core, wish_word(0, DOMAIN_NOBODY));
	}
}

void broker_admit(struct broker *broker, uint32_t member, uint64_t generation,
		  const struct member_page foreign *page,
		  const struct ledger_terms *terms)
{
	ledger_admit(&broker->ledger, member, terms);
	host_highest_set(broker->own, member, terms->highest);
	broker->page[member] = page;
	host_member_set(broker->own, member, generation);
	host_live_set(broker->own, broker->ledger.live);
}

void broker_set_terms(struct broker *broker, uint32_t member,
		      const struct ledger_terms *terms)
{
	ledger_set_terms(&broker->ledger, member, terms);
	host_highest_set(broker->own, member, terms->highest);
}

/* ---- copying ------------------------------------------------------------------------- */

/* A core that becomes idle, or busy, has not moved. */
static bool is_same(uint64_t a, uint64_t b)
{
	return a == b || (core_is_held(a) && core_is_held(b) &&
			  core_generation(a) == core_generation(b));
}

/* Are the words what they were?  They are copied in any case. */
static bool copy_core(struct broker *broker, uint32_t core)
{
	bool same = true;

	for (uint64_t left = broker->ledger.live; left; left &= left - 1) {
		uint32_t member = (uint32_t)bits_first(left);
		uint64_t *copy = &broker->sights.of[member].core[core];
		uint64_t word;

		if (!broker->page[member])
			continue;
		word = member_core(broker->page[member], core);
		same = same && is_same(word, *copy);
		*copy = word;
	}
	return same;
}

static void copy_cores(struct broker *broker)
{
	for (uint32_t core = 0; core < broker->ledger.nr_cores; core++) {
		bool still = copy_core(broker, core);

		for (int i = 0; i < COPIES_MAX && !still; i++)
			still = copy_core(broker, core);
		broker->sights.blurred[core] = !still;
	}
}

static void copy_hints(struct broker *broker, uint32_t member)
{
	struct ledger_sight *sight = &broker->sights.of[member];

	sight->beat = member_beats(broker->page[member]);
	sight->runs = member_runs(broker->page[member]);
	sight->want = member_want(broker->page[member]);
}

static void copy_pages(struct broker *broker)
{
	for (uint64_t left = broker->ledger.live; left; left &= left - 1)
		copy_hints(broker, (uint32_t)bits_first(left));
	copy_cores(broker);
}

void broker_retire(struct broker *broker, uint32_t member)
{
	if (!broker->page[member])
		return;
	for (uint32_t core = 0; core < broker->ledger.nr_cores; core++)
		broker->sights.of[member].core[core] =
			member_core(broker->page[member], core);
	broker->page[member] = NULL;
	ledger_retire(&broker->ledger, member);
	host_live_set(broker->own, broker->ledger.live);
	host_member_set(broker->own, member, 0);
}

/* ---- writing ------------------------------------------------------------------------- */

static void publish(struct broker *broker, uint32_t core)
{
	const struct ledger_core *at = &broker->ledger.core[core];
	/* A new wish for the same member is a new word: the holder obeyed the one before. */
	uint32_t wish = wish_word(at->nr_wishes, at->wish);

	if (host_core(broker->own, core) != at->word) {
		host_core_set(broker->own, core, at->word);
		if (core_kind(at->word) == CORE_GIVEN)
			host_tell(broker->own, core_member(at->word));
	}
	if (host_wish(broker->own, core) != wish)
		host_wish_set(broker->own, core, wish);
}

/* The holder's word of a core, held @since. */
static bool is_left(uint64_t word, uint64_t since)
{
	return core_generation(word) == since &&
	       (core_kind(word) == CORE_IDLE || core_kind(word) == CORE_NONE);
}

/*
 * The receiver's word of a core, to be taken with @since.  A receiver with an older word that
 * is busy runs on the core, after a lie was mended.
 */
static bool is_untaken(uint64_t word, uint64_t since)
{
	return core_kind(word) != CORE_BUSY && core_generation(word) <= since;
}

/* The steps of the host: see cores.h. */
static void reclaim(struct broker *broker, uint32_t core)
{
	const struct ledger_core *at = &broker->ledger.core[core];
	/* The generation with which the member has the core, or takes the core. */
	uint64_t since = at->generation + (at->state == LEDGER_GIVEN);
	uint64_t before = at->word, word;
	uint32_t to = at->reclaim;
	bool done;

	host_core_set(broker->own, core,
		      core_word(since + 1, CORE_PENDING, to));
	word = member_core_now(broker->page[at->member], core);
	done = at->state == LEDGER_GIVEN ? is_untaken(word, since)
					 : is_left(word, since);
	ledger_reclaimed(&broker->ledger, core, done);
	sley_assert(done || at->word == before);
	host_core_set(broker->own, core, at->word);
	if (done)
		host_tell(broker->own, to);
}

uint64_t broker_tick(struct broker *broker, bool between)
{
	struct ledger *ledger = &broker->ledger;

	copy_pages(broker);
	ledger_tick(ledger, &broker->sights, between);
	/* Before any core of an ejected member has a new holder. */
	host_live_set(broker->own, ledger->live);
	host_disputed_set(broker->own, ledger_disputed(ledger),
			  ledger_doubted(ledger));
	for (uint32_t core = 0; core < ledger->nr_cores; core++) {
		publish(broker, core);
		if (ledger->core[core].reclaim != DOMAIN_NOBODY)
			reclaim(broker, core);
	}
	host_beat(broker->own);
	return ledger->ejected;
}
