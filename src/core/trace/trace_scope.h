/* SPDX-License-Identifier: MIT */
/*
 * trace_scope.h - events that a program adds to its full trace: <sley/trace.h>.
 *
 * The open scopes of a task are a stack that hangs on the strand.  A track is
 * written by one worker alone and is read without the others, so each stretch in
 * which the task runs must be whole.  When the task leaves its worker, all open
 * scopes are recorded as ended; when the task comes back, on whatever track, the
 * scopes are recorded as begun again.
 *
 * In a blocking region the stack is kept up to date, and nothing is recorded.
 *
 * All of this is called in a full trace only.
 */
#ifndef SLEY_CORE_TRACE_TRACE_SCOPE_H
#define SLEY_CORE_TRACE_TRACE_SCOPE_H

#include "core/task/cleanup.h"
#include "core/trace/trace.h"

#define TRACE_SCOPES_MAX 24

struct trace_scopes {
	struct cleanup cleanup;
	struct strand *strand; /* of the scopes                       */
	uint32_t nr;           /* open; scopes above the room are lost */
	const char *name[TRACE_SCOPES_MAX];
};

cold void trace_scope_begin(const char *name);
cold void trace_scope_end(void);

/* TRACE_INSTANT, or TRACE_ASYNC_BEGIN or _END of @id. */
cold void trace_mark(enum trace_kind kind, const char *name, uint64_t id);
cold void trace_name_thread(const char *name);

/* @worker leaves @strand, or comes to @strand. */
void trace_scopes_leave(struct worker *worker, const struct strand *strand);
void trace_scopes_enter(struct worker *worker, const struct strand *strand);

#endif
