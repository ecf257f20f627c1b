/* SPDX-License-Identifier: MIT */
/*
 * trace.c - tracks and their events.
 */
#include "core/trace/trace.h"

#include "base/atomic.h"
#include "core/trace/trace_scope.h"
#include "core/sched/worker.h"
#include "os/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SPARSE_CAPACITY 512
#define FULL_CAPACITY_MAX (1u << 18)
#define FULL_CAPACITY_MIN (1u << 12)
#define FULL_CAPACITY_SUM (1u << 22) /* of all workers, if there are many */

static uint32_t full_capacity(unsigned int nr_workers)
{
	uint32_t capacity = FULL_CAPACITY_MAX;

	while (capacity > FULL_CAPACITY_MIN &&
	       (uint64_t)capacity * nr_workers > FULL_CAPACITY_SUM)
		capacity /= 2;
	return capacity;
}

void trace_init(struct trace *trace, const char *setting,
		unsigned int nr_workers)
{
	int length;

	*trace = (struct trace){ .capacity = SPARSE_CAPACITY };
	if (!setting || !*setting)
		return;
	if (strncmp(setting, "full:", 5) == 0)
		setting += 5;
	else if (strcmp(setting, "full") == 0)
		setting = "";
	if (*setting)
		length = snprintf(trace->path, TRACE_PATH_SIZE, "%s", setting);
	else
		length = snprintf(trace->path, TRACE_PATH_SIZE,
				  "sley-trace.%d.json", (int)getpid());
	trace->too_long = length >= TRACE_PATH_SIZE;
	trace->full = !trace->too_long;
	if (trace->full)
		trace->capacity = full_capacity(nr_workers);
}

/* ---- tracks ---------------------------------------------------------------- */

static size_t track_size(uint32_t capacity)
{
	return sizeof(struct trace_track) +
	       capacity * sizeof(struct trace_record);
}

static struct trace_track *take_kept(struct trace *trace)
{
	struct trace_track *track;

	spin_lock(&trace->lock);
	track = trace->kept;
	if (track)
		trace->kept = track->next;
	spin_unlock(&trace->lock);
	return track;
}

static void keep(struct trace *trace, struct trace_track *track)
{
	spin_lock(&trace->lock);
	track->next = trace->kept;
	trace->kept = track;
	spin_unlock(&trace->lock);
}

static struct trace_track *create_track(struct trace *trace, struct mem *mem)
{
	uint32_t capacity = trace->capacity;
	struct trace_track *track = mem_alloc(mem, track_size(capacity));

	if (!track)
		return NULL;
	track->capacity = capacity;
	spin_lock(&trace->lock);
	track->number = trace->nr_tracks++;
	spin_unlock(&trace->lock);
	return track;
}

int trace_ring_init(struct trace_ring *ring, struct trace *trace,
		    struct mem *mem)
{
	ring->full = trace->full;
	ring->trace = trace;
	ring->track = take_kept(trace);
	if (!ring->track)
		ring->track = create_track(trace, mem);
	return ring->track ? 0 : -ENOMEM;
}

void trace_ring_fini(struct trace_ring *ring, struct mem *mem)
{
	if (!ring->track)
		return;
	if (ring->full)
		keep(ring->trace, ring->track);
	else
		mem_free(mem, ring->track, track_size(ring->track->capacity));
	ring->track = NULL;
}

void trace_free_kept(struct trace *trace, struct mem *mem)
{
	struct trace_track *track;

	while ((track = take_kept(trace)))
		mem_free(mem, track, track_size(track->capacity));
}

uint64_t trace_track_dropped(const struct trace_track *track)
{
	/* relaxed: statistics. */
	uint64_t head = load_relaxed(&track->head);

	return head > track->capacity ? head - track->capacity : 0;
}

uint64_t trace_ring_dropped(const struct trace_ring *ring)
{
	return trace_track_dropped(ring->track);
}

/* ---- events ---------------------------------------------------------------- */

void trace_record(struct trace_ring *ring, enum trace_kind kind,
		  const struct trace_subject *subject)
{
	struct trace_track *track = ring->track;
	struct trace_record *record =
		&track->record[track->head & (track->capacity - 1)];

	record->time_ns = os_now();
	record->arg = subject->arg;
	record->task = subject->task ? (uint64_t)(uintptr_t)subject->task
				     : subject->id;
	record->kind = (uint8_t)kind;
	record->name[0] = '\0';
	if (subject->name)
		/* Not strncpy(): compilers warn of names that are cut. */
		(void)memccpy(record->name, subject->name, '\0',
			      TRACE_NAME_SIZE);
	/* relaxed: one writer; read by statistics. */
	store_relaxed(&track->head, track->head + 1);
}

void trace_record_task(struct trace_ring *ring, enum trace_kind kind,
		       const struct sley_task *task)
{
	trace_record(ring, kind,
		     &(const struct trace_subject){
			     .arg = (uint64_t)(uintptr_t)task->fn,
			     .task = task,
			     .name = label_name(task->name),
		     });
}

static void record_strand(struct worker *worker, enum trace_kind kind,
			  const struct strand *strand)
{
	trace_record(&worker->trace, kind,
		     &(const struct trace_subject){
			     .arg = (uint64_t)(uintptr_t)strand->fiber.code,
			     .task = strand->task,
			     .name = label_name(strand->fiber.label),
		     });
}

/* Is a task on @strand that has begun?  A bound thread does not count. */
static bool is_underway(const struct strand *strand)
{
	return strand->task && strand->fiber.code;
}

void trace_switch(struct worker *worker, const struct strand *from,
		  const struct strand *to)
{
	bool blocks = after_is_wait(&worker->after) ||
		      worker->after.kind == AFTER_FORK ||
		      worker->after.kind == AFTER_INBOX ||
		      worker->after.kind == AFTER_REGION;

	trace_scopes_leave(worker, from);
	if (is_underway(from))
		record_strand(worker, blocks ? TRACE_BLOCK : TRACE_YIELD, from);
	if (is_underway(to))
		record_strand(worker, TRACE_RESUME, to);
	trace_scopes_enter(worker, to);
}
