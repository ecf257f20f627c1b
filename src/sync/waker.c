/* SPDX-License-Identifier: MIT */
/*
 * waker.c - a task that waits until it is woken by its number.
 *
 * Waiters and wakers meet in core/task/slot.h.
 */
#include "core/sched/place.h"
#include "core/task/slot.h"
#include "core/sched/worker.h"
#include "core/wait/loan.h"

#include <sley/error.h>
#include <sley/waker.h>

#include <errno.h>

static struct strand *calling_strand(void)
{
	struct worker *worker = worker_current();

	sley_check(worker, "only tasks have wakers and can be suspended; use a "
			   "key in other threads");
	return worker->strand;
}

int sley_waker_self(struct sley_waker *out)
{
	struct strand *strand = calling_strand();
	struct slot *slot = slot_of(strand);

	if (!slot)
		return -ENOMEM;
	slot_describe(slot, strand->home->rt, out);
	return 0;
}

int sley_wake_id(uint64_t id)
{
	struct slot *slot = slot_lock_waker(id);

	if (!slot)
		return -ESRCH;
	(void)slot_wake(slot);
	return 0;
}

int sley_wake(const struct sley_waker *waker)
{
	return sley_wake_id(waker->id);
}

int sley_suspend_until(uint64_t deadline_ns)
{
	struct slot *slot = slot_of(calling_strand());

	if (!slot)
		return -ENOMEM;
	slot_lock(slot);
	return slot_wait(slot, deadline_ns);
}

int sley_suspend(void)
{
	return sley_suspend_until(UINT64_MAX);
}

int sley_set_priority_id(uint64_t id, int priority)
{
	struct slot *slot;

	if (priority < SLEY_PRIORITY_MIN || priority > SLEY_PRIORITY_MAX)
		return SLEY_EPRIORITY;
	slot = slot_lock_waker(id);
	if (!slot)
		return -ESRCH;
	loan_set_level(slot->task, (unsigned int)(priority + LEVEL_DEFAULT));
	slot_unlock(slot);
	return 0;
}

uint64_t sley_nr_wakers(void)
{
	return slots_nr_live();
}
