/* SPDX-License-Identifier: MIT */
/*
 * sley/process.h - processes: things that live, receive messages, and die.
 *
 * There are two kinds.  A step process (sley/step.h) is a state machine: a
 * function that is called when there is something to do, and costs a few hundred
 * bytes while there is not.  An actor (sley/actor.h) is a function that receives
 * messages in a loop, and has a stack.  Everything here is common to both: how
 * they are found, watched, and ended.
 *
 * A process ends with a reason: 0 if it did what it was there for, else a
 * negative error.  -ECANCELED is a process that was asked to end, SLEY_EKILLED
 * one that was killed.
 *
 *   link      two processes share their fate: when one ends for a reason other
 *             than 0, so does the other
 *   monitor   one process is told, once, when another one ends
 *   trap      a process that traps is told of what would have ended it, by a
 *             message: SLEY_CANCEL if it was asked to end, SLEY_EXIT if one it
 *             is linked with has failed
 *
 * An actor cannot be ended from outside while its function runs.  What ends it
 * makes its sley_receive(), and whatever else it waits in, return -ECANCELED, now
 * and ever after, and it ends when it returns; with the reason it was ended for,
 * whatever it returns.  A step process ends before its next step.
 */
#ifndef SLEY_PROCESS_H
#define SLEY_PROCESS_H

#include <sley/compiler.h>
#include <sley/message.h>
#include <sley/runtime.h>

SLEY_BEGIN_DECLS

/* What happens to a message if there are .mailbox already: */
enum sley_overflow {
	SLEY_REFUSE, /* the sender gets -EAGAIN                         */
	SLEY_BLOCK,  /* a task waits until there is room; others: -EAGAIN */
	SLEY_DROP_OLDEST, /* the oldest one goes                             */
};

/* How a process differs from the usual.  Zero means the default everywhere. */
struct sley_process_options {
	uint32_t size;      /* of this struct; SLEY_PROCESS_OPTIONS sets it */
	int32_t priority;   /* as that of a task                           */
	const char *name;   /* registered: sley_name_find() finds it; copied */
	const char *label;  /* static text for reports; NULL: the name     */
	const char *method; /* of a step process, for init; NULL: "main"   */
	struct sley *runtime; /* NULL: that of the caller                    */
	uint32_t mailbox;     /* messages at most; 0: no limit               */
	uint32_t overflow;    /* enum sley_overflow                          */
	uint32_t budget;      /* messages in a row before others; 0: 64      */
	uint32_t stack_kib;   /* of an actor                                 */
	bool pinned;          /* to this worker                              */
	bool traps;           /* SLEY_CANCEL and SLEY_EXIT are messages      */
	bool link;            /* with the caller, a process                  */
	bool joinable;        /* its end is kept for sley_process_wait()     */
	uint64_t *monitor;    /* by the caller, a process: its number        */
	uint64_t reserved[4];
};

#define SLEY_PROCESS_OPTIONS(...)                                              \
	SLEY_LITERAL(struct sley_process_options, __VA_ARGS__)

#define SLEY_NAME_MAX 63 /* bytes of a name */

/*
 * sley_process_options_default - default options, to change field by field.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline struct sley_process_options
sley_process_options_default(void)
{
	struct sley_process_options options = SLEY_ZEROED;

	options.size = sizeof(options);
	return options;
}

/*
 * sley_self - the pid of the calling process.
 *
 * Tasks that a process spawns are not the process.  A child that it forks
 * (sley/fork.h) is, if nobody took it, and the join calls it.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; SLEY_NO_PID: the caller is no process
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS sley_pid sley_self(void);

/*
 * sley_process_alive - is there a process @pid?
 *
 * One that is about to end, and has not got that far, is still there.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS bool
sley_process_alive(sley_pid pid);

/* ---- ending others ------------------------------------------------------------ */

/*
 * sley_process_cancel - ask a process to end, with -ECANCELED.
 *
 * One that traps gets SLEY_CANCEL, with @reason in its error, and does as it
 * likes; for others @reason means nothing.  sley_destroy() asks all processes in
 * this way, with -ECANCELED.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    everything before the call happens before the process ends by it,
 *           or receives it.
 * Errors:   -ESRCH   there is no such process (any more)
 *           -ENOMEM  nothing was sent
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_process_cancel(sley_pid pid, int reason);

/*
 * sley_process_kill - end a process, with SLEY_EKILLED, whether it traps or not.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    as sley_process_cancel()
 * Errors:   -ESRCH  there is no such process (any more)
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_process_kill(sley_pid pid);

/*
 * sley_process_trap - does the calling process trap from now on?
 *
 * Returns whether it did before.
 *
 * Context:  a process
 * Blocks:   never
 * Errors:   none; elsewhere it is misuse
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS bool sley_process_trap(bool trap);

/* ---- waiting for an end ------------------------------------------------------- */

