/* SPDX-License-Identifier: MIT */
/*
 * call.c - see call.h.
 */
#include "actor/mail/call.h"

#include "actor/process/exit_info.h"
#include "actor/relation/relation.h"
#include "actor/mail/send.h"
#include "core/sched/place.h"
#include "core/wait/loan.h"
#include "core/wait/wait.h"

#include <errno.h>

struct call {
	struct process *port;
	sley_pid pid; /* of the port */
	struct watch watch;
	struct sley_task *task; /* waits; NULL: not yet (lock)              */
	bool over;              /* there is an outcome (lock)               */
	int error;              /* the outcome; 0: there is a reply         */
	struct sley_msg *reply;
	struct exit_info *ending; /* in a wait for an end: written there        */
};

/* ---- the port ---------------------------------------------------------------- */

static int open_port(struct call *call, struct exit_info *ending)
{
	struct process *port = process_table_get();

	if (unlikely(!port))
		return -ENOMEM;
	call->port = port;
	call->pid = PID_PORT | pid_make(0, port->index, port->generation);
	call->task = NULL;
	call->over = false;
	call->ending = ending;
	/* A sender with an old pid may be looking. */
	spin_lock(&port->lock);
	port->call = call;
	/* A hint for readers; relied on under the lock only. */
	process_set_pid(port, call->pid);
	spin_unlock(&port->lock);
	return 0;
}

/* Locked. */
static void close_port(struct process *port)
{
	/* Relied on under the lock only. */
	process_set_pid(port, SLEY_NO_PID);
}

/* False: the port is not open (any more). */
static bool lock_port(struct process *port, sley_pid pid)
{
	spin_lock(&port->lock);
	if (likely(process_pid(port) == pid))
		return true;
	spin_unlock(&port->lock);
	return false;
}

/* Locked, and unlocks: the first outcome. */
static void conclude(struct process *port, struct sley_msg *reply, int error)
{
	struct call *call = port->call;
	struct sley_task *task = call->task;

	call->reply = reply;
	call->error = error;
	call->over = true;
	close_port(port);
	if (task && task_decide(task, VERDICT_WOKEN, 0) != DECIDED_QUEUE)
		task = NULL;
	spin_unlock(&port->lock);
	if (task)
		task_enqueue(task);
}

int port_deliver(struct process *port, sley_pid pid, struct sley_msg *msg)
{
	bool taken = msg->kind == SLEY_MESSAGE && lock_port(port, pid);

	/* A caller that waits for an end has sent no request. */
	if (taken && port->call->ending) {
		spin_unlock(&port->lock);
		taken = false;
	}
	if (!taken) {
		mail_free(msg);
		return -ESRCH;
	}
	conclude(port, msg, 0);
	return 0;
}

void port_ended(sley_pid pid, sley_pid target, const struct exit_info *ending)
{
	struct process *port = process_find(pid);
	int error = ending->reason ? ending->reason : -ESRCH;

	(void)target;
	if (!port || !lock_port(port, pid))
		return;
	if (port->call->ending) {
		exit_info_copy(port->call->ending, ending);
		error = 0;
	}
	conclude(port, NULL, error);
}

/* ---- the caller ---------------------------------------------------------------- */

/* @error is the outcome, unless there is an outcome already. */
static int give_up(struct call *call, int error)
{
	struct process *port = call->port;

	spin_lock(&port->lock);
	if (call->over)
		error = call->error;
	else
		close_port(port);
	spin_unlock(&port->lock);
	return error;
}

static int wait_for_reply(struct call *call, uint64_t deadline_ns)
{
	struct sley_task thread, *task = wait_task(&thread);
	struct process *port = call->port;
	int result;

	spin_lock(&port->lock);
	if (call->over) {
		spin_unlock(&port->lock);
		return call->error;
	}
	task_announce_wait(task);
	call->task = task;
	spin_unlock(&port->lock);
	result = wait_result(wait_announced(task, deadline_ns));
	return likely(result >= 0) ? call->error : give_up(call, result);
}

/* The port is open.  After an error it is closed, and there is no watch. */
static int request_from(struct call *call, sley_pid to,
			struct sley_msg *request, uint64_t room_ns)
{
	int err = relation_watch(&call->watch, to, call->pid);

