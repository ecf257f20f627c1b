/* SPDX-License-Identifier: MIT */
/*
 * measure.h - shared by all measured programs, ours and the peers'.
 *
 * A program takes `ROW WORKERS [quick]`, makes one measurement and prints one
 * `metric value` line per metric.  The program checks its result counts and ends
 * with 1 and a line on stderr when a count is wrong: a wrong program is never
 * timed.  MEASURE_SKIP means that the program does not have the row, or that the
 * machine cannot run the row.
 *
 * Valid as C11 and as C++17, because the peers are written in both.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "sizes.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MEASURE_SKIP 77

struct measure {
	const char *row;
	int workers;
	bool quick; /* tiny sizes: only the counts mean something */
};

struct measure_row {
	const char *name;
	void (*run)(const struct measure *m);
};

/* Ends the program when a result is wrong. */
#define MEASURE_CHECK(m, condition)                                            \
	do {                                                                   \
		if (!(condition))                                              \
			measure_fail((m), #condition, __FILE__, __LINE__);     \
	} while (0)

static inline void measure_fail(const struct measure *m, const char *what,
				const char *file, int line)
{
	fprintf(stderr, "%s:%d: row %s, %d workers: wrong result: %s\n", file,
		line, m->row, m->workers, what);
	_exit(1); /* from any thread and any stack: no handlers */
}

static inline uint64_t measure_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t measure_now(void)
{
	return measure_clock(CLOCK_MONOTONIC);
}

/* CPU time of all threads of the process, user and system. */
static inline uint64_t measure_cpu_now(void)
{
	return measure_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static inline void measure_report(const char *metric, double value)
{
	printf("%s %.6g\n", metric, value);
}

/* Reports the time from @start until now, per item. */
static inline void measure_report_each(const char *metric, uint64_t start,
				       uint64_t items)
{
	measure_report(metric, (double)(measure_now() - start) / (double)items);
}

/* The number of repetitions: @full, or a thousandth in a quick run. */
static inline uint64_t measure_size(const struct measure *m, uint64_t full)
{
	uint64_t quick = full / 1000;

	if (!m->quick)
		return full;
	return quick < 10 ? 10 : quick;
}

/* A moment's pause of a loop that spins. */
static inline void measure_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb" : : : "memory");
#endif
}

/* Waits until @counter, which other threads count up, gets to @value. */
static inline void measure_await(const struct measure *m,
				 const uint32_t *counter, uint64_t value)
{
	uint64_t start = measure_now();

	while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) < value) {
		MEASURE_CHECK(m, measure_now() - start < 10000000000u);
		usleep(100);
	}
	MEASURE_CHECK(m, __atomic_load_n(counter, __ATOMIC_ACQUIRE) == value);
}

static inline void measure_sleep_until(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / 1000000000u),
			       (long)(ns % 1000000000u) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

/* Percent of a core at @ticks calls, @each ns apart; @tick NULL: none. */
static inline double measure_ticks(uint64_t ticks, uint64_t each,
				   void (*tick)(void *arg), void *arg)
{
	uint64_t cpu = measure_cpu_now(), start = measure_now();

	for (uint64_t i = 1; i <= ticks; i++) {
		measure_sleep_until(start + i * each);
		if (tick != NULL)
			tick(arg);
	}
	return (double)(measure_cpu_now() - cpu) * 100.0 /
	       (double)(measure_now() - start);
}

/* Reports the cost of one @tick per millisecond; returns the number of ticks. */
static inline uint64_t measure_rate(const struct measure *m,
				    void (*tick)(void *arg), void *arg)
{
	uint64_t ticks = (m->quick ? 50000000 : RATE_NS) / RATE_TASK_NS;
	double bare, busy;

	usleep(10000);
	bare = measure_ticks(ticks, RATE_TASK_NS, NULL, NULL);
	busy = measure_ticks(ticks, RATE_TASK_NS, tick, arg);
	measure_report("busy_pct", busy - bare);
	measure_report("raw_pct", busy);
	return ticks;
}

/* Resident memory of the process in bytes. */
static inline uint64_t measure_rss(void)
{
	unsigned long long total = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f == NULL || fscanf(f, "%llu %llu", &total, &resident) != 2) {
		fprintf(stderr, "/proc/self/statm cannot be read\n");
		exit(1);
	}
	fclose(f);
	return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static inline int measure_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static inline void measure_report_percentiles(uint64_t *samples, size_t nr)
{
	qsort(samples, nr, sizeof(samples[0]), measure_compare);
	measure_report("p50_ns", (double)samples[nr / 2]);
	measure_report("p99_ns", (double)samples[nr * 99 / 100]);
}

/* The same with names of their own, and the largest. */
static inline void measure_report_tail(const char *name, uint64_t *samples,
				       size_t nr)
{
	static const char *const parts[] = { "p50", "p99", "max" };
	const size_t at[] = { nr / 2, nr * 99 / 100, nr - 1 };

	qsort(samples, nr, sizeof(samples[0]), measure_compare);
	for (int i = 0; i < 3; i++) {
		char metric[64];

		snprintf(metric, sizeof(metric), "%s_%s_ns", name, parts[i]);
		measure_report(metric, (double)samples[at[i]]);
	}
}

/* The CPUs the process started with, before anything was pinned. */
static inline const cpu_set_t *measure_cpus(void)
{
	static cpu_set_t cpus;

	if (CPU_COUNT(&cpus) == 0 &&
	    sched_getaffinity(0, sizeof(cpus), &cpus) != 0) {
		fprintf(stderr, "the CPU mask cannot be read\n");
		exit(1);
	}
	return &cpus;
}

/*
 * Pins the calling thread, and threads that this thread starts later, to the
 * usable CPU number @nth.  A machine with fewer CPUs cannot run the row.
 */
static inline void measure_pin(int nth)
{
	const cpu_set_t *usable = measure_cpus();
	cpu_set_t one;
	int cpu = -1;

	do {
		if (++cpu == CPU_SETSIZE) {
			fprintf(stderr, "needs %d more CPUs\n", nth + 1);
			_exit(MEASURE_SKIP);
		}
	} while (!CPU_ISSET(cpu, usable) || nth-- > 0);
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) != 0) {
		fprintf(stderr, "cannot pin to CPU %d\n", cpu);
		_exit(1);
	}
}

/* The main function of a program that has the @nr rows. */
static inline int measure_main(int argc, char **argv,
			       const struct measure_row *rows, size_t nr)
{
	struct measure m = { "", 1, false };

	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: %s ROW WORKERS [quick]\n", argv[0]);
		return 2;
	}
	m.row = argv[1];
	m.workers = atoi(argv[2]);
	m.quick = argc == 4 && strcmp(argv[3], "quick") == 0;
	if (m.workers < 1) {
		fprintf(stderr, "%s: needs at least one worker\n", argv[0]);
		return 2;
	}
	(void)measure_cpus();
	for (size_t i = 0; i < nr; i++) {
		if (strcmp(rows[i].name, m.row) == 0) {
			rows[i].run(&m);
			return 0;
		}
	}
	fprintf(stderr, "%s: has no row %s\n", argv[0], m.row);
	return MEASURE_SKIP;
}

#endif
