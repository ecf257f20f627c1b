/* SPDX-License-Identifier: MIT */
/*
 * sley/trace.h - put what a program does into its trace.
 *
 * A full trace (.trace in sley_config, or $SLEY_TRACE) shows when each task ran
 * on which worker.  These calls add what the task was doing.  Without a full
 * trace each of them is a call, a look and a return.
 *
 *	SLEY_TRACE_SCOPE("parse");
 *
 * Scopes nest.  A scope belongs to its task: while the task is suspended the
 * scope does not show, and when it is resumed, on whatever worker, the scope is
 * there again.  What is still open when the task ends, ends with it.
 *
 * Names are not copied: they must stay as they are until the runtime has been
 * destroyed.  String literals do.
 *
 * Only workers have a track to record on (and threads bound to a single-threaded
 * runtime).  What other threads do, those of sley/blocking.h included, is
 * counted in sley_stats.trace_dropped and not recorded.
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
 * Where none is open, nothing happens.
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

/* Private: a name that nobody else has. */
#define SLEY_TRACE_JOIN_(a, b) a##b
#define SLEY_TRACE_JOIN(a, b) SLEY_TRACE_JOIN_(a, b)

/* SLEY_TRACE_SCOPE(name) - a scope to the end of the block, however left. */
#define SLEY_TRACE_SCOPE(name)                                                 \
	__attribute__((cleanup(sley_trace_scope_end), unused)) const char      \
	SLEY_TRACE_JOIN(sley_trace_scope_, __COUNTER__) =                      \
		(sley_trace_begin(name), 0)

/*
 * sley_trace_async_begin - begin something in the trace that is no scope.
 *
 * A request, say, that several tasks work on one after the other.  It ends with
 * the same @name and @id, from wherever.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @name is borrowed until the runtime is destroyed.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_trace_async_begin(const char *name, uint64_t id);

/*
 * sley_trace_async_end - end what sley_trace_async_begin() began.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    as sley_trace_async_begin()
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_trace_async_end(const char *name, uint64_t id);

/*
 * sley_trace_instant - note in the trace that something happens now.
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
 * In a task that is the track of its worker, where others run, too.  The last
 * name given counts.
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
