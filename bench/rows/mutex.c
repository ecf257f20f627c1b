/* SPDX-License-Identifier: MIT */
/*
 * mutex.c - row `mutex`: lock and unlock, uncontended.
 */
#include "rows.h"

struct locking {
	const struct measure *m;
	struct sley_mutex mutex;
	uint64_t count;
};

static void root(void *arg)
{
	struct locking *l = arg;
	uint64_t nr = measure_size(l->m, MUTEX_TURNS), start = measure_now();

	for (uint64_t i = 0; i < nr; i++) {
		sley_mutex_lock(&l->mutex);
		l->count++;
		sley_mutex_unlock(&l->mutex);
	}
	measure_report_each("ns", start, nr);
	MEASURE_CHECK(l->m, l->count == nr);
}

void row_mutex(const struct measure *m)
{
	struct locking l = { .m = m, .mutex = SLEY_MUTEX_INIT };

	row_run(m, root, &l);
}
