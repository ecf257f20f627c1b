/* SPDX-License-Identifier: MIT */
/*
 * assert.h - five ways to say that something is wrong.
 *
 *   sley_assert(x)       should never happen: debug builds and CI
 *   sley_bug(...)        should never happen, and going on would do harm: every
 *                        build, aborts with a text
 *   sley_check(x, rule)  the caller broke @rule: every build, aborts with it
 *   sley_fatal(...)      can happen and cannot be survived: aborts with a text
 *   an error value       the user's input: the caller decides
 */
#ifndef SLEY_BASE_ASSERT_H
#define SLEY_BASE_ASSERT_H

#include "base/compiler.h"

cold noreturn_fn void sley__assert_failed(const char *expr, const char *file,
					  int line);
cold noreturn_fn void sley__misuse(const char *function, const char *rule);
cold noreturn_fn printf_like(1, 2) void sley__fatal(const char *format, ...);

#ifdef NDEBUG
#define sley_assert(x) ((void)sizeof(x))
#else
#define sley_assert(x)                                                         \
	(likely(x) ? (void)0 : sley__assert_failed(#x, __FILE__, __LINE__))
#endif

/* @rule is a sentence for the user: "the mutex is not held". */
#define sley_check(x, rule) (likely(x) ? (void)0 : sley__misuse(__func__, rule))

/* For calls that are given a function to run, now or later. */
#define SLEY_NO_FN "the function to be called must not be NULL"
#define sley_check_fn(fn) sley_check(fn, SLEY_NO_FN)

#define sley_fatal(...) sley__fatal(__VA_ARGS__)

/* The user is not to blame: sley_assert() begins its message in the same way. */
#define INTERNAL_ERROR "internal error: "
#define sley_bug(...) sley__fatal(INTERNAL_ERROR __VA_ARGS__)

#endif
