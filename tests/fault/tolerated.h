/* SPDX-License-Identifier: MIT */
/*
 * tolerated.h - sites whose failure is, or may be, nobody's business.
 */
#ifndef SLEY_TESTS_FAULT_TOLERATED_H
#define SLEY_TESTS_FAULT_TOLERATED_H

#include "os/fault.h"

enum fault_rule {
	REPORTED, /* some call fails, with the error of the site       */
	ABSORBED, /* no call fails: the library does without           */
	EITHER,   /* depends on who asks                               */
	NO_SWEEP, /* cannot be reached from a scenario; argued         */
};

struct tolerated {
	const char *file; /* below src/ */
	const char *function;
	const char *call;
	int error; /* the row is for this error alone; 0: for all */
	enum fault_rule rule;
	bool loses_map;     /* address space is lost            */
	bool second;        /* reached only if another failed   */
	bool not_sanitized; /* sanitizers have taken its place  */
	int as;             /* reported as this; 0: as it is    */
	const char *reason;
};

/* @error happened at @site.  NULL: it must be reported. */
const struct tolerated *tolerated_find(const struct fault_site *site,
				       int error);

#endif
