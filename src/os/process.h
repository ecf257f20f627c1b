/* SPDX-License-Identifier: MIT */
/*
 * process.h - is this still the process that started it all?
 *
 * fork() copies memory, but only one thread: a runtime in the child has lost
 * its workers.  Each runtime remembers the generation it was created in.
 */
#ifndef SLEY_OS_PROCESS_H
#define SLEY_OS_PROCESS_H

/* How many forks lie between the first caller and this process. */
unsigned int os_fork_generation(void);

#endif
