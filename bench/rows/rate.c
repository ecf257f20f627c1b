/* SPDX-License-Identifier: MIT */
/*
 * rate.c - row `rate`: the cost of a pool that gets one empty task per
 * millisecond, from a plain thread that sleeps in between.
 *
 * busy_pct  percent of a core, less the cost of the same loop without the task
 * raw_pct   the same, with the sleep and the wake-up of the loop included
 */
#include "rows.h"

static void count(void *arg)
{
	uint32_t *ran = arg;

	__atomic_fetch_add(ran, 1, __ATOMIC_RELEASE);
}

struct ticking {
	const struct measure *m;
	struct sley *rt;
	uint32_t ran;
};

static void tick(void *arg)
{
	struct ticking *t = arg;

	MEASURE_CHECK(t->m, sley_schedule_on(t->rt, count, &t->ran, NULL) == 0);
}

void row_rate(const struct measure *m)
{
	struct ticking t = { .m = m };

	MEASURE_CHECK(m, sley_create(&t.rt,
				     SLEY_CONFIG(.workers = m->workers)) == 0);
	measure_await(m, &t.ran, measure_rate(m, tick, &t));
	sley_destroy(t.rt);
}
