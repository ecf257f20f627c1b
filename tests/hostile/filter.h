/* SPDX-License-Identifier: MIT */
/*
 * filter.h - system calls that fail, by a seccomp filter written by hand.
 *
 * Filters add up; what they forbid stays forbidden, also for what this process
 * executes.  All threads of the process get it, so it may be called late.
 */
#ifndef SLEY_TESTS_HOSTILE_FILTER_H
#define SLEY_TESTS_HOSTILE_FILTER_H

/* @number fails with @err from now on.  0 or -errno. */
int filter_forbid(int number, int err);

/* The same if its argument @index is @value. */
int filter_forbid_argument(int number, int index, unsigned int value, int err);

#endif
