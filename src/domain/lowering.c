/* SPDX-License-Identifier: MIT */
/*
 * lowering.c - see lowering.h.
 */
#include "domain/lowering.h"

#include "os/sched_attr.h"
#include "os/text.h"

#include <errno.h>

/* A number that was a thread of @pid, and is one of another process by now, is not. */
static bool belongs_to(int tid, int pid)
{
	char text[8];

	return tid > 0 && pid > 0 &&
	       os_text_read(text, sizeof(text), "/proc/%d/task/%d/comm", pid,
			    tid);
}

static bool is_lowered(const struct lowering *lowering, int tid)
{
	for (uint32_t i = 0; i < lowering->nr; i++)
		if (lowering->of[i].tid == tid)
			return true;
	return false;
}

static bool is_named(int tid, const int32_t *tids, uint32_t nr)
{
	uint32_t i = 0;

	while (i < nr && tids[i] != tid)
		i++;
	return i < nr;
}

static void lower(struct lowering *lowering, int pid, int tid)
{
	struct os_sched before;

	if (!belongs_to(tid, pid)) {
		lowering->nr_foreign++;
		return;
	}
	/* A thread of another class does not look at its nice value. */
	if (os_sched_get(tid, &before) || before.policy == OS_SCHED_FOREIGN ||
	    before.nice >= LOWERING_NICE ||
	    os_sched_set_nice(tid, LOWERING_NICE))
		return;
	lowering->of[lowering->nr++] =
		(struct lowered){ .tid = tid, .nice = before.nice };
}

static void restore(struct lowering *lowering, int pid,
		    const struct lowered *thread)
{
	struct os_sched now;

	if (!belongs_to(thread->tid, pid) || os_sched_get(thread->tid, &now) ||
	    now.nice != LOWERING_NICE)
		return;
	if (os_sched_set_nice(thread->tid, thread->nice))
		lowering->nr_kept++;
}

static void restore_others(struct lowering *lowering, int pid,
			   const int32_t *tids, uint32_t nr)
{
	uint32_t nr_stay = 0;

	for (uint32_t i = 0; i < lowering->nr; i++) {
		if (is_named(lowering->of[i].tid, tids, nr))
			lowering->of[nr_stay++] = lowering->of[i];
		else
			restore(lowering, pid, &lowering->of[i]);
	}
	lowering->nr = nr_stay;
}

uint32_t lowering_begin(struct lowering *lowering, int pid, const int32_t *tids,
			uint32_t nr)
{
	restore_others(lowering, pid, tids, nr);
	for (uint32_t i = 0; i < nr && lowering->nr < LOWERING_THREADS; i++) {
		if (tids[i] && !is_lowered(lowering, tids[i]))
			lower(lowering, pid, tids[i]);
	}
	return lowering->nr;
}

void lowering_end(struct lowering *lowering, int pid)
{
	restore_others(lowering, pid, NULL, 0);
}
