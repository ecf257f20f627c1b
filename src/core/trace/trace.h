/* SPDX-License-Identifier: MIT */
/*
 * trace.h - the flight recorder: the latest events of each worker.
 *
 * Each worker writes into a ring of its own, overwriting the oldest event.
 * Rare events (park, unpark, steal, a core that goes from one process to another) are
 * always recorded.  Events of tasks are
 * recorded only in a full trace, since an event costs about as much as a small
 * task.  When the runtime is freed, a full trace is written as Chrome/Perfetto
 * JSON (trace_json.c), with the number of events that were overwritten.
 *
 *   $SLEY_TRACE or config.trace    full trace, written to
 *   ---------------------------    ----------------------
 *   unset or empty                 no
 *   full                           sley-trace.PID.json
 *   full:FILE, FILE                FILE
 *
 * The memory of a ring is a track: the track outlives the bound threads of a
 * single-threaded runtime until the trace is written.  The next thread that
 * binds goes on where an earlier thread left, so there are as many tracks as threads
 * were bound at once.
 *
 * A record keeps a copy of the task's name, cut to 15 bytes like the name of a
 * thread: by the time the record is written, the task may be long gone.  Text that
 * the user adds (trace_scope.h) is promised to stay, and is not copied.
 */
#ifndef SLEY_CORE_TRACE_TRACE_H
#define SLEY_CORE_TRACE_TRACE_H

#include "base/compiler.h"
#include "lf/spin.h"
#include "mem/alloc.h"

#include <sley/runtime.h>
#include <sley/task.h>

#include <stdbool.h>
#include <stdint.h>

struct strand;
struct worker;

enum trace_kind {
	TRACE_PARK,
	TRACE_UNPARK,
	TRACE_STEAL,      /* arg: index of the victim                   */
	TRACE_CORE_GIVEN, /* arg: trace_hand_over()                     */
	TRACE_CORE_TAKEN, /* arg: the same                              */
	TRACE_CORE_WAIT,  /* arg: when it began; recorded at its end    */
	TRACE_OVERTAKE,   /* arg: the level; runs without a core        */

	/* Only in a full trace; arg: the function. */
	TRACE_TASK_BEGIN,
	TRACE_TASK_END,
	TRACE_BLOCK,
	TRACE_YIELD,
	TRACE_RESUME,

	/* Only in a full trace; arg: a number that both ends have. */
	TRACE_EDGE_OUT, /* by the task that has ended just now */
	TRACE_EDGE_IN,  /* by the task that runs               */

	/* Only in a full trace; arg: the user's text, see trace_scope.h. */
	TRACE_SCOPE_BEGIN,
	TRACE_SCOPE_END,
	TRACE_INSTANT,
	TRACE_ASYNC_BEGIN, /* task: no task, but an id */
	TRACE_ASYNC_END,
};

#define TRACE_NAME_SIZE 15 /* ends with a zero only if it is shorter */

struct trace_record {
	uint64_t time_ns;
	uint64_t arg;
	uint64_t task; /* the address, to recognise the task by */
	uint8_t kind;
	char name[TRACE_NAME_SIZE];
};

struct trace_track {
	uint64_t head;            /* records written so far; one writer */
	uint32_t capacity;        /* a power of two                     */
	uint32_t number;          /* of the track                       */
	struct trace_track *next; /* in trace.kept                      */
	const char *name;         /* by the user; NULL: none            */
	struct trace_record record[];
};

/* A worker's end of its track. */
struct trace_ring {
	struct trace_track *track;
	struct trace *trace;
	bool full; /* tasks, too */
};

#define TRACE_PATH_SIZE 1024

struct trace {
	bool full;                /* tasks, too                         */
	bool too_long;            /* the name of the file: no trace     */
	uint32_t capacity;        /* of each track                      */
	struct spinlock lock;     /* of the next two                    */
	uint32_t nr_tracks;       /* that exist                         */
	struct trace_track *kept; /* tracks without a writer            */
	uint64_t nr_lost;         /* events of threads without a track  */
	char path[TRACE_PATH_SIZE];
};

/* @setting as in the table above; NULL: no. */
void trace_init(struct trace *trace, const char *setting,
		unsigned int nr_workers);

must_check int trace_ring_init(struct trace_ring *ring, struct trace *trace,
			       struct mem *mem);

/* Full traces keep the track; trace_free_kept() frees it. */
void trace_ring_fini(struct trace_ring *ring, struct mem *mem);
void trace_free_kept(struct trace *trace, struct mem *mem);

/* Events that were overwritten. */
uint64_t trace_track_dropped(const struct trace_track *track);
uint64_t trace_ring_dropped(const struct trace_ring *ring);

/*
 * Write the recorded events, if a full trace was asked for.  All worker threads
 * have ended, all bound threads have left.
 */
void trace_write(struct sley *rt);

/* ---- events --------------------------------------------------------------- */

/* The event and its task: for a record. */
struct trace_subject {
	uint64_t arg;
	const struct sley_task *task;
	const char *name;
	uint64_t id; /* instead of a task */
};

void trace_record(struct trace_ring *ring, enum trace_kind kind,
		  const struct trace_subject *subject);
cold void trace_record_task(struct trace_ring *ring, enum trace_kind kind,
			    const struct sley_task *task);

/* A core that another process gave, or got: 16 bits for each number. */
static inline uint64_t trace_hand_over(int core, uint32_t from, uint32_t to)
{
	return (uint64_t)core << 32 | (uint64_t)from << 16 | to;
}

/* A rare event. */
static inline void trace_event(struct trace_ring *ring, enum trace_kind kind,
			       uint64_t arg)
{
	trace_record(ring, kind, &(const struct trace_subject){ .arg = arg });
}

/* A task begins or ends. */
static inline void trace_task(struct trace_ring *ring, enum trace_kind kind,
			      const struct sley_task *task)
{
	if (unlikely(ring->full))
		trace_record_task(ring, kind, task);
}

/* In a full trace: @worker is about to go from @from to @to. */
cold void trace_switch(struct worker *worker, const struct strand *from,
		       const struct strand *to);

#endif
