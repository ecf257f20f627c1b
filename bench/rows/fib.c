/* SPDX-License-Identifier: MIT */
/*
 * fib.c - row `fib`: fork one half, call the other, join; typed and plain.
 */
#include "fork_forms.h"

#include "../problems/fib.h"

SLEY_FORKABLE(long, fib_inline, long, n)

long fib_inline(long n)
{
	long right;

	if (n < 2)
		return n;
	SLEY_FORK(fib_inline, left, n - 1);
	right = fib_inline(n - 2);
	return SLEY_JOIN(fib_inline, left) + right;
}

struct plain {
	long n;
	long result;
};

static void plain_child(void *arg)
{
	struct plain *self = arg;

	self->result = fib_plain(self->n);
}

long fib_plain(long n)
{
	struct sley_forked child;
	struct plain left;
	long right;

	if (n < 2)
		return n;
	left.n = n - 1;
	sley_fork(&child, plain_child, &left);
	right = fib_plain(n - 2);
	sley_fork_join(&child);
	return left.result + right;
}

static void root(void *arg)
{
	const struct measure *m = arg;

	fib_measure(m, "ns", FIB_TURNS, fib_inline);
	fib_measure(m, "plain_ns", FIB_TURNS, fib_plain);
}

void row_fib(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
