/* SPDX-License-Identifier: MIT */
/*
 * env.c - secure_getenv(3).
 */
#include "os/env.h"

#include <stdlib.h>

const char *os_env(const char *name)
{
	return secure_getenv(name);
}