	if (unlikely(err)) {
		mail_free(request);
		return give_up(call, err);
	}
	request->from = call->pid;
	err = send_message(to, request, room_ns);
	if (unlikely(err)) {
		/*
		 * The callee has ended since the watch began.  It tells the
		 * watches last: wait for the reason as for a reply.
		 */
		if (err == -ESRCH)
			return 0;
		err = give_up(call, err);
		relation_unwatch(&call->watch);
	}
	return err;
}

/*
 * The caller is going to wait for @call, which @to answers, or for the end of @to: an
 * urgent caller lends @to its level, until the caller goes on.
 */
static void lend(struct loan *loan, const struct call *call, sley_pid to)
{
	struct process *callee;
	struct loan_thing *memory;

	loan_none(loan);
	if (likely(!place_levels_differ()))
		return;
	callee = process_find(to);
	if (!callee)
		return;
	memory = loan_prepare();
	spin_lock(&callee->lock);
	/* It does not end meanwhile. */
	if (process_pid(callee) == to)
		memory = loan_begin(loan, call, &callee->task, memory);
	spin_unlock(&callee->lock);
	loan_free(memory);
}

/* The port is open; it is closed when this returns. */
static int ask(struct call *call, sley_pid to, struct sley_msg *request,
	       uint64_t deadline_ns)
{
	struct loan loan;
	int err;

	/* Before the request makes @to ready. */
	lend(&loan, call, to);
	err = request_from(call, to, request,
			   deadline_ns == UINT64_MAX ? SEND_AT_LENGTH
						     : deadline_ns);
	if (likely(!err)) {
		err = wait_for_reply(call, deadline_ns);
		relation_unwatch(&call->watch);
	}
	loan_free(loan_end(&loan));
	return err;
}

/* The reply belongs to the caller now. */
static void take_reply(struct sley_msg *msg, struct sley_msg **reply)
{
	if (!reply) {
		mail_free(msg);
		return;
	}
	mail_deliver(msg);
	msg->flags |= MAIL_KEPT;
	*reply = msg;
}

/* Before anything is made. */
static int check_callee(sley_pid to)
{
	if (unlikely((to & PID_PORT) || !process_find(to)))
		return -ESRCH;
	return unlikely(to == sley_self()) ? -EDEADLK : 0;
}

/* A port and a request. */
static int prepare(struct call *call, struct sley_msg **request, uint64_t tag,
		   const void *data, size_t size)
{
	int err = mail_create_copy(request, SLEY_MESSAGE, tag, data, size);

	if (unlikely(err))
		return err;
	err = open_port(call, NULL);
	if (unlikely(err))
		mail_free(*request);
	return err;
}

int sley_call_until(sley_pid to, uint64_t tag, const void *data, size_t size,
		    struct sley_msg **reply, uint64_t deadline_ns)
{
	struct sley_msg *request;
	struct call call;
	int err = check_callee(to) ?: wait_refused_slow(deadline_ns, 0)
		  ?: prepare(&call, &request, tag, data, size);

	if (unlikely(err))
		return err;
	err = ask(&call, to, request, deadline_ns);
	process_table_put(call.port);
	if (likely(!err))
		take_reply(call.reply, reply);
	return err;
}

int sley_call(sley_pid to, uint64_t tag, const void *data, size_t size,
	      struct sley_msg **reply)
{
	return sley_call_until(to, tag, data, size, reply, UINT64_MAX);
}

/* ---- calls that are waited for later ------------------------------------------------- */

_Static_assert(sizeof(struct call) <= sizeof(struct sley_pending_call),
	       "a pending call is in the caller's memory");

static struct call *call_of(struct sley_pending_call *pending)
{
	return (struct call *)(void *)pending->space;
}

int sley_call_start(struct sley_pending_call *pending, sley_pid to,
		    uint64_t tag, const void *data, size_t size)
{
	struct call *call = call_of(pending);
	struct sley_msg *request;
	int err = check_callee(to) ?: prepare(call, &request, tag, data, size);

	if (err)
		return err;
	err = request_from(call, to, request, 0);
	if (err)
		process_table_put(call->port);
	return err;
}

bool sley_call_is_over(struct sley_pending_call *pending)
{
	struct call *call = call_of(pending);
	bool over;

	if (!call->port)
		return true;
	spin_lock(&call->port->lock);
	over = call->over;
	spin_unlock(&call->port->lock);
	return over;
}

/*
 * The port is closed, and only the caller knows the call, which has no port from
 * now on.  A caller that was cancelled cannot tell whether that was the outcome;
 * so the caller may finish and cancel the call once more.
 */
