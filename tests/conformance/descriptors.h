/* SPDX-License-Identifier: MIT */
/*
 * descriptors.h - tests that need many open descriptors.
 */
#ifndef SLEY_TESTS_CONFORMANCE_DESCRIPTORS_H
#define SLEY_TESTS_CONFORMANCE_DESCRIPTORS_H

#include <sys/resource.h>

#include "harness/test.h"

/* Lets the test have @nr of them, or skips it. */
static inline void allow_descriptors(rlim_t nr)
{
	struct rlimit limit;

	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_max < nr)
		test_skip("not enough descriptors");
	if (limit.rlim_cur < nr)
		limit.rlim_cur = nr;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

#endif
