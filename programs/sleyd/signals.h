/* SPDX-License-Identifier: MIT */
/*
 * signals.h - the thread that hears SIGTERM, SIGINT, SIGHUP and SIGALRM.
 *
 * It is no worker: methods may hold all workers, and the operator is heard all the same.
 * So nothing that this thread does waits for a worker.  A hang-up loads modules and reads
 * files, which is done by a task; only the log is opened again here.
 *
 * SIGALRM comes at the time at which the process ends at the latest, see daemon_stop().
 * All threads block it, so that this thread has it, and the last line is a line of the log
 * like others.
 *
 * Rejected: a task that waits by sley_signal_wait().  It goes on when a worker has time.
 */
#ifndef SLEYD_SIGNALS_H
#define SLEYD_SIGNALS_H

#include "daemon.h"

/* main() has blocked the first three.  Before other threads start.  0, or -errno. */
int signals_start(struct daemon *daemon);

/* The task for hang-ups, once there is a runtime.  0, or an error. */
int signals_serve(struct daemon *daemon);

/* Nothing is heard any more. */
void signals_end(struct daemon *daemon);

#endif
