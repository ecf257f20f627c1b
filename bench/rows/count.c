/* SPDX-License-Identifier: MIT */
/*
 * count.c - the program `sley-count`: one problem, of any size, whose instructions
 * can be counted.  tools/count_fork.py counts them, under valgrind.
 *
 *   sley-count fib|nqueens serial|inline|plain N
 *
 * Prints the answer.  There is one worker, so there is no thief.
 */
#include "fork_forms.h"

#include "../problems/fib.h"
#include "../problems/queens.h"

struct problem {
	long (*fib)(long n);
	long (*queens)(const struct queens_board *board, int row);
	int n;
	long answer;
};

static void solve(void *arg)
{
	struct problem *p = arg;
	struct queens_board empty = { (signed char)p->n, { 0 } };

	p->answer = p->fib != NULL ? p->fib(p->n) : p->queens(&empty, 0);
}

/* False if the problem is unknown. */
static bool find(struct problem *p, const char *name, const char *form)
{
	static const struct {
		const char *name, *form;
		struct problem problem;
	} all[] = {
		{ "fib", "serial", { .fib = fib_serial } },
		{ "fib", "inline", { .fib = fib_inline } },
		{ "fib", "plain", { .fib = fib_plain } },
		{ "nqueens", "serial", { .queens = queens_serial } },
		{ "nqueens", "inline", { .queens = queens_inline } },
		{ "nqueens", "plain", { .queens = queens_plain } },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(all[i].name, name) == 0 &&
		    strcmp(all[i].form, form) == 0) {
			*p = all[i].problem;
			return true;
		}
	}
	return false;
}

int main(int argc, char **argv)
{
	const struct measure m = { .row = "count", .workers = 1 };
	struct problem p;

	if (argc != 4 || !find(&p, argv[1], argv[2]) ||
	    (p.n = atoi(argv[3])) < 1 || p.n > 40 ||
	    (p.queens != NULL && p.n > QUEENS_MAX)) {
		fprintf(stderr, "usage: sley-count fib|nqueens FORM N\n");
		return 2;
	}
	if (strcmp(argv[2], "serial") == 0)
		solve(&p);
	else
		row_run(&m, solve, &p);
	printf("%ld\n", p.answer);
	return 0;
}
