/* SPDX-License-Identifier: MIT */
/*
 * fib.c - row `fib`: fork one half, call the other, join; typed and plain.
 */
#include "fork_forms.h"

#include "../problems/fib.h"

SLEY_FORKABLE(long, fib_inline, int, n)

long fib_inline(int n)
{
	long right;

	if (n < 2)
		return n;
	SLEY_FORK(fib_inline, left, n - 1);
	right = fib_inline(n - 2);
	return SLEY_JOIN(fib_inline, left) + right;
}

struct plain {
	int n;
	long result;
};

static void plain_fib(void *arg)
{
	struct plain *self = arg;
	struct plain left = { .n = self->n - 1 }, right = { .n = self->n - 2 };
	struct sley_fork child;

	if (self->n < 2) {
		self->result = self->n;
		return;
	}
	sley_fork(&child, plain_fib, &left);
	plain_fib(&right);
	sley_fork_join(&child);
	self->result = left.result + right.result;
}

long fib_plain(int n)
{
	struct plain whole = { .n = n };

	plain_fib(&whole);
	return whole.result;
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
