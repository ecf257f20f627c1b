/* SPDX-License-Identifier: MIT */
/*
 * sley/supervisor.h - processes that start other processes, and restart them.
 *
 *	static const struct sley_child children[] = {
 *		{ "cache", cache_main, .restart = SLEY_PERMANENT },
 *		{ "worker", worker_main, .restart = SLEY_TRANSIENT, .count = 8 },
 *	};
 *
 *	err = sley_supervise(&pid, SLEY_SUPERVISOR_OPTIONS(.intensity = 5,
 *			     .within_ns = 10 * SLEY_SEC), children, 2);
 *
 * A supervisor is a process.  It starts its children in their order.  When a
 * child ends, the supervisor does what its strategy says.  It reports each
 * failed child that it starts again, with the reason, to .report of the
 * runtime's configuration, or else as a line on stderr.  When restarts exceed
 * the restart intensity, the supervisor gives up: it reports that, ends the
 * children, the last one first, and then itself, with SLEY_ERESTARTS.  A parent
 * that is a supervisor treats this as the failure of a child.
 *
 * When a supervisor is asked to end (sley_process_cancel()), it asks the
 * children to end, the last one first, and then ends with -ECANCELED.  Each
 * child has some time to end (.shutdown_ns), and is killed afterwards.  An actor
 * that was killed ends when it waits the next time, or returns; the supervisor
 * waits for that.  If the supervisor itself is killed, the children end in no
 * special order: they are linked with their supervisor.
 *
 * A child can be a supervisor.  So a tree of supervisors is a table, too:
 *
 *	static const struct sley_child service[] = {
 *		{ "store", store_main },
 *		{ "pool", .children = workers, .nr_children = 3,
 *		  .supervisor = SLEY_SUPERVISOR_OPTIONS(.strategy = SLEY_ONE_FOR_ALL) },
 *	};
 */
#ifndef SLEY_SUPERVISOR_H
#define SLEY_SUPERVISOR_H

#include <sley/actor.h>
#include <sley/compiler.h>
#include <sley/process.h>
#include <sley/step.h>
#include <sley/time.h>

SLEY_BEGIN_DECLS

/* Which children are started again when a child is to be restarted: */
enum sley_strategy {
	SLEY_ONE_FOR_ONE,  /* this child                                    */
	SLEY_ONE_FOR_ALL,  /* all children, after the others have ended     */
	SLEY_REST_FOR_ONE, /* this child and all that were started after it */
};

/*
 * Is a child that has ended started again?  SLEY_ONE_FOR_ALL and
 * SLEY_REST_FOR_ONE also restart children that had ended earlier, except
 * SLEY_TEMPORARY ones.
 */
enum sley_restart {
	SLEY_PERMANENT, /* yes                                              */
	SLEY_TRANSIENT, /* if it failed: not with 0 or -ECANCELED           */
	SLEY_TEMPORARY, /* no                                               */
};

struct sley_supervisor_options {
	uint32_t size;     /* of this struct; SLEY_SUPERVISOR_OPTIONS sets it */
	uint32_t strategy; /* enum sley_strategy                            */
	uint32_t intensity; /* restarts within .within_ns; 0: 3              */
	uint32_t never;     /* 1: allow no restart at all                    */
	uint64_t within_ns; /* 0: 5 s                                        */
	const struct sley_process_options *process; /* NULL: the default     */
	uint64_t reserved[4];
};

#define SLEY_SUPERVISOR_OPTIONS(...)                                           \
	SLEY_LITERAL(struct sley_supervisor_options, __VA_ARGS__)

/*
 * sley_supervisor_options_default - default options, to change field by field.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline struct sley_supervisor_options
sley_supervisor_options_default(void)
{
	struct sley_supervisor_options options = SLEY_ZEROED;

	options.size = sizeof(options);
	return options;
}

/*
 * A child of a supervisor.  Set exactly one of .fn, .behaviour and .children, or
 * .supervisor alone for a supervisor that gets its children later.
 *
 * Shutdown.  A child that was asked to end is killed after .shutdown_ns, or
 * after 5 s if .shutdown_ns is 0.  A child that is a supervisor has as long as
 * it takes.
 *
 * Back-off.  A child is started again after a delay of .backoff_ns.  If the
 * child ends soon again, the delay doubles, up to .backoff_max_ns; each delay
 * varies by 10 %.  Soon means: the child did not live longer than the
 * supervisor's .within_ns, nor longer than the delay before its start.  A child
 * that cannot be started, because memory is short or its init fails, is tried
 * again in the same way; the first delay is 1 ms if .backoff_ns is 0.  Each such
 * try counts as a restart, except for an .optional child that has never run.
 */
