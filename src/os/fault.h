/* SPDX-License-Identifier: MIT */
/*
 * fault.h - where calls can fail, and how tests make them fail.
 *
 * A *site* is a call that can fail, in os/ or mem/.  Where several places ask
 * for the same thing, memory above all, each place is a site: the headers
 * make macros of such calls.  In a build with SLEY_FAULTS each site is in a
 * section of the binary, sley_faults, so that a test knows all sites; and
 * each time a site is reached, the plan is asked whether the site shall fail.
 * Without a plan nothing fails.  tests/fault has plans.
 *
 *   fault_error("pthread_create", EAGAIN) ?: pthread_create(...)
 *   fault_errno("madvise", EINVAL) ? -1 : madvise(...)
 *
 * The first error is the usual failure; a plan may choose another error of the
 * site.  The errors are those that happen in the wild, see the manual page of the
 * call.
 *
 * Other builds have none of this: both are the constant 0.
 */
#ifndef SLEY_OS_FAULT_H
#define SLEY_OS_FAULT_H

#ifdef SLEY_FAULTS

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAULT_ERRORS_MAX 3

/* Aligned to its size, or compilers leave gaps between the sites of a section. */
struct fault_site {
	const char *file;
	const char *function;
	const char *call;
	int line;
	bool spurious; /* no failure: may be returned at any time */
	int error[FAULT_ERRORS_MAX];
} __attribute__((aligned(64)));

/* Any thread, any context.  0: go on; else the error to fail with. */
typedef int fault_plan_fn(const struct fault_site *site);

/* NULL: nothing fails. */
void fault_set_plan(fault_plan_fn *plan);

int fault_reached(const struct fault_site *site);
int fault_reached_errno(const struct fault_site *site);

/* Bytes of address space that are mapped: os_map() and os_unmap(). */
void fault_count_mapped(ptrdiff_t bytes);
int64_t fault_mapped(void);

#define FAULT_SITE(reached, spurious_, call_, ...)                             \
	__extension__({                                                        \
		static struct fault_site fault_site_                           \
			__attribute__((section("sley_faults"), used)) = {      \
				__FILE__, __func__,  call_,                    \
				__LINE__, spurious_, { __VA_ARGS__ },          \
			};                                                     \
		reached(&fault_site_);                                         \
	})

#define fault_error(...) FAULT_SITE(fault_reached, false, __VA_ARGS__)
#define fault_errno(...) FAULT_SITE(fault_reached_errno, false, __VA_ARGS__)
#define fault_spurious(...) FAULT_SITE(fault_reached_errno, true, __VA_ARGS__)

#else

#define fault_error(...) 0
#define fault_errno(...) 0
#define fault_spurious(...) 0
#define fault_count_mapped(bytes) ((void)(bytes))

#endif

#endif
