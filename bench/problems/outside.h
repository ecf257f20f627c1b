/* SPDX-License-Identifier: MIT */
/*
 * outside.h - row `outside`: tasks from a plain thread beside local work.
 *
 * Local work never ends: tasks of 5 us that each queue the next one, or roots of 1 ms
 * that fork and join 64 leaves.  Beside it, a plain thread submits tasks, one each
 * millisecond, or a thousand at a time.  A sample is the time from before the
 * submission to the first line of the task.
 *
 * Valid as C11 and as C++17.
 */
#ifndef BENCH_OUTSIDE_H
#define BENCH_OUTSIDE_H

#include "../measure.h"

struct outside_sample {
	uint64_t submitted;
	uint64_t waited;
	uint32_t *ran; /* tasks that have begun */
};

/* The first line of a submitted task. */
static inline void outside_arrive(struct outside_sample *sample)
{
	sample->waited = measure_now() - sample->submitted;
	__atomic_fetch_add(sample->ran, 1, __ATOMIC_RELEASE);
}

/* Work of @ns. */
static inline void outside_work(uint64_t ns)
{
	uint64_t start = measure_now();

	while (measure_now() - start < ns)
		measure_pause();
}

/* Hands a sample to a task that calls outside_arrive(). */
struct outside_pool {
	void (*submit)(void *arg, struct outside_sample *sample);
	void *arg;
};

static inline void outside_report(const char *name,
				  const struct outside_sample *samples,
				  size_t nr)
{
	static const char *const parts[] = { "p50", "p99", "p999" };
	static uint64_t waited[OUTSIDE_SAMPLES];
	const size_t at[] = { nr / 2, nr * 99 / 100, nr * 999 / 1000 };

	for (size_t i = 0; i < nr; i++)
		waited[i] = samples[i].waited;
	qsort(waited, nr, sizeof(waited[0]), measure_compare);
	for (int i = 0; i < 3; i++) {
		char metric[64];

		snprintf(metric, sizeof(metric), "%s_%s_ns", name, parts[i]);
		measure_report(metric, (double)waited[at[i]]);
	}
}

/* Bursts of @burst tasks, so many that there are @nr, @pause_ns apart. */
static inline void outside_measure(const struct measure *m, const char *name,
				   const struct outside_pool *pool, uint32_t nr,
				   uint32_t burst, uint64_t pause_ns)
{
	static struct outside_sample samples[OUTSIDE_SAMPLES];
	uint64_t start = measure_now();
	uint32_t ran = 0;

	for (uint32_t i = 0; i < nr; i++) {
		struct outside_sample *sample = &samples[i];

		if (i % burst == 0)
			measure_sleep_until(start + (1 + i / burst) * pause_ns);
		sample->ran = &ran;
		sample->submitted = measure_now();
		pool->submit(pool->arg, sample);
	}
	measure_await(m, &ran, nr);
	outside_report(name, samples, nr);
}

/* Singles and bursts beside the local work called @name. */
static inline void outside_run(const struct measure *m, const char *name,
			       const struct outside_pool *pool)
{
	uint32_t singles = m->quick ? 20 : OUTSIDE_SAMPLES;
	uint32_t bursts = m->quick ? 20 : OUTSIDE_SAMPLES;
	char metric[32];

	usleep(20000);
	snprintf(metric, sizeof(metric), "%s_single", name);
	outside_measure(m, metric, pool, singles, 1, OUTSIDE_PAUSE_NS);
	snprintf(metric, sizeof(metric), "%s_burst", name);
	outside_measure(m, metric, pool, bursts, m->quick ? 10 : OUTSIDE_BURST,
			OUTSIDE_BURST_PAUSE_NS);
}

#endif
