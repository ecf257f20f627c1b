/* SPDX-License-Identifier: MIT */
/*
 * trial.h - one run of a scenario in a process of its own, for sweep.c only.
 *
 * Parent and child share a board: the child's plan (see os/fault.h) counts there
 * what was reached and what failed, and the parent judges it.
 */
#ifndef SLEY_TESTS_FAULT_TRIAL_H
#define SLEY_TESTS_FAULT_TRIAL_H

#include "os/fault.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TRIAL_SITES_MAX 512
#define TRIAL_ABSORBED_MAX 4

/* Which calls shall fail. */
struct trial_plan {
	int site;    /* -1: counted over all sites                          */
	unsigned nr; /* the first one to fail; 0: none does                 */
	int variant; /* which error of the site; the others have their first */
	bool forever;
};

struct trial_board {
	struct trial_plan plan;
	atomic_uint reached;     /* calls of all sites, without spurious ones */
	atomic_uint mark;        /* how many of these were the start          */
	atomic_uint nr_struck;   /* calls that failed                         */
	atomic_int first_struck; /* 1 + the site of the first; 0: none        */
	atomic_int first_error;
	atomic_uint nr_failed;  /* calls of the scenario that failed        */
	atomic_uint nr_reports; /* lines about it                           */
	atomic_bool lifted;     /* nothing fails any more                   */
	/* See trial_may_absorb(); literals, which parent and child have in one place. */
	const char *may_absorb[TRIAL_ABSORBED_MAX];
	atomic_uint site_reached[TRIAL_SITES_MAX];
	atomic_uint site_struck[TRIAL_SITES_MAX];
};

struct trial {
	struct trial_board *board; /* shared; stays for the next trial */
	pid_t pid;                 /* 0: none is running               */
	int pidfd;
	int output; /* what it wrote to stderr */
	uint64_t started_ns;
	unsigned int workers;
};

int trial_nr_sites(void);
const struct fault_site *trial_site(int i);
/* "core/task/spawn.c:31 build mem_alloc", without the folder it was built in. */
void trial_site_name(char *out, size_t size, int site);

void trial_init(struct trial *trial);
/* The child runs @body under @plan. */
void trial_begin(struct trial *trial, void (*body)(void),
		 const struct trial_plan *plan);
/* It has ended, with @status, or it did not in time.  NULL, or what is wrong. */
const char *trial_judge(struct trial *trial, int status, bool in_time);

#endif
