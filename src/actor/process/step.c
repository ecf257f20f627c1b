/* SPDX-License-Identifier: MIT */
/*
 * step.c - step processes: the turn.
 *
 * A turn takes the messages out of the inbox, and calls the step with up to
 * STEP_MESSAGES of them, control messages before user messages.  The turn goes on
 * until no message is left or the budget is used up: then other processes have
 * their turn first.  A step is called without messages in three cases: it is the
 * first step, the last step said SLEY_CONTINUE, or the process was upgraded.
 */
#include "actor/mail/bounded.h"
#include "actor/command/command.h"
#include "actor/process/process.h"
#include "base/options.h"

#include <errno.h>
#include <sley/error.h>
#include <sley/step.h>
#include <string.h>

#define STEP_MESSAGES 16

/* ---- the messages of a step ------------------------------------------------------ */

static struct sley_msg *take_user(struct process *process)
{
	struct sley_msg *msg = mail_take(&process->user);

	if (likely(msg))
		process_adjust(&process->nr_user, -1);
	else if (unlikely(process->flags & PROCESS_NEWS))
		msg = bound_take(process);
	return msg;
}

/* Up to @max messages that the step has not seen. */
static uint32_t gather(struct process *process, struct sley_msg **msg,
		       uint32_t max)
{
	uint32_t nr = 0;

	mail_sort(process);
	for (; nr < max; nr++) {
		msg[nr] = mail_take(&process->control);
		if (likely(!msg[nr]))
			msg[nr] = take_user(process);
		if (!msg[nr])
			break;
		mail_deliver(msg[nr]);
	}
	return nr;
}

/* ---- the answer of a step -------------------------------------------------------- */

static void end(struct process *process, int reason)
{
	const struct sley_behaviour *behaviour = process->behaviour;

	if (behaviour->close)
		behaviour->close(process_self(process), reason);
	process_end(process, reason);
}

int process_create_self(struct process *process, void **self,
			const struct sley_behaviour *behaviour)
{
	*self = NULL;
	if (!behaviour->size)
		return 0;
	/* The state for an upgrade is made while the old state exists. */
	if (behaviour->size <= sizeof(process->state) && !process_self(process))
		*self = memset(process->state, 0, sizeof(process->state));
	else
		*self = mem_alloc(&process_runtime(process)->mem,
				  behaviour->size);
	return *self ? 0 : -ENOMEM;
}

void process_free_self(struct process *process, void *self,
		       const struct sley_behaviour *behaviour)
{
	if (self && self != process->state)
		mem_free(&process_runtime(process)->mem, self, behaviour->size);
}

/* The old behaviour is closed in any case, once: here, or by end(). */
static int upgrade(struct process *process, const struct sley_out *out)
{
	const struct sley_behaviour *from = process->behaviour;
	void *self;
	int err = process_create_self(process, &self, out->to);

	if (!err && out->to->init)
		err = out->to->init(self, "upgrade", out->input,
				    out->input_size);
	if (err < 0) {
		process_free_self(process, self, out->to);
		return err;
	}
	if (from->close)
		from->close(process_self(process), 0);
	process_free_self(process, process_self(process), from);
	yields_drop(process);
	process->task.arg = self;
	process->behaviour = out->to;
	process->flags |= PROCESS_AGAIN | PROCESS_FRESH;
	return 0;
}

/* False: the process has ended. */
static bool obey(struct process *process, enum sley_step said,
		 const struct sley_out *out)
{
	int reason = out->reason;

	if (unlikely(said == SLEY_END)) {
		if (out->to)
			reason = upgrade(process, out);
		if (!out->to || reason) {
			end(process, reason);
			return false;
		}
		return true;
	}
	if (said == SLEY_CONTINUE)
		process->flags |= PROCESS_AGAIN;
	if (unlikely(process->yields))
		yields_dispatch(process);
	return true;
}

/* ---- messages for the next behaviour --------------------------------------------- */

/* How many of @nr messages the step has taken: all, unless it upgrades. */
static inline uint32_t nr_taken(const struct sley_out *out, enum sley_step said,
				uint32_t nr)
{
	if (likely(said != SLEY_END || !out->to))
		return nr;
	if (unlikely(out->taken > nr))
		process_misuse(out->process,
			       "sley_out_upgrade() was told that the step took "
			       "more messages than it was called with");
	return (uint32_t)out->taken;
}

/* A step got @msg but has not taken it: @msg is the first again. */
static void put_back(struct process *process, struct sley_msg *msg)
{
	if (msg->kind == SLEY_MESSAGE) {
		mail_prepend(&process->user, msg);
		process_adjust(&process->nr_user, 1);
	} else {
		mail_prepend(&process->control, msg);
	}
}

/* The same for ->current, which is in the inbox, unless the step has kept it. */
static noinline void put_back_seen(struct process *process)
{
	struct sley_msg *msg = process->current;

	if (!msg)
		return;
	mail_sort(process);
	process->current = NULL;
	put_back(process, msg);
}

/* ---- a step ------------------------------------------------------------------------ */

