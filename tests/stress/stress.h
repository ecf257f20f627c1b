/* SPDX-License-Identifier: MIT */
/*
 * stress.h - the configurations that the stress tests run with, and chance.
 */
#ifndef SLEY_TESTS_STRESS_STRESS_H
#define SLEY_TESTS_STRESS_STRESS_H

#include "conformance/bound.h"

/* How long one test goes on; what it has begun it finishes. */
#define STRESS_MS 600

/* Four workers, whatever the machine has: they must get in each other's way. */
static inline struct sley_config stress_config(void)
{
	return config_of(4);
}

static inline struct sley_config stress_config_no_membarrier(void)
{
	struct sley_config config = stress_config();

	config.no_membarrier = true;
	return config;
}

static inline struct sley_config stress_config_migratable(void)
{
	struct sley_config config = stress_config();

	config.migratable = true;
	return config;
}

static inline bool one_in(unsigned int n)
{
	return test_random(n) == 0;
}

/* Mostly in a moment, now and then in the past. */
static inline uint64_t soon(void)
{
	return one_in(8) ? 0 : sley_now() + test_random(200 * SLEY_USEC);
}

/* A little time passes, one way or the other. */
static inline void dawdle(void)
{
	if (one_in(4))
		sley_yield();
	else if (one_in(16))
		(void)sley_sleep(test_random(50 * SLEY_USEC));
}

#endif
