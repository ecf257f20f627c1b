/* SPDX-License-Identifier: MIT */
/*
 * sley/supervisor.h - processes that start others, and start them again.
 *
 *	static const struct sley_child children[] = {
 *		{ "cache", cache_main, .restart = SLEY_PERMANENT },
 *		{ "worker", worker_main, .restart = SLEY_TRANSIENT, .count = 8 },
 *	};
 *
 *	err = sley_supervise(&pid, SLEY_SUPERVISOR_OPTIONS(.intensity = 5,
 *			     .within_ns = 10 * SLEY_SEC), children, 2);
 *
 * A supervisor is a process.  It starts its children in their order, and when one
 * of them ends, does what its strategy says.  It reports each child that failed
 * and is started again (.report of the runtime's configuration; else a line on
 * stderr), with the reason.  If that happens too often it gives
 * up: it reports that, ends its children, the last one first, and then itself,
 * with SLEY_ERESTARTS; if its parent is a supervisor, that one takes it from there.
 *
 * Asked to end (sley_process_cancel()), it asks its children, the last one first,
 * and ends with -ECANCELED: each child has its time, and is killed if it does not
 * use it.  An actor that was killed ends when it waits the next time, or returns:
 * the supervisor waits for that.  If the supervisor itself is killed there is no
 * order: its children are linked with it.
 *
 * A child can be a supervisor.  So trees of them are tables, too:
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

/* When one child has ended and is to be started again: */
enum sley_strategy {
	SLEY_ONE_FOR_ONE,  /* that one                                      */
	SLEY_ONE_FOR_ALL,  /* all of them, after the others have ended      */
	SLEY_REST_FOR_ONE, /* that one and all that were started after it   */
};

/*
 * Is it to be started again?  SLEY_ONE_FOR_ALL and SLEY_REST_FOR_ONE start those
 * again, too, that had come to their end before, but not SLEY_TEMPORARY ones.
 */
enum sley_restart {
	SLEY_PERMANENT, /* yes                                              */
	SLEY_TRANSIENT, /* if it failed: a reason but 0 and -ECANCELED      */
	SLEY_TEMPORARY, /* no                                               */
};

struct sley_supervisor_options {
	uint32_t size;     /* of this struct; SLEY_SUPERVISOR_OPTIONS sets it */
	uint32_t strategy; /* enum sley_strategy                            */
	uint32_t intensity; /* restarts within .within_ns; 0: 3              */
	uint32_t never;     /* 1: none at all is tolerated                   */
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
 * What a supervisor starts: one of .fn, .behaviour and .children (or .supervisor
 * alone, for one that gets its children later).
 *
 * Shutdown.  A child that was asked to end has 5 s if .shutdown_ns is 0, then it is
 * killed; a supervisor has as long as it takes.
 *
 * Back-off.  A child is started again after .backoff_ns; if it ends soon, after
 * twice that, and so on up to .backoff_max_ns, each time 10 % more or less.  Soon
 * means: it did not live longer than the supervisor's .within_ns, nor than it had
 * waited for its start.  One that cannot even be started, for want of memory, or
 * since its init fails, is tried again in the same way, at first after 1 ms if it
 * has no .backoff_ns, and counts as a restart each time.
 */
struct sley_child {
	const char *name;  /* registered, unless .count > 1; a label  */
	sley_actor_fn *fn; /* an actor                                */
	void *arg;         /* of fn                                   */
	const struct sley_behaviour *behaviour; /* or a step process         */
	const void *input; /* of its init                             */
	size_t input_size;
	const struct sley_child *children; /* or a supervisor, of these      */
	size_t nr_children;
	const struct sley_supervisor_options *supervisor; /* NULL: default   */
	const struct sley_process_options *options; /* NULL: the default     */
	enum sley_restart restart;
	uint32_t count;          /* of the same; 0: one                     */
	uint64_t shutdown_ns;    /* time to end; or SLEY_FOREVER            */
	uint64_t backoff_ns;     /* before it is started again; 0: at once  */
	uint64_t backoff_max_ns; /* doubled each time up to this; 0: 90 s   */
	uint32_t intensity;      /* restarts of this one; 0: no own limit   */
	int32_t fatal;           /* a reason to give up at once; 0: none is  */
	bool optional;           /* cannot be started: go on, and try again */
	uint64_t reserved[4];
};

/*
 * sley_supervise - a new supervisor, with its first children.
 *
 * Returns when all of them are started; if one cannot be, those that are end
 * again, in their time.  @pid and @options may be NULL, and so may @children if @nr
 * is 0.
 * With .link in options->process the caller, a process, is its parent: when that
 * fails, the supervisor ends its children and itself for the same reason.  Its
 * mailbox has no limit, and it traps, whatever the options say.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @children is copied; what it points at must live as long as the
 *           supervisor.
 * Order:    everything before the call happens before the first of its children
 * Errors:   as sley_process_spawn() and sley_actor_spawn(), of the supervisor or
 *           of a child
 *           -EINVAL     a child is none or several of actor, step process and
 *                       supervisor; or something is no strategy, or no .restart
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
 *           -ETIMEDOUT  not all have started in time: there is no supervisor, and
 *                       those that have end
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_supervise_until(sley_pid *pid,
		     const struct sley_supervisor_options *options,
		     const struct sley_child *children, size_t nr,
		     uint64_t deadline_ns);

/*
 * sley_supervisor_add - one more child, the last in order.
 *
 * While the supervisor ends children to start them again, it has to wait.  @pid may
 * be NULL.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_supervise()
 * Order:    everything before the call happens before the child starts
 * Errors:   as sley_supervise() has of a child; those of sley_call()
 *           -EINVAL  .count is above 1; or @supervisor is none
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
 *           -ETIMEDOUT  no answer came in time: it is not added, or ends again
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_supervisor_add_until(sley_pid supervisor, const struct sley_child *child,
			  sley_pid *pid, uint64_t deadline_ns);

/*
 * sley_supervisor_remove - end a child, and forget it.
 *
 * Returns when it has ended.  @child is the pid that it has, or had last, or had
 * first: what sley_supervisor_add() gave is right also after restarts.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    everything the child did happens before the return.
 * Errors:   -ENOENT  the supervisor has no such child; those of sley_call()
 *           -EINVAL  @supervisor is none
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
 *           -ETIMEDOUT  it has not ended yet, but will, and is not started again
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_supervisor_remove_until(sley_pid supervisor, sley_pid child,
			     uint64_t deadline_ns);

SLEY_END_DECLS
#endif
