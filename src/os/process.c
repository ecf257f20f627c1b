/* SPDX-License-Identifier: MIT */
/*
 * process.c - see process.h.
 *
 * Watching begins when the library is loaded.  Rejected: when the first runtime
 * is created, by pthread_once().  Another thread may fork in the middle of it;
 * the child would register its handlers a second time.
 */
#include "os/process.h"

#include "base/assert.h"
#include "os/fault.h"

#include <pthread.h>
#include <stddef.h>

static unsigned int generation;

/* In the child, where there is one thread only. */
static void count_fork(void)
{
	generation++;
}

void os_fork_watch(void (*prepare)(void), void (*parent)(void),
		   void (*child)(void))
{
	if (fault_error("pthread_atfork", ENOMEM) ||
	    pthread_atfork(prepare, parent, child))
		sley_fatal("no memory to watch forks");
}

__attribute__((constructor)) static void count_forks(void)
{
	os_fork_watch(NULL, NULL, count_fork);
}

unsigned int os_fork_generation(void)
{
	return generation;
}
