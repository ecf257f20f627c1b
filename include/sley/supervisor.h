/* SPDX-License-Identifier: MIT */
/*
 * sley/supervisor.h - processes that start others, and start them again.
 *
 *	static const struct sley_child children[] = {
 *		{ "cache", cache_main, .restart = SLEY_PERMANENT },
 *		{ "worker", worker_main, .restart = SLEY_TRANSIENT, .count = 8 },
 *	};
 *
 *	err = sley_supervise(&pid, SLEY_SUPERVISOR(.intensity = 5,
 *			     .within_ns = 10 * SLEY_SEC), children, 2);
 *
 * A supervisor is a process.  It starts its children in their order, and when one
 * of them ends, does what its strategy says.  If that happens too often it gives
 * up: it ends its children, the last one first, and then itself, with
 * SLEY_ERESTARTS; if a supervisor is its parent, that one takes it from there.
 *
 * Asked to end (sley_process_cancel()), it asks its children, the last one first:
 * each has its time, and is killed if it does not use it.
 */
#ifndef SLEY_SUPERVISOR_H
#define SLEY_SUPERVISOR_H

#include <sley/actor.h>
#include <sley/compiler.h>
#include <sley/process.h>
#include <sley/step.h>

SLEY_BEGIN_DECLS

/* When one child has ended and is to be started again: */
enum sley_strategy {
	SLEY_ONE_FOR_ONE,  /* that one                                      */
	SLEY_ONE_FOR_ALL,  /* all of them, after the others have ended      */
	SLEY_REST_FOR_ONE, /* that one and all that were started after it   */
};

/* Is it to be started again? */
enum sley_restart {
	SLEY_PERMANENT, /* yes                                              */
	SLEY_TRANSIENT, /* if it failed: a reason but 0 and -ECANCELED      */
	SLEY_TEMPORARY, /* no                                               */
};

#define SLEY_FOREVER UINT64_MAX

struct sley_child {
	const char *name;  /* registered, unless .count > 1; a label  */
	sley_actor_fn *fn; /* an actor                                */
	void *arg;         /* of fn                                   */
	const struct sley_behaviour *behaviour; /* or a step process         */
	const void *input; /* of its init                             */
	size_t input_size;
	const struct sley_process_options *options; /* NULL: the default     */
	enum sley_restart restart;
	uint32_t count;          /* of the same; 0: one                     */
	uint64_t shutdown_ns;    /* time to end; 0: 5 s; or SLEY_FOREVER    */
	uint64_t backoff_ns;     /* before it is started again; 0: at once  */
	uint64_t backoff_max_ns; /* doubled each time up to this; 0: 90 s   */
};

struct sley_supervisor_options {
	uint32_t size;      /* of this struct; SLEY_SUPERVISOR sets it       */
	uint32_t strategy;  /* enum sley_strategy                            */
	uint32_t intensity; /* restarts within .within_ns; 0: 3              */
	uint32_t never;     /* 1: none at all is tolerated                   */
	uint64_t within_ns; /* 0: 5 s                                        */
	const struct sley_process_options *process; /* NULL: the default     */
	uint64_t reserved[4];
};

#ifndef __cplusplus
#define SLEY_SUPERVISOR(...)                                                   \
	(&(const struct sley_supervisor_options){                              \
		.size = sizeof(struct sley_supervisor_options), __VA_ARGS__ })
#endif

/*
 * sley_supervise - a new supervisor, with its first children.
 *
 * Returns when all of them are started; if one cannot be, those that are end
 * again.  @options may be NULL.  A child for which there are no .behaviour and no
 * .fn is refused.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @children is copied; what it points at must live as long as the
 *           supervisor.
 * Errors:   as sley_process_spawn() and sley_actor_spawn(), of the supervisor or
 *           of a child
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_supervise(sley_pid *pid, const struct sley_supervisor_options *options,
	       const struct sley_child *children, size_t nr);

/*
 * sley_supervisor_add - one more child, the last in order.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_supervise()
 * Errors:   as sley_supervise(); those of sley_call()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_supervisor_add(sley_pid supervisor, const struct sley_child *child,
		    sley_pid *pid);

/*
 * sley_supervisor_remove - end a child, and forget it.
 *
 * Returns when it has ended.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ENOENT  the supervisor has no such child; those of sley_call()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_supervisor_remove(sley_pid supervisor, sley_pid child);

SLEY_END_DECLS
#endif
