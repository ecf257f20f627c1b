/* SPDX-License-Identifier: MIT */
/*
 * yield.c - row `yield`: two fibers on one worker take turns.
 *
 * The time is one way: from the call in one fiber to the return in the other fiber.
 * The two fibers run two functions.  If both yielded at the same place, the
 * processor would predict the address that a switch returns to; in a real program
 * the processor cannot.
 */
#include "rows.h"

struct yielding {
	const struct measure *m;
	uint64_t turns;
	uint64_t alternations;
	const void *last;
};

struct yielder {
	struct yielding *all;
	struct sley_task task;
};

static inline void count_turn(struct yielder *me)
{
	me->all->alternations += me->all->last != me;
	me->all->last = me;
}

static void take_turns(void *arg)
{
	struct yielder *me = arg;

	for (uint64_t i = 0; i < me->all->turns; i++) {
		count_turn(me);
		sley_yield();
	}
}

/* The same, but yields at a different place. */
static void take_other_turns(void *arg)
{
	struct yielder *me = arg;

	for (uint64_t i = me->all->turns; i > 0; i--) {
		count_turn(me);
		sley_yield();
	}
}

static void root(void *arg)
{
	struct yielding *y = arg;
	struct yielder one = { .all = y }, two = { .all = y };
	struct sley_group group = SLEY_GROUP_INIT;
	uint64_t start = measure_now();

	sley_spawn(&group, &one.task, take_turns, &one);
	sley_spawn(&group, &two.task, take_other_turns, &two);
	sley_join(&group);
	measure_report_each("ns", start, 2 * y->turns);
	/* Another task may run in between: one percent is allowed. */
	MEASURE_CHECK(y->m, y->alternations >= 2 * y->turns - y->turns / 50);
}

void row_yield(const struct measure *m)
{
	struct yielding y = { .m = m, .turns = measure_size(m, YIELD_TURNS) };

	row_run(m, root, &y);
}
