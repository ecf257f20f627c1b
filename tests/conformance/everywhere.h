/* SPDX-License-Identifier: MIT */
/*
 * everywhere.h - for what any thread may call: who calls it, and with how many
 * workers.
 */
#ifndef SLEY_TESTS_CONFORMANCE_EVERYWHERE_H
#define SLEY_TESTS_CONFORMANCE_EVERYWHERE_H

#include "conformance/bound.h"

struct in_region {
	sley_fn *fn;
	void *arg;
};

static inline void region_task(void *arg)
{
	struct in_region *in = arg;

	CHECK_EQ(sley_blocking_begin(), 0);
	in->fn(in->arg);
	sley_blocking_end();
}

/* @fn from a bound thread, from a task, and from a task in a region. */
static inline void from_everywhere(sley_fn *fn, void *arg)
{
	struct in_region in = { fn, arg };
	struct sley *rt = start();

	fn(arg);
	run_task(fn, arg);
	run_task(region_task, &in);
	stop(rt);
}

/* @fn without a runtime, then from a task with each of these many workers. */
static inline void with_many_workers(sley_fn *fn, void *arg)
{
	static const int workers[] = { SLEY_SINGLE, 1, 2, 3, 8, 64 };

	fn(arg);
	for (size_t i = 0; i < ARRAY_SIZE(workers); i++) {
		struct sley_config config = config_of(workers[i]);
		struct sley *rt = start_with(&config);

		run_task(fn, arg);
		stop(rt);
	}
}

#endif
