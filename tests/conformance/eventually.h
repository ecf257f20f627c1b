/* SPDX-License-Identifier: MIT */
/*
 * eventually.h - waits for what other threads and processes do, on any thread and in any
 * task, also on the thread that has to do it.
 */
#ifndef SLEY_TESTS_CONFORMANCE_EVENTUALLY_H
#define SLEY_TESTS_CONFORMANCE_EVENTUALLY_H

#include "harness/test.h"

#include <sley/task.h>

#define EVENTUALLY(expr)                                                       \
	do {                                                                   \
		uint64_t end_ = test_now_ns() + 20000000000ULL;                \
		while (!(expr)) {                                              \
			if (test_now_ns() > end_)                              \
				test_failed(TEST_PLACE(#expr),                 \
					    "not even after 20 s");            \
			(void)!sley_sleep(50000);                              \
		}                                                              \
	} while (0)

#endif
