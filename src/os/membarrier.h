/* SPDX-License-Identifier: MIT */
/*
 * membarrier.h - a full memory barrier on every running thread of the process.
 *
 * For protocols with a frequent and a rare side, each of which stores and then
 * looks at what the other stored.  The frequent side needs no barrier, only a
 * compiler_barrier(), if the rare side calls os_membarrier() between its store
 * and its look.  The call costs microseconds and interrupts the other CPUs that
 * run this process.
 */
#ifndef SLEY_OS_MEMBARRIER_H
#define SLEY_OS_MEMBARRIER_H

#include "base/compiler.h"

#include <stdbool.h>

/*
 * Registers the process; once is enough, more do no harm.  False: the kernel
 * is too old or a sandbox denies it, and the caller needs real barriers on
 * both sides.
 */
must_check bool os_membarrier_setup(void);

/* Only after os_membarrier_setup() returned true. */
void os_membarrier(void);

#endif
