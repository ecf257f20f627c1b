/* SPDX-License-Identifier: MIT */
/*
 * trace.c - <sley/trace.h>: without a full trace (config.trace) each call does nothing.
 */
#include <sley/trace.h>

#include "core/trace/trace_scope.h"
#include "core/sched/worker.h"

static inline bool tracing(void)
{
	const struct sley *rt = sley__self.bound;

	return unlikely(rt && rt->trace.full);
}

void sley_trace_begin(const char *name)
{
	if (tracing())
		trace_scope_begin(name);
}

void sley_trace_end(void)
{
	if (tracing())
		trace_scope_end();
}

void sley_trace_async_begin(const char *name, uint64_t id)
{
	if (tracing())
		trace_mark(TRACE_ASYNC_BEGIN, name, id);
}

void sley_trace_async_end(const char *name, uint64_t id)
{
	if (tracing())
		trace_mark(TRACE_ASYNC_END, name, id);
}

void sley_trace_instant(const char *name)
{
	if (tracing())
		trace_mark(TRACE_INSTANT, name, 0);
}

void sley_trace_thread_name(const char *name)
{
	if (tracing())
		trace_name_thread(name);
}
