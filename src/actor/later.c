/* SPDX-License-Identifier: MIT */
/*
 * later.c - stands in for what is not there yet.
 */
#include "actor/call.h"
#include "actor/relation.h"
#include <errno.h>
/* call */
int port_deliver(struct process *port, sley_pid pid, struct sley_msg *msg)
{
	(void)port;
	(void)pid;
	mail_free(msg);
	return -ESRCH;
}
void port_ended(sley_pid port, sley_pid target, int reason)
{
	(void)port;
	(void)target;
	(void)reason;
}
