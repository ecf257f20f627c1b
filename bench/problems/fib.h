/* SPDX-License-Identifier: MIT */
/*
 * fib.h - the problem `fib`: Fibonacci numbers, the slow way.
 *
 * A call that is not a leaf is a fork, a call and a join.  The time is per such
 * call, so the number of turns does not matter, and slow peers take a single turn.
 */
#ifndef BENCH_FIB_H
#define BENCH_FIB_H

#include "../measure.h"

#define FIB_N 32
#define FIB_QUICK 15
#define FIB_TURNS 20
#define FIB_TURNS_SLOW 1

/* The depth; hidden from the compiler, which could compute with a constant. */
static inline long fib_n(const struct measure *m)
{
	volatile long n = m->quick ? FIB_QUICK : FIB_N;

	return n;
}

/* The right answer. */
static inline long fib_value(long n)
{
	long a = 0, b = 1;

	while (n-- > 0) {
		long next = a + b;

		a = b;
		b = next;
	}
	return a;
}

/* Calls that fork, in one turn. */
static inline uint64_t fib_forks(long n)
{
	return (uint64_t)fib_value(n + 1) - 1;
}

/* Plain recursion. */
static __attribute__((noinline, unused)) long fib_serial(long n)
{
	return n < 2 ? n : fib_serial(n - 1) + fib_serial(n - 2);
}

/* Times @turns of @fib and checks the results. */
static inline void fib_measure(const struct measure *m, const char *metric,
			       int turns, long (*fib)(long n))
{
	uint64_t start = measure_now();
	long n = fib_n(m);

	for (int i = 0; i < turns; i++)
		MEASURE_CHECK(m, fib(fib_n(m)) == fib_value(n));
	measure_report_each(metric, start, (uint64_t)turns * fib_forks(n));
}

#endif
