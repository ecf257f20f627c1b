/* SPDX-License-Identifier: MIT */
/*
 * membership.h - a runtime and the domain that it is in: joins, leaves, goes on alone,
 * joins again.
 *
 * A thread of the library, the *attendant*, lives as long as the membership.  It speaks to
 * the host, maps the pages of peers, hears their wakes (domain/doorbell.h), and sees the
 * host die:
 *
 *   OUT ──join──► JOINING ──WELCOME──► IN ──the host is gone──► ALONE
 *    ▲               │                 │ ▲                        │
 *    └───refused─────┘                 │ └────────WELCOME─────────┤
 *    └──────────────leave──────────────┴──────────────────────────┘
 *
 * While ALONE the workers of the runtime need no cores: nobody is there to share with, and
 * a worker at the gate must not wait for a host that is dead.  The attendant looks for the
 * next host after 1 ms, then less often, up to every 100 ms.  A host that was no daemon
 * comes only if somebody starts it, so the attendant does; it does not start one in place
 * of a daemon, or the domain would fall apart when the daemon comes back.
 *
 * Each time that the runtime becomes a member it has a new page, a new seat, a new
 * generation and new lines to its peers.  So nothing that was written in the last membership
 * means anything in this.  A waker that was shared in the last one is refused: its line is
 * gone, and only the host can say to whom a new line leads.
 *
 * The runtime ends.  It stays a member until its last task has ended: the engine calls
 * .leave_domain then, before the workers leave.
 *
 * Locks.  The lock is for the state and for what is told about it; the attendant alone
 * changes the rest.  At most one call joins or leaves at a time: it has taken the state
 * from OUT, or set .leaves.
 *
 * Rejected: a source of the runtime (core/sched/source.h) in place of the thread.  Workers
 * at the gate ask no source.  If all of them wait there for a core when the host dies,
 * nobody would hear of it.  Besides, a source with a descriptor makes a busy runtime tick,
 * and costs each fair pick a look; the thread sleeps.  Nor does the monitor do it: between
 * two ticks there is no time to connect.
 */
#ifndef SLEY_DOMAIN_MEMBERSHIP_H
#define SLEY_DOMAIN_MEMBERSHIP_H

#include "base/compiler.h"

#include <sley/domain.h>
#include <stdbool.h>

/* As the calls of <sley/domain.h>; the runtime is not lost. */
must_check int membership_join(struct sley *rt, const char *name);
must_check int membership_leave(struct sley *rt);
void membership_set_strict(struct sley *rt, bool strict);
void membership_info(struct sley *rt, struct sley_domain_info *out);
must_check int membership_share(struct sley *rt, uint64_t id,
				struct sley_domain_waker *out);
must_check int membership_wake(struct sley *rt,
			       const struct sley_domain_waker *to);

/* The text for an error of membership_join(), with what to do. */
const char *membership_explain(int err);

#endif