static int settle(struct call *call, int err, struct sley_msg **reply)
{
	relation_unwatch(&call->watch);
	process_table_put(call->port);
	call->port = NULL;
	call->error = err ? err : -EINVAL;
	if (!err)
		take_reply(call->reply, reply);
	return err;
}

/* As wait_for_reply(), but a late caller leaves the port open: 1. */
static int wait_or_leave(struct call *call, uint64_t deadline_ns, int *err)
{
	struct sley_task thread, *task = wait_task(&thread);
	struct process *port = call->port;
	bool over;

	spin_lock(&port->lock);
	over = call->over;
	if (!over) {
		task_announce_wait(task);
		call->task = task;
	}
	spin_unlock(&port->lock);
	if (over)
		return call->error;
	*err = wait_result(wait_announced(task, deadline_ns));
	if (*err >= 0)
		return call->error;
	spin_lock(&port->lock);
	over = call->over;
	call->task = NULL;
	spin_unlock(&port->lock);
	return over ? call->error : 1;
}

int sley_call_finish_until(struct sley_pending_call *pending,
			   struct sley_msg **reply, uint64_t deadline_ns)
{
	struct call *call = call_of(pending);
	struct loan loan;
	int outcome, err = 0;

	if (!call->port)
		return call->error;
	if (!sley_call_is_over(pending))
		err = wait_refused_slow(deadline_ns, 0);
	if (err)
		return err;
	lend(&loan, call, call->watch.target);
	outcome = wait_or_leave(call, deadline_ns, &err);
	loan_free(loan_end(&loan));
	return outcome == 1 ? err : settle(call, outcome, reply);
}

int sley_call_finish(struct sley_pending_call *pending, struct sley_msg **reply)
{
	return sley_call_finish_until(pending, reply, UINT64_MAX);
}

void sley_call_cancel(struct sley_pending_call *pending)
{
	struct call *call = call_of(pending);

	if (call->port)
		(void)settle(call, give_up(call, -ECANCELED), NULL);
}

/* ---- waiting for the end ----------------------------------------------------------- */

/* The port is open; it is closed when this returns. */
static int await(struct call *call, sley_pid pid, uint64_t deadline_ns)
{
	int err = relation_watch(&call->watch, pid, call->pid);
	struct loan loan;

	if (err)
		return give_up(call, err);
	lend(&loan, call, pid);
	err = wait_for_reply(call, deadline_ns);
	loan_free(loan_end(&loan));
	relation_unwatch(&call->watch);
	return err;
}

static int await_end(sley_pid pid, struct exit_info *ending,
		     uint64_t deadline_ns)
{
	struct call call;
	int err = wait_refused_slow(deadline_ns, 0) ?: open_port(&call, ending);

	if (err)
		return err;
	err = await(&call, pid, deadline_ns);
	process_table_put(call.port);
	return err;
}

static void hand_over(struct sley_process_end *end, sley_pid pid,
		      struct exit_info *ending)
{
	if (!end) {
		exit_info_drop(ending);
		return;
	}
	*end = (struct sley_process_end){ .pid = pid,
					  .reason = ending->reason,
					  .time_ns = ending->time_ns,
					  .result = ending->result };
}

int sley_process_wait_until(sley_pid pid, struct sley_process_end *end,
			    uint64_t deadline_ns)
{
	struct exit_info ending;
	int err = 0;

	if (!pid || (pid & PID_PORT))
		return -ESRCH;
	if (pid == sley_self())
		return -EDEADLK;
	if (process_find(pid)) {
		err = await_end(pid, &ending, deadline_ns);
		/* If the process is joinable: its end has been waited for now. */
		if (!err)
			(void)!exit_info_collect(pid, NULL);
	} else if (!exit_info_collect(pid, &ending)) {
		err = -ESRCH;
	}
	/* The process has ended meanwhile. */
	if (err == -ESRCH && exit_info_collect(pid, &ending))
		err = 0;
	if (!err)
		hand_over(end, pid, &ending);
	return err;
}

int sley_process_wait(sley_pid pid, struct sley_process_end *end)
{
	return sley_process_wait_until(pid, end, UINT64_MAX);
}

int sley_reply(const struct sley_msg *request, uint64_t tag, const void *data,
	       size_t size)
{
	struct sley_msg *msg;
	int err = mail_create_copy(&msg, SLEY_MESSAGE, tag, data, size);

	if (unlikely(err))
		return err;
	msg->from = sley_self();
	return send_message(request->from, msg, 0);
}
