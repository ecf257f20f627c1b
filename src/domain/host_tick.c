/* SPDX-License-Identifier: MIT */
/*
 * host_tick.c - the tick of a host: the ledger decides, the broker carries it out.  See
 * host.h.
 */
#include "domain/host.h"

#include "base/bits.h"
#include "os/clock.h"
#include "os/eventfd.h"

#include <errno.h>
#include <sley/error.h>

#define QUIET_NS (5 * HOST_TICK_NS) /* nobody wants anything               */
#define ASKED_NS                                                               \
	100000u /* at least, between two ticks: members may ask often */

_Static_assert(DOMAIN_MEMBERS_MAX <= OS_FUTEX_WORDS_MAX, "one sleep for all");

void host_begin(struct sley_domain_host *host)
{
	struct ledger_options options = LEDGER_OPTIONS_DEFAULT;

	options.by_user = host->options.share_by_user;
	options.age_ticks =
		(uint32_t)((host->options.age_ns + HOST_TICK_NS - 1) /
			   HOST_TICK_NS);
	broker_init(&host->broker, host->page, host->generation, HOST_TICK_NS,
		    host->options.nr_cores, &options);
}

void host_join(struct sley_domain_host *host, struct guest *member)
{
	const struct ledger_terms terms = host_terms(host, member);

	broker_admit(&host->broker, member->seat, member->person.generation,
		     member->page, &terms);
}

/* The seat is free for the next member after a tick. */
void host_leave(struct sley_domain_host *host, struct guest *member)
{
	broker_retire(&host->broker, member->seat);
}

static void eject(struct sley_domain_host *host, uint32_t seat)
{
	const struct ledger *ledger = &host->broker.ledger;

	if (host->member[seat])
		host_end_guest(host, host->member[seat], -EBADMSG,
			       ledger_reason(ledger->member[seat].fault));
}

static uint64_t pause_now(const struct sley_domain_host *host)
{
	return ledger_is_quiet(&host->broker.ledger) ? QUIET_NS : HOST_TICK_NS;
}

/* The words by which members ask, as they were when the host looked last. */
static int gather_asks(const struct sley_domain_host *host,
		       struct os_futex_word *words)
{
	int nr = 0;

	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++) {
		const struct guest *member = host->member[i];

		if (!member)
			continue;
		words[nr++] = (struct os_futex_word){
			.word = (const uint32_t *)&member->page->asks,
			.expected = member->asked,
		};
	}
	return nr;
}

void host_sleep(struct sley_domain_host *host)
{
	uint64_t earliest = host->looked_ns + ASKED_NS;
	uint64_t latest = host->ticked_ns + pause_now(host);
	struct os_futex_word words[DOMAIN_MEMBERS_MAX];
	int err;

	(void)!os_poll_two(host->epoll, host->bell, earliest);
	err = os_futex_wait_many(words, gather_asks(host, words), latest);
	if (err && err != -ETIMEDOUT)
		/* A member that asks waits for the tick. */
		(void)!os_poll_two(host->epoll, host->bell, latest);
}

void host_tick(struct sley_domain_host *host, uint64_t now_ns)
{
	bool between = now_ns - host->ticked_ns < HOST_TICK_NS;
	uint64_t ejected;

	host->looked_ns = now_ns;
	if (!between)
		host->ticked_ns = now_ns;
	/* First the words: what is asked from now on leads to another tick. */
	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++) {
		if (host->member[i])
			host->member[i]->asked =
				member_asks(host->member[i]->page);
	}
	ejected = broker_tick(&host->broker, between);
	for (; ejected; ejected &= ejected - 1)
		eject(host, (uint32_t)bits_first(ejected));
	host_lower(host);
	host_end_deaf(host);
}
