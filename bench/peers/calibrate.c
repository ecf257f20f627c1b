/* SPDX-License-Identifier: MIT */
/*
 * calibrate.c - how many cores the first WORKERS usable CPUs are worth.
 *
 * One pinned thread per CPU computes the same Fibonacci number, first each
 * alone, then all at once.  If all at once take as long as one alone, there
 * are as many cores as CPUs; two threads of one core get about 1.3.  The best of
 * a few tries counts, since a short disturbance must not matter.  The work is
 * recursion, which keeps a core busy; a chain of dependent operations would leave
 * room for a second thread.
 */
#include "../measure.h"
#include "../problems/fib.h"

#include <pthread.h>

#define TRIES 3
#define CPUS_MAX 64

struct turn {
	const struct measure *m;
	pthread_barrier_t start;
	uint64_t ns[CPUS_MAX]; /* of the thread on this CPU */
	int next;              /* thread to come            */
};

static void *compute(void *arg)
{
	struct turn *turn = arg;
	int nth = __atomic_fetch_add(&turn->next, 1, __ATOMIC_RELAXED);
	volatile long n = turn->m->quick ? 20 : 34;
	uint64_t start;
	long result;

	measure_pin(nth);
	pthread_barrier_wait(&turn->start);
	start = measure_now();
	result = fib_serial(n);
	turn->ns[nth] = measure_now() - start;
	MEASURE_CHECK(turn->m, result == fib_value(n));
	return NULL;
}

/* The time of the slowest CPU from @first up to @end - 1, all at once. */
static uint64_t at_once(const struct measure *m, int first, int end)
{
	struct turn turn = { .m = m, .next = first };
	pthread_t threads[CPUS_MAX];
	uint64_t slowest = 0;

	pthread_barrier_init(&turn.start, NULL, (unsigned)(end - first));
	for (int i = first; i < end; i++)
		MEASURE_CHECK(m, pthread_create(&threads[i], NULL, compute,
						&turn) == 0);
	for (int i = first; i < end; i++)
		pthread_join(threads[i], NULL);
	for (int i = first; i < end; i++) {
		if (turn.ns[i] > slowest)
			slowest = turn.ns[i];
	}
	pthread_barrier_destroy(&turn.start);
	return slowest;
}

static void calibrate(const struct measure *m)
{
	uint64_t alone = UINT64_MAX, all = UINT64_MAX;

	if (m->workers > CPUS_MAX || m->workers > CPU_COUNT(measure_cpus()))
		exit(MEASURE_SKIP);
	for (int i = 0; i < TRIES; i++) {
		uint64_t ns = at_once(m, 0, m->workers);

		all = ns < all ? ns : all;
		ns = at_once(m, i % m->workers, i % m->workers + 1);
		alone = ns < alone ? ns : alone;
	}
	measure_report("cores",
		       (double)m->workers * (double)alone / (double)all);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = { { "calibrate", calibrate } };

	return measure_main(argc, argv, rows, 1);
}