/* How a process has ended. */
struct sley_process_end {
	sley_pid pid;
	int reason;       /* 0, or below                                 */
	uint64_t time_ns; /* sley_now() when it ended                    */
	struct sley_blob *result; /* sley_process_result(), or NULL      */
	uint64_t reserved[4];     /* 0                                   */
};

/*
 * sley_process_wait - wait until the process @pid has ended.
 *
 * Any number of tasks, processes and threads can wait for the same process.  All
 * that wait when it ends are told how: @end, which may be NULL, is written.
 *
 * When a process has ended and nobody was waiting, its end is forgotten, and
 * whoever asks later gets -ESRCH.  A process with .joinable in its options keeps
 * its end until one sley_process_wait() has returned it, however late; so whoever
 * spawns it cannot come too late.  A joinable process has to be waited for once:
 * until then some 300 bytes of it stay, and its result, also after sley_destroy().
 *
 * Its names are free by then, and nobody is in its code.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    end->result, if it is not NULL, is the caller's, who gives it up
 *           (sley_blob_put()).  If the call fails *@end is not written.
 * Order:    everything that the process did happens before the return.
 * Errors:   -ESRCH      there is no such process (any more), and its end was not
 *                       kept, or somebody else has got it
 *           -ECANCELED  the caller was cancelled
 *           -EDEADLK    the caller is @pid
 *           -ENOMEM     there is no memory to wait
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_process_wait(sley_pid pid, struct sley_process_end *end);

/*
 * sley_process_wait_until - sley_process_wait() with a deadline; 0 only looks.
 *
 * Whoever gives up can wait again: the end of a joinable process is still kept.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_process_wait()
 * Order:    as sley_process_wait()
 * Errors:   as sley_process_wait()
 *           -ETIMEDOUT  it has not ended in time
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_process_wait_until(sley_pid pid, struct sley_process_end *end,
			uint64_t deadline_ns);

/*
 * sley_process_result - what the calling process leaves when it ends.
 *
 * The bytes are given to all that wait for its end, and are the data of the
 * SLEY_DOWN of all that monitor it, whatever the reason of the end is.  A second
 * call replaces the first; size 0 takes it back.
 *
 * Context:  a process
 * Blocks:   never
 * Owner:    @data is copied.
 * Errors:   -EINVAL    the caller is no process
 *           -ENOMEM    the result is as before
 *           -EMSGSIZE  more than 4 GiB
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_process_result(const void *data, size_t size);

/* ---- links and monitors -------------------------------------------------------- */

/*
 * sley_link - share the fate of @peer.
 *
 * Linking twice is as linking once.  If @peer fails at the same time, the caller
 * hears of it, or gets -ESRCH; never neither.
 *
 * Context:  a process
 * Blocks:   never
 * Errors:   -ESRCH   there is no such process (any more)
 *           -ENOMEM  nothing was linked
 *           -EINVAL  the caller is no process, or @peer is the caller
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_link(sley_pid peer);

/*
 * sley_unlink - undo it.  Not linked: nothing happens.
 *
 * After it has returned, the end of @peer neither ends the caller nor sends it
 * SLEY_EXIT.  If @peer has failed before, and the caller does not trap, the caller
 * is ending already.
 *
 * Context:  a process
 * Blocks:   never
 * Errors:   none; elsewhere it is misuse
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS void sley_unlink(sley_pid peer);

/*
 * sley_monitor - be told when @target has ended.
 *
 * One SLEY_DOWN comes, with the number of the monitor in its tag, @target in its
 * from, the reason in its error, and the result (sley_process_result()), if there
 * is one, in its data; sley_down_time() says when it ended.  If there is no such process (any more), it
 * comes at once, with -ESRCH.  A process may monitor another one several times.
 * @number may be NULL.
 *
 * Context:  a process
 * Blocks:   never
 * Errors:   -ENOMEM  there is no monitor
 *           -EINVAL  the caller is no process, or @target is the caller
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_monitor(sley_pid target, uint64_t *number);

/*
 * sley_down_time - sley_now() when the process ended that @down, a SLEY_DOWN, tells of.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; 0: there was no such process, or @down is no SLEY_DOWN
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline uint64_t
sley_down_time(const struct sley_msg *down)
{
	return down->kind == SLEY_DOWN ? down->space[1] : 0;
}

/*
 * sley_unmonitor - undo it.
 *
 * After it has returned no SLEY_DOWN of that number comes, also if the process
 * had ended before.
 *
 * Context:  the process that monitors
 * Blocks:   never
 * Errors:   none: a number that is none of its monitors is ignored; elsewhere it
 *           is misuse
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS void
sley_unmonitor(uint64_t number);

/* ---- names ----------------------------------------------------------------------- */

