/* SPDX-License-Identifier: MIT */
/*
 * 07_fork_join.c - divide and conquer: a fork costs little more than a call.
 *
 * An idle worker may take a forked child; if none does, the join calls it.
 *
 *   cc 07_fork_join.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>

struct fib {
	long n, result;
};

static void fib(void *arg)
{
	struct fib *f = arg;
	struct fib a = { f->n - 1, 0 }, b = { f->n - 2, 0 };
	struct sley_fork child;

	if (f->n < 2) {
		f->result = f->n;
		return;
	}
	sley_fork(&child, fib, &a); /* may run beside us        */
	fib(&b);
	sley_fork_join(&child); /* has run, here or elsewhere */
	f->result = a.result + b.result;
}

int main(void)
{
	struct fib f = { 25, 0 };
	uint64_t start = sley_now();
	int err = sley_run(NULL, fib, &f);

	printf("fib(%ld) = %ld in %.1f ms\n", f.n, f.result,
	       (double)(sley_now() - start) / 1e6);
	return err || f.result != 75025;
}
