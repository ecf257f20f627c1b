/* SPDX-License-Identifier: MIT */
/*
 * host_lower.c - the host lowers members that do not yield, where it may restore them, and
 * restores them when no more urgent work has wanted their cores for a while.  See
 * lowering.h.
 */
#include "domain/host.h"

/* Since the last more urgent want: urgent work that comes again and again comes sooner. */
#define LOWERED_TICKS 50u

static void publish(struct sley_domain_host *host, const struct guest *member,
		    bool lowered)
{
	uint64_t bit = 1ull << member->seat;
	uint64_t members = host_lowered(host->page);

	host_lowered_set(host->page, lowered ? members | bit : members & ~bit);
}

static void say_kept(struct sley_domain_host *host, struct guest *member)
{
	if (member->lowering.nr_kept)
		host_say(host, "cannot restore %u threads of pid %d",
			 member->lowering.nr_kept, member->peer.pid);
	member->lowering.nr_kept = 0;
}

void host_raise(struct sley_domain_host *host, struct guest *member)
{
	if (!lowering_is_on(&member->lowering))
		return;
	lowering_end(&member->lowering, member->peer.pid);
	publish(host, member, false);
	say_kept(host, member);
}

/* The threads that @member names now, and no others. */
static void lower(struct sley_domain_host *host, struct guest *member)
{
	uint32_t nr_foreign = member->lowering.nr_foreign;
	int32_t tids[DOMAIN_TIDS];

	for (uint32_t i = 0; i < DOMAIN_TIDS; i++)
		tids[i] = member_tid(member->page, i);
	publish(host, member, true);
	if (!lowering_begin(&member->lowering, member->peer.pid, tids,
			    DOMAIN_TIDS))
		publish(host, member, false);
	if (member->lowering.nr_foreign != nr_foreign)
		host_say(
			host,
			"lowers no thread of pid %d any more: it names threads "
			"that are not its own",
			member->peer.pid);
	say_kept(host, member);
}

static bool is_slow(const struct sley_domain_host *host, struct guest *member)
{
	const struct ledger *ledger = &host->broker.ledger;
	uint64_t bit = 1ull << member->seat;

	if (ledger->slow & bit)
		member->slow = true;
	if (ledger->pressed & bit)
		member->pressed = ledger->tick;
	/* The host of one member sleeps.  A liar would cost a look on each tick. */
	if (host->nr_members < 2 || member->lowering.nr_foreign ||
	    ledger->tick - member->pressed > LOWERED_TICKS)
		member->slow = false;
	return member->slow;
}

void host_lower(struct sley_domain_host *host)
{
	if (!host->may_lower)
		return;
	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++) {
		struct guest *member = host->member[i];

		if (!member)
			continue;
		if (is_slow(host, member))
			lower(host, member);
		else
			host_raise(host, member);
	}
}
