/* SPDX-License-Identifier: MIT */
/*
 * proof.h - the part of a test program in the numbers of docs/PROOF.md: a line of
 * JSON in the file that $SLEY_PROOF names.  For test.c only.
 */
#ifndef SLEY_TESTS_HARNESS_PROOF_H
#define SLEY_TESTS_HARNESS_PROOF_H

#include <stdint.h>

/* One test.  @result may be empty.  Nothing unless test_prove() was called. */
void proof_test(const char *name, const char *verdict, const char *result);

struct proof {
	const char *program; /* the path               */
	int nr_tests;        /* that have passed       */
	uint64_t nr_operations;
	double seconds;
};

/* The whole run, if nothing has failed. */
void proof_run(const struct proof *proof);

#endif
