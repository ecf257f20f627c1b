/* SPDX-License-Identifier: MIT */
/*
 * 55_batch.c - work that has time: counts primes on all cores, and lets others go first
 *
 *   cc -o batch 55_batch.c $(pkg-config --cflags --libs sley)
 *   SLEY_DOMAIN=work ./batch 60 &        # for 60 seconds; see 56_frames.c
 *
 * Nothing here knows of the domain.  A core is handed over between two tasks, so each task
 * does a short piece of the work.
 */
#include <sley/sley.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NR_TASKS 64
#define PIECE 1000 /* numbers: some 100 us */

static atomic_ulong next, nr_primes;

static int is_prime(unsigned long n)
{
	for (unsigned long d = 2; d * d <= n; d++) {
		if (n % d == 0)
			return 0;
	}
	return n > 1;
}

static void count_primes(void *arg)
{
	unsigned long first = atomic_fetch_add(&next, PIECE), nr = 0;

	(void)arg;
	for (unsigned long n = first; n < first + PIECE; n++)
		nr += is_prime(n);
	atomic_fetch_add(&nr_primes, nr);
}

static void batch(void *arg)
{
	uint64_t end_ns = sley_after(*(double *)arg * SLEY_SEC);

	do {
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task task[NR_TASKS];

		for (int i = 0; i < NR_TASKS; i++)
			sley_spawn(&group, &task[i], count_primes, NULL);
		sley_join(&group);
	} while (sley_now() < end_ns);
	printf("batch: %lu primes below %lu\n", nr_primes, next);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0.1;

	return sley_run(NULL, batch, &seconds) || nr_primes < 168;
}
