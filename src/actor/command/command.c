/* SPDX-License-Identifier: MIT */
/*
 * command.c - see command.h.
 */
#include "actor/command/command.h"

#include "actor/command/command_timeout.h"
#include "actor/command/handler.h"
#include "actor/command/yield.h"
#include "base/assert.h"

#include <errno.h>

/* ---- in a step ------------------------------------------------------------- */

int sley_out_yield(struct sley_out *out, uint32_t command, uint64_t tag,
		   void *payload)
{
	return yields_add(out->process, command, tag, payload);
}

enum sley_step sley_out_done(struct sley_out *out, int reason)
{
	sley_check(reason <= 0,
		   "a process must end with 0 or a negative error");
	out->reason = reason;
	out->to = NULL;
	return SLEY_END;
}

enum sley_step sley_out_upgrade(struct sley_out *out,
				const struct sley_behaviour *to,
				const void *input, size_t size, size_t taken)
{
	sley_check(to && to->step, "the new behaviour has no step function");
	out->to = to;
	out->input = input;
	out->input_size = size;
	out->taken = taken;
	return SLEY_END;
}

/* ---- between two steps ------------------------------------------------------- */

/* By way of the inbox: a completion by the handler itself comes first. */
static void fail(struct process *process, struct yield *yield, int error)
{
	struct sley_msg *done = yield->done;

	yield->done = NULL;
	done->error = error;
	(void)mail_send(process->pid, done);
}

/* Give the command to its handler, and start the timeout, if there is one. */
static void give(struct process *process, struct yield *yield,
		 const struct handler *handler, struct command_timeout *timeout)
{
	struct sley_command command = { .pid = process->pid,
					.tag = yield_tag(yield),
					.command = yield->command,
					.payload = yield->payload };
	int err = handler->fn(&command, handler->arg);

	if (err >= 0 && timeout) {
		if (unlikely(!worker_current()))
			process_misuse(
				process,
				"its step or the handler of its command "
				"returned inside a blocking region: call "
				"sley_blocking_end() first");
		yield->timeout = timeout;
		command_timeout_start(timeout, process->pid, yield->done,
				      handler->timeout_ns);
		yield->done = NULL;
	} else if (timeout) {
		command_timeout_free(timeout);
	}
	if (err < 0)
		fail(process, yield, err);
}

static void dispatch(struct process *process, struct yield *yield)
{
	struct command_timeout *timeout = NULL;
	struct handler handler;

	if (!handler_find(yield->command, &handler)) {
		fail(process, yield, -ENOSYS);
		return;
	}
	if (handler.timeout_ns)
		timeout = command_timeout_create();
	if (handler.timeout_ns && !timeout)
		fail(process, yield, -ENOMEM);
	else
		give(process, yield, &handler, timeout);
}

void yields_dispatch(struct process *process)
{
	struct yield *yield;

	while ((yield = yields_next_fresh(process)))
		dispatch(process, yield);
}

static void forget(struct process *process, struct yield *yield)
{
	if (yield->timeout)
		command_timeout_stop(yield->timeout);
	if (yield->done)
		mail_free(yield->done);
	yields_remove(process, yield);
}

bool yields_complete(struct process *process, uint64_t tag)
{
	struct yield *yield = yields_find(process, tag);

	if (!yield)
		return false;
	forget(process, yield);
	return true;
}

/* Completions that the step was not told of: strays, as if they came now. */
static void drop_done(struct process *process)
{
	struct mail_queue rest = { NULL };
	struct sley_msg *msg;

	while ((msg = mail_take(&process->control))) {
		if (msg->kind != SLEY_DONE) {
			mail_append(&rest, msg);
			continue;
		}
		process_adjust(&process->stray, 1);
		mail_free(msg);
	}
	process->control = rest;
}

void yields_drop(struct process *process)
{
	struct yields *yields = process->yields;

	if (!yields)
		return;
	drop_done(process);
	while (yields->first != YIELD_NONE)
		forget(process, &yields->record[yields->first]);
	yields_free(process);
}

uint32_t yields_count(const struct process *process, uint32_t *command)
{
	const struct yields *yields = process->yields;

	if (!yields)
		return 0;
	/* relaxed: hints, see actor/command/yield.h. */
	*command = load_relaxed(&yields->oldest);
	/* relaxed: as above. */
	return load_relaxed(&yields->nr);
}

/* ---- completing ---------------------------------------------------------------- */

int sley_command_complete(sley_pid pid, uint64_t tag, const void *data,
			  size_t size)
{
	struct sley_msg *msg;
	int err;

	if (!process_find(pid))
		return -ESRCH;
	err = mail_create_copy(&msg, SLEY_DONE, tag, data, size);
	if (err)
		return err;
	msg->from = sley_self();
	return mail_send(pid, msg);
}

int sley_command_complete_error(sley_pid pid, uint64_t tag, int error)
{
	struct sley_msg *msg;

	sley_check(error < 0, "a command must fail with a negative error");
	if (!process_find(pid))
		return -ESRCH;
	msg = mail_create(SLEY_DONE, tag);
	if (!msg)
		return -ENOMEM;
	msg->error = error;
	msg->from = sley_self();
	return mail_send(pid, msg);
}
