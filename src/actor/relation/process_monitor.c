/* SPDX-License-Identifier: MIT */
/*
 * process_monitor.c - monitors: a process is told of the end of a different
 * process.
 *
 * (Not to be confused with the thread of core/sched/monitor.h.)
 *
 * The monitoring process (the watcher in names below) is told, the monitored
 * process (the target) ends.
 *
 * A monitor contains its SLEY_DOWN.  It is on two lists.  On the list of the
 * monitored process, under the lock of that process, it stays until one of the
 * two processes ends.  On the list of the monitoring process, which only that
 * process uses, it stays until the message is taken out of the inbox.  If the
 * monitor is not on the second list by then, it was undone, and the message is
 * dropped.
 *
 *   the monitored process ends    takes its list, and sends each message
 *   the monitoring process ends   takes its monitors off the lists of monitored
 *                                 processes that live: so a process that lives for
 *                                 long does not collect the monitors of processes
 *                                 that do not
 *   sley_unmonitor()              the same for a single monitor
 *
 * A monitor on the list of a monitored process that has ended is sent, or is
 * going to be sent: only the ending process touches it.
 *
 * There are two references.  One belongs to the list of the monitoring process.
 * The other belongs to the monitored process, and passes to the message.
 *
 * The newest monitors of a process are the first on its list: a monitor that is
 * undone was made a moment ago, as a rule.
 *
 * Edges, besides those of locks and inboxes:
 *
 *   PM1  a reference is dropped -> the last drop frees the monitor : all uses of it
 *
 * Rejected: to leave the monitors of an ended process on the lists of the
 * monitored processes (a server collects a monitor for each client that it ever
 * had).
 */
#include "actor/relation/relation.h"

#include "actor/mail/blob.h"
#include "mem/object_pool.h"

#include <errno.h>

struct process_monitor {
	struct sley_msg msg;    /* from: the monitored, tag: the number; space:
				   the result, if any, and when */
	struct list at_target;  /* (the lock of the monitored)              */
	struct list at_watcher; /* of the monitoring process alone          */
	sley_pid watcher;
	uint32_t refs;
};

static struct object_pool pool = { .object_size = 128 };
static uint64_t last_number;

_Static_assert(sizeof(struct process_monitor) <= 128, "an object of the pool");

static struct process_monitor *create(sley_pid target, sley_pid watcher)
{
	struct process_monitor *monitor = object_pool_get(&pool, NULL);

	if (!monitor)
		return NULL;
	*monitor = (struct process_monitor){ .watcher = watcher, .refs = 2 };
	monitor->msg.kind = SLEY_DOWN;
	monitor->msg.storage = MAIL_RELATION;
	monitor->msg.from = target;
	/* relaxed: has to be different each time, no more. */
	monitor->msg.tag = add_relaxed(&last_number, 1) + 1;
	list_init(&monitor->at_target);
	list_init(&monitor->at_watcher);
	return monitor;
}

static void drop(struct process_monitor *monitor, uint32_t refs)
{
	struct sley_blob *result;

	if (sub_acq_rel(&monitor->refs, refs) != refs) /* PM1 */
		return;
	result = (struct sley_blob *)(uintptr_t)monitor->msg.space[0];
	if (result)
		sley_blob_put(result);
	object_pool_put(&pool, NULL, monitor);
}

static void attach(struct process *target, struct process_monitor *monitor)
{
	list_append(&target->relations->watchers, &monitor->at_target);
	target->relations->nr_watchers++;
}

/*
 * Take @monitor off the list of a monitored process that lives.  Consumes the
 * reference of the monitoring process.
 */
static void undo(struct process_monitor *monitor)
{
	struct process *target = related_lock(monitor->msg.from);
	/* Not on a list: there was no such process when it was to be monitored. */
	bool attached = target && !list_empty(&monitor->at_target);

	if (attached) {
		list_remove(&monitor->at_target);
		target->relations->nr_watchers--;
	}
	if (target)
		process_unlock(target);
	drop(monitor, attached ? 2 : 1);
}

/* ---- to monitor ------------------------------------------------------------------ */

/* -ESRCH is no error here: SLEY_DOWN reports it. */
static int observe(struct process_monitor *monitor)
{
	struct process *target;
	int error = relations_lock(monitor->msg.from, &target);

	if (!error) {
		attach(target, monitor);
		process_unlock(target);
	} else if (error == -ESRCH) {
		monitor->msg.error = -ESRCH;
		error = mail_send(monitor->watcher, &monitor->msg);
		sley_assert(!error); /* the watcher lives: it is the caller */
	}
	return error;
}

int sley_monitor(sley_pid pid, uint64_t *number)
{
	struct process_monitor *monitor;
	struct process *self;
	uint64_t tag;
	int error = relations_own(pid, &self);

	if (error)
		return error;
	monitor = create(pid, sley_self());
	if (!monitor)
		return -ENOMEM;
	tag = monitor->msg.tag;
	list_prepend(&self->relations->watching, &monitor->at_watcher);
	error = observe(monitor);
	if (error) {
		list_remove(&monitor->at_watcher);
		drop(monitor, 2);
		return error;
	}
	if (number)
		*number = tag;
	return 0;
}

static struct process_monitor *find(struct process *self, uint64_t number)
{
	const struct list *head;

	spin_lock(&self->lock);
	head = self->relations ? &self->relations->watching : NULL;
	spin_unlock(&self->lock);
	if (!head)
		return NULL;
	for (struct list *node = head->next; node != head; node = node->next) {
		struct process_monitor *monitor =
			container_of(node, struct process_monitor, at_watcher);

		if (monitor->msg.tag == number)
			return monitor;
	}
	return NULL;
}

void sley_unmonitor(uint64_t number)
{
	struct process *self = process_current();
	struct process_monitor *monitor;

	sley_check(self, "only a process can take back a monitor");
	monitor = find(self, number);
	if (!monitor) {
		relations_withdraw(self, SLEY_DOWN, number);
		return;
	}
	list_remove(&monitor->at_watcher);
	undo(monitor);
}

/* ---- the end ------------------------------------------------------------------- */

static void note(struct sley_msg *msg, const struct exit_info *ending)
{
	msg->error = ending->reason;
	msg->space[1] = ending->time_ns;
	if (ending->result) {
		blob_get(ending->result);
		msg->space[0] = (uintptr_t)ending->result;
		msg->size = ending->result->size;
	}
}

void process_monitors_tell(struct relations *relations,
			   const struct exit_info *ending)
{
	struct list *node;

	while ((node = list_take_first(&relations->watchers))) {
		struct process_monitor *monitor =
			container_of(node, struct process_monitor, at_target);

		note(&monitor->msg, ending);
		mail_send(monitor->watcher, &monitor->msg);
	}
}

void process_monitors_leave(struct relations *relations)
{
	struct list *node;

	while ((node = list_take_first(&relations->watching)))
		undo(container_of(node, struct process_monitor, at_watcher));
}

bool process_monitor_arrived(struct sley_msg *msg)
{
	struct process_monitor *monitor =
		container_of(msg, struct process_monitor, msg);
	bool wanted = !list_empty(&monitor->at_watcher);

	list_remove(&monitor->at_watcher);
	drop(monitor, 1);
	return wanted;
}

void process_monitor_free(struct sley_msg *msg)
{
	drop(container_of(msg, struct process_monitor, msg), 1);
}
