/* SPDX-License-Identifier: MIT */
/*
 * collector.h - all subprocesses of a program, and the thread that looks after them.
 *
 * One thread, the *collector*, sleeps until a subprocess signals its eventfd, the
 * fork server reports a start or a death, or a deadline comes.  This thread handles
 * all events in the life of a subprocess, one after the other.  So events from
 * several sources (a call is late, an answer makes no sense, the subprocess has died
 * or shall end) need no further order.  Any calling thread puts calls into the ring
 * and takes answers, see subprocess.h.
 *
 * The collector takes answers for plain threads, and for tasks whose workers cannot
 * listen.  Other answers do not wake it: a worker hears them (listener.h).
 *
 * Rejected: a thread for each subprocess, which would cost a stack and one more
 * wake-up; the collector for all answers (the collector wakes the worker: two wake-ups
 * in a row, 2.4 times a futex); workers for deaths and deadlines, too (all of them may
 * be busy, or the runtime may end, and then no thread would restart the subprocess).
 */
#ifndef SLEY_SUBPROCESS_COLLECTOR_H
#define SLEY_SUBPROCESS_COLLECTOR_H

#include "base/compiler.h"
#include "subprocess/fork_server.h"

#include <sley/subprocess.h>
#include <stdbool.h>

/* Is there a fork server, started by this process? */
must_check bool collector_exists(void);

/* Is the fork server that of a parent of this process? */
must_check bool collector_is_lost(void);

/* In a subprocess, or after fork(): closes the descriptors of the parent. */
void collector_forget(void);

/* Gives @subprocess a number: from now on it is looked after.  0 or -errno. */
must_check int collector_join(struct sley_subprocess *subprocess);

/* Wakes the collector. */
void collector_nudge(void);

/* By the collector: lets the fork server start a subprocess.  0 or -errno. */
must_check int collector_start(const struct fork_server_order *order,
			       const int *fds, uint32_t nr_fds);

/*
 * By the collector: lets the fork server kill a subprocess.  If the message cannot
 * be sent the socket is shut down: then the fork server and all subprocesses end.
 */
void collector_kill(const struct fork_server_order *order);

#endif
