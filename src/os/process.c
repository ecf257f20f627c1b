/* SPDX-License-Identifier: MIT */
/*
 * process.c - see process.h.
 */
#include "os/process.h"

#include <pthread.h>

static unsigned int generation;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* In the child, where there is one thread only. */
static void count_fork(void)
{
	generation++;
}

static void watch_forks(void)
{
	(void)pthread_atfork(NULL, NULL, count_fork);
}

unsigned int os_fork_generation(void)
{
	(void)pthread_once(&once, watch_forks);
	return generation;
}
