/* SPDX-License-Identifier: MIT */
/*
 * domain_inside.h - what a member of a domain can see and do inside of the library, and what
 * no program should: it looks at the core of a worker, and writes what it likes over all that
 * the kernel lets it write of its domain, as a stray pointer does, or malice.
 */
#ifndef SLEY_TESTS_STRESS_DOMAIN_INSIDE_H
#define SLEY_TESTS_STRESS_DOMAIN_INSIDE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * By a task that begins: the core of its worker is another's, by the words of the member and
 * the host.  That may be, after the process was stopped or got no CPU, until its next tick.
 * The call checks that no task is picked later than that.  False also if the worker
 * overtakes, or needs no core now.
 */
bool inside_core_is_lost(void);

/* By a task: the number of its worker. */
uint32_t inside_worker(void);

/*
 * Some words at random in each page of a domain that this process has mapped: the kernel
 * lets it write to its own.  Counts the words that were written.
 */
void inside_scribble(atomic_ullong *nr_writes);

#endif
