/* SPDX-License-Identifier: MIT */
/*
 * trace_scope.c - see trace_scope.h.
 */
#include "core/trace/trace_scope.h"

#include "base/atomic.h"
#include "core/sched/worker.h"

/* The caller has no track, or there is no room. */
static void lose(void)
{
	/* relaxed: statistics. */
	(void)add_relaxed(&sley__self.bound->trace.nr_lost, 1);
}

static void record(struct worker *worker, enum trace_kind kind,
		   const struct strand *strand, const char *name)
{
	trace_record(&worker->trace, kind,
		     &(const struct trace_subject){
			     .arg = (uint64_t)(uintptr_t)name,
			     .task = strand->task,
		     });
}

static uint32_t nr_kept(const struct trace_scopes *scopes)
{
	if (!scopes)
		return 0;
	return scopes->nr < TRACE_SCOPES_MAX ? scopes->nr : TRACE_SCOPES_MAX;
}

void trace_scopes_leave(struct worker *worker, const struct strand *strand)
{
	for (uint32_t i = nr_kept(strand->scopes); i > 0; i--)
		record(worker, TRACE_SCOPE_END, strand, NULL);
}

void trace_scopes_enter(struct worker *worker, const struct strand *strand)
{
	for (uint32_t i = 0; i < nr_kept(strand->scopes); i++)
		record(worker, TRACE_SCOPE_BEGIN, strand,
		       strand->scopes->name[i]);
}

/* ---- the strand of the scopes --------------------------------------------------- */

/*
 * The strand whose scopes the caller means.  NULL in a blocking call: the task
 * may be resumed at a deadline, for a moment, and its scopes be read.
 */
static struct strand *strand_here(const struct worker *worker)
{
	struct strand *strand = sley__self.strand;

	if (worker)
		return worker->strand;
	return strand && strand->region ? strand : NULL;
}

/* The task has ended; the caller is a worker. */
static void scopes_end(struct cleanup *cleanup)
{
	struct trace_scopes *scopes =
		container_of(cleanup, struct trace_scopes, cleanup);
	struct strand *strand = scopes->strand;
	struct worker *worker = strand->home;

	trace_scopes_leave(worker, strand);
	strand->scopes = NULL;
	mem_free(&worker->rt->mem, scopes, sizeof(*scopes));
}

static struct trace_scopes *scopes_of(struct strand *strand)
{
	struct trace_scopes *scopes = strand->scopes;

	if (scopes)
		return scopes;
	scopes = mem_alloc(&strand->home->rt->mem, sizeof(*scopes));
	if (scopes) {
		scopes->strand = strand;
		strand->scopes = scopes;
		cleanup_add(&strand->cleanups, &scopes->cleanup, scopes_end);
	}
	return scopes;
}

/* ---- events ------------------------------------------------------------------------ */

void trace_scope_begin(const char *name)
{
	struct worker *worker = worker_current();
	struct strand *strand = strand_here(worker);
	struct trace_scopes *scopes = strand ? scopes_of(strand) : NULL;
	bool kept = scopes && scopes->nr++ < TRACE_SCOPES_MAX;

	if (kept)
		scopes->name[scopes->nr - 1] = name;
	if (kept && worker)
		record(worker, TRACE_SCOPE_BEGIN, strand, name);
	else
		lose();
}

void trace_scope_end(void)
{
	struct worker *worker = worker_current();
	struct strand *strand = strand_here(worker);
	struct trace_scopes *scopes = strand ? strand->scopes : NULL;

	if (!scopes || !scopes->nr)
		return;
	if (--scopes->nr < TRACE_SCOPES_MAX && worker)
		record(worker, TRACE_SCOPE_END, strand, NULL);
}

void trace_mark(enum trace_kind kind, const char *name, uint64_t id)
{
	struct worker *worker = worker_current();

	if (!worker) {
		lose();
		return;
	}
	trace_record(&worker->trace, kind,
		     &(const struct trace_subject){
			     .arg = (uint64_t)(uintptr_t)name,
			     .id = id,
		     });
}

void trace_name_thread(const char *name)
{
	struct worker *worker = worker_current();

	if (worker)
		worker->trace.track->name = name;
	else
		lose();
}
