/* SPDX-License-Identifier: MIT */
/*
 * futex.c - the reference `futex`: what the kernel asks to wake a thread that
 * sleeps.  No pool can be faster unless its threads do not sleep.
 *
 * wake   one thread sleeps on CPU 1; the waker spins on CPU 0
 * idle   the same thread, asleep, and then woken once per millisecond
 */
#include "../measure.h"
#include "../sizes.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

struct sleeper {
	uint32_t posted; /* the futex: how many jobs were handed over */
	uint32_t done;   /* how many of them have run                 */
	uint64_t first;  /* when the last one began                   */
	bool stop;
};

static void *sleeper_run(void *arg)
{
	struct sleeper *s = arg;

	for (uint32_t seen = 0;; seen++) {
		while (__atomic_load_n(&s->posted, __ATOMIC_ACQUIRE) == seen)
			syscall(SYS_futex, &s->posted, FUTEX_WAIT_PRIVATE, seen,
				NULL, NULL, 0);
		s->first = measure_now();
		if (s->stop)
			return NULL;
		__atomic_store_n(&s->done, seen + 1, __ATOMIC_RELEASE);
	}
}

static void sleeper_post(struct sleeper *s)
{
	__atomic_fetch_add(&s->posted, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &s->posted, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void spin_for(uint64_t ns)
{
	uint64_t start = measure_now();

	while (measure_now() - start < ns)
		measure_pause();
}

static void run_wake(const struct measure *m)
{
	static uint64_t samples[WAKE_SAMPLES];
	uint32_t nr = m->quick ? 10 : WAKE_SAMPLES;
	struct sleeper s = { 0 };
	pthread_t thread;

	measure_pin(1);
	MEASURE_CHECK(m, pthread_create(&thread, NULL, sleeper_run, &s) == 0);
	measure_pin(0);
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t start;

		spin_for(WAKE_IDLE_NS);
		start = measure_now();
		sleeper_post(&s);
		while (__atomic_load_n(&s.done, __ATOMIC_ACQUIRE) == i)
			measure_pause();
		samples[i] = s.first - start;
	}
	MEASURE_CHECK(m, s.done == nr);
	s.stop = true;
	sleeper_post(&s);
	pthread_join(thread, NULL);
	measure_report_percentiles(samples, nr);
}

/* Sleeps from millisecond to millisecond; posts a job each time, or not. */
static double tick(struct sleeper *s, uint64_t ticks)
{
	uint64_t cpu = measure_cpu_now(), start = measure_now();

	for (uint64_t i = 1; i <= ticks; i++) {
		uint64_t at = start + i * IDLE_TASK_NS;
		struct timespec ts = { (time_t)(at / 1000000000u),
				       (long)(at % 1000000000u) };

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		if (s != NULL)
			sleeper_post(s);
	}
	return (double)(measure_cpu_now() - cpu) * 100.0 /
	       (double)(measure_now() - start);
}

static void run_idle(const struct measure *m)
{
	uint64_t ns = m->quick ? 50000000 : IDLE_NS, cpu;
	struct sleeper s = { 0 };
	pthread_t thread;
	double bare, busy;

	MEASURE_CHECK(m, pthread_create(&thread, NULL, sleeper_run, &s) == 0);
	usleep(10000);
	cpu = measure_cpu_now();
	usleep((useconds_t)(ns / 1000));
	measure_report("cpu_ms", (double)(measure_cpu_now() - cpu) / 1e6);
	bare = tick(NULL, ns / IDLE_TASK_NS);
	busy = tick(&s, ns / IDLE_TASK_NS);
	measure_report("busy_pct", busy - bare);
	measure_report("raw_pct", busy);
	measure_await(m, &s.done, ns / IDLE_TASK_NS);
	s.stop = true;
	sleeper_post(&s);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "wake", run_wake },
		{ "idle", run_idle },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
