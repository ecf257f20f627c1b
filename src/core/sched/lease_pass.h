/* SPDX-License-Identifier: MIT */
/*
 * lease_pass.h - the pass of a thread that calls the table of a lease.
 *
 * See core/sched/lease.h for the protocol.
 *
 * Edges:
 *
 *  LE1  see core/sched/lease.h
 */
#ifndef SLEY_CORE_SCHED_LEASE_PASS_H
#define SLEY_CORE_SCHED_LEASE_PASS_H

#include "base/atomic.h"
#include "lf/spin.h"

#define PASS_ON 1u
#define PASS_IN 2u

static inline void lease_pass_out(uint32_t *pass)
{
	(void)sub_release(pass, PASS_IN); /* LE1 */
	spin_done(pass);
}

/* False: switched off. */
must_check static inline bool lease_pass_in(uint32_t *pass)
{
	if (add_acquire(pass, PASS_IN) & PASS_ON) /* LE1 */
		return true;
	lease_pass_out(pass);
	return false;
}

static inline void lease_pass_open(uint32_t *pass)
{
	(void)or_release(pass, PASS_ON); /* LE1 */
}

static inline bool lease_pass_is_used(const void *pass)
{
	/* relaxed: only decides whether to sleep. */
	return load_relaxed((const uint32_t *)pass) >= PASS_IN;
}

/* When this returns, the thread of @pass is out, and does not come in. */
static inline void lease_pass_close(uint32_t *pass)
{
	uint32_t nr_looks = 0;

	/* relaxed: the loads below acquire what the thread did. */
	(void)and_relaxed(pass, ~PASS_ON);
	while (load_acquire(pass) >= PASS_IN) { /* LE1 */
		spin_hint(pass);
		spin_wait(pass, lease_pass_is_used, nr_looks++);
	}
}

#endif
