/* SPDX-License-Identifier: MIT */
/*
 * time.c - <sley/time.h>
 */
#include <sley/time.h>

#include "core/wait/wait.h"
#include "os/clock.h"

uint64_t sley_now(void)
{
	return os_now();
}

int sley_sleep_until(uint64_t deadline_ns)
{
	return wait_until(deadline_ns);
}

int sley_sleep(uint64_t duration_ns)
{
	uint64_t now_ns = os_now();
	uint64_t deadline_ns = now_ns + duration_ns;

	if (deadline_ns < now_ns)
		deadline_ns = SLEY_FOREVER;
	return wait_until(deadline_ns);
}
