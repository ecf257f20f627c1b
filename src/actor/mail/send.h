/* SPDX-License-Identifier: MIT */
/*
 * send.h - sending a message of a user.
 */
#ifndef SLEY_ACTOR_MAIL_SEND_H
#define SLEY_ACTOR_MAIL_SEND_H

#include "actor/process/process.h"

/* A deadline that never comes, for plain threads, too. */
#define SEND_AT_LENGTH (UINT64_MAX - 1)

/*
 * Send @msg to @to, which may be a port, or have a mailbox with a limit.  If the
 * mailbox is full, and says SLEY_BLOCK, wait for room until @deadline_ns;
 * UINT64_MAX: a task waits, a plain thread gets -EAGAIN; 0: no caller waits.
 * @msg is gone in any case.  0, or as sley_send_until().
 */
int send_message(sley_pid to, struct sley_msg *msg, uint64_t deadline_ns);

#endif
