/* SPDX-License-Identifier: MIT */
/*
 * sley/step.h - processes that are state machines, and the commands they yield.
 *
 *	static enum sley_step copy_step(void *self, struct sley_msg *const *msg,
 *					size_t nr, struct sley_out *out)
 *	{
 *		struct copy *c = self;
 *
 *		for (size_t i = 0; i < nr; i++)
 *			if (msg[i]->kind == SLEY_DONE && msg[i]->tag == READ)
 *				sley_out_yield(out, CMD_WRITE, WRITE, &c->block);
 *		return c->eof ? sley_out_done(out, 0) : SLEY_WAIT;
 *	}
 *
 * The step function of a process is called with the messages that have come
 * since the last step.  It yields commands.  Each command goes to a handler and
 * comes back as a SLEY_DONE message with the tag of the command, in any order.
 * Between two steps a process has no stack.  A process is never in two steps at
 * once.
 *
 * A step may wait in any call of sley: it is a task while it runs.  Messages to
 * the process wait meanwhile.
 */
#ifndef SLEY_STEP_H
#define SLEY_STEP_H

#include <sley/compiler.h>
#include <sley/message.h>
#include <sley/process.h>

SLEY_BEGIN_DECLS

/* What a process does after a step. */
enum sley_step {
	SLEY_WAIT,     /* until a message comes                              */
	SLEY_CONTINUE, /* call the step again, after other tasks had their
			  turn, with the messages that have come, if any */
	SLEY_END,      /* only from sley_out_done() and sley_out_upgrade()   */
};

struct sley_out;

/*
 * The functions of a kind of step process.  All but @step may be NULL.
 *
 * init: called by the thread that spawns the process, before the process has a
 * pid.  @self is zeroed, @method is the method of the options.  If init returns
 * an error below 0, nothing is spawned, close is not called, and the spawner
 * gets the error.  For a method that does not exist init returns -ENOENT.
 *
 * close: called once, by a worker, after the last step, however the process
 * ended.  If init succeeded and the spawn failed afterwards (because the name is
 * taken, for instance), the thread that spawns calls close with that error.
 */
struct sley_behaviour {
	const char *name; /* static text for reports */
	size_t size;      /* of @self; 0: NULL       */
	int (*init)(void *self, const char *method, const void *input,
		    size_t size);
	enum sley_step (*step)(void *self, struct sley_msg *const *msg,
			       size_t nr, struct sley_out *out);
	void (*close)(void *self, int reason);
};

/*
 * sley_process_spawn - start a new step process with @behaviour.
 *
 * The first step comes without messages, as soon as a worker is free.  @pid and
 * @options may be NULL.  On failure *@pid is SLEY_NO_PID, except for -EEXIST.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @behaviour must live as long as the process; @input and @options are
 *           borrowed for the call.
 * Order:    everything before the call happens before the first step.
 * Errors:   the error of init
 *           -ENOMEM          nothing was spawned
 *           -EEXIST          another process has options->name; *@pid is its pid
 *           -EINVAL          options->size is zero, there is no step, .name is
 *                            empty or too long, .overflow is unknown, or the
 *                            caller is no process and has set .link or .monitor
 *           -E2BIG           a newer field is set
 *           -EAGAIN          the runtime has its maximum number of processes
 *           SLEY_EPRIORITY   see sley_spawn_with()
 *           SLEY_ENORUNTIME  the thread is not bound, and options->runtime is
 *                            NULL
 *           SLEY_ENOWORKER   .pinned from a thread that runs no tasks
 *           SLEY_EFORKED     the runtime was created before fork()
 *           -ESHUTDOWN       the runtime is being destroyed
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_process_spawn(sley_pid *pid, const struct sley_behaviour *behaviour,
		   const void *input, size_t size,
		   const struct sley_process_options *options);

/* ---- in a step ---------------------------------------------------------------- */

