/* SPDX-License-Identifier: MIT */
/*
 * sley/local.h - values that belong to a task.
 *
 * What a thread-local is to a thread, a local is to a task: everything the task
 * calls can look it up, at any depth, and no other task sees it.  The values
 * stay with the task wherever it runs: when it resumes on another worker, and
 * within a blocking region.  A function run by sley_blocking_call() sees those
 * of the task that called it.
 *
 *	static struct sley_local request = SLEY_LOCAL_INIT(free);
 *
 *	sley_local_set(&request, strdup("GET /"));
 *	...
 *	log_line(sley_local_get(&request));
 *
 * The address of the struct is the key; there is nothing to register.
 *
 * When the task ends, destroy() is called for each value that is not NULL, the
 * key whose first value came last first.  It runs as part of the task, has its
 * waker and is in its task tree, and may block.  It may also set values: those
 * are destroyed in this or a further round, of which there are four; what is
 * set even then is forgotten.
 *
 * A child forked with sley_fork() shares the values of its parent if it runs
 * in the parent's task, and has none if another worker took it.  Do not rely
 * on either.
 *
 * A plain thread has values, too.  They are destroyed when the thread exits;
 * those of the main thread only by pthread_exit().  A thread bound to a
 * single-threaded runtime has other values from sley_bind() on; they are
 * destroyed by sley_unbind().
 */
#ifndef SLEY_LOCAL_H
#define SLEY_LOCAL_H

#include <sley/compiler.h>

SLEY_BEGIN_DECLS

/* A key.  It must outlive the values; static storage is the usual place. */
struct sley_local {
	void (*destroy)(void *value); /* NULL: nothing is to be done */
};

#define SLEY_LOCAL_INIT(destroy) { destroy }

/*
 * sley_local_get - the value of @key for the calling task or thread.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; NULL if it was not set
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void *
sley_local_get(const struct sley_local *key);

/*
 * sley_local_set - set the value of @key for the calling task or thread.
 *
 * The value it had is not destroyed: get it first if it is to be freed.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @value belongs to the task until it is set to another one.
 * Errors:   -ENOMEM   nothing has changed; not if @key was set before
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_local_set(const struct sley_local *key, void *value);

SLEY_END_DECLS
#endif
