/* SPDX-License-Identifier: MIT */
/*
 * host_terms.c - what a host lets the work of its members count for.  See host.h.
 */
#include "domain/host.h"

#include "core/task/task_state.h"
#include "os/eventfd.h"

#include <sley/task.h>

_Static_assert(SLEY_DOMAIN_SHARE == LEDGER_WEIGHT, "one number, two names");
_Static_assert(SLEY_DOMAIN_SHARE_MAX == LEDGER_WEIGHT_MAX, "as above");

static struct ledger_terms to_ledger(const struct sley_domain_terms *terms)
{
	int32_t priority = terms->most_urgent;
	uint32_t share = terms->share;

	if (priority < SLEY_PRIORITY_MIN)
		priority = SLEY_PRIORITY_MIN;
	if (priority > SLEY_PRIORITY_MAX)
		priority = SLEY_PRIORITY_MAX;
	if (share > SLEY_DOMAIN_SHARE_MAX)
		share = SLEY_DOMAIN_SHARE_MAX;
	return (struct ledger_terms){
		.user = terms->user,
		.weight = share ? share : 1,
		.highest = (uint32_t)(priority + LEVEL_DEFAULT),
	};
}

struct ledger_terms host_terms(struct sley_domain_host *host,
			       struct guest *member)
{
	const struct sley_domain_peer peer = host_peer(&member->peer);
	struct sley_domain_terms said = {
		.most_urgent = SLEY_PRIORITY_MIN,
		.share = SLEY_DOMAIN_SHARE,
		.user = peer.uid,
	};
	struct ledger_terms terms;

	if (host->options.terms)
		host->options.terms(host->options.self, &peer, &said);
	terms = to_ledger(&said);
	member->person.share = terms.weight;
	return terms;
}

void host_refresh(struct sley_domain_host *host)
{
	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++) {
		struct ledger_terms terms;

		if (!host->member[i])
			continue;
		terms = host_terms(host, host->member[i]);
		broker_set_terms(&host->broker, i, &terms);
	}
}

void sley_domain_host_refresh(struct sley_domain_host *host)
{
	os_eventfd_signal(host->news);
}
