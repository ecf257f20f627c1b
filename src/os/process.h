/* SPDX-License-Identifier: MIT */
/*
 * process.h - is this still the process that started it all?
 */
#ifndef SLEY_OS_PROCESS_H
#define SLEY_OS_PROCESS_H

/* How many forks lie between the process that loaded the library and this. */
unsigned int os_fork_generation(void);

/*
 * From now on each fork() calls @prepare before, and @parent or @child after;
 * each in the thread that forks.  For constructors, which run once: there is no
 * way back.  A lock of the whole process must be taken over the fork, or it may
 * never be free in the child.
 */
void os_fork_watch(void (*prepare)(void), void (*parent)(void),
		   void (*child)(void));

#endif
