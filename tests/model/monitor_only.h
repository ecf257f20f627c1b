/* SPDX-License-Identifier: MIT */
/*
 * monitor_only.h - what the monitor does besides waking and poking: it reads and
 * copies figures, which no worker waits for.
 */
#ifndef SLEY_TESTS_MODEL_MONITOR_ONLY_H
#define SLEY_TESTS_MODEL_MONITOR_ONLY_H

#include "core/sched/watchdog.h"
#include "core/trace/page.h"

/* A watchdog only reads, and reports. */
void watchdog_look(struct worker *held_worker, bool held, uint64_t now_ns)
{
	(void)held_worker;
	(void)held;
	(void)now_ns;
}

/* No page is attached; core_page.c has the model of a page. */
void page_update(struct sley *runtime, uint64_t now_ns)
{
	(void)runtime;
	(void)now_ns;
}

#endif
