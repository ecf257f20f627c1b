/* SPDX-License-Identifier: MIT */
/*
 * kernel_help.c - what processes of a domain ask of the kernel, where calls fail.
 */
#include "fault/sweep.h"

#include "os/futex.h"
#include "os/sched_attr.h"

#include <errno.h>

SCENARIO(a_sleep_on_many_words)
{
	uint32_t word = 1;
	const struct os_futex_word words[] = { { .word = &word } };

	(void)TRY(os_futex_wait_many(words, 1, UINT64_MAX), -ENOSYS, -ENOMEM);
}

/* Wants to be as it was, whatever fails on the way. */
SCENARIO(policy_and_slice_of_a_thread)
{
	struct os_sched now;

	if (!TRY(os_sched_get(0, &now), -ENOSYS, -EPERM))
		return;
	(void)TRY(os_sched_set(0, OS_SCHED_BATCH, OS_SLICE_MAX_NS), -ENOSYS,
		  -EPERM, -ESRCH);
	(void)TRY(os_sched_set(0, now.policy, 0), -ENOSYS, -EPERM, -ESRCH);
	(void)TRY(os_sched_set_nice(0, now.nice), -EACCES, -EPERM);
}

SCENARIO(timer_slack_of_a_thread)
{
	(void)TRY((int)os_thread_set_slack(0), -EPERM);
}
