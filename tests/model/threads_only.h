/* SPDX-License-Identifier: MIT */
/*
 * threads_only.h - for models whose threads wait as plain threads do.
 *
 * src/core/wait/wait.c with src/core/sched/place.c needs these names; a model thread
 * is no worker, and never calls these functions.  Include this file in one source of
 * a model.
 */
#ifndef SLEY_TESTS_MODEL_THREADS_ONLY_H
#define SLEY_TESTS_MODEL_THREADS_ONLY_H

#include "never.h"
#include "lease_off.h"
#include "selves.h"

#include "core/wait/wait.h"

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

void switch_finish_rare(struct worker *worker)
{
	(void)worker;
	never();
}

#endif
