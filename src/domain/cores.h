/* SPDX-License-Identifier: MIT */
/*
 * cores.h - the cores of a member: taken, kept idle, given.
 *
 * domain/page.h has the words.  Here is what a member does with them, each by one change
 * of a word in its own page:
 *
 *   take    of a peer or of the host, which have GIVEN the core to this member:
 *           {g, GIVEN} over there -> {g+1, BUSY} here.  Nobody else is named, so there is
 *           no race for the core
 *   leave   BUSY -> IDLE: the member keeps the core.  One operation, no system call
 *   resume  IDLE -> BUSY
 *   give    {g, BUSY} -> {g+1, GIVEN}, and wakes the receiver
 *   drop    the host has taken the core by force: -> NONE
 *
 * The process may sleep while it has idle cores, so the host takes them without asking:
 *
 *   member: resume                         host: reclaim            (domain/broker.c)
 *   1. {g, IDLE} -> {g, BUSY}              1. host's word: {g+1, PENDING}
 *   2. looks at the host's word            2. looks at the member's word
 *   3. PENDING, or newer: has lost         3. still IDLE, or NONE: {g+1, GIVEN}
 *      the core: -> NONE                      else: the host's word of before
 *
 * One of the two sees the other (DP3 of domain/page.h).  If both do, nobody has the core until the next tick of
 * the host, which finds NONE and gives the core to a member that wants it.  Neither waits
 * for the other, which may be stopped or dead.  All others take no notice of PENDING.
 *
 * The host takes a core that is not idle by force, if its holder is dead, or is stopped,
 * or broke the rules: its generation leaps by DOMAIN_LEAP, so that no word that the holder
 * is about to write, and no take of what it then gave, reaches the host's.
 *
 * A member gives a core up by its own act or by the host's word, never because the word of
 * a peer says so.  And it takes a core only if the generation is above its own and the
 * host's, and not by more than DOMAIN_WINDOW, and if the words of the holders before lead
 * to the giver.  If the host finds nevertheless that the two contradict each other, or that
 * somebody must have fooled this member, it says so (.disputed and .doubted of its page), and
 * for a while the member takes of the host alone what that giver gives, or all.
 *
 * Several threads of the member call this at a time, for the same core, too: each change
 * is a compare-and-swap in the own page, which is private to the process as far as writing
 * goes.
 *
 * Rejected: see docs/adr/0045.
 */
#ifndef SLEY_DOMAIN_CORES_H
#define SLEY_DOMAIN_CORES_H

#include "domain/page.h"

#define DOMAIN_LEAP 16u
#define DOMAIN_WINDOW (1u << 20)
#define DOMAIN_NO_CORE (-1)

/*
 * A member and its view of the others.  .page has a readable page for each index at all
 * times: of zeroes, where no peer is (domain/peer_pages.h).
 */
struct domain_view {
	uint32_t self;
	uint32_t nr_cores;
	struct member_page *own;
	const struct host_page foreign *host;
	const struct member_page foreign *page[DOMAIN_MEMBERS_MAX];
	/* What of .gives of each page has led to a look at its words; and of the host. */
	uint32_t heard[DOMAIN_MEMBERS_MAX];
	uint32_t heard_host;
	/* What of .gives of the own page the receivers were woken for. */
	uint32_t woken[DOMAIN_MEMBERS_MAX];
};

/* Bits: the members but this one. */
static inline uint64_t domain_peers(const struct domain_view *view)
{
	return host_live(view->host) & ~(1ull << view->self);
}

/*
 * What @level counts for among the members if @member would run it, or runs it: no more than
 * the host lets it.  Each reader counts so, because the member itself writes its want.
 */
static inline uint32_t domain_counted(const struct domain_view *view,
				      uint32_t member, uint32_t level)
{
	uint32_t highest = host_highest(view->host, member);

	return level < highest ? highest : level;
}

/* An idle core of this member, which is busy now; or DOMAIN_NO_CORE. */
int cores_resume(struct domain_view *view);

/* The same for @core alone: is it this member's, and busy now? */
must_check bool cores_resume_one(struct domain_view *view, uint32_t core);

/* A core that was given to this member, which is busy now; or DOMAIN_NO_CORE. */
int cores_take(struct domain_view *view);

/*
 * The same, and looks at all words, not only where a giver said that there is something
 * new: for a giver that died in between.
 */
int cores_take_any(struct domain_view *view);

/* The busy @core becomes idle.  False: it is not this member's any more. */
bool cores_leave(struct domain_view *view, uint32_t core);

/*
 * The busy @core is given to @to, which cores_wake() wakes.  False: it was not this member's
 * any more.
 */
bool cores_give(struct domain_view *view, uint32_t core, uint32_t to);

/*
 * Wakes all to which this member has given cores since they were woken last.  A giver that
 * wants a core itself says so before: on one CPU the receiver may run at once, and end,
 * before the giver says anything more.
 */
void cores_wake(struct domain_view *view);

/* Does this member hold @core?  If the host has taken it, the own word says so, too. */
bool cores_hold(struct domain_view *view, uint32_t core);

/* Is there a core of the host, or of a peer, on which no worker runs?  A hint. */
must_check bool cores_idle_elsewhere(const struct domain_view *view);

/* How many cores this member holds. */
must_check uint32_t cores_nr_held(const struct domain_view *view);

/* Is @core this member's, with a worker?  A hint: the host may have taken it. */
static inline bool cores_is_busy(const struct domain_view *view, uint32_t core)
{
	return core_kind(member_core(view->own, core)) == CORE_BUSY;
}

#define CORES_WORDS_MAX (2 + DOMAIN_MEMBERS_MAX)

/*
 * The words on which a member waits for a core, with the values up to which it has looked:
 * one that is different is news.  Returns how many, at most CORES_WORDS_MAX - 1.
 */
must_check int cores_words(const struct domain_view *view,
			   struct os_futex_word *out);

/* Has a give been announced since the caller looked last? */
must_check bool cores_have_news(const struct domain_view *view);

#endif
