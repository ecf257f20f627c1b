/* SPDX-License-Identifier: MIT */
/*
 * waitgroup.c - a countdown for any number of waiters.
 */
#include "core/task/countdown.h"

#include <sley/sync.h>

void sley_waitgroup_add(struct sley_waitgroup *wg, uint32_t n)
{
	countdown_add(&wg->q, n);
}

bool sley_waitgroup_done(struct sley_waitgroup *wg)
{
	enum countdown_result result = countdown_done(&wg->q);

	sley_check(result != COUNTDOWN_BAD,
		   "called more often than sley_waitgroup_add() allowed");
	return result == COUNTDOWN_LAST;
}

int sley_waitgroup_wait_until(struct sley_waitgroup *wg, uint64_t deadline_ns)
{
	return countdown_wait(&wg->q, deadline_ns, 0);
}

int sley_waitgroup_wait(struct sley_waitgroup *wg)
{
	return sley_waitgroup_wait_until(wg, UINT64_MAX);
}
