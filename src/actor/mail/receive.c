/* SPDX-License-Identifier: MIT */
/*
 * receive.c - an actor receives its messages.
 *
 * An actor without messages waits for its inbox, and for nothing else
 * (core/task/turn.h).  So the deadline of a receive is a message, too:
 * MAIL_TIMEOUT, embedded in the frame of the receive and sent by an alarm.  If
 * the alarm has begun to ring when the receive is over, the receive returns only
 * after the message has come out of the inbox.
 *
 * A selective receive remembers how far it has looked: a message that was not
 * wanted stays in its queue, and is not asked for again in the same receive.
 */
#include "actor/mail/receive.h"

#include "actor/mail/bounded.h"
#include "actor/process/process.h"
#include "core/life/scope.h"
#include "core/wait/timer.h"
#include "core/wait/wait.h"
#include "os/clock.h"

#include <errno.h>
#include <sley/actor.h>

/* The deadline of a receive, in the frame of the receive. */
struct deadline {
	struct alarm alarm;
	struct sley_msg msg; /* MAIL_TIMEOUT */
	sley_pid pid;
	bool started;
	bool rings;   /* under the lock of the timers: the message comes */
	bool arrived; /* the message has come                           */
};

/* The messages that a receive asks for. */
struct wish {
	struct process *process;
	sley_wants *wants; /* NULL: anything */
	void *arg;
	struct sley_msg *control; /* the last message not wanted      */
	struct sley_msg *user;
};

/* ---- the deadline --------------------------------------------------------------- */

static void deadline_hold(struct alarm *alarm)
{
	container_of(alarm, struct deadline, alarm)->rings = true;
}

static void deadline_ring(struct alarm *alarm)
{
	struct deadline *deadline = container_of(alarm, struct deadline, alarm);

	(void)mail_send(deadline->pid, &deadline->msg);
}

void receive_timed_out(struct sley_msg *msg)
{
	container_of(msg, struct deadline, msg)->arrived = true;
}

static void deadline_start(struct deadline *deadline, struct worker *worker,
			   sley_pid pid, uint64_t deadline_ns)
{
	*deadline = (struct deadline){
		.alarm = { .hold = deadline_hold, .ring = deadline_ring },
		.msg = { .kind = MAIL_TIMEOUT, .storage = MAIL_EMBEDDED },
		.pid = pid,
		.started = true,
	};
	alarm_start(&worker->timers, &deadline->alarm, deadline_ns);
}

static void deadline_stop(struct deadline *deadline, struct process *process)
{
	if (!deadline->started)
		return;
	timer_stop(&deadline->alarm.timer);
	while (deadline->rings && !deadline->arrived) {
		mail_sort(process);
		if (!deadline->arrived)
			(void)wait_inbox(worker_now(), &process->inbox, NULL);
	}
}

/* ---- taking ----------------------------------------------------------------------- */

/*
 * While the user's function is asked, the actor neither receives nor exits: the
 * receive and its deadline are on the stack below.
 */
static bool is_wanted(const struct wish *wish, struct sley_msg *msg)
{
	bool wanted;

	mail_deliver(msg); /* the function may look at the bytes */
	wish->process->flags |= PROCESS_ASKS;
	wanted = wish->wants(msg, wish->arg);
	wish->process->flags &= ~PROCESS_ASKS;
	return wanted;
}

/* Take out the first wanted message after *@seen; NULL: the first of all. */
static struct sley_msg *take_wanted(struct mail_queue *queue,
				    struct sley_msg **seen,
				    const struct wish *wish)
{
	struct sley_msg *before = *seen ? *seen : queue->last;

	while (before && *seen != queue->last) {
		if (is_wanted(wish, before->next))
			return mail_take_after(queue, before);
		*seen = before = before->next;
	}
	return NULL;
}

/* Drop the oldest @nr messages that count: a full mailbox has dropped them. */
static void drop(struct process *process, struct wish *wish, uint32_t nr)
{
	struct sley_msg *before = process->user.last, *passed = NULL;

	while (nr > 0) {
		struct sley_msg *msg = before->next;

		if (!(msg->flags & MAIL_COUNTED)) {
			before = passed = msg;
			continue;
		}
		(void)mail_take_after(&process->user, before);
		if (wish->user == msg)
			wish->user = passed;
		process_adjust(&process->nr_user, -1);
		mail_free(msg);
		nr--;
	}
}

/* Move a message of a mailbox with a limit to the queue that is searched. */
static bool fetch(struct process *process, struct wish *wish)
{
	struct sley_msg *msg;
	uint32_t owed;

	if (likely(!(process->flags & PROCESS_NEWS)))
		return false;
	msg = bound_take_aside(process, &owed);
	drop(process, wish, owed);
	if (!msg)
		return false;
	mail_append(&process->user, msg);
	process_adjust(&process->nr_user, 1);
	return true;
}

static struct sley_msg *take_any(struct process *process)
{
	struct sley_msg *msg = mail_take(&process->control);

	if (msg)
		return msg;
	msg = mail_take(&process->user);
	if (msg)
		process_adjust(&process->nr_user, -1);
	else if (process->flags & PROCESS_NEWS)
		msg = bound_take(process);
	return msg;
}

static struct sley_msg *take_asked(struct process *process, struct wish *wish)
{
	struct sley_msg *msg;

