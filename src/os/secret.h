/* SPDX-License-Identifier: MIT */
/*
 * secret.h - a random number that only this process knows.
 *
 * The kernel gives each program 16 random bytes at its start (AT_RANDOM).  They are
 * there without a system call, in every sandbox, so the call cannot fail.  The C library
 * uses the same bytes to protect stacks; so they are hashed, and never used as they
 * are.  A child of fork() has the secret of its parent.
 *
 * Rejected: getrandom(): a system call that a filter may deny, and then there would have
 * to be something else anyway.
 */
#ifndef SLEY_OS_SECRET_H
#define SLEY_OS_SECRET_H

#include "base/sip_hash.h"

/* The same for the whole life of the process.  Any thread. */
struct sip_key os_secret(void);

#endif
