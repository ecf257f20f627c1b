/* SPDX-License-Identifier: MIT */
/*
 * call_watch.c - calls that wait for a process are told of its end.
 *
 * A watch lives in the frame of its call, which may return at any time: the reply
 * has come, or the deadline.  So the ending process looks at one watch at a time,
 * under the lock, takes it out, and keeps nothing but the pid of the port.  A
 * watch that is on no list belongs to the call alone.
 *
 * The lock is the lock of the place, not of the process: it is used after the
 * end, when the place may have a new tenant already.
 *
 * Rejected: a message in the frame (the call could not return while the message
 * is under way, and would have to wait for a process that tells a million others
 * first).
 */
#include "actor/mail/call.h"
#include "actor/relation/relation.h"

#include <errno.h>

int relation_watch(struct watch *watch, sley_pid target, sley_pid port)
{
	struct process *process;
	int error;

	list_init(&watch->node);
	watch->target = target;
	watch->port = port;
	error = relations_lock(target, &process);
	if (error)
		return error;
	list_append(&process->relations->watches, &watch->node);
	process_unlock(process);
	return 0;
}

void relation_unwatch(struct watch *watch)
{
	struct process *place = process_table_at(pid_index(watch->target));

	spin_lock(&place->lock);
	list_remove(&watch->node);
	spin_unlock(&place->lock);
}

void watches_tell(struct relations *relations, sley_pid pid,
		  const struct exit_info *ending)
{
	struct process *place = process_table_at(pid_index(pid));

	for (;;) {
		struct list *node;
		sley_pid port = SLEY_NO_PID;

		spin_lock(&place->lock);
		node = list_take_first(&relations->watches);
		if (node)
			port = container_of(node, struct watch, node)->port;
		spin_unlock(&place->lock);
		if (!node)
			return;
		port_ended(port, pid, ending);
	}
}
