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
 * The step of a process is called with what has come since the last one, and
 * says what is to be done: commands, which go to handlers and come back as
 * SLEY_DONE messages with their tag, in any order.  Between two steps a process
 * has no stack.  No process is ever in two steps at once.
 *
 * A step may wait in anything of sley: it is a task while it runs.  Its messages
 * wait meanwhile.
 */
#ifndef SLEY_STEP_H
#define SLEY_STEP_H

#include <sley/compiler.h>
#include <sley/message.h>
#include <sley/process.h>

SLEY_BEGIN_DECLS

/* What becomes of a process after its step. */
enum sley_step {
	SLEY_WAIT,     /* until something comes                              */
	SLEY_CONTINUE, /* call the step again, after others had their turn,
			  with what has come, if anything                    */
	SLEY_END,      /* by sley_out_done() and sley_out_upgrade()          */
};

struct sley_out;

/*
 * What a kind of process does.  All but @step may be NULL.
 *
 * init: by the thread that spawns it, before the process has a pid: @self is
 * zeroed, @method is that of the options.  Below 0: nothing is spawned, close is
 * not called, and who spawned it gets that number; -ENOENT for a method that it
 * does not have.
 *
 * close: once, by a worker, after the last step, however the process ended.  If
 * init went well and then nothing could be spawned, as when the name is taken: by the
 * thread that tried, with that error.
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
 * sley_process_spawn - a new process that does as @behaviour says.
 *
 * Its first step comes without messages, as soon as a worker is free.  @pid and
 * @options may be NULL.  If it fails *@pid is SLEY_NO_PID, but for -EEXIST.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @behaviour must live as long as the process; @input and @options are
 *           borrowed for the call.
 * Order:    everything before the call happens before its first step.
 * Errors:   what init said
 *           -ENOMEM          nothing was spawned
 *           -EEXIST          another process has options->name; @pid is that
 *           -EINVAL          options->size is zero, there is no step, .name is
 *                            empty or too long, .overflow is unknown, or .link
 *                            or .monitor where the caller is no process
 *           -E2BIG           a newer field is set
 *           -EAGAIN          there are as many processes as the runtime may have
 *           SLEY_EPRIORITY   see sley_spawn_with()
 *           SLEY_ENORUNTIME  the thread is not bound, and options->runtime NULL
 *           SLEY_ENOWORKER   .pinned from a thread that runs no tasks
 *           SLEY_EFORKED     the runtime is of before fork()
 *           -ESHUTDOWN       the runtime is being destroyed
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_process_spawn(sley_pid *pid, const struct sley_behaviour *behaviour,
		   const void *input, size_t size,
		   const struct sley_process_options *options);

/* ---- in a step ---------------------------------------------------------------- */

/*
 * sley_out_yield - have @command done.
 *
 * It is given to its handler when the step has returned SLEY_WAIT or
 * SLEY_CONTINUE, in the order of the yields.  Then SLEY_DONE comes, with @tag, and
 * either what the handler completed it with or the error; -ENOSYS if the command
 * has no handler.  Several can be under way.  Those that are not complete when the
 * process ends are forgotten, as are those of a step that ends the process.  A tag
 * may be used again when it is complete; who completes it twice then completes the
 * next one.
 *
 * Context:  a step
 * Blocks:   never
 * Owner:    @payload is the handler's to use until the command is complete.
 * Errors:   -EEXIST  a command with that tag is under way
 *           -ENOMEM  it is not done
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS int
sley_out_yield(struct sley_out *out, uint32_t command, uint64_t tag,
	       void *payload);

/*
 * sley_out_done - the process has come to its end, for @reason: 0, or an error.
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
 * sley_out_upgrade - go on as another behaviour: same pid, links and mailbox.
 *
 * The last thing that a step does:
 *
 *	for (size_t i = 0; i < nr; i++)
 *		if (msg[i]->tag == UPGRADE)
 *			return sley_out_upgrade(out, &version_2, &state,
 *						sizeof(state), i + 1);
 *
 * The new one's init is called with @input, and "upgrade" for its method; then
 * the old one's close, with 0.  If init fails, or there is no memory, the process
 * ends with that error.  Commands that are not complete are forgotten.  Then the
 * new step is called, without messages.
 *
 * The old step has dealt with the first @taken of the messages that it was called
 * with: with all of them if @taken is their number.  The new step gets the others,
 * in their order, ahead of what comes later.  Only the completions of the old
 * step's commands are not given to the new step: they are counted as strays.
 *
 * Context:  a step
 * Blocks:   never
 * Owner:    @input, which may be in the old self, is borrowed until init returns.
 * Errors:   none; returns SLEY_END.  @taken above the number of messages is misuse.
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS enum sley_step
sley_out_upgrade(struct sley_out *out, const struct sley_behaviour *to,
		 const void *input, size_t size, size_t taken);

/* ---- handlers ------------------------------------------------------------------ */

/* A command under way: who wants it done, and what is needed to say so. */
struct sley_command {
	sley_pid pid;
	uint64_t tag;
	uint32_t command;
	void *payload;
};

/*
 * Sees to a command.  It runs on a worker, between two steps of the process, and
 * should be short: what takes time is for tasks, or other threads.  It may
 * complete the command itself, or have it completed later, by anybody.  Below 0:
 * the command is complete, with that error.
 */
typedef int sley_handler(const struct sley_command *command, void *arg);

#define SLEY_COMMAND_MAX 65535

/* How a handler differs from the usual. */
struct sley_handler_options {
	uint32_t size;       /* of this struct; SLEY_HANDLER_OPTIONS sets it */
	uint64_t timeout_ns; /* then it is complete, with -ETIMEDOUT, and the
				handler must not use the payload; 0: never   */
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
 * sley_command_handle - @handler sees to @command from now on.
 *
 * Commands are those of the whole program.  @options may be NULL.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -EEXIST  it has a handler
 *           -EINVAL  above SLEY_COMMAND_MAX, or no handler
 *           -E2BIG   a newer field of @options is set
 *           -ENOMEM  nothing was registered
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_command_handle(uint32_t command, sley_handler *handler, void *arg,
		    const struct sley_handler_options *options);

/*
 * sley_command_unhandle - @command has no handler any more.
 *
 * Calls that have begun may still run when it returns.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -ENOENT  it had none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_command_unhandle(uint32_t command);

/*
 * sley_command_complete - a command is complete, with @size bytes of @data.
 *
 * To be called once for each command; before its handler has returned, or at any
 * time after that.  If the process does not wait for @tag, because the command was
 * completed before, or was never yielded, or belongs to what the process was
 * before an upgrade, it is not told; sley_process_inspect() counts such strays.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @data is copied.
 * Order:    everything before the call happens before the process gets it.
 * Errors:   -ESRCH     there is no such process (any more)
 *           -ENOMEM    it is not complete
 *           -EMSGSIZE  more than 4 GiB
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_command_complete(sley_pid pid, uint64_t tag, const void *data,
		      size_t size);

/*
 * sley_command_complete_error - a command has failed, with @error below 0.
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
