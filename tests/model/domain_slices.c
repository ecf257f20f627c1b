/* SPDX-License-Identifier: MIT */
/*
 * domain_slices.c - src/domain/slices.c: the tick and the worker change the slice of the
 * worker, each by system calls of its own, and the state always says what the kernel has.
 *
 * The kernel's side is plain memory: two calls for one worker at a time would be a race,
 * which RA finds.  At the end of each history the kernel has what the state says, and no
 * side has left a state of the other.
 *
 * Complete for one worker that becomes SHORT, once or twice, or SHORT and LONG again at the
 * gate, and a tick that makes it LONG, once or twice, or restores it; and for a worker that is
 * seen for the first time.
 */
#include "explorer.h"
#include "model_mem.h"

#include "os/sched_attr.h"

static struct kernel {
	enum os_sched_policy policy;
	uint64_t slice_ns;
} kernel;

#define USUAL_NS 3000000u

int os_sched_get(int tid, struct os_sched *out)
{
	MODEL_CHECK(tid);
	model_access(&kernel);
	*out = (struct os_sched){ .policy = kernel.policy,
				  .slice_ns = kernel.slice_ns };
	return 0;
}

int os_sched_set(int tid, enum os_sched_policy policy, uint64_t slice_ns)
{
	MODEL_CHECK(tid);
	model_access(&kernel);
	kernel.policy = policy;
	kernel.slice_ns = slice_ns ? slice_ns : USUAL_NS;
	return 0;
}

int os_sched_set_nice(int tid, int nice)
{
	MODEL_CHECK(tid && !nice);
	return 0;
}

int64_t os_thread_set_slack(uint64_t slack_ns)
{
	return (int64_t)slack_ns;
}

#include "domain/slices.c"

#include <string.h>

static struct slice slice;
static struct slices slices;
static bool found_long; /* the worker, before it waits */

static void setup(void)
{
	kernel = (struct kernel){ OS_SCHED_OTHER, USUAL_NS };
	memset(&slice, 0, sizeof(slice));
	slices = (struct slices){ .of = &slice, .nr = 1 };
	found_long = false;
	model_name(&slice.state, "state");
}

static void setup_short(void)
{
	setup();
	slice.tid = 1;
	slices_see(&slices, 0, true);
	MODEL_CHECK(slice.state == SLICE_SHORT);
}

static void setup_long(void)
{
	setup_short();
	slices_see(&slices, 0, true);
	MODEL_CHECK(slice.state == SLICE_LONG);
}

/* ---- threads ---------------------------------------------------------------------- */

static void shorten_once(int id)
{
	(void)id;
	slices_shorten(&slices, 0);
}

static void look_and_shorten(int id)
{
	/* relaxed: the state alone. */
	uint32_t state = load_relaxed(&slice.state);

	found_long = state == SLICE_LENGTHENING || state == SLICE_LONG;
	shorten_once(id);
}

static void shorten_twice(int id)
{
	shorten_once(id);
	shorten_once(id);
}

static void stand_and_leave(int id)
{
	(void)id;
	slices_stand(&slices, 0);
	slices_leave(&slices, 0, true);
}

static void meet(int id)
{
	(void)id;
	slices_meet(&slices, 0);
	slices_shorten(&slices, 0);
}

static void see_busy(int id)
{
	(void)id;
	slices_see(&slices, 0, true);
}

static void see_busy_thrice(int id)
{
	see_busy(id);
	see_busy(id);
	see_busy(id);
}

static void restore_it(int id)
{
	(void)id;
	(void)slices_restore(&slices);
}

static void lengthen_and_restore(int id)
{
	see_busy(id);
	restore_it(id);
}

/* ---- conditions ------------------------------------------------------------------- */

static void state_is_true(void)
{
	switch (slice.state) {
	case SLICE_PLAIN:
		MODEL_CHECK(kernel.policy == OS_SCHED_OTHER);
		MODEL_CHECK(kernel.slice_ns == USUAL_NS);
		break;
	case SLICE_SHORT:
		MODEL_CHECK(kernel.policy == OS_SCHED_OTHER);
		MODEL_CHECK(kernel.slice_ns == SLICE_SHORT_NS);
		break;
	case SLICE_LONG:
		MODEL_CHECK(kernel.policy == OS_SCHED_BATCH);
		MODEL_CHECK(kernel.slice_ns == SLICE_LONG_NS);
		break;
	default:
		MODEL_CHECK(!"a state that somebody should have left");
	}
	MODEL_CHECK(slices_nr_refused(&slices) == 0);
}

/* Nothing is under way: the next call restores for sure. */
static void can_be_restored(void)
{
	state_is_true();
	MODEL_CHECK(slices_restore(&slices));
	MODEL_CHECK(slice.state == SLICE_PLAIN);
	state_is_true();
}

/* A worker that waits is short then, if no tick has begun since. */
static void worker_has_its_way(void)
{
	MODEL_CHECK(!found_long || slice.state == SLICE_SHORT);
	can_be_restored();
}

/* It came to the gate LONG, and nobody wants it to be anything else. */
static void worker_is_long_again(void)
{
	MODEL_CHECK(slice.state == SLICE_LONG);
	can_be_restored();
}

MODEL(a_tick_and_a_worker, .setup = setup_short,
      .threads = { see_busy, look_and_shorten }, .finish = worker_has_its_way);
MODEL(two_ticks_and_a_worker_that_waits_twice, .setup = setup_short,
      .threads = { see_busy_thrice, shorten_twice }, .finish = can_be_restored);
MODEL(a_long_worker_waits_while_it_is_restored, .setup = setup_long,
      .threads = { restore_it, shorten_twice }, .finish = can_be_restored);
MODEL(a_worker_waits_between_the_last_tick_and_the_end, .setup = setup_short,
      .threads = { lengthen_and_restore, shorten_twice },
      .finish = can_be_restored);
MODEL(a_worker_becomes_long_as_a_tick_makes_it_long, .setup = setup_long,
      .threads = { see_busy_thrice, stand_and_leave },
      .finish = worker_is_long_again);
MODEL(a_worker_becomes_long_while_it_is_restored, .setup = setup_long,
      .threads = { restore_it, stand_and_leave }, .finish = can_be_restored);
MODEL(a_worker_that_is_new, .setup = setup,
      .threads = { see_busy_thrice, meet }, .finish = can_be_restored);
