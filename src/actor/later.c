/* SPDX-License-Identifier: MIT */
/*
 * later.c - stands in for what is not there yet.
 */
#include "actor/bound.h"
#include "actor/call.h"
#include "actor/relation.h"
#include <errno.h>
/* bound */
int bound_create(struct process *p, uint32_t l, unsigned int o)
{
	(void)p;
	(void)l;
	(void)o;
	return -ENOSYS;
}
int bound_send(struct process *p, sley_pid to, struct sley_msg *m, uint64_t d)
{
	(void)p;
	(void)to;
	(void)d;
	mail_free(m);
	return -ENOSYS;
}
struct sley_msg *bound_take(struct process *p)
{
	(void)p;
	return NULL;
}
uint32_t bound_length(const struct process *p, uint64_t *d)
{
	(void)p;
	(void)d;
	return 0;
}
void bound_close(struct process *p)
{
	(void)p;
}
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