struct sley_child {
	const char *name;  /* registered, unless .count > 1; the label */
	sley_actor_fn *fn; /* an actor                                */
	void *arg;         /* of fn                                   */
	const struct sley_behaviour *behaviour; /* or a step process         */
	const void *input; /* of its init                             */
	size_t input_size;
	const struct sley_child *children; /* or a supervisor of these       */
	size_t nr_children;
	const struct sley_supervisor_options *supervisor; /* NULL: default   */
	const struct sley_process_options *options; /* NULL: the default     */
	enum sley_restart restart;
	uint32_t count;          /* how many such children; 0: 1            */
	uint64_t shutdown_ns;    /* time to end; 0: 5 s; or SLEY_FOREVER    */
	uint64_t backoff_ns;     /* delay before a restart; 0: at once      */
	uint64_t backoff_max_ns; /* the delay doubles up to this; 0: 90 s   */
	uint32_t intensity;      /* restarts of this child; 0: no own limit */
	int32_t fatal;           /* exit reason to give up at once; 0: none */
	bool optional;           /* if it cannot start: go on, try again */
	uint64_t reserved[4];
};

/*
 * sley_supervise - start a supervisor with its first children.
 *
 * Returns when all children have started.  If a child cannot be started, the
 * children that have started end again, each within its shutdown time.  @pid and
 * @options may be NULL.  @children may be NULL if @nr is 0.
 *
 * With .link in options->process the caller, a process, is the parent: when the
 * parent fails, the supervisor ends its children and itself for the same reason.
 * The mailbox of a supervisor has no limit, and a supervisor traps, whatever the
 * options say.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @children is copied; everything that it points at must live as long
 *           as the supervisor.
 * Order:    everything before the call happens before the first child starts.
 * Errors:   as sley_process_spawn() and sley_actor_spawn() for the supervisor or
 *           a child
 *           -EINVAL     a child is not exactly one of actor, step process and
 *                       supervisor; or a strategy or a .restart is unknown
 *           -ECANCELED  the caller was cancelled; there is no supervisor
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_supervise(sley_pid *pid, const struct sley_supervisor_options *options,
	       const struct sley_child *children, size_t nr);

/*
 * sley_supervise_until - sley_supervise() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_supervise()
 * Order:    as sley_supervise()
 * Errors:   as sley_supervise()
 *           -ETIMEDOUT  not all children have started in time: there is no
 *                       supervisor, and the children that have started end
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_supervise_until(sley_pid *pid,
		     const struct sley_supervisor_options *options,
		     const struct sley_child *children, size_t nr,
		     uint64_t deadline_ns);

/*
 * sley_supervisor_add - add a child, the last in order.
 *
 * While the supervisor is ending children in order to restart them, the call
 * waits.  @pid may be NULL.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_supervise()
 * Order:    everything before the call happens before the child starts.
 * Errors:   as sley_supervise() for a child, and as sley_call()
 *           -EINVAL  .count is above 1; or @supervisor is no supervisor
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_supervisor_add(sley_pid supervisor, const struct sley_child *child,
		    sley_pid *pid);

/*
 * sley_supervisor_add_until - sley_supervisor_add() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_supervise()
 * Order:    as sley_supervisor_add()
 * Errors:   as sley_supervisor_add()
 *           -ETIMEDOUT  no answer came in time: the child is not added, or ends
 *                       again
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_supervisor_add_until(sley_pid supervisor, const struct sley_child *child,
			  sley_pid *pid, uint64_t deadline_ns);

/*
 * sley_supervisor_remove - end a child, and forget it.
 *
 * Returns when the child has ended.  @child is the current pid of the child, its
 * last pid or its first: the pid from sley_supervisor_add() stays valid after
 * restarts.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    everything that the child did happens before the return.
 * Errors:   as sley_call()
 *           -ENOENT  the supervisor has no such child
 *           -EINVAL  @supervisor is no supervisor
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_supervisor_remove(sley_pid supervisor, sley_pid child);

/*
 * sley_supervisor_remove_until - sley_supervisor_remove() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    as sley_supervisor_remove()
 * Errors:   as sley_supervisor_remove()
 *           -ETIMEDOUT  the child has not ended yet; it will end, and is not
 *                       started again
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_supervisor_remove_until(sley_pid supervisor, sley_pid child,
			     uint64_t deadline_ns);

SLEY_END_DECLS
#endif
