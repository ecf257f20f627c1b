/* SPDX-License-Identifier: MIT */
/*
 * sley/process.h - processes: they live, receive messages, and end.
 *
 * There are two kinds of processes.  A step process (sley/step.h) is a state
 * machine: a function that is called when there is something to do.  An idle
 * step process costs a few hundred bytes.  An actor (sley/actor.h) is a function
 * with a stack that receives messages in a loop.  This header has the calls that
 * work for both kinds: find, monitor, and end a process.
 *
 * A process ends with a reason: 0 if it finished its work, else a negative
 * error.  The reason is -ECANCELED if the process was asked to end, and
 * SLEY_EKILLED if it was killed.
 *
 *   link      two processes share their fate: when one of them ends for a reason
 *             other than 0, the other one ends, too
 *   monitor   a process gets one message when another process ends
 *   trap      a process that traps gets a message instead of being ended:
 *             SLEY_CANCEL if it was asked to end, SLEY_EXIT if a linked process
 *             has failed
 *
 * An actor cannot be ended from outside while its function runs.  A call that
 * ends an actor only makes its sley_receive() and its other waits return
 * -ECANCELED, now and from then on.  The actor ends when its function returns.
 * It ends with the reason of that call, whatever the function returns.  A step
 * process ends before its next step: no call, and no kill, ends a wait in the middle of a
 * step.  Two steps that wait for room in each other's mailbox (SLEY_BLOCK) wait for ever.
 * So let a step wait with a deadline, its own or that of a scope, if there can be a circle.
 */
#ifndef SLEY_PROCESS_H
#define SLEY_PROCESS_H

#include <sley/compiler.h>
#include <sley/message.h>
#include <sley/runtime.h>

SLEY_BEGIN_DECLS

/* What happens to a message when the mailbox is full (.mailbox messages): */
enum sley_overflow {
	SLEY_REFUSE,      /* the sender gets -EAGAIN                         */
	SLEY_BLOCK,       /* a task waits for room; other senders get -EAGAIN */
	SLEY_DROP_OLDEST, /* the oldest message is dropped                   */
};

/* The options of a process.  Zero means the default in every field. */
struct sley_process_options {
	uint32_t size;        /* of this struct; SLEY_PROCESS_OPTIONS sets it */
	int32_t priority;     /* as for a task                               */
	const char *name;     /* registered, for sley_name_find(); copied */
	const char *label;    /* static text for reports; NULL: the name     */
	const char *method;   /* for init of a step process; NULL: "main"    */
	struct sley *runtime; /* NULL: the caller's runtime                  */
	uint32_t mailbox;     /* messages at most; 0: no limit               */
	uint32_t overflow;    /* enum sley_overflow                          */
	uint32_t budget; /* messages in a row before other tasks run; 0: 64 */
	uint32_t stack_kib; /* of an actor                                 */
	bool pinned;        /* to the caller's worker                      */
	bool traps;         /* SLEY_CANCEL and SLEY_EXIT are messages      */
	bool link;          /* link it with the caller, a process          */
	bool joinable;      /* keep its end for sley_process_wait()        */
	uint64_t *monitor;  /* the caller, a process, monitors it: the number */
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
 * A task that a process spawns is not the process.  A forked child (sley/fork.h)
 * counts as the process only if no other worker took it, so that the join runs
 * it.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; returns SLEY_NO_PID if the caller is no process
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS sley_pid sley_self(void);

/*
 * sley_process_alive - is there a process @pid?
 *
 * A process that was asked to end is alive until it has ended.
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
 * A process that traps gets a SLEY_CANCEL message with @reason in its error, and
 * may ignore it.  For other processes @reason has no meaning.  sley_destroy()
 * asks all processes in this way, with -ECANCELED.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    everything before the call happens before the process receives
 *           SLEY_CANCEL, or ends because of the call.
 * Errors:   -ESRCH   there is no such process (any more)
 *           -ENOMEM  nothing was sent
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_process_cancel(sley_pid pid, int reason);

/*
 * sley_process_kill - end a process, trapping or not, with SLEY_EKILLED.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    as sley_process_cancel()
 * Errors:   -ESRCH  there is no such process (any more)
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_process_kill(sley_pid pid);

/*
 * sley_process_trap - switch trapping on or off for the calling process.
 *
 * Returns the old setting.
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
	int reason;       /* 0, or a negative error                      */
	uint64_t time_ns; /* sley_now() at the end                       */
	struct sley_blob *result; /* sley_process_result(), or NULL      */
	uint64_t reserved[4];     /* 0                                   */
};

