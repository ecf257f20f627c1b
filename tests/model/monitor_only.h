/* SPDX-License-Identifier: MIT */
/*
 * monitor_only.h - what the monitor does besides waking and poking: it reads
 * figures, which no worker waits for.
 */
#ifndef SLEY_TESTS_MODEL_MONITOR_ONLY_H
#define SLEY_TESTS_MODEL_MONITOR_ONLY_H

#include "core/sched/watchdog.h"

/* A watchdog only reads, and reports. */
void watchdog_look(struct worker *held_worker, bool held, uint64_t now_ns)
{
	(void)held_worker;
	(void)held;
	(void)now_ns;
}

#endif
