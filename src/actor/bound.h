/* SPDX-License-Identifier: MIT */
/*
 * bound.h - the mailbox of a process that takes so many messages and no more.
 */
#ifndef SLEY_ACTOR_BOUND_H
#define SLEY_ACTOR_BOUND_H

#include "actor/process.h"

/* For a new process, which nobody knows yet.  0 or -ENOMEM. */
must_check int bound_create(struct process *process, uint32_t limit,
			    unsigned int overflow);

/*
 * Instead of mail_send(), for what users send to @to, a process with a limit.
 * @process is where process_find() found it: it may be another one by now.
 */
must_check int bound_send(struct process *process, sley_pid to,
			  struct sley_msg *msg, uint64_t deadline_ns);

/* The owner: the next message, or NULL; makes room. */
struct sley_msg *bound_take(struct process *process);

/* How many there are, and were dropped or refused.  Any thread: a hint. */
uint32_t bound_length(const struct process *process, uint64_t *dropped);

/* The process ends: those that wait to send get -ESRCH. */
void bound_close(struct process *process);

#endif