/*
 * sley_name_register - give @pid a name.
 *
 * Names are those of the whole program.  A process can have several, and loses
 * them when it ends.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @name is copied.
 * Errors:   -EEXIST  another process has it; @owner, if not NULL, is that
 *           -ESRCH   there is no such process (any more)
 *           -EINVAL  empty, or longer than SLEY_NAME_MAX
 *           -ENOMEM  nothing was registered
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_name_register(const char *name, sley_pid pid, sley_pid *owner);

/*
 * sley_name_unregister - take a name back.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -ENOENT  nobody has it
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_name_unregister(const char *name);

/*
 * sley_name_find - the process of that name.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   SLEY_NO_PID: nobody has it
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS sley_pid
sley_name_find(const char *name);

/*
 * sley_name_find_until - wait until a process has that name.
 *
 * For whoever needs a process that is being started, or started again by its
 * supervisor.  That there is a supervisor does not mean that the name comes back: it
 * may have given up.  So have a deadline; UINT64_MAX is none, and 0 only looks.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    everything before the name was given happens before the return.
 * Errors:   -ETIMEDOUT  nobody has got it in time
 *           -ECANCELED  the caller was cancelled
 *           -EINVAL     empty, or longer than SLEY_NAME_MAX
 *           *@pid is SLEY_NO_PID then
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_name_find_until(const char *name, sley_pid *pid, uint64_t deadline_ns);

#define SLEY_PID_TEXT 32 /* bytes of a pid as text, with its end */

/*
 * sley_pid_format - a pid as people read it: <node.index.generation>.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_pid_format(sley_pid pid, char text[SLEY_PID_TEXT]);

/*
 * sley_pid_parse - the pid that sley_pid_format() wrote.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -EINVAL  it is none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_pid_parse(const char *text, sley_pid *pid);

/* ---- what is there ------------------------------------------------------------------ */

enum sley_process_state {
	SLEY_PROCESS_READY,   /* queued to run                               */
	SLEY_PROCESS_RUNNING, /* in a step, or its function runs             */
	SLEY_PROCESS_BLOCKED, /* waits for commands, or in something of sync */
	SLEY_PROCESS_IDLE,    /* waits for messages                          */
};

struct sley_process_info {
	sley_pid pid;
	sley_pid parent;   /* who spawned it; 0: no process              */
	const char *label; /* or NULL                                    */
	char name[SLEY_NAME_MAX + 1]; /* one it is registered by; or ""       */
	enum sley_process_state state;
	uint32_t mailbox; /* messages that wait, about                  */
	uint32_t links;
	uint32_t monitors;    /* by others, of this one                     */
	uint32_t yields;      /* commands that are not complete             */
	uint32_t command;     /* the oldest of these                        */
	uint64_t handled;     /* messages                                   */
	uint64_t steps;       /* turns it had                               */
	uint64_t stray;       /* completions nobody waits for               */
	uint64_t dropped;     /* messages a full mailbox dropped or refused */
	uint64_t start_ns;    /* sley_now() when it was spawned             */
	bool actor;           /* it has a stack                             */
	uint64_t reserved[8]; /* 0 */
};

/*
 * sley_process_inspect - what is known of one process.
 *
 * Numbers may be a moment old.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -ESRCH  there is no such process (any more)
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_process_inspect(sley_pid pid, struct sley_process_info *info);

/*
 * sley_process_next - walk over all processes: the one after @pid.
 *
 * Begin with SLEY_NO_PID.  One that is there all the time is seen once.  They are
 * those of the whole program, whatever their runtime.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   SLEY_NO_PID: that was the last one
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS sley_pid
sley_process_next(sley_pid pid);

/*
 * sley_process_count - how many processes there are in the whole program.
 *
 * Exact if none begins or ends meanwhile.  It takes as long for ten processes as
 * for ten million.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint64_t sley_process_count(void);

SLEY_END_DECLS
#endif
