/* SPDX-License-Identifier: MIT */
/*
 * fixture.h - before and after the body of a test, for test.c only.
 */
#ifndef SLEY_TESTS_HARNESS_FIXTURE_H
#define SLEY_TESTS_HARNESS_FIXTURE_H

#include <stdbool.h>

/* Before the body: counts threads and files.  @checked: look for leaks later. */
void fixture_begin(int workers, bool checked);
/* After the body: fails the test if something was left behind. */
void fixture_end(void);

#endif
