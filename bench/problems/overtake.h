/* SPDX-License-Identifier: MIT */
/*
 * overtake.h - the problem of row `domain-latency`: three processes on all CPUs.  Two, the
 * *hogs*, compute without end.  The third, the *urgent* process, has 50 us of work a
 * thousand times a second.
 *
 * A sample is the time from the submission of urgent work to its first instruction.  The
 * submitter is a thread that sleeps for a millisecond after each submission.  The time that it
 * is late itself does not count, and it does not make up for it: of two submissions at once
 * the second would wait for the work of the first.  The hogs count the pieces that they have computed, of 10 us each
 * on a CPU of their own, before the urgent work begins and beside it.  What they lose, in
 * percent, less the share of the urgent work in the time of all CPUs, is `lost_pct`.
 *
 * How a process runs its work is the participant's: threads, or a runtime in a domain.
 */
#ifndef BENCH_PROBLEMS_OVERTAKE_H
#define BENCH_PROBLEMS_OVERTAKE_H

#include "crowd.h"
#include "kernels.h"

#define OVERTAKE_HOGS 2
#define OVERTAKE_PIECE_NS 10000u

/* In memory that all processes map. */
struct overtake {
	const struct measure *m;
	const char *name;     /* of the metrics                             */
	uint32_t task_pieces; /* of a task of a hog; it yields after YIELD  */
	uint32_t yield_pieces;
	uint64_t piece_turns; /* of the kernel, for a piece                 */
	uint32_t ready;       /* hogs that compute                          */
	uint32_t over;
	struct {
		uint64_t pieces;
		char apart[56]; /* from the counters of other processes */
	} hog[OVERTAKE_HOGS];
	uint32_t nr; /* samples */
	uint32_t done;
	uint64_t submitted[OVERTAKE_SAMPLES], began[OVERTAKE_SAMPLES];
};

/* How a participant runs the processes. */
struct overtake_way {
	/* In a process of its own: computes until ->over, and calls overtake_piece(). */
	void (*hog)(struct overtake *overtake, int nth, void *arg);
	/* In this process: begins, takes the work numbered @i, and ends. */
	void (*begin)(struct overtake *overtake, void *arg);
	void (*submit)(struct overtake *overtake, uint32_t i, void *arg);
	void (*end)(struct overtake *overtake, void *arg);
	void *arg;
};

static inline bool overtake_is_over(const struct overtake *overtake)
{
	return __atomic_load_n(&overtake->over, __ATOMIC_RELAXED);
}

/* A piece of the work of hog @nth. */
static inline void overtake_piece(struct overtake *overtake, int nth)
{
	(void)kernel_lcg((uint64_t)nth, overtake->piece_turns);
	__atomic_fetch_add(&overtake->hog[nth].pieces, 1, __ATOMIC_RELAXED);
}

/* The urgent work numbered @i, by any thread of its process. */
static inline void overtake_run(struct overtake *overtake, uint32_t i)
{
	overtake->began[i] = measure_now();
	for (uint32_t n = 0; n < OVERTAKE_NS / OVERTAKE_PIECE_NS; n++)
		kernel_lcg(i, overtake->piece_turns);
	__atomic_fetch_add(&overtake->done, 1, __ATOMIC_RELEASE);
}

/* How often the kernel turns in the time of a piece, on a CPU that nothing else uses. */
static inline uint64_t overtake_calibrate(void)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t start = measure_now();

		kernel_lcg(start, 100000);
		start = measure_now() - start;
		if (start < best)
			best = start;
	}
	return 100000ull * OVERTAKE_PIECE_NS / best;
}

static inline uint64_t overtake_pieces(const struct overtake *overtake)
{
	uint64_t sum = 0;

	for (int i = 0; i < OVERTAKE_HOGS; i++)
		sum += __atomic_load_n(&overtake->hog[i].pieces,
				       __ATOMIC_RELAXED);
	return sum;
}

/* Pieces in a second, over @ns. */
static inline double overtake_rate(const struct overtake *overtake, uint64_t ns)
{
	uint64_t start = measure_now(), before = overtake_pieces(overtake);

	measure_sleep_until(start + ns);
	return (double)(overtake_pieces(overtake) - before) * 1e9 /
	       (double)(measure_now() - start);
}

static inline void overtake_submit_all(struct overtake *overtake,
				       const struct overtake_way *way)
{
	uint64_t last = measure_now();

	for (uint32_t i = 0; i < overtake->nr; i++) {
		measure_sleep_until(last + OVERTAKE_PAUSE_NS);
		last = overtake->submitted[i] = measure_now();
		way->submit(overtake, i, way->arg);
	}
	measure_await(overtake->m, &overtake->done, overtake->nr);
}

static inline void overtake_report(struct overtake *overtake, double alone,
				   double beside, uint64_t ns)
{
	double work = (double)overtake->nr * OVERTAKE_NS;
	double all = (double)ns * CPU_COUNT(measure_cpus());
	char metric[64];

	for (uint32_t i = 0; i < overtake->nr; i++)
		overtake->began[i] -= overtake->submitted[i];
	measure_report_tail(overtake->name, overtake->began, overtake->nr);
	snprintf(metric, sizeof(metric), "%s_lost_pct", overtake->name);
	measure_report(metric,
		       (alone - beside) / alone * 100 - work / all * 100);
}

/* The whole measurement, under @name. */
static inline void overtake_measure(const struct measure *m, const char *name,
				    uint32_t task_pieces, uint32_t yield_pieces,
				    const struct overtake_way *way)
{
	struct overtake *overtake = crowd_shared(m, sizeof(*overtake));
	uint64_t base_ns = m->quick ? 20000000 : OVERTAKE_BASE_NS, start;
	pid_t pids[OVERTAKE_HOGS];
	uint64_t before;
	double alone;

	overtake->m = m;
	overtake->name = name;
	overtake->task_pieces = task_pieces;
	overtake->yield_pieces = yield_pieces;
	overtake->piece_turns = overtake_calibrate();
	overtake->nr = m->quick ? 10 : OVERTAKE_SAMPLES;
	for (int i = 0; i < OVERTAKE_HOGS; i++) {
		pids[i] = crowd_fork(m);
		if (!pids[i]) {
			way->hog(overtake, i, way->arg);
			_exit(0);
		}
	}
	prctl(PR_SET_TIMERSLACK, 1);
	way->begin(overtake, way->arg);
	measure_await(m, &overtake->ready, OVERTAKE_HOGS);
	alone = overtake_rate(overtake, base_ns);
	start = measure_now();
	before = overtake_pieces(overtake);
	overtake_submit_all(overtake, way);
	start = measure_now() - start;
	overtake_report(overtake, alone,
			(double)(overtake_pieces(overtake) - before) * 1e9 /
				(double)start,
			start);
	__atomic_store_n(&overtake->over, 1, __ATOMIC_RELAXED);
	way->end(overtake, way->arg);
	for (int i = 0; i < OVERTAKE_HOGS; i++)
		crowd_join(m, pids[i]);
	munmap(overtake, sizeof(*overtake));
}

#endif
