/* SPDX-License-Identifier: MIT */
/*
 * observer.c - a process is told when another one ends: monitors.
 *
 * (One is called an observer here: the monitor is a thread, core/sched/monitor.h.)
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
#include "actor/relation.h"

#include "actor/blob.h"
#include "mem/pool.h"

#include <errno.h>

struct observer {
	struct sley_msg msg;    /* from: the target, tag: the number;
				   space: the result, if any, and when      */
	struct list at_target;  /* (the target's lock)                      */
	struct list at_watcher; /* the watcher's own                        */
	sley_pid watcher;
	uint32_t refs;
};

static struct pool pool = { .object_size = 128 };
static uint64_t last_number;

_Static_assert(sizeof(struct observer) <= 128, "an object of the pool");

static struct observer *create(sley_pid target, sley_pid watcher)
{
	struct observer *observer = pool_get(&pool, NULL);

	if (!observer)
		return NULL;
	*observer = (struct observer){ .watcher = watcher, .refs = 2 };
	observer->msg.kind = SLEY_DOWN;
	observer->msg.storage = MAIL_RELATION;
	observer->msg.from = target;
	/* relaxed: it has to be another one each time, no more. */
	observer->msg.tag = add_relaxed(&last_number, 1) + 1;
	list_init(&observer->at_target);
	list_init(&observer->at_watcher);
	return observer;
}

static void drop(struct observer *observer, uint32_t refs)
{
	struct sley_blob *result;

	if (sub_acq_rel(&observer->refs, refs) != refs) /* K2 */
		return;
	result = (struct sley_blob *)(uintptr_t)observer->msg.space[0];
	if (result)
		sley_blob_put(result);
	pool_put(&pool, NULL, observer);
}

static void attach(struct process *target, struct observer *observer)
{
	list_append(&target->relations->watchers, &observer->at_target);
	target->relations->nr_watchers++;
}

/* Take it off the list of a target that lives.  Consumes the watcher's reference. */
static void undo(struct observer *observer)
{
	struct process *target = related_lock(observer->msg.from);
	/* Not there: the pid was that of nobody when it was to be monitored. */
	bool attached = target && !list_empty(&observer->at_target);

	if (attached) {
		list_remove(&observer->at_target);
		target->relations->nr_watchers--;
	}
	if (target)
		process_unlock(target);
	drop(observer, attached ? 2 : 1);
}

/* ---- to monitor ------------------------------------------------------------------ */

/* -ESRCH is no error here: that is told, too. */
static int observe(struct observer *observer)
{
	struct process *target;
	int error = relations_lock(observer->msg.from, &target);

	if (!error) {
		attach(target, observer);
		process_unlock(target);
	} else if (error == -ESRCH) {
		observer->msg.error = -ESRCH;
		error = mail_send(observer->watcher, &observer->msg);
		sley_assert(!error); /* it lives: it is the caller */
	}
	return error;
}

int sley_monitor(sley_pid pid, uint64_t *number)
{
	struct observer *observer;
	struct process *self;
	uint64_t tag;
	int error = relations_own(pid, &self);

	if (error)
		return error;
	observer = create(pid, sley_self());
	if (!observer)
		return -ENOMEM;
	tag = observer->msg.tag;
	list_prepend(&self->relations->watching, &observer->at_watcher);
	error = observe(observer);
	if (error) {
		list_remove(&observer->at_watcher);
		drop(observer, 2);
		return error;
	}
	if (number)
		*number = tag;
	return 0;
}

static struct observer *find(struct process *self, uint64_t number)
{
	const struct list *head;

	spin_lock(&self->lock);
	head = self->relations ? &self->relations->watching : NULL;
	spin_unlock(&self->lock);
	if (!head)
		return NULL;
	for (struct list *node = head->next; node != head; node = node->next) {
		struct observer *observer =
			container_of(node, struct observer, at_watcher);

		if (observer->msg.tag == number)
			return observer;
	}
	return NULL;
}

void sley_unmonitor(uint64_t number)
{
	struct process *self = process_current();
	struct observer *observer;

	sley_check(self, "unmonitor in a process");
	observer = find(self, number);
	if (!observer) {
		relations_withdraw(self, SLEY_DOWN, number);
		return;
	}
	list_remove(&observer->at_watcher);
	undo(observer);
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

void observers_tell(struct relations *relations, const struct exit_info *ending)
{
	struct list *node;

	while ((node = list_take_first(&relations->watchers))) {
		struct observer *observer =
			container_of(node, struct observer, at_target);

		note(&observer->msg, ending);
		mail_send(observer->watcher, &observer->msg);
	}
}

void observers_leave(struct relations *relations)
{
	struct list *node;

	while ((node = list_take_first(&relations->watching)))
		undo(container_of(node, struct observer, at_watcher));
}

bool observer_arrived(struct sley_msg *msg)
{
	struct observer *observer = container_of(msg, struct observer, msg);
	bool wanted = !list_empty(&observer->at_watcher);

	list_remove(&observer->at_watcher);
	drop(observer, 1);
	return wanted;
}

void observer_free(struct sley_msg *msg)
{
	drop(container_of(msg, struct observer, msg), 1);
}
