/* SPDX-License-Identifier: MIT */
/*
 * sley/trace.h - mark the program's own work in its trace.
 *
 * A full trace (.trace in sley_config, or $SLEY_TRACE) shows when each task ran
 * on which worker.  These calls add the work that the task was doing.  Without a
 * full trace each of them only makes a check and returns.
 *
 *	SLEY_TRACE_SCOPE("parse");
 *
 * Scopes nest.  A scope belongs to its task: while the task is suspended the
 * scope does not show.  When the task resumes, on any worker, the scope shows
 * again.  The end of a task closes its open scopes.
 *
 * Names are not copied: they must not change until the runtime has been
 * destroyed.  String literals are safe.
 *
 * Only workers have a track to record on (and threads bound to a single-threaded
 * runtime).  Events of other threads, also of the threads of sley/blocking.h,
 * are not recorded, but counted in sley_stats.trace_dropped.
 */
#ifndef SLEY_TRACE_H
#define SLEY_TRACE_H

#include <sley/compiler.h>

SLEY_BEGIN_DECLS

/*
 * sley_trace_begin - open a scope called @name in the trace.
 *
 * Scopes that are nested more than 24 deep are dropped, and counted.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @name is borrowed until the runtime is destroyed.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_trace_begin(const char *name);

/*
 * sley_trace_end - close the scope of the trace that was opened last.
 *
 * Does nothing if no scope is open.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void sley_trace_end(void);

/*
 * sley_trace_scope_end - private: sley_trace_end() for SLEY_TRACE_SCOPE().
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline void
sley_trace_scope_end(const char *unused)
{
	(void)unused;
	sley_trace_end();
}

/* Private: a unique name. */
#define SLEY_TRACE_JOIN_(a, b) a##b
#define SLEY_TRACE_JOIN(a, b) SLEY_TRACE_JOIN_(a, b)

/* SLEY_TRACE_SCOPE(name) - a scope until the block is left, in any way. */
#define SLEY_TRACE_SCOPE(name)                                                 \
	__attribute__((cleanup(sley_trace_scope_end), unused)) const char      \
	SLEY_TRACE_JOIN(sley_trace_scope_, __COUNTER__) =                      \
		(sley_trace_begin(name), 0)

/*
 * sley_trace_async_begin - begin an activity in the trace that is no scope.
 *
 * For example a request that several tasks work on, one after the other.
 * sley_trace_async_end() with the same @name and @id ends it, from any thread.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @name is borrowed until the runtime is destroyed.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_trace_async_begin(const char *name, uint64_t id);

/*
 * sley_trace_async_end - end an activity of sley_trace_async_begin().
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    as sley_trace_async_begin()
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_trace_async_end(const char *name, uint64_t id);

/*
 * sley_trace_instant - mark the present moment in the trace.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    as sley_trace_begin()
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_trace_instant(const char *name);

/*
 * sley_trace_thread_name - name the calling thread's track in the trace.
 *
 * In a task this is the track of its worker, where other tasks run, too.  The
 * last name counts.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    as sley_trace_begin()
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_trace_thread_name(const char *name);

SLEY_END_DECLS
#endif
