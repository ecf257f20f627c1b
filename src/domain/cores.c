/* SPDX-License-Identifier: MIT */
/*
 * cores.c - see cores.h.
 */
#include "domain/cores.h"

#include "base/assert.h"
#include "base/bits.h"

/*
 * May a member that holds the core at @generation go on, by @told of the host?  What the
 * host has given was given before it was taken (DP2 of domain/page.h): a core that the host
 * still has is nobody's, with whatever generation.
 */
static bool may_go_on(const struct domain_view *view, uint64_t told,
		      uint64_t generation)
{
	return (core_generation(told) <= generation &&
		core_kind(told) != CORE_IDLE) ||
	       core_is_given_to(told, view->self);
}

/* The own word of @core was @word, and the core is another's: say so. */
static void drop(struct domain_view *view, uint32_t core, uint64_t word)
{
	uint64_t none =
		core_word(core_generation(word), CORE_NONE, DOMAIN_NOBODY);

	/* Another thread may have dropped it, or have a newer word by now. */
	(void)!member_core_change(view->own, core, &word, none);
}

/*
 * The own word of @core has just become the busy @word.  Step 2 of the member: false if
 * the host was faster.
 */
static bool settle(struct domain_view *view, uint32_t core, uint64_t word)
{
	uint64_t told = host_core_now(view->host, core);

	if (likely(may_go_on(view, told, core_generation(word))))
		return true;
	drop(view, core, word);
	return false;
}

static bool resume(struct domain_view *view, uint32_t core, uint64_t word)
{
	uint64_t busy =
		core_word(core_generation(word), CORE_BUSY, core_member(word));

	return core_kind(word) == CORE_IDLE &&
	       member_core_change(view->own, core, &word, busy) &&
	       settle(view, core, busy);
}

bool cores_resume_one(struct domain_view *view, uint32_t core)
{
	return resume(view, core, member_core(view->own, core));
}

int cores_resume(struct domain_view *view)
{
	for (uint32_t core = 0; core < view->nr_cores; core++) {
		if (cores_resume_one(view, core))
			return (int)core;
	}
	return DOMAIN_NO_CORE;
}

/* ---- taking -------------------------------------------------------------------------- */

/*
 * @word, in the page of @from, gives @core to this member.  True: the core is busy now.
 * A core that this member has anyway is given to it by the host alone, after a mistake
 * was mended: the word gets the new generation, and no second worker gets the core.
 */
static bool take(struct domain_view *view, uint32_t core, uint64_t word,
		 uint32_t from)
{
	uint64_t own = member_core(view->own, core);
	uint64_t generation = core_generation(word) + 1;
	bool has = core_is_held(own);
	uint64_t next =
		core_word(generation, has ? core_kind(own) : CORE_BUSY, from);

	if (core_generation(own) >= generation || (has && from != DOMAIN_HOST))
		return false;
	return member_core_change(view->own, core, &own, next) && !has &&
	       settle(view, core, next);
}

/* Where a core is, as far as somebody knows, and since or from which generation. */
struct whereabouts {
	uint32_t member;
	uint64_t generation;
};

/*
 * By the own word of this member, or by the host's, if that is newer.  DOMAIN_HOST: it is
 * the host's, and has not been given to anybody since (DP2 of domain/page.h).
 */
static struct whereabouts begin_at(const struct domain_view *view,
				   uint32_t core)
{
	uint64_t word = member_core(view->own, core);
	uint64_t told = host_core(view->host, core);

	if (core_kind(word) != CORE_GIVEN ||
	    core_generation(word) < core_told(told))
		word = told;
	if (core_kind(word) == CORE_IDLE)
		return (struct whereabouts){ .member = DOMAIN_HOST };
	if (core_kind(word) != CORE_GIVEN && core_kind(word) != CORE_SEEN)
		return (struct whereabouts){ .member = DOMAIN_NOBODY };
	return (struct whereabouts){
		.member = core_member(word),
		.generation =
			core_generation(word) + (core_kind(word) == CORE_GIVEN),
	};
}