/* The step is done with the first @taken messages. */
static void settle(struct process *process, const struct delivery *delivery,
		   uint32_t taken)
{
	process_count(&process->handled, taken);
	process_count(&process->steps, 1);
	for (uint32_t i = 0; i < taken; i++) {
		if (likely(!(delivery->kept & 1u << i)))
			mail_done(worker_now(), delivery->msg[i]);
	}
	for (uint32_t i = delivery->nr; i-- > taken;) {
		if (!(delivery->kept & 1u << i))
			put_back(process, delivery->msg[i]);
	}
}

/* False: the process has ended. */
static bool step(struct process *process, struct sley_msg **msg, uint32_t nr)
{
	struct delivery delivery = { .msg = msg, .nr = nr };
	struct sley_out out = { .process = process };
	enum sley_step said;

	process->delivery = &delivery;
	process->flags &= ~PROCESS_AGAIN;
	process->flags |= PROCESS_MANY;
	said = process->behaviour->step(process_self(process), msg, nr, &out);
	process->flags &= ~PROCESS_MANY;
	process->current = NULL;
	settle(process, &delivery, nr_taken(&out, said, nr));
	return obey(process, said, &out);
}

/* ---- the turn --------------------------------------------------------------------- */

/* A step with several messages, or without messages if a step is due. */
static bool step_many(struct process *process, uint32_t *left)
{
	struct sley_msg *msg[STEP_MESSAGES];
	uint32_t max = *left < STEP_MESSAGES ? *left : STEP_MESSAGES;
	uint32_t nr = gather(process, msg, max);

	if (unlikely(process->flags & PROCESS_ENDING)) {
		for (uint32_t i = 0; i < nr; i++)
			mail_done(worker_now(), msg[i]);
		end(process, process->reason);
		return false;
	}
	*left -= nr;
	if (!nr && !(process->flags & PROCESS_AGAIN))
		return true;
	return step(process, msg, nr);
}

/* The first step gets no messages: they are for the next step. */
static bool first_step(struct process *process)
{
	mail_sort(process);
	if (process->flags & PROCESS_ENDING) {
		end(process, process->reason);
		return false;
	}
	process->flags &= ~PROCESS_FRESH;
	return step(process, NULL, 0) && !(process->flags & PROCESS_AGAIN);
}

static noinline void turn_many(struct process *process)
{
	uint32_t left = process->budget;

	mail_put_away(worker_now(), process);
	if (unlikely(process->flags & PROCESS_FRESH) && !first_step(process))
		return;
	while (step_many(process, &left) && left &&
	       !(process->flags & PROCESS_AGAIN) && process_has_mail(process))
		;
}

/* The other cases: @said is not SLEY_WAIT, or there are commands or messages. */
static noinline void turn_rest(struct process *process, enum sley_step said,
			       const struct sley_out *out)
{
	uint32_t taken = nr_taken(out, said, 1);

	process_count(&process->handled, taken);
	if (!taken)
		put_back_seen(process);
	if (obey(process, said, out) && !(process->flags & PROCESS_AGAIN) &&
	    process_has_mail(process))
		turn_many(process);
}

/* The usual case: a single message, and then the process waits for the next. */
static void turn(void *arg)
{
	struct process *process = arg;
	struct sley_out out;
	struct sley_msg *msg;
	enum sley_step said;

	if (unlikely(process->flags &
		     (PROCESS_AGAIN | PROCESS_SEEN | PROCESS_ENDING)) ||
	    unlikely(!(msg = mail_peek(process)))) {
		turn_many(process);
		return;
	}
	out.process = process;
	out.reason = 0;
	out.to = NULL;
	said = process->behaviour->step(process_self(process), &msg, 1, &out);
	process_count(&process->steps, 1);
	if (unlikely(said != SLEY_WAIT || process->yields ||
		     process_has_mail(process)))
		turn_rest(process, said, &out);
	else
		process_count(&process->handled, 1);
}

/* ---- the beginning ------------------------------------------------------------------ */

static int start(struct process *process,
		 const struct sley_behaviour *behaviour, const void *input,
		 size_t size, const struct sley_process_options *options)
{
	const char *method = options->method ? options->method : "main";
	void *self;
	int err = process_create_self(process, &self, behaviour);

	process->task.arg = self;
	process->behaviour = behaviour;
	process->flags |= PROCESS_AGAIN | PROCESS_FRESH;
	if (!err && behaviour->init)
		err = behaviour->init(self, method, input, size);
	return err < 0 ? err : 0;
}

static int check(struct sley_process_options *options,
		 const struct sley_behaviour *behaviour,
		 const struct sley_process_options *given)
{
	int err = options_take(options, given);

	if (err)
		return err;
	if (!behaviour || !behaviour->step)
		return -EINVAL;
	options->stack_kib = 0;
	if (!options->label && !options->name)
		options->label = behaviour->name;
	return 0;
}

int sley_process_spawn(sley_pid *pid, const struct sley_behaviour *behaviour,
		       const void *input, size_t size,
		       const struct sley_process_options *given)
{
	struct sley_process_options options;
	struct process *process;
	int err = check(&options, behaviour, given)
			  ?: process_create(&process, &options);

	if (pid)
		*pid = SLEY_NO_PID;
	if (err)
		return err;
	err = start(process, behaviour, input, size, &options);
	if (!err) {
		err = process_start(process, turn, &options, pid);
		if (err && behaviour->close)
			behaviour->close(process_self(process), err);
	}
	if (err) {
		process_free_self(process, process_self(process), behaviour);
		process_forget(process);
	}
	return err;
}
