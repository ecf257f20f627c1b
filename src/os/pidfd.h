/* SPDX-License-Identifier: MIT */
/*
 * pidfd.h - processes that were forked to stay children: their end, and that
 * they do not outlive who forked them.
 */
#ifndef SLEY_OS_PIDFD_H
#define SLEY_OS_PIDFD_H

#include "base/compiler.h"
#include "os/fault.h"
#include "os/thread.h"

#include <stdbool.h>

/* How many threads this process has; 0: nobody knows. */
must_check int os_nr_threads(void);

/*
 * A child in a process group of its own: signals of the terminal are none of its
 * business.  Its pid, 0 in the child, or -errno.
 */
must_check int os_fork(void);
#ifdef SLEY_FAULTS
#define os_fork() (-fault_error("os_fork", EAGAIN, ENOMEM) ?: (os_fork)())
#endif

int os_pid(void);

/*
 * In a child: it is killed when the thread of @parent that forked it ends.  It has
 * ended, if that has happened already.
 */
void os_end_with(int parent);

/* A descriptor that can be read when the process @pid has ended, or -errno. */
must_check int os_pidfd_open(int pid);

/* Is @pid the parent of this process? */
must_check bool os_is_parent(int pid);

/* Kills a child, and those of its group that it has left behind. */
void os_kill(int pid);

/* The pid of a child that has ended, and how; 0: none has.  Does not wait. */
must_check int os_reap(int *status);

/* Waits for the end of this child. */
void os_reap_one(int pid);

/* How a process has ended, as a text: "was killed by signal 9 (Killed)". */
void os_explain_end(char *text, size_t size, int status);

/*
 * Blocks all signals; those that were blocked before are in @old.  A descriptor
 * that can be read when a child has ended, or -errno.  SIGCHLD is no longer ignored.
 */
must_check int os_watch_children(struct os_signals *old);
/* What can be read there is read. */
void os_hush_children(int fd);

/* In a child: its name in ps. */
void os_name_process(const char *name);

/* Ends the process, and nothing else: no handlers, no buffers. */
noreturn_fn void os_exit(int status);

#endif
