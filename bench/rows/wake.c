/* SPDX-License-Identifier: MIT */
/*
 * wake.c - row `wake`: from the submission to the first instruction of a task
 * in a pool that has slept for 2 ms.
 *
 * The submitter spins on one CPU, and only the pool runs on a second CPU.  Without
 * pinning, the kernel tends to put the worker on the CPU of the submitter, where the
 * worker waits for a tick.  Threads inherit the mask of the thread that starts them.
 */
#include "rows.h"

struct waking {
	uint64_t first; /* when the task began */
	uint64_t ran;
};

static void arrive(void *arg)
{
	struct waking *w = arg;

	w->first = measure_now();
	__atomic_fetch_add(&w->ran, 1, __ATOMIC_RELEASE);
}

static void spin_for(uint64_t ns)
{
	uint64_t start = measure_now();

	while (measure_now() - start < ns)
		measure_pause();
}

void row_wake(const struct measure *m)
{
	static uint64_t samples[WAKE_SAMPLES];
	uint64_t nr = m->quick ? 10 : WAKE_SAMPLES;
	struct sley_group group = SLEY_GROUP_INIT;
	struct waking w = { 0, 0 };
	struct sley *rt;

	measure_pin(1);
	MEASURE_CHECK(m, sley_create(&rt, SLEY_CONFIG(.workers = 1)) == 0);
	measure_pin(0);
	for (uint64_t i = 0; i < nr; i++) {
		struct sley_task task;
		uint64_t start;

		spin_for(WAKE_IDLE_NS);
		start = measure_now();
		MEASURE_CHECK(m, sley_spawn_on(rt, &group, &task, arrive, &w,
					       NULL) == 0);
		while (__atomic_load_n(&w.ran, __ATOMIC_ACQUIRE) == i)
			measure_pause();
		samples[i] = w.first - start;
		sley_join(&group);
	}
	MEASURE_CHECK(m, w.ran == nr);
	sley_destroy(rt);
	measure_report_percentiles(samples, nr);
}
