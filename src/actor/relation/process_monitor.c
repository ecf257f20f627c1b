/* SPDX-License-Identifier: MIT */
/*
 * process_monitor.c - a process is told when another one ends: monitors.
 *
 * (Not to be confused with the thread of core/sched/monitor.h.)
 *
 * A monitor contains its SLEY_DOWN.  It is on two lists: that of the target, under
 * the target's lock, until one of the two ends, and that of the watcher, which is
 * the watcher's own, until the message is taken out of the inbox.  If it is not
 * there any more by then, it was undone, and the message is dropped.
 *
 *   target ends       takes its list, and sends each message
 *   watcher ends      takes its monitors off the lists of targets that live: those
 *                     who live for long do not collect the monitors of those who
 *                     do not
 *   sley_unmonitor()  the same for one
 *
 * A monitor on the list of a target that does not live any more is sent, or going to
 * be: the target's, which nobody else touches.
 *
 * There are two references: the list of the watcher has one, the target the other,
 * which becomes the message's.
 *
 * The newest monitors of a process are the first on its list: one that is undone was
 * made a moment ago, as a rule.
 *
 * Edges, besides those of locks and inboxes:
 *
 *   K2  a reference is dropped -> the last one frees : what each did with it
 *
 * Rejected: a watcher that lets its monitors be told to nobody (a server collects
 * one for each client it ever had).
 */
#include "actor/relation/relation.h"

#include "actor/mail/blob.h"
#include "mem/pool.h"

#include <errno.h>

struct process_monitor {
	struct sley_msg msg;    /* from: the target, tag: the number;
				   space: the result, if any, and when      */
	struct list at_target;  /* (the target's lock)                      */
	struct list at_watcher; /* the watcher's own                        */
	sley_pid watcher;
	uint32_t refs;
};

static struct pool pool = { .object_size = 128 };
static uint64_t last_number;

_Static_assert(sizeof(struct process_monitor) <= 128, "an object of the pool");

static struct process_monitor *create(sley_pid target, sley_pid watcher)
{
	struct process_monitor *monitor = pool_get(&pool, NULL);

	if (!monitor)
		return NULL;
	*monitor = (struct process_monitor){ .watcher = watcher, .refs = 2 };
	monitor->msg.kind = SLEY_DOWN;
	monitor->msg.storage = MAIL_RELATION;
	monitor->msg.from = target;
	/* relaxed: it has to be another one each time, no more. */
	monitor->msg.tag = add_relaxed(&last_number, 1) + 1;
	list_init(&monitor->at_target);
	list_init(&monitor->at_watcher);
	return monitor;
}

static void drop(struct process_monitor *monitor, uint32_t refs)
{
	struct sley_blob *result;

	if (sub_acq_rel(&monitor->refs, refs) != refs) /* K2 */
		return;
	result = (struct sley_blob *)(uintptr_t)monitor->msg.space[0];
	if (result)
		sley_blob_put(result);
	pool_put(&pool, NULL, monitor);
}

static void attach(struct process *target, struct process_monitor *monitor)
{
	list_append(&target->relations->watchers, &monitor->at_target);
	target->relations->nr_watchers++;
}

/* Take it off the list of a target that lives.  Consumes the watcher's reference. */
static void undo(struct process_monitor *monitor)
{
	struct process *target = related_lock(monitor->msg.from);
	/* Not there: the pid was that of nobody when it was to be monitored. */
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

/* -ESRCH is no error here: that is told, too. */
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
		sley_assert(!error); /* it lives: it is the caller */
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

	sley_check(self, "unmonitor in a process");
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