/*
 * sley_process_wait - wait until the process @pid has ended.
 *
 * Any number of tasks, processes and threads can wait for the same process.  All
 * of them learn how the process ended: the call writes *@end.  @end may be NULL.
 *
 * If no caller waits when a process ends, its end is forgotten, and later calls
 * return -ESRCH.  A process with .joinable in its options keeps its end until
 * one sley_process_wait() has returned it, however late, so the spawner cannot
 * come too late.  A joinable process must be waited for once: until then some
 * 300 bytes of it and its result stay allocated, even after sley_destroy().
 *
 * When the call returns, the names of the process are free, and no thread runs
 * its code.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    end->result, if it is not NULL, belongs to the caller, which gives
 *           it up with sley_blob_put().  If the call fails *@end is not written.
 * Order:    everything that the process did happens before the return.
 * Errors:   -ESRCH      there is no such process (any more), and its end was not
 *                       kept or another caller has taken it
 *           -ECANCELED  the caller was cancelled
 *           -EDEADLK    the caller is @pid
 *           -ENOMEM     there is no memory to wait
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_process_wait(sley_pid pid, struct sley_process_end *end);

/*
 * sley_process_wait_until - sley_process_wait() with a deadline; 0 does not wait.
 *
 * After a timeout the caller can wait again: the end of a joinable process is
 * still kept.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_process_wait()
 * Order:    as sley_process_wait()
 * Errors:   as sley_process_wait()
 *           -ETIMEDOUT  the process has not ended in time
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_process_wait_until(sley_pid pid, struct sley_process_end *end,
			uint64_t deadline_ns);

/*
 * sley_process_result - set the bytes that the calling process leaves at its end.
 *
 * All callers that wait for the end get the bytes, and so do all monitors: they
 * are the data of the SLEY_DOWN.  The reason of the end does not matter.  A
 * second call replaces the first; size 0 removes the result.
 *
 * Context:  a process
 * Blocks:   never
 * Owner:    @data is copied.
 * Errors:   -EINVAL    the caller is no process
 *           -ENOMEM    the old result is kept
 *           -EMSGSIZE  more than 4 GiB
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_process_result(const void *data, size_t size);

/* ---- links and monitors -------------------------------------------------------- */

/*
 * sley_link - share the fate of @peer.
 *
 * A second link to the same process changes nothing.  If @peer fails during the
 * call, the caller either shares the failure or gets -ESRCH.
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
 * sley_unlink - undo sley_link(); does nothing if there is no link.
 *
 * After the return, the end of @peer neither ends the caller nor sends SLEY_EXIT
 * to it.  If @peer has failed before, and the caller does not trap, the caller
 * is ending already.
 *
 * Context:  a process
 * Blocks:   never
 * Errors:   none; elsewhere it is misuse
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS void sley_unlink(sley_pid peer);

/*
 * sley_monitor - get a message when @target has ended.
 *
 * The caller gets one SLEY_DOWN.  The tag of the message is the number of the
 * monitor, from is @target, error is the reason of the end, and data is the
 * result (sley_process_result()), if there is a result.  sley_down_time() tells
 * when the process ended.  If there is no such process (any more), SLEY_DOWN
 * comes at once, with -ESRCH.  A process may monitor another process several
 * times.  @number may be NULL.
 *
 * Context:  a process
 * Blocks:   never
 * Errors:   -ENOMEM  no monitor was set up
 *           -EINVAL  the caller is no process, or @target is the caller
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_monitor(sley_pid target, uint64_t *number);

/*
 * sley_down_time - when the process of @down, a SLEY_DOWN, ended, by sley_now().
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; returns 0 if there was no such process, or @down is no
 *           SLEY_DOWN
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline uint64_t
sley_down_time(const struct sley_msg *down)
{
	return down->kind == SLEY_DOWN ? down->space[1] : 0;
}

/*
 * sley_unmonitor - undo sley_monitor().
 *
 * After the return no SLEY_DOWN of this number comes, even if the process had
 * ended before.
 *
 * Context:  the process that monitors
 * Blocks:   never
 * Errors:   none: the call ignores a number that is not a monitor of the caller;
 *           elsewhere the call is misuse
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS void
sley_unmonitor(uint64_t number);

/* ---- names ----------------------------------------------------------------------- */

