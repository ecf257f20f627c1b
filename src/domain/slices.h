/* SPDX-License-Identifier: MIT */
/*
 * slices.h - the kernel's help, arranged beforehand: a long slice for a worker that is
 * busy with ordinary work, a short one for a worker that urgent work may need.
 *
 * A task that does not yield keeps its worker, and the CPU, until the kernel takes the CPU
 * away.  What makes the kernel do that soon, without privilege and without a real-time
 * class, are slices (os/sched_attr.h): a thread that wakes up with a short slice gets the
 * CPU at once from a batch thread with a long one, and much later from a thread like
 * itself.  The kernel has to know before the urgent work comes, for then there is no time
 * for a system call.  So while there are peers
 *
 *   SHORT  a worker that parks, waits at the gate, or has not been busy for a tick:
 *          SCHED_OTHER, 0.1 ms
 *   LONG   a worker that ran default or less urgent work in two ticks in a row, and had
 *          its core all the time in between: SCHED_BATCH, 100 ms
 *
 * and without peers PLAIN: as the worker was before.
 *
 * The *tick*, one thread, makes a worker LONG, for a worker whose task does not end cannot
 * do so itself.  The worker makes itself SHORT, for then it is about to wait, and nobody
 * could do it later.  The state of the worker decides about the order of the two system
 * calls:
 *
 *   PLAIN ──tick──► SHORT ──tick──► LENGTHENING ──tick──► LONG
 *                     ▲ ▲                │                  ▲ ▲
 *                     │ └─────worker─────┘                  │ │
 *                     └──────worker──────► CHANGING ◄─worker┘ │
 *                                           └──────worker─────┘
 *   SHORT, LONG ──tick──► RESTORING ──tick──► PLAIN
 *
 * A worker that was LONG when it came to the gate makes itself LONG again when it leaves the
 * gate for ordinary work: two workers that take turns on a core run for a few ticks only, and
 * would be SHORT for most of the time if they waited for the tick.
 *
 * A side makes the system call of a state that it has entered itself, before it leaves the
 * state.  A worker that finds LENGTHENING makes none: it withdraws, and the tick, which
 * finds SHORT where it left LENGTHENING, undoes its own call.  So no worker waits for the
 * tick, and no two calls for one worker are under way at the same time.
 *
 * A thread that cannot be changed (of another class, or by a filter) is left alone from
 * then on.  On a kernel without slices the policy alone makes a difference: a batch thread
 * does not preempt, and is preempted at the end of the usual slice.
 *
 * Threads and programs that a task of a LONG worker starts inherit its policy and slice;
 * so a program that cares calls sley_domain_leave() first.
 *
 * The host may lower LONG workers as well (domain/lowering.h); the tick shows their numbers
 * in the page.  A member that loses its host has slices_raise() undo that, where it may.
 *
 * Edges:
 *
 *   SL1  a system call for a worker, then its state -> the side that leaves this state : the
 *        order of the two calls
 *
 * Rejected: the worker alone makes itself LONG, at a pick (a task that never ends has no
 * next pick, and is the one that matters); a worker that stays LONG at the gate (urgent work
 * that comes for it would wake a batch thread); the tick makes workers SHORT (a worker that
 * urgent work wakes would be a batch thread for up to a tick); a lock around both (a worker
 * would wait for a tick that the kernel has stopped); a thread for urgent work in
 * SCHED_FIFO (needs privilege, and takes the machine if it loops); nice values (one-way).
 * docs/adr/0048 has the figures.
 */
#ifndef SLEY_DOMAIN_SLICES_H
#define SLEY_DOMAIN_SLICES_H

#include "base/atomic.h"
#include "mem/alloc.h"
#include "os/sched_attr.h"

#include <stdbool.h>
#include <stdint.h>

#define SLICE_SHORT_NS OS_SLICE_MIN_NS
#define SLICE_LONG_NS OS_SLICE_MAX_NS

enum slice_state {
	SLICE_PLAIN,
	SLICE_SHORT,
	SLICE_LENGTHENING,
	SLICE_LONG,
	SLICE_CHANGING,
	SLICE_RESTORING,
};

/* Of one worker. */
struct slice {
	cache_aligned uint32_t state; /* enum slice_state                  */
	int32_t tid;                  /* 0: the worker was not seen yet    */
	uint32_t nr_refused;
	/* The tick's own: */
	bool known; /* before is                                            */
	bool left_alone;
	bool was_busy; /* at the last tick                                   */
	/* The worker's own: */
	bool was_long; /* when it came to the gate                           */
	struct os_sched before;
};

/* Of a runtime.  One thread at a time is the tick. */
struct slices {
	struct slice *of; /* a worker each */
	uint32_t nr;
	bool arranged; /* some worker may not be PLAIN */
};

/* 0 or -ENOMEM; all workers are PLAIN. */
must_check int slices_init(struct slices *slices, struct mem *mem, uint32_t nr);
void slices_fini(struct slices *slices, struct mem *mem);

/* ---- by a worker --------------------------------------------------------------- */

void slice_meet_now(struct slice *slice);
void slice_shorten_now(struct slice *slice);
void slice_lengthen_now(struct slice *slice);

/*
 * By worker @i: it takes a core.  From the first time on its timed waits end on time, and
 * not up to 50 us later: a leader that waits at the gate overtakes after its grace, and no
 * later.  That stays, for only the thread itself could take it back.
 */
static inline void slices_meet(struct slices *slices, uint32_t i)
{
	/* relaxed: its own number. */
	if (unlikely(!load_relaxed(&slices->of[i].tid)))
		slice_meet_now(&slices->of[i]);
}

/*
 * By worker @i: it parks, or stands at the gate.  Mostly a load; one system call, and another
 * to read, if the worker was LONG.
 */
static inline void slices_shorten(struct slices *slices, uint32_t i)
{
	/* relaxed: a glance; a worker that is not LONG has nothing to do. */
	uint32_t state = load_relaxed(&slices->of[i].state);

	if (unlikely(state == SLICE_LONG || state == SLICE_LENGTHENING))
		slice_shorten_now(&slices->of[i]);
}

/* By worker @i, which comes to the gate. */
static inline void slices_stand(struct slices *slices, uint32_t i)
{
	struct slice *slice = &slices->of[i];

	/* relaxed: a glance; the tick may be about to make it LONG. */
	slice->was_long = load_relaxed(&slice->state) == SLICE_LONG;
	slices_shorten(slices, i);
}

/* By worker @i, which has a core, and leaves the gate.  @busy: for ordinary work. */
static inline void slices_leave(struct slices *slices, uint32_t i, bool busy)
{
	struct slice *slice = &slices->of[i];

	if (slice->was_long && busy)
		slice_lengthen_now(slice);
}

/* ---- by the tick ----------------------------------------------------------------- */

/*
 * There are peers.  @busy: worker @i has a core, and runs default or less urgent work.
 * System calls only if something changes.
 */
void slices_see(struct slices *slices, uint32_t i, bool busy);

/*
 * No peers, or the runtime leaves: all workers become PLAIN.  False: a worker is just
 * about to become SHORT, and the next call finds it so.
 */
bool slices_restore(struct slices *slices);

/* The number of worker @i, if it is LONG: the host may lower it.  Else 0. */
int32_t slices_long(const struct slices *slices, uint32_t i);

/*
 * The host is gone, and has lowered workers to @nice.  They get their nice value back, where
 * this process may; the result is how many keep the lower one.
 */
uint32_t slices_raise(struct slices *slices, int nice);

/* Workers that the kernel, or a filter, did not let change. */
uint32_t slices_nr_refused(const struct slices *slices);

#endif
