/* SPDX-License-Identifier: MIT */
/*
 * slices.c - see slices.h.
 */
#include "domain/slices.h"

#include "base/assert.h"
#include "os/thread.h"

#include <errno.h>

#define SLACK_NS 1u

int slices_init(struct slices *slices, struct mem *mem, uint32_t nr)
{
	*slices = (struct slices){ .nr = nr };
	slices->of = mem_alloc(mem, nr * sizeof(*slices->of));
	return slices->of ? 0 : -ENOMEM;
}

void slices_fini(struct slices *slices, struct mem *mem)
{
	mem_free(mem, slices->of, slices->nr * sizeof(*slices->of));
}

/* ---- system calls, in a state that the caller has entered -------------------------- */

static int make_short(struct slice *slice)
{
	/* relaxed: constant once it is known. */
	return os_sched_set(load_relaxed(&slice->tid), OS_SCHED_OTHER,
			    SLICE_SHORT_NS);
}

static int make_long(struct slice *slice)
{
	/* relaxed: as above. */
	return os_sched_set(load_relaxed(&slice->tid), OS_SCHED_BATCH,
			    SLICE_LONG_NS);
}

static void count_refused(struct slice *slice)
{
	/* relaxed: a statistic. */
	(void)add_relaxed(&slice->nr_refused, 1);
}

/* ---- by a worker ------------------------------------------------------------------- */

void slice_meet_now(struct slice *slice)
{
	/* Where that is forbidden, an overtaker is later by the usual slack. */
	(void)os_thread_set_slack(SLACK_NS);
	/* relaxed: a number, and nothing behind it. */
	store_relaxed(&slice->tid, os_thread_id());
}

void slice_shorten_now(struct slice *slice)
{
	uint32_t state = SLICE_LENGTHENING;

	/* relaxed: the tick, whose state it was, makes the call. */
	if (cas_relaxed(&slice->state, &state, SLICE_SHORT))
		return;
	if (state != SLICE_LONG ||
	    !cas_acquire(&slice->state, &state, SLICE_CHANGING)) /* SL1 */
		return;
	if (make_short(slice))
		count_refused(slice);
	store_release(&slice->state, SLICE_SHORT); /* SL1 */
}

void slice_lengthen_now(struct slice *slice)
{
	uint32_t state = SLICE_SHORT;

	if (!cas_acquire(&slice->state, &state, SLICE_CHANGING)) /* SL1 */
		return;
	if (make_long(slice))
		count_refused(slice);
	store_release(&slice->state, SLICE_LONG); /* SL1 */
}

/* ---- by the tick --------------------------------------------------------------------- */

/*
 * The attributes before.  The kernel tells the slice, and not whether a program asked for
 * this slice: so the usual slice, which 0 asks for, is not remembered as a number.
 */
static int remember(struct slice *slice, int tid)
{
	struct os_sched usual;
	int err = os_sched_get(tid, &slice->before);

	if (!err)
		err = os_sched_set(tid, slice->before.policy, 0);
	if (!err)
		err = os_sched_get(tid, &usual);
	if (!err && usual.slice_ns == slice->before.slice_ns)
		slice->before.slice_ns = 0;
	return err;
}

static void leave_alone(struct slice *slice)
{
	slice->left_alone = true;
	count_refused(slice);
}

/* PLAIN becomes SHORT: the worker makes no call in either state. */
static void begin(struct slice *slice)
{
	/* relaxed: a number; the next tick may find it. */
	int tid = load_relaxed(&slice->tid);
	int err = 0;

	if (!tid)
		return;
	if (!slice->known)
		err = remember(slice, tid);
	slice->known = !err;
	if (!err)
		err = make_short(slice);
	if (err)
		leave_alone(slice);
	else
		/* relaxed: the tick leaves this state, too. */
		store_relaxed(&slice->state, SLICE_SHORT);
}

static void lengthen(struct slice *slice)
{
	uint32_t state = SLICE_SHORT;

	if (!cas_acquire(&slice->state, &state, SLICE_LENGTHENING)) /* SL1 */
		return;
	if (make_long(slice))
		count_refused(slice);
	state = SLICE_LENGTHENING;
	/* The worker has withdrawn, and does nothing more in this state. */
	if (!cas_release(&slice->state, &state, SLICE_LONG) && /* SL1 */
	    make_short(slice))
		count_refused(slice);
}

void slices_see(struct slices *slices, uint32_t i, bool busy)
{
	struct slice *slice = &slices->of[i];
	bool was_busy = slice->was_busy;

	slice->was_busy = busy;
	if (slice->left_alone)
		return;
	slices->arranged = true;
	/* relaxed: only the tick changes PLAIN. */
	if (load_relaxed(&slice->state) == SLICE_PLAIN)
		begin(slice);
	else if (busy && was_busy)
		lengthen(slice);
}

static bool restore(struct slice *slice)
{
	/* relaxed: a guess. */
	uint32_t state = load_relaxed(&slice->state);

	while (state != SLICE_PLAIN) {
		if (state == SLICE_CHANGING)
			return false;
		if (!cas_acquire(&slice->state, &state,
				 SLICE_RESTORING)) /* SL1 */
			continue;
		/* relaxed: constant once it is known. */
		if (os_sched_set(load_relaxed(&slice->tid),
				 slice->before.policy, slice->before.slice_ns))
			count_refused(slice);
		/* relaxed: the tick leaves this state, too. */
		store_relaxed(&slice->state, SLICE_PLAIN);
		return true;
	}
	return true;
}

bool slices_restore(struct slices *slices)
{
	bool done = true;

	if (!slices->arranged)
		return true;
	for (uint32_t i = 0; i < slices->nr; i++) {
		slices->of[i].was_busy = false;
		done = restore(&slices->of[i]) && done;
	}
	slices->arranged = !done;
	return done;
}

int32_t slices_long(const struct slices *slices, uint32_t i)
{
	const struct slice *slice = &slices->of[i];

	/* relaxed: a glance; the number is constant once it is known. */
	return load_relaxed(&slice->state) == SLICE_LONG
		       ? load_relaxed(&slice->tid)
		       : 0;
}

/* True: the worker keeps the value @nice.  Another one is not the host's. */
static bool stays_low(const struct slice *slice, int nice)
{
	/* relaxed: constant once it is known. */
	int tid = load_relaxed(&slice->tid);
	struct os_sched now;

	return slice->known && !os_sched_get(tid, &now) && now.nice == nice &&
	       now.nice > slice->before.nice &&
	       os_sched_set_nice(tid, slice->before.nice);
}

uint32_t slices_raise(struct slices *slices, int nice)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < slices->nr; i++)
		nr += stays_low(&slices->of[i], nice);
	return nr;
}

uint32_t slices_nr_refused(const struct slices *slices)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < slices->nr; i++)
		/* relaxed: a statistic. */
		nr += load_relaxed(&slices->of[i].nr_refused);
	return nr;
}