/*
 * sley_name_register - give @pid a name.
 *
 * There is one table of names for the whole program.  A process can have several
 * names.  It loses them when it ends.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @name is copied.
 * Errors:   -EEXIST  another process has the name; *@owner, if @owner is not
 *                    NULL, is its pid
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
 * Errors:   -ENOENT  no process has the name
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_name_unregister(const char *name);

/*
 * sley_name_find - the pid of the process named @name.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; returns SLEY_NO_PID if no process has the name
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS sley_pid
sley_name_find(const char *name);

/*
 * sley_name_find_until - wait until a process named @name exists.
 *
 * For a process that is being started, or started again by its supervisor.  A
 * supervisor does not guarantee that the name comes back: it may have given up.
 * So have a deadline; UINT64_MAX is no deadline, and 0 does not wait.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    everything before the name was given happens before the return.
 * Errors:   -ETIMEDOUT  no process got the name in time
 *           -ECANCELED  the caller was cancelled
 *           -EINVAL     empty, or longer than SLEY_NAME_MAX
 *           *@pid is SLEY_NO_PID on failure
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_name_find_until(const char *name, sley_pid *pid, uint64_t deadline_ns);

#define SLEY_PID_TEXT 32 /* bytes of a pid as text, with its '\0' */

/*
 * sley_pid_format - a pid as readable text: <node.index.generation>.
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
 * Errors:   -EINVAL  @text is no pid
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_pid_parse(const char *text, sley_pid *pid);

/* ---- inspection ------------------------------------------------------------------ */

enum sley_process_state {
	SLEY_PROCESS_READY,   /* queued to run                               */
	SLEY_PROCESS_RUNNING, /* in a step, or in its function               */
	SLEY_PROCESS_BLOCKED, /* waits for commands, or in a call of sley */
	SLEY_PROCESS_IDLE,    /* waits for messages                          */
};

struct sley_process_info {
	sley_pid pid;
	sley_pid parent;   /* the spawner; 0: not a process              */
	const char *label; /* or NULL                                    */
	char name[SLEY_NAME_MAX + 1]; /* a registered name; or ""             */
	enum sley_process_state state;
	uint32_t mailbox; /* waiting messages, about                    */
	uint32_t links;
	uint32_t monitors; /* of this process, by others                 */
	uint32_t yields;   /* commands under way                         */
	uint32_t command;  /* the oldest command under way               */
	uint64_t handled;  /* messages                                   */
	uint64_t steps;    /* turns that it had                          */
	uint64_t stray;    /* completions of no command under way        */
	uint64_t dropped; /* messages that the full mailbox dropped or refused */
	uint64_t start_ns;    /* sley_now() when it was spawned             */
	bool actor;           /* false: a step process                      */
	uint64_t reserved[8]; /* 0 */
};

/*
 * sley_process_inspect - the state and the counters of a process.
 *
 * The numbers may be slightly out of date.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -ESRCH  there is no such process (any more)
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_process_inspect(sley_pid pid, struct sley_process_info *info);

/*
 * sley_process_next - walk over all processes: the process after @pid.
 *
 * Begin with SLEY_NO_PID.  A process that exists during the whole walk is seen
 * once.  The walk covers the processes of all runtimes of the program.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; returns SLEY_NO_PID if @pid was the last process
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS sley_pid
sley_process_next(sley_pid pid);

/*
 * sley_process_count - the number of processes in the whole program.
 *
 * The number is exact if no process begins or ends during the call.  The call
 * takes the same time for ten processes as for ten million.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint64_t sley_process_count(void);

SLEY_END_DECLS
#endif
