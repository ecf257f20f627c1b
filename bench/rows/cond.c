/* SPDX-License-Identifier: MIT */
/*
 * cond.c - row `cond`: two tasks hand a turn to each other under a mutex.
 */
#include "rows.h"

struct handing {
	const struct measure *m;
	struct sley_mutex mutex;
	struct sley_cond cond;
	uint64_t nr;
	uint64_t trips; /* one way */
	int turn;
};

struct hand {
	struct handing *all;
	int me;
	struct sley_task task;
};

static void hand_over(void *arg)
{
	struct hand *hand = arg;
	struct handing *h = hand->all;

	sley_mutex_lock(&h->mutex);
	for (uint64_t i = 0; i < h->nr; i++) {
		while (h->turn != hand->me)
			sley_cond_wait(&h->cond, &h->mutex);
		h->turn = !hand->me;
		h->trips++;
		sley_cond_notify_one(&h->cond);
	}
	sley_mutex_unlock(&h->mutex);
}

static void root(void *arg)
{
	struct handing *h = arg;
	struct hand one = { .all = h, .me = 0 }, two = { .all = h, .me = 1 };
	struct sley_group group = SLEY_GROUP_INIT;
	uint64_t start = measure_now();

	sley_spawn(&group, &one.task, hand_over, &one);
	sley_spawn(&group, &two.task, hand_over, &two);
	sley_join(&group);
	measure_report_each("ns", start, h->nr);
	MEASURE_CHECK(h->m, h->trips == 2 * h->nr);
}

void row_cond(const struct measure *m)
{
	struct handing h = {
		.m = m,
		.mutex = SLEY_MUTEX_INIT,
		.cond = SLEY_COND_INIT,
		.nr = measure_size(m, COND_TRIPS),
	};

	row_run(m, root, &h);
}
