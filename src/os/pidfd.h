/* SPDX-License-Identifier: MIT */
/*
 * pidfd.h - processes that are forked to stay children: their end, and how they
 * end together with the parent.
 */
#ifndef SLEY_OS_PIDFD_H
#define SLEY_OS_PIDFD_H

#include "base/compiler.h"
#include "os/fault.h"
#include "os/thread.h"

#include <stdbool.h>

/* How many threads this process has; 0: unknown. */
must_check int os_nr_threads(void);

/*
 * Forks a child in a process group of its own, which the signals of the terminal do
 * not reach.  Returns the pid, 0 in the child, or -errno.
 */
must_check int os_fork(void);
#ifdef SLEY_FAULTS
#define os_fork() (-fault_error("os_fork", EAGAIN, ENOMEM) ?: (os_fork)())
#endif

int os_pid(void);

/*
 * In a child: kill this process when the thread of @parent that forked the child
 * ends.  If that thread has ended already, the child ends at once.
 */
void os_end_with(int parent);

/* A descriptor that can be read when the process @pid has ended, or -errno. */
must_check int os_pidfd_open(int pid);

/* Is @pid the parent of this process? */
must_check bool os_is_parent(int pid);

/* Kills a child, and the processes that the child has left in its group. */
void os_kill(int pid);

/* The pid of an ended child, and its status; 0: none has ended.  Does not wait. */
must_check int os_reap(int *status);

/* Waits for the end of this child. */
void os_reap_one(int pid);

/* How a process has ended, as a text: "was killed by signal 9 (Killed)". */
void os_explain_end(char *text, size_t size, int status);

/*
 * Blocks all signals; the signals that were blocked before are in @old.  A
 * descriptor that can be read when a child has ended, or -errno.  SIGCHLD is no
 * longer ignored.
 */
must_check int os_watch_children(struct os_signals *old);
/* Reads all that can be read from @fd. */
void os_hush_children(int fd);

/* In a child: the name of the process in ps. */
void os_name_process(const char *name);

/* Ends the process, and nothing else: no handlers, no buffers. */
noreturn_fn void os_exit(int status);

#endif
