/* SPDX-License-Identifier: MIT */
/*
 * 07_fork_join.c - divide and conquer: a fork costs little more than a call.
 *
 * An idle worker may take a forked child; else the join calls the child.
 *   cc 07_fork_join.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>

static long fib(long n);
SLEY_FORKABLE(long, fib, long, n) /* fib() may be forked */

static long fib(long n)
{
	if (n < 2)
		return n;
	SLEY_FORK(fib, left, n - 1); /* may run beside us          */
	long right = fib(n - 2);
	return SLEY_JOIN(fib, left) + right; /* has run, here or elsewhere */
}

/* The same for functions of one pointer, without macros. */
struct sum {
	long from, to, result;
};

static void sum(void *arg)
{
	struct sum *s = arg;
	long middle = (s->from + s->to) / 2;

	if (s->to - s->from <= 1000) {
		for (long i = s->from; i < s->to; i++)
			s->result += i;
		return;
	}
	struct sum left = { s->from, middle, 0 }, right = { middle, s->to, 0 };
	struct sley_forked child;

	sley_fork(&child, sum, &left);
	sum(&right);
	sley_fork_join(&child);
	s->result = left.result + right.result;
}

static void root(void *arg)
{
	sum(arg);
	printf("fib(25) = %ld, sum %ld\n", fib(25),
	       ((struct sum *)arg)->result);
}

int main(void)
{
	struct sum s = { 0, 1000000, 0 };

	return sley_run(NULL, root, &s) || s.result != 499999500000;
}
