/* SPDX-License-Identifier: MIT */
/*
 * sley/local.h - values that belong to a task.
 *
 * A local is to a task what a thread-local is to a thread: every function that
 * the task calls can look up the value, at any depth, and no other task sees it.
 * The values stay with the task wherever it runs: when it resumes on another
 * worker, and within a blocking region.  A function run by sley_blocking_call()
 * sees the values of the task that called it.
 *
 *	static struct sley_local request = SLEY_LOCAL_INIT(free);
 *
 *	sley_local_set(&request, strdup("GET /"));
 *	...
 *	log_line(sley_local_get(&request));
 *
 * The address of the struct is the key; there is nothing to register.
 *
 * When the task ends, destroy() is called for each value that is not NULL, in
 * the reverse of the order in which the keys got their first values.  destroy()
 * runs as part of the task, with the waker and the task tree of the task, and
 * may block.  It may also set values: these are destroyed in this round or in a
 * further round.  There are four rounds; values that are set after them are
 * forgotten.
 *
 * A child forked with sley_fork() shares the values of its parent if it runs in
 * the parent's task, and has no values if another worker took it.  Do not rely
 * on either.
 *
 * A plain thread has values, too.  They are destroyed when the thread exits; the
 * values of the main thread only by pthread_exit().  A thread bound to a
 * single-threaded runtime has separate values from sley_bind() on; sley_unbind()
 * destroys these.
 */
#ifndef SLEY_LOCAL_H
#define SLEY_LOCAL_H

#include <sley/compiler.h>

SLEY_BEGIN_DECLS

/* A key.  It must outlive the values; static storage is the usual place. */
struct sley_local {
	void (*destroy)(void *value); /* NULL: nothing to do */
};

#define SLEY_LOCAL_INIT(destroy) { destroy }

/*
 * sley_local_get - the value of @key for the calling task or thread.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; returns NULL if @key was not set
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void *
sley_local_get(const struct sley_local *key);

/*
 * sley_local_set - set the value of @key for the calling task or thread.
 *
 * The old value is not destroyed: get it first if it must be freed.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @value belongs to the task until another value is set.
 * Errors:   -ENOMEM  nothing has changed; never if @key was set before
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_local_set(const struct sley_local *key, void *value);

SLEY_END_DECLS
#endif
