/* SPDX-License-Identifier: MIT */
/*
 * levels.c - row `levels`: eight levels of priority, 64 sources of work in each, in two
 * processes of a domain that have half of the sources each.
 *
 * Every 100 ms each source gets a request, whose work takes 600 us; all together want one
 * and a half of two CPUs' time.  So the most urgent levels are served, and the rest starve.
 *
 * `late_p99_ns`, `late_max_ns`: a request begins although one of a more urgent level, in
 * any of the processes, has not begun yet: how long ago that one was posted.  0 for a
 * request that begins beside none.  `share_pct`: the difference between the most and the
 * least that sources of one level were served, in percent of their average, of the level
 * where it is largest; levels whose sources were served less than 20 times do not count.
 */
#include "domain.h"

#include "../problems/kernels.h"

#include <pthread.h>
#include <stdatomic.h>

#define NR_PROCESSES 2
#define NR_MINE (LEVELS_SOURCES / NR_PROCESSES)
#define NR_SAMPLES (1u << 17)
#define LEAST_SERVED 20

/* In memory that both processes map.  All times are of the same clock. */
struct levels {
	const struct measure *m;
	uint64_t turns; /* of the kernel, for a request */
	uint64_t start_ns, end_ns;
	_Atomic uint32_t ready;
	_Atomic uint64_t posted[LEVELS_NR][LEVELS_SOURCES]; /* 0: has begun */
	_Atomic uint32_t served[LEVELS_NR][LEVELS_SOURCES];
	_Atomic uint32_t nr;
	uint64_t late[NR_SAMPLES];
};

struct source {
	struct levels *levels;
	struct sley_event posted;
	struct sley_task task;
	int level, nth;
};

/* For how long has a request of a more urgent level been waiting? */
static uint64_t waiting_above(struct levels *levels, int level)
{
	uint64_t now = measure_now(), first = now;

	for (int above = 0; above < level; above++) {
		for (int i = 0; i < LEVELS_SOURCES; i++) {
			uint64_t at =
				atomic_load_explicit(&levels->posted[above][i],
						     memory_order_relaxed);

			if (at != 0 && at < first)
				first = at;
		}
	}
	return now - first;
}

static void serve(struct source *source)
{
	struct levels *levels = source->levels;
	uint32_t nr;

	atomic_store(&levels->posted[source->level][source->nth], 0);
	nr = atomic_fetch_add(&levels->nr, 1);
	MEASURE_CHECK(levels->m, nr < NR_SAMPLES);
	levels->late[nr] = waiting_above(levels, source->level);
	(void)kernel_lcg(nr, levels->turns);
	atomic_fetch_add(&levels->served[source->level][source->nth], 1);
}

static void source_run(void *arg)
{
	struct source *source = arg;

	while (sley_event_wait_until(&source->posted, source->levels->end_ns) ==
	       0)
		serve(source);
}

static void post(struct source *source)
{
	atomic_store(&source->levels->posted[source->level][source->nth],
		     measure_now());
	sley_event_set(&source->posted);
}

static void post_all(struct levels *levels, struct source *sources)
{
	uint64_t at = levels->start_ns;

	while (at + LEVELS_PERIOD_NS < levels->end_ns) {
		measure_sleep_until(at);
		for (int i = 0; i < LEVELS_NR * NR_MINE; i++)
			post(&sources[i]);
		at += LEVELS_PERIOD_NS;
	}
}

static void run_process(struct levels *levels, const struct domain *domain,
			int nth)
{
	int nr = CPU_COUNT(measure_cpus());
	struct sley *rt = domain_member(domain, nr, true);
	struct sley_group group = SLEY_GROUP_INIT;
	struct source *sources =
		calloc((size_t)LEVELS_NR * NR_MINE, sizeof(*sources));

	MEASURE_CHECK(levels->m, sources != NULL);
	atomic_fetch_add(&levels->ready, 1);
	while (atomic_load(&levels->ready) < NR_PROCESSES + 1)
		usleep(100);
	for (int i = 0; i < LEVELS_NR * NR_MINE; i++) {
		struct source *source = &sources[i];

		source->levels = levels;
		source->level = i / NR_MINE;
		source->nth = nth * NR_MINE + i % NR_MINE;
		sley_event_init(&source->posted, true, false);
		MEASURE_CHECK(
			levels->m,
			sley_spawn_on(
				rt, &group, &source->task, source_run, source,
				SLEY_OPTIONS(.priority = source->level -
							 LEVELS_NR)) == 0);
	}
	post_all(levels, sources);
	sley_join(&group);
	sley_destroy(rt);
	free(sources);
}

static double share_of(const struct levels *levels, int level)
{
	uint32_t least = UINT32_MAX, most = 0, sum = 0;

	for (int i = 0; i < LEVELS_SOURCES; i++) {
		uint32_t served = levels->served[level][i];

		sum += served;
		least = served < least ? served : least;
		most = served > most ? served : most;
	}
	if (sum < LEAST_SERVED * LEVELS_SOURCES)
		return 0;
	return (most - least) * 100.0 * LEVELS_SOURCES / sum;
}

static void report(struct levels *levels)
{
	double worst = 0;

	for (int level = 0; level < LEVELS_NR; level++) {
		double share = share_of(levels, level);

		worst = share > worst ? share : worst;
	}
	MEASURE_CHECK(levels->m, levels->nr > 0);
	measure_report_tail("late", levels->late, levels->nr);
	measure_report("share_pct", worst);
}

static uint64_t calibrate(void)
{
	uint64_t start = measure_now();

	kernel_lcg(start, 1000000);
	start = measure_now() - start;
	return 1000000ull * LEVELS_PIECE_NS / start;
}

void row_levels(const struct measure *m)
{
	struct levels *levels = crowd_shared(m, sizeof(*levels));
	struct domain domain = { .m = m };
	pid_t pids[NR_PROCESSES];

	crowd_needs_two_cpus();
	levels->m = m;
	levels->turns = calibrate();
	domain_start(&domain);
	for (int i = 0; i < NR_PROCESSES; i++) {
		pids[i] = crowd_fork(m);
		if (!pids[i]) {
			run_process(levels, &domain, i);
			_exit(0);
		}
	}
	while (atomic_load(&levels->ready) < NR_PROCESSES)
		usleep(100);
	levels->start_ns = measure_now() + 10000000;
	levels->end_ns = levels->start_ns +
			 (m->quick ? 3 * LEVELS_PERIOD_NS : LEVELS_NS);
	atomic_fetch_add(&levels->ready, 1);
	for (int i = 0; i < NR_PROCESSES; i++)
		crowd_join(m, pids[i]);
	domain_stop(&domain);
	report(levels);
	munmap(levels, sizeof(*levels));
}
