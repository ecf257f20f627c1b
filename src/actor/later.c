/* SPDX-License-Identifier: MIT */
/*
 * later.c - stands in for what is not there yet.
 */
#include "actor/bound.h"
#include "actor/call.h"
#include "actor/name.h"
#include "actor/relation.h"
#include <errno.h>
struct relations *relations_take(struct process *p)
{
	(void)p;
	return NULL;
}
void relations_tell(struct relations *r, sley_pid pid, int reason)
{
	(void)r;
	(void)pid;
	(void)reason;
}
bool relation_arrived(struct process *p, struct sley_msg *m)
{
	(void)p;
	(void)m;
	return true;
}
void relation_free(struct sley_msg *m)
{
	(void)m;
}
int relation_link_new(struct process *p)
{
	(void)p;
	return -ENOSYS;
}
int relation_monitor_new(struct process *p, uint64_t *n)
{
	(void)p;
	(void)n;
	return -ENOSYS;
}
void relations_count(const struct process *p, uint32_t *l, uint32_t *m)
{
	(void)p;
	*l = *m = 0;
}
int sley_link(sley_pid p)
{
	(void)p;
	return -ENOSYS;
}
void sley_unlink(sley_pid p)
{
	(void)p;
}
int sley_monitor(sley_pid p, uint64_t *n)
{
	(void)p;
	(void)n;
	return -ENOSYS;
}
void sley_unmonitor(uint64_t n)
{
	(void)n;
}
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
/* topic */
void topics_forget(struct process *p)
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