	msg = take_wanted(&process->control, &wish->control, wish);
	while (!msg) {
		msg = take_wanted(&process->user, &wish->user, wish);
		if (msg)
			process_adjust(&process->nr_user, -1);
		else if (!fetch(process, wish))
			break;
	}
	return msg;
}

/* ---- receiving ---------------------------------------------------------------------- */

static struct process *actor_current(void)
{
	struct process *process = process_current();

	return process && (process->flags & PROCESS_ACTOR) && worker_current()
		       ? process
		       : NULL;
}

/* Wait until there is a message that @process has not looked at. */
static void wait_for_mail(struct process *process, struct deadline *deadline,
			  uint64_t deadline_ns)
{
	struct worker *worker = worker_now();
	struct sley_msg *msg = process->current;

	process->left = process->budget;
	if (deadline_ns != UINT64_MAX && !deadline->started)
		deadline_start(deadline, worker, process->pid, deadline_ns);
	if (!wait_inbox(worker, &process->inbox, process_seen(process)) || !msg)
		return;
	process->flags &= ~PROCESS_SEEN;
	process->current = NULL;
	mail_done(worker_now(), msg);
}

static bool is_late(const struct deadline *deadline, uint64_t deadline_ns)
{
	if (deadline_ns == UINT64_MAX)
		return false;
	return deadline->started ? deadline->arrived : deadline_ns <= os_now();
}

/* Look through all messages: 0, with *@msg; 1: no message is wanted; -ECANCELED. */
static int look(struct process *process, struct wish *wish,
		struct sley_msg **msg)
{
	mail_put_away(worker_now(), process);
	mail_sort(process);
	if (unlikely(process->flags & PROCESS_ENDING))
		return -ECANCELED;
	*msg = wish->wants ? take_asked(process, wish) : take_any(process);
	if (!*msg)
		return 1;
	if (unlikely((*msg)->flags & MAIL_COUNTED))
		bound_delivered(process, *msg);
	mail_deliver(*msg);
	process->current = *msg;
	return 0;
}

/*
 * Has the actor opened a scope that was cancelled?  process_poke() wakes the
 * actor.
 */
static bool is_cut(void)
{
	const struct sley_scope *scope = scope_innermost(worker_now()->strand);

	return unlikely(scope) && scope_is_cancelled(scope);
}

/* Wait until there is a wanted message: 0, with *@msg, or an error. */
static int await(struct process *process, struct wish *wish,
		 uint64_t deadline_ns, struct sley_msg **msg)
{
	struct deadline deadline;
	int err;

	if (unlikely(process->flags & PROCESS_ASKS))
		process_misuse(process,
			       "the @wants function of "
			       "sley_receive_where_until() must not receive");
	deadline.started = false;
	for (;;) {
		err = look(process, wish, msg);
		if (err <= 0)
			break;
		if (is_late(&deadline, deadline_ns)) {
			err = -ETIMEDOUT;
			break;
		}
		if (is_cut()) {
			err = -ECANCELED;
			break;
		}
		wait_for_mail(process, &deadline, deadline_ns);
	}
	deadline_stop(&deadline, process);
	return err;
}

/* The usual case: any message, without a deadline.  NULL: not the usual case. */
static struct sley_msg *receive_next(struct process *process)
{
	static struct deadline never;

	if (unlikely(process->flags & (PROCESS_ENDING | PROCESS_ASKS)))
		return NULL;
	if (process->current && !(process->flags & PROCESS_SEEN))
		mail_put_away(worker_now(), process);
	if (!process_has_mail(process)) {
		if (is_cut())
			return NULL;
		wait_for_mail(process, &never, UINT64_MAX);
	}
	return likely(!process->current) ? mail_peek(process) : NULL;
}

/* The actor has received so many messages in a row that others have their turn. */
static noinline void let_others(struct process *process)
{
	process->left = process->budget;
	worker_yield(worker_current());
}

static int receive(struct sley_msg **out, struct wish *wish,
		   uint64_t deadline_ns)
{
	struct process *process = actor_current();
	struct sley_msg *msg = NULL;
	int err;

	if (unlikely(!process))
		return -EINVAL;
	wish->process = process;
	if (unlikely(!process->left))
		let_others(process);
	if (likely(!wish->wants && deadline_ns == UINT64_MAX))
		msg = receive_next(process);
	if (unlikely(!msg)) {
		err = await(process, wish, deadline_ns, &msg);
		if (err)
			return err;
	}
	process_count(&process->handled, 1);
	process->left--;
	*out = msg;
	return 0;
}

int sley_receive_until(struct sley_msg **msg, uint64_t deadline_ns)
{
	struct wish wish = { .wants = NULL };

	return receive(msg, &wish, deadline_ns);
}

int sley_receive(struct sley_msg **msg)
{
	return sley_receive_until(msg, UINT64_MAX);
}

int sley_receive_where_until(struct sley_msg **msg, sley_wants *wants,
			     void *arg, uint64_t deadline_ns)
{
	struct wish wish = { .wants = wants, .arg = arg };

	return receive(msg, &wish, deadline_ns);
}

static bool has_tag(const struct sley_msg *msg, void *arg)
{
	const uint64_t *tag = arg;

	return msg->kind == SLEY_MESSAGE && msg->tag == *tag;
}

int sley_receive_tag_until(struct sley_msg **msg, uint64_t tag,
			   uint64_t deadline_ns)
{
	return sley_receive_where_until(msg, has_tag, &tag, deadline_ns);
}