/*
 * Has @peer got the core, so that it could give it with @generation?  Follows the words of
 * the holders up to @peer.  True if somebody on the way is not there any more, or unknown:
 * then the host has the last word.  What the host has kept, no peer can give.
 */
static bool is_holder(const struct domain_view *view, uint32_t core,
		      uint32_t peer, uint64_t generation)
{
	struct whereabouts at = begin_at(view, core);
	uint64_t peers = domain_peers(view);

	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++) {
		uint64_t word;

		if (at.member >= DOMAIN_MEMBERS_MAX ||
		    !(peers >> at.member & 1))
			return at.member != view->self &&
			       at.member != DOMAIN_HOST;
		if (at.member == peer)
			return at.generation < generation;
		word = member_core(view->page[at.member], core);
		if (core_kind(word) != CORE_GIVEN ||
		    core_generation(word) <= at.generation)
			return false;
		at.member = core_member(word);
		at.generation = core_generation(word) + 1;
	}
	return false;
}

/*
 * Has @peer, or somebody unknown, fooled this member, as far as the host can tell?  Then this
 * member takes of the host alone what @peer gives.
 */
static bool may_be_fooled(const struct domain_view *view, uint32_t peer)
{
	uint64_t pair = 1ull << peer | 1ull << view->self;

	return (host_disputed(view->host) & pair) == pair ||
	       host_doubted(view->host) >> view->self & 1;
}

/* Is a give of @generation, by @peer, news to the host, and no nonsense? */
static bool is_plausible(const struct domain_view *view, uint32_t core,
			 uint32_t peer, uint64_t generation)
{
	uint64_t told = core_told(host_core(view->host, core));

	return generation > told && generation - told <= DOMAIN_WINDOW &&
	       !may_be_fooled(view, peer) &&
	       is_holder(view, core, peer, generation);
}

static int take_of_peer(struct domain_view *view, uint32_t peer)
{
	for (uint32_t core = 0; core < view->nr_cores; core++) {
		uint64_t word = member_core(view->page[peer], core);

		if (core_is_given_to(word, view->self) &&
		    is_plausible(view, core, peer, core_generation(word)) &&
		    take(view, core, word, peer))
			return (int)core;
	}
	return DOMAIN_NO_CORE;
}

static int take_of_host(struct domain_view *view)
{
	for (uint32_t core = 0; core < view->nr_cores; core++) {
		uint64_t word = host_core(view->host, core);

		if (core_is_given_to(word, view->self) &&
		    take(view, core, word, DOMAIN_HOST))
			return (int)core;
	}
	return DOMAIN_NO_CORE;
}

/*
 * .heard is what it was before the look that found nothing.  So a give that comes during
 * the look, and a second core of one giver, are found by the next look.
 */
static bool hears(const uint32_t *heard, uint32_t now)
{
	/* relaxed: another thread of this process may look in vain meanwhile. */
	return load_relaxed(heard) != now;
}

static void has_heard(uint32_t *heard, uint32_t now)
{
	/* relaxed: as above. */
	store_relaxed(heard, now);
}

static int take_what_was_told(struct domain_view *view, bool any)
{
	uint32_t now = host_gives(view->host, view->self);
	int core;

	if (any || hears(&view->heard_host, now)) {
		core = take_of_host(view);
		if (core != DOMAIN_NO_CORE)
			return core;
		has_heard(&view->heard_host, now);
	}
	for (uint64_t left = domain_peers(view); left; left &= left - 1) {
		uint32_t peer = (uint32_t)bits_first(left);

		now = member_gives(view->page[peer], view->self);
		if (!any && !hears(&view->heard[peer], now))
			continue;
		core = take_of_peer(view, peer);
		if (core != DOMAIN_NO_CORE)
			return core;
		has_heard(&view->heard[peer], now);
	}
	return DOMAIN_NO_CORE;
}

int cores_take(struct domain_view *view)
{
	return take_what_was_told(view, false);
}

int cores_take_any(struct domain_view *view)
{
	return take_what_was_told(view, true);
}

