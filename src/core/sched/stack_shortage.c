/* SPDX-License-Identifier: MIT */
/*
 * stack_shortage.c - see stack_shortage.h.
 */
#include "core/sched/stack_shortage.h"

#include "core/trace/report.h"
#include "os/clock.h"

#define GAP_NS 1000000000ull   /* longer than this: another shortage */
#define REPORT_NS 100000000ull /* as long as this: worth a line      */

void stack_shortage_note(struct worker *worker)
{
	struct stack_shortage *shortage = &worker->shortage;
	uint64_t now_ns = os_now();

	if (now_ns - shortage->last_ns > GAP_NS)
		shortage->first_ns = now_ns;
	shortage->last_ns = now_ns;
}

void stack_shortage_report(struct worker *worker)
{
	const struct stack_shortage *shortage = &worker->shortage;

	if (shortage->last_ns - shortage->first_ns < REPORT_NS)
		return;
	/* relaxed: the first worker reports; the word publishes no other memory. */
	if (!xchg_relaxed(&worker->rt->stack_shortage_reported, 1))
		report(worker->rt,
		       "no memory for another stack: tasks wait until there is "
		       "some, or until others end; \"sley doctor\" shows the "
		       "limits");
}
