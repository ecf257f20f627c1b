/* SPDX-License-Identifier: MIT */
/*
 * never.h - names that src/core/sched/switch.h needs and that no model calls:
 * nothing is traced, no task changes the floating-point control words, has children
 * or is urgent.
 */
#ifndef SLEY_TESTS_MODEL_NEVER_H
#define SLEY_TESTS_MODEL_NEVER_H

#include "explorer.h"

#include "core/sched/overtake.h"
#include "core/sched/steal.h"
#include "core/sched/switch.h"

static void never(void)
{
	MODEL_CHECK(!"something that this model does not have");
}

void trace_switch(struct worker *worker, const struct strand *from,
		  const struct strand *to)
{
	(void)worker;
	(void)from;
	(void)to;
	never();
}

void fiber_swap_fpu(struct fiber *from, struct fiber *to,
		    struct fiber_thread *thread)
{
	(void)from;
	(void)to;
	(void)thread;
	never();
}

void overtake_ask(struct worker *worker)
{
	(void)worker;
	never();
}

void overtake_ask_all(struct sley *runtime)
{
	(void)runtime;
	never();
}

void monitor_hasten(struct monitor *monitor)
{
	(void)monitor;
	never();
}

void fork_leave_behind(struct worker *worker)
{
	(void)worker;
	never();
}

void fork_come_back(struct strand *strand)
{
	(void)strand;
	never();
}

#endif