bool cores_have_news(const struct domain_view *view)
{
	if (hears(&view->heard_host, host_gives(view->host, view->self)))
		return true;
	for (uint64_t left = domain_peers(view); left; left &= left - 1) {
		uint32_t peer = (uint32_t)bits_first(left);

		if (hears(&view->heard[peer],
			  member_gives(view->page[peer], view->self)))
			return true;
	}
	return false;
}

static struct os_futex_word to_wait_for(const uint32_t foreign *gives,
					const uint32_t *heard)
{
	/* relaxed: an older value ends the wait at once. */
	return (struct os_futex_word){ .word = (const uint32_t *)gives,
				       .expected = load_relaxed(heard) };
}

int cores_words(const struct domain_view *view, struct os_futex_word *out)
{
	int nr = 0;

	out[nr++] =
		to_wait_for(&view->host->gives[view->self], &view->heard_host);
	for (uint64_t left = domain_peers(view); left; left &= left - 1) {
		int peer = bits_first(left);

		out[nr++] = to_wait_for(&view->page[peer]->gives[view->self],
					&view->heard[peer]);
	}
	return nr;
}

uint32_t cores_nr_held(const struct domain_view *view)
{
	uint32_t nr = 0;

	for (uint32_t core = 0; core < view->nr_cores; core++)
		nr += core_is_held(member_core(view->own, core));
	return nr;
}

/* ---- letting go ---------------------------------------------------------------------- */

bool cores_hold(struct domain_view *view, uint32_t core)
{
	uint64_t word = member_core(view->own, core);
	uint64_t told = host_core(view->host, core);

	if (!core_is_held(word))
		return false;
	/* PENDING: step 3 of the host decides, and not this look. */
	if (core_kind(told) == CORE_PENDING ||
	    may_go_on(view, told, core_generation(word)))
		return true;
	drop(view, core, word);
	return false;
}

bool cores_leave(struct domain_view *view, uint32_t core)
{
	uint64_t word = member_core(view->own, core);
	uint64_t idle =
		core_word(core_generation(word), CORE_IDLE, core_member(word));

	return cores_hold(view, core) && core_kind(word) == CORE_BUSY &&
	       member_core_change(view->own, core, &word, idle);
}

bool cores_give(struct domain_view *view, uint32_t core, uint32_t to)
{
	uint64_t word = member_core(view->own, core);
	uint64_t given = core_word(core_generation(word) + 1, CORE_GIVEN, to);

	sley_assert(to < DOMAIN_MEMBERS_MAX && to != view->self);
	if (!cores_hold(view, core) || core_kind(word) != CORE_BUSY ||
	    !member_core_change(view->own, core, &word, given))
		return false;
	member_tell(view->own, to);
	return true;
}

void cores_wake(struct domain_view *view)
{
	for (uint64_t left = domain_peers(view); left; left &= left - 1) {
		uint32_t peer = (uint32_t)bits_first(left);
		uint32_t now = member_gives(view->own, peer);

		/* relaxed: two threads may wake the same receiver. */
		if (load_relaxed(&view->woken[peer]) == now)
			continue;
		member_wake(view->own, peer);
		/* relaxed: as above; no thread relies on a wake-up that is to come. */
		store_relaxed(&view->woken[peer], now);
	}
}

/* Its holder, as the host knows it, may have given it on: then a hint is missed. */
static bool is_idle(const struct domain_view *view, uint32_t core)
{
	uint64_t told = host_core(view->host, core);
	uint32_t holder = core_member(told);

	if (core_kind(told) != CORE_SEEN)
		return core_kind(told) == CORE_IDLE;
	return holder != view->self && holder < DOMAIN_MEMBERS_MAX &&
	       core_kind(member_core_now(view->page[holder], core)) ==
		       CORE_IDLE;
}

bool cores_idle_elsewhere(const struct domain_view *view)
{
	for (uint32_t core = 0; core < view->nr_cores; core++) {
		if (is_idle(view, core))
			return true;
	}
	return false;
}
