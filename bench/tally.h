/* SPDX-License-Identifier: MIT */
/*
 * tally.h - counts tasks that ran, at the price of a thread-local increment.
 *
 * An "empty" task has to be counted, as proof that the task ran.  A shared counter
 * would cost more than the task, so each thread has a separate cache line, and the
 * sum is taken after all tasks have been joined.  Our row and the peers' rows use
 * the same counters.
 */
#ifndef BENCH_TALLY_H
#define BENCH_TALLY_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TALLY_THREADS_MAX 4200

struct tally_line {
	uint64_t count;
	uint64_t padding[15]; /* two lines: the neighbour is prefetched too */
};

static struct tally_line tally_lines[TALLY_THREADS_MAX];
static uint32_t tally_threads;
static __thread struct tally_line *tally_mine;

static inline void tally_add(uint64_t count)
{
	if (tally_mine == NULL) {
		uint32_t nth =
			__atomic_fetch_add(&tally_threads, 1, __ATOMIC_RELAXED);

		if (nth >= TALLY_THREADS_MAX) {
			fprintf(stderr, "too many threads to count\n");
			exit(1);
		}
		tally_mine = &tally_lines[nth];
	}
	tally_mine->count += count;
}

static inline void tally_one(void)
{
	tally_add(1);
}

static inline uint64_t tally_sum(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < TALLY_THREADS_MAX; i++)
		sum += tally_lines[i].count;
	return sum;
}

#endif
