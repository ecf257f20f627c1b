/* SPDX-License-Identifier: MIT */
/*
 * env.h - the environment of the process.
 */
#ifndef SLEY_OS_ENV_H
#define SLEY_OS_ENV_H

/*
 * The value of @name; NULL if unset, and always in a program that runs with
 * more rights than its caller: $SLEY_TRACE names a file we write to.
 */
const char *os_env(const char *name);

#endif
