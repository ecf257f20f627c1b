/* SPDX-License-Identifier: MIT */
/*
 * wants.c - see wants.h.
 */
#include "domain/wants.h"

#include "base/assert.h"
#include "base/bits.h"

#define WANTS_ATTEMPTS 4

void wants_init(struct wants *wants, struct domain_view *view)
{
	*wants = (struct wants){ .view = view };
}

void wants_tell(struct wants *wants, uint32_t nr, uint32_t level)
{
	struct member_page *own = wants->view->own;
	uint32_t sequence = want_sequence(member_want(own)) + 1;

	sley_assert(nr ? level < DOMAIN_LEVELS : true);
	member_want_set(own, want_word(sequence, nr, level));
	if (nr && cores_idle_elsewhere(wants->view))
		member_ask(own);
}

/* ---- looking ------------------------------------------------------------------------- */

static uint32_t nr_served(const struct wants *wants, uint32_t peer,
			  uint64_t want)
{
	/* relaxed: a count of this process about itself. */
	uint64_t served = load_relaxed(&wants->served[peer]);

	return served >> 32 == want_sequence(want) ? (uint32_t)served : 0;
}

static bool is_open(const struct wants *wants, uint32_t peer, uint64_t want,
		    uint32_t level)
{
	return want_nr(want) && want_level(want) < level &&
	       nr_served(wants, peer, want) < want_nr(want);
}

/* The level that the open @want of @peer counts for. */
static uint32_t level_of(const struct wants *wants, uint32_t peer,
			 uint64_t want)
{
	return domain_counted(wants->view, peer, want_level(want));
}

/* The level that a task of @level in this member counts for. */
static uint32_t own_level(const struct wants *wants, uint32_t level)
{
	return domain_counted(wants->view, wants->view->self, level);
}

/* The members of @set in their order, from the one behind @last. */
static uint32_t next_of(uint64_t set, uint32_t last)
{
	uint64_t behind = last < 63 ? set & ~0ull << (last + 1) : 0;

	return (uint32_t)bits_first(behind ? behind : set);
}

typedef uint64_t want_reader(const struct member_page foreign *page);

static inline int look(const struct wants *wants, uint32_t level,
		       want_reader *want_of)
{
	const struct domain_view *view = wants->view;
	/* relaxed: the ticking thread's advice, and a hint. */
	uint64_t left = domain_peers(view) & ~load_relaxed(&wants->ignored);
	uint64_t set = 0;

	for (; left; left &= left - 1) {
		uint32_t peer = (uint32_t)bits_first(left);
		uint64_t want = want_of(view->page[peer]);
		uint32_t wanted;

		if (likely(!is_open(wants, peer, want, level)))
			continue;
		wanted = level_of(wants, peer, want);
		if (wanted >= level)
			continue;
		if (set && wanted + 1 == level) {
			set |= 1ull << peer;
			continue;
		}
		/* From now on only those as urgent, or more. */
		set = 1ull << peer;
		level = wanted + 1;
	}
	/* relaxed: a hint. */
	return set ? (int)next_of(set, load_relaxed(&wants->last))
		   : WANTS_NOBODY;
}

int wants_look(const struct wants *wants, uint32_t level)
{
	return look(wants, own_level(wants, level), member_want);
}

bool wants_runs_below(const struct wants *wants, uint32_t level)
{
	const struct domain_view *view = wants->view;
	uint64_t left = domain_peers(view);

	level = own_level(wants, level);
	for (; left; left &= left - 1) {
		uint32_t peer = (uint32_t)bits_first(left);
		uint32_t runs = member_runs(view->page[peer]);

		if (runs < DOMAIN_LEVELS &&
		    domain_counted(view, peer, runs) > level)
			return true;
	}
	return false;
}

/* ---- serving ------------------------------------------------------------------------- */

/* One more core for @want of @peer.  False: it has got all that it wanted. */
static bool claim(struct wants *wants, uint32_t peer, uint64_t want)
{
	/* relaxed: threads of this process count together, and tell nothing by it. */
	uint64_t served = load_relaxed(&wants->served[peer]);
	uint64_t next;

	do {
		bool same = served >> 32 == want_sequence(want);

		if (same && (uint32_t)served >= want_nr(want))
			return false;
		next = same ? served + 1
			    : (uint64_t)want_sequence(want) << 32 | 1;
		/* relaxed: as above. */
	} while (!cas_relaxed(&wants->served[peer], &served, next));
	return true;
}

static bool serve(struct wants *wants, uint32_t core, uint32_t peer,
		  uint32_t level)
{
	uint64_t want = member_want(wants->view->page[peer]);

	if (!is_open(wants, peer, want, level) ||
	    level_of(wants, peer, want) >= level || !claim(wants, peer, want))
		return false;
	/* relaxed: hints. */
	store_relaxed(&wants->last, peer);
	(void)add_relaxed(&wants->given[peer], 1);
	(void)add_relaxed(&wants->nr_given, 1);
	(void)cores_give(wants->view, core, peer);
	return true;
}

int wants_serve(struct wants *wants, uint32_t core, uint32_t level)
{
	int peer = wants_look(wants, level);

	if (peer == WANTS_NOBODY ||
	    !serve(wants, core, (uint32_t)peer, own_level(wants, level)))
		return WANTS_NOBODY;
	return peer;
}

bool wants_serve_peer(struct wants *wants, uint32_t core, uint32_t peer)
{
	return peer < DOMAIN_MEMBERS_MAX &&
	       domain_peers(wants->view) & 1ull << peer &&
	       serve(wants, core, peer, WANTS_ANY_LEVEL);
}

/* A want that came meanwhile may not have seen that the core is idle. */
static bool is_wanted_now(const struct wants *wants)
{
	return unlikely(look(wants, WANTS_ANY_LEVEL, member_want_now) !=
			WANTS_NOBODY);
}

int wants_leave(struct wants *wants, uint32_t core)
{
	/* Wants that come and go end the attempts; the host's tick does the rest. */
	for (int i = 0; i < WANTS_ATTEMPTS; i++) {
		int peer = wants_serve(wants, core, WANTS_ANY_LEVEL);

		if (peer != WANTS_NOBODY)
			cores_wake(wants->view);
		if (peer != WANTS_NOBODY || !cores_leave(wants->view, core) ||
		    !is_wanted_now(wants) ||
		    !cores_resume_one(wants->view, core))
			return peer;
	}
	(void)cores_leave(wants->view, core);
	return WANTS_NOBODY;
}

uint64_t wants_nr_given(const struct wants *wants)
{
	/* relaxed: a figure. */
	return load_relaxed(&wants->nr_given);
}

/* ---- the tick ------------------------------------------------------------------------ */

void wants_tick(struct wants *wants)
{
	uint64_t ignored = 0;

	for (uint64_t left = domain_peers(wants->view); left;
	     left &= left - 1) {
		uint32_t peer = (uint32_t)bits_first(left);
		uint64_t vain = member_in_vain(wants->view->page[peer]);
		/* relaxed: counts of this process. */
		uint32_t given = xchg_relaxed(&wants->given[peer], 0);

		if (given && vain - wants->in_vain[peer] >= given)
			ignored |= 1ull << peer;
		wants->in_vain[peer] = vain;
		/* relaxed: what was given for this want may be given again. */
		store_relaxed(&wants->served[peer], 0);
	}
	/* relaxed: advice. */
	store_relaxed(&wants->ignored, ignored);
}
