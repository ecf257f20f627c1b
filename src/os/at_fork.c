/* SPDX-License-Identifier: MIT */
/*
 * at_fork.c - see at_fork.h.
 *
 * Watching begins when the library is loaded.  Rejected: when the first runtime
 * is created, by pthread_once().  Another thread may fork in the middle of
 * pthread_once(); the child would register its handlers a second time.
 */
#include "os/at_fork.h"

#include "base/assert.h"
#include "os/fault.h"

#include <pthread.h>
#include <stddef.h>

/* Constant once constructors have run; NULL: not linked into this program. */
static const struct fork_part *parts[NR_FORK_RANKS];
static unsigned int generation;

void os_fork_register(enum fork_rank rank, const struct fork_part *part)
{
	sley_assert(!parts[rank]);
	parts[rank] = part;
}

static void lock_all(void)
{
	for (int i = 0; i < NR_FORK_RANKS; i++) {
		if (parts[i] && parts[i]->lock)
			parts[i]->lock();
	}
}

static void unlock_all(void)
{
	for (int i = NR_FORK_RANKS; i-- > 0;) {
		if (parts[i] && parts[i]->unlock)
			parts[i]->unlock();
	}
}

/* In the child, where there is one thread only. */
static void enter_child(void)
{
	generation++;
	for (int i = NR_FORK_RANKS; i-- > 0;) {
		if (parts[i] && parts[i]->renew)
			parts[i]->renew();
	}
	unlock_all();
}

/* The priority is that of the first constructor that is not the compiler's. */
__attribute__((constructor(101))) static void watch_forks(void)
{
	if (fault_error("pthread_atfork", ENOMEM) ||
	    pthread_atfork(lock_all, unlock_all, enter_child))
		sley_fatal("no memory to watch forks");
}

unsigned int os_fork_generation(void)
{
	return generation;
}