/*
 * sley_out_yield - yield @command to its handler.
 *
 * The handler gets the command after the step has returned SLEY_WAIT or
 * SLEY_CONTINUE; commands are given out in the order of the yields.  Later the
 * process gets SLEY_DONE with @tag, and either the data of the completion or its
 * error.  The error is -ENOSYS if the command has no handler.  A process can
 * have several commands under way.  When the process ends, its incomplete
 * commands are forgotten.  Commands that are yielded in the last step are never
 * handled.  A tag may be used again when its command is complete; a handler that
 * completes the old command a second time then completes the new command.
 *
 * Context:  a step
 * Blocks:   never
 * Owner:    the handler may use @payload until the command is complete.
 * Errors:   -EEXIST  a command with that tag is under way
 *           -ENOMEM  the command is not yielded
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS int
sley_out_yield(struct sley_out *out, uint32_t command, uint64_t tag,
	       void *payload);

/*
 * sley_out_done - end the process with @reason: 0, or an error.
 *
 * The last thing that a step does:
 *
 *	return sley_out_done(out, 0);
 *
 * Context:  a step
 * Blocks:   never
 * Errors:   none; returns SLEY_END
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS enum sley_step
sley_out_done(struct sley_out *out, int reason);

/*
 * sley_out_upgrade - change the behaviour; pid, links and mailbox stay.
 *
 * The last thing that a step does:
 *
 *	for (size_t i = 0; i < nr; i++)
 *		if (msg[i]->tag == UPGRADE)
 *			return sley_out_upgrade(out, &version_2, &state,
 *						sizeof(state), i + 1);
 *
 * The init of the new behaviour is called with @input and the method "upgrade";
 * then the close of the old behaviour is called with 0.  If init fails, or there
 * is no memory, the process ends with that error.  Commands that are not
 * complete are forgotten.  Then the new step is called, without messages.
 *
 * @taken is the number of messages that the old step has handled, from the first
 * one on.  The new step gets the other messages of the old step, in their order,
 * ahead of later messages.  The new step does not get completions of the old
 * step's commands: these are counted as strays.
 *
 * Context:  a step
 * Blocks:   never
 * Owner:    @input is borrowed until init returns.  It may be in the old self.
 * Errors:   none; returns SLEY_END.  @taken above the number of messages is
 *           misuse.
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS enum sley_step
sley_out_upgrade(struct sley_out *out, const struct sley_behaviour *to,
		 const void *input, size_t size, size_t taken);

/* ---- handlers ------------------------------------------------------------------ */

/* A command under way, as its handler gets it. */
struct sley_command {
	sley_pid pid;
	uint64_t tag;
	uint32_t command;
	void *payload;
};

/*
 * Handles a command.  The handler runs on a worker, between two steps of the
 * process, and should be short: long work belongs in tasks, or in other threads.
 * The handler may complete the command itself.  Otherwise any thread may
 * complete it later.  A return value below 0 completes the command with that
 * error.
 */
typedef int sley_handler(const struct sley_command *command, void *arg);

#define SLEY_COMMAND_MAX 65535

/* The options of a handler.  Zero means the default in every field. */
struct sley_handler_options {
	uint32_t size;       /* of this struct; SLEY_HANDLER_OPTIONS sets it */
	uint64_t timeout_ns; /* then the command is complete, with
				-ETIMEDOUT, and the handler must not use the
				payload; 0: never */
	uint64_t reserved[2];
};

#define SLEY_HANDLER_OPTIONS(...)                                              \
	SLEY_LITERAL(struct sley_handler_options, __VA_ARGS__)

/*
 * sley_handler_options_default - default options, to change field by field.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline struct sley_handler_options
sley_handler_options_default(void)
{
	struct sley_handler_options options = SLEY_ZEROED;

	options.size = sizeof(options);
	return options;
}

/*
 * sley_command_handle - make @handler the handler of @command.
 *
 * A command has one handler in the whole program.  @options may be NULL.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -EEXIST  @command has a handler
 *           -EINVAL  @command is above SLEY_COMMAND_MAX, or @handler is NULL
 *           -E2BIG   a newer field of @options is set
 *           -ENOMEM  nothing was registered
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_command_handle(uint32_t command, sley_handler *handler, void *arg,
		    const struct sley_handler_options *options);

/*
 * sley_command_unhandle - remove the handler of @command.
 *
 * Calls of the handler that have begun may still run after the return.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -ENOENT  @command had no handler
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_command_unhandle(uint32_t command);

/*
 * sley_command_complete - complete a command with @size bytes of @data.
 *
 * Call it once for each command, before the handler has returned or at any time
 * afterwards.  The process does not get the completion if it has no command @tag
 * under way: the command was completed before, or was never yielded, or was
 * yielded before an upgrade.  sley_process_inspect() counts such strays.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @data is copied.
 * Order:    everything before the call happens before the process gets
 *           SLEY_DONE.
 * Errors:   -ESRCH     there is no such process (any more)
 *           -ENOMEM    the command is not complete
 *           -EMSGSIZE  more than 4 GiB
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_command_complete(sley_pid pid, uint64_t tag, const void *data,
		      size_t size);

/*
 * sley_command_complete_error - complete a command with @error, below 0.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    as sley_command_complete()
 * Errors:   as sley_command_complete()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_command_complete_error(sley_pid pid, uint64_t tag, int error);

SLEY_END_DECLS
#endif
