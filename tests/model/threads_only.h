/* SPDX-License-Identifier: MIT */
/*
 * threads_only.h - for models whose threads wait as plain threads do.
 *
 * src/core/wait.c with src/core/place.c needs these names; a model thread is no
 * worker, and never comes to them.  Include it in one source of a model.
 */
#ifndef SLEY_TESTS_MODEL_THREADS_ONLY_H
#define SLEY_TESTS_MODEL_THREADS_ONLY_H

#include "selves.h"

#include "core/wait.h"

static void never(void)
{
	MODEL_CHECK(!"a plain thread has no worker");
}

struct sley_task *worker_pick(struct worker *worker)
{
	(void)worker;
	never();
	return NULL;
}

struct strand *worker_spare_strand(struct worker *worker,
				   struct sley_task *task)
{
	(void)worker;
	(void)task;
	never();
	return NULL;
}

void leave_finish_rare(struct worker *worker)
{
	(void)worker;
	never();
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
