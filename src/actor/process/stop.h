/* SPDX-License-Identifier: MIT */
/*
 * stop.h - ask all processes of a runtime to end.
 */
#ifndef SLEY_ACTOR_PROCESS_STOP_H
#define SLEY_ACTOR_PROCESS_STOP_H

#include "actor/process/process.h"

/*
 * Ask all processes of @rt to end, also processes that start later.  A process
 * that has a supervisor is left to the supervisor.  @worker: only the processes
 * on @worker, which is the caller's, in a runtime where each bound thread has a
 * worker of its own; or NULL.
 */
void actors_stop(struct sley *rt, struct worker *worker);

/*
 * Report the processes of @rt that wait for messages and have no stack by which
 * they would be found.  Returns how many.
 */
uint64_t actors_report(struct sley *rt);

/* @process is about to start: ask it to end, if actors_stop() was called before. */
void stop_newcomer(struct process *process);

/* @pid had a supervisor (SIGNAL_SUPERVISED) that ends first: the same for @pid. */
void stop_orphan(sley_pid pid);

#endif
