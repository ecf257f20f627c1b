/* SPDX-License-Identifier: MIT */
/*
 * proof.h - one line for each test, where somebody counts them; for test.c
 * only.
 */
#ifndef SLEY_TESTS_HARNESS_PROOF_H
#define SLEY_TESTS_HARNESS_PROOF_H

/* @result may be empty.  Writes nothing unless test_prove() was called. */
void proof_test(const char *name, const char *verdict, const char *result);

#endif
