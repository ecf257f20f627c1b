/* SPDX-License-Identifier: MIT */
/*
 * fault.c - see fault.h; built with SLEY_FAULTS only.
 *
 * Edges:
 *
 *  FT1  the test sets the plan -> a site finds it : what the plan reads
 */
#include "os/fault.h"

#include "base/atomic.h"
#include "base/fault_lock.h"

static fault_plan_fn *the_plan;
static fault_lock_plan_fn *the_lock_plan;
static int64_t mapped;

void fault_set_plan(fault_plan_fn *plan)
{
	store_release(&the_plan, plan); /* FT1 */
}

int fault_reached(const struct fault_site *site)
{
	fault_plan_fn *plan = load_acquire(&the_plan); /* FT1 */

	return plan ? plan(site) : 0;
}

int fault_reached_errno(const struct fault_site *site)
{
	int err = fault_reached(site);

	if (err)
		errno = err;
	return err;
}

void fault_set_lock_plan(fault_lock_plan_fn *plan)
{
	store_release(&the_lock_plan, plan); /* FT1 */
}

void fault_lock_reached(const struct fault_lock_site *site, bool taken)
{
	fault_lock_plan_fn *plan = load_acquire(&the_lock_plan); /* FT1 */

	if (plan)
		plan(site, taken);
}

void fault_count_mapped(ptrdiff_t bytes)
{
	/* relaxed: a statistic; for an exact number the test joins the threads. */
	(void)add_relaxed(&mapped, bytes);
}

int64_t fault_mapped(void)
{
	/* relaxed: as above. */
	return load_relaxed(&mapped);
}
