/* SPDX-License-Identifier: MIT */
/*
 * lease_off.h - for models of workers that need no cores: src/core/sched/lease.c and its
 * kin are not linked, and leases are never switched on.
 */
#ifndef SLEY_TESTS_MODEL_LEASE_OFF_H
#define SLEY_TESTS_MODEL_LEASE_OFF_H

#include "explorer.h"

#include "core/sched/lease.h"

#define LEASE_IS_OFF __attribute__((weak))

LEASE_IS_OFF enum lease_right lease_settle(struct worker *worker)
{
	(void)worker;
	MODEL_CHECK(!"leases are off");
	return LEASE_RUNS;
}

LEASE_IS_OFF void lease_return(struct worker *worker)
{
	(void)worker;
	MODEL_CHECK(!"leases are off");
}

LEASE_IS_OFF bool lease_look(struct worker *worker, unsigned int level)
{
	(void)worker;
	(void)level;
	MODEL_CHECK(!"leases are off");
	return false;
}

LEASE_IS_OFF void lease_try(struct worker *worker)
{
	(void)worker;
	MODEL_CHECK(!"leases are off");
}

LEASE_IS_OFF unsigned int lease_lowest(const struct worker *worker)
{
	(void)worker;
	MODEL_CHECK(!"leases are off");
	return 0;
}

LEASE_IS_OFF void lease_urgent(struct sley *runtime, unsigned int level)
{
	(void)runtime;
	(void)level;
	MODEL_CHECK(!"leases are off");
}

LEASE_IS_OFF void lease_urgent_home(struct worker *home, unsigned int level)
{
	(void)home;
	(void)level;
	MODEL_CHECK(!"leases are off");
}

LEASE_IS_OFF void lease_call(struct worker *worker)
{
	(void)worker;
	MODEL_CHECK(!"leases are off");
}

LEASE_IS_OFF void lease_call_all(struct sley *runtime)
{
	(void)runtime;
	MODEL_CHECK(!"leases are off");
}

LEASE_IS_OFF uint64_t lease_plan(struct sley *runtime, uint64_t now_ns)
{
	(void)runtime;
	(void)now_ns;
	return UINT64_MAX;
}

LEASE_IS_OFF void lease_tick(struct sley *runtime, uint64_t now_ns)
{
	(void)runtime;
	(void)now_ns;
}

#endif
