/* SPDX-License-Identifier: MIT */
/*
 * kernel_help.c - what processes of a domain ask of the kernel, where calls fail.
 */
#include "fault/sweep.h"

#include "domain/doorbell.h"
#include "os/futex.h"
#include "os/sched_attr.h"
#include "os/seqpacket.h"
#include "os/shared_memory.h"

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

SCENARIO(whether_a_nice_value_comes_back)
{
	trial_may_absorb("os_thread_start"); /* then it does not come back */
	(void)os_sched_may_restore_nice();
}

SCENARIO(timer_slack_of_a_thread)
{
	(void)TRY((int)os_thread_set_slack(0), -EPERM);
}

static int open_line(struct doorbell *bell, const int *line)
{
	/* Also if it has failed before. */
	doorbell_remove(bell, 0, 1);
	return doorbell_add(bell, 0, 1, line[0]);
}

SCENARIO(a_line_to_another_process)
{
	const struct doorbell_waker waker = doorbell_share(1);
	struct doorbell bell;
	int line[2];

	doorbell_init(&bell);
	if (!TRY(doorbell_open(&bell), -EMFILE, -ENOMEM))
		return;
	if (TRY(os_seqpacket_pair(line), -EMFILE, -ENOMEM)) {
		if (TRY(open_line(&bell, line), -ENOMEM, -ENOSPC))
			(void)TRY(doorbell_ring(&bell, 0, 1, &waker), -EAGAIN);
		else
			os_close(line[0]);
		os_close(line[1]);
	}
	doorbell_close(&bell);
}
