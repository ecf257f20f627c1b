/* SPDX-License-Identifier: MIT */
/*
 * stop.h - all processes of a runtime are asked to end.
 */
#ifndef SLEY_ACTOR_PROCESS_STOP_H
#define SLEY_ACTOR_PROCESS_STOP_H

#include "actor/process/process.h"

/*
 * Ask all processes of @rt to end, now and those to come; but for those that have
 * a supervisor, who sees to it.  @worker: only those that live there, where each
 * bound thread has its own, and is the caller; or NULL.
 */
void actors_stop(struct sley *rt, struct worker *worker);

/*
 * Report the processes of @rt that wait for messages, and have no stack by which
 * they would be found.  Returns how many.
 */
uint64_t actors_report(struct sley *rt);

/* @process is about to start: does that apply to it? */
void stop_newcomer(struct process *process);

/* @pid had a supervisor (SIGNAL_SUPERVISED), which is gone before it. */
void stop_orphan(sley_pid pid);

#endif
