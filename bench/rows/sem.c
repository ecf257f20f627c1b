/* SPDX-License-Identifier: MIT */
/*
 * sem.c - row `sem`: acquire and release a unit, uncontended.
 */
#include "rows.h"

struct counting {
	const struct measure *m;
	struct sley_sem sem;
};

static void root(void *arg)
{
	struct counting *c = arg;
	uint64_t nr = measure_size(c->m, SEM_TURNS), right = 0;
	uint64_t start = measure_now();

	for (uint64_t i = 0; i < nr; i++) {
		right += sley_sem_acquire(&c->sem, 1) == 0;
		sley_sem_release(&c->sem, 1);
	}
	measure_report_each("ns", start, nr);
	MEASURE_CHECK(c->m, right == nr && sley_sem_value(&c->sem) == 1);
}

void row_sem(const struct measure *m)
{
	struct counting c = { .m = m, .sem = SLEY_SEM_INIT(1) };

	row_run(m, root, &c);
}
