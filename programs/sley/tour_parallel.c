/* SPDX-License-Identifier: MIT */
/*
 * tour_parallel.c - stops of the tour: scopes, loops, sorting, a pipeline.
 */
#include "tour.h"

#include "screen.h"

#include <errno.h>
#include <sley/sley.h>
#include <stdlib.h>

/* ---- a scope ------------------------------------------------------------------ */

#define NR_MEMBERS 1000

static int sleep_for_ever(void *arg)
{
	(void)arg;
	return sley_sleep(3600 * SLEY_SEC);
}

static int fail(void *arg)
{
	(void)arg;
	return -EBADMSG;
}

void tour_scope(struct outcome *out)
{
	struct sley_task *task = tour_alloc(NR_MEMBERS + 1, sizeof(*task));
	struct sley_scope scope;
	int err;

	outcome_start(out);
	sley_scope_open(&scope);
	for (int i = 0; i < NR_MEMBERS; i++)
		sley_scope_spawn(&scope, &task[i], sleep_for_ever, NULL);
	sley_scope_spawn(&scope, &task[NR_MEMBERS], fail, NULL);
	err = sley_scope_close(&scope);
	outcome_stop(out);
	free(task);
	if (err != -EBADMSG)
		outcome_trouble(out, "closing returned %s", sley_strerror(err));
	outcome_result(out, "%d cancelled", NR_MEMBERS);
}

/* ---- loops -------------------------------------------------------------------- */

#define NR_DOUBLES 1000000

static void fill_piece(size_t begin, size_t end, void *arg)
{
	double *x = arg;

	for (size_t i = begin; i < end; i++)
		x[i] = 1.0 / (double)(i + 1);
}

static double sum_piece(size_t begin, size_t end, void *arg)
{
	const double *x = arg;
	double sum = 0;

	for (size_t i = begin; i < end; i++)
		sum += x[i];
	return sum;
}

void tour_loops(struct outcome *out)
{
	double *x = tour_alloc(NR_DOUBLES, sizeof(*x)), first = 0, again = 0;
	const struct sley_how *ordered = SLEY_HOW(.ordered = true);
	char each[SCREEN_NUMBER_SIZE];

	outcome_start(out);
	sley_for(0, NR_DOUBLES, fill_piece, x);
	if (sley_reduce_double_with(&first, 0, NR_DOUBLES, sum_piece, x,
				    ordered) ||
	    sley_reduce_double_with(&again, 0, NR_DOUBLES, sum_piece, x,
				    ordered))
		outcome_trouble(out, "a sum was cut short");
	outcome_stop(out);
	free(x);
	if (first < 14.39 || first > 14.40 || first != again)
		outcome_trouble(out, "sums are %.17g, %.17g", first, again);
	outcome_result(out, "%s each",
		       screen_time(each, outcome_ns(out) / NR_DOUBLES / 3));
}

/* ---- sorting ------------------------------------------------------------------ */

#define NR_NUMBERS 1000000

void tour_sort(struct outcome *out)
{
	uint64_t *number = tour_alloc(NR_NUMBERS, sizeof(*number)), x = 1;
	char each[SCREEN_NUMBER_SIZE];

	for (int i = 0; i < NR_NUMBERS; i++)
		number[i] = x = x * 6364136223846793005u + 1442695040888963407u;
	outcome_start(out);
	sley_sort_uint64(number, NR_NUMBERS);
	outcome_stop(out);
	for (int i = 1; i < NR_NUMBERS; i++) {
		if (number[i - 1] > number[i])
			outcome_trouble(out, "number %d is out of order", i);
	}
	free(number);
	outcome_result(out, "%s each",
		       screen_time(each, outcome_ns(out) / NR_NUMBERS));
}

/* ---- a pipeline ---------------------------------------------------------------- */

#define NR_ITEMS 20000

struct line {
	long made, squared[NR_ITEMS + 1], nr_out;
	bool in_order;
};

static int make(void **item, void *arg)
{
	struct line *line = arg;

	*item = ++line->made <= NR_ITEMS ? &line->squared[line->made] : NULL;
	return 0;
}

static int square(void **item, void *arg)
{
	struct line *line = arg;
	long *number = *item, n = number - line->squared;

	*number = n * n;
	return 0;
}

static int check(void **item, void *arg)
{
	struct line *line = arg;
	long n = ++line->nr_out;

	line->in_order &= *(long *)*item == n * n;
	return 0;
}

void tour_pipeline(struct outcome *out)
{
	struct line *line = tour_alloc(1, sizeof(*line));
	const struct sley_stage stages[] = {
		{ .fn = make, .arg = line },
		{ .fn = square, .arg = line, .mode = SLEY_STAGE_PARALLEL },
		{ .fn = check, .arg = line },
	};
	char each[SCREEN_NUMBER_SIZE];
	int err;

	line->in_order = true;
	outcome_start(out);
	err = sley_pipeline(stages, 3, 0);
	outcome_stop(out);
	if (err || line->nr_out != NR_ITEMS || !line->in_order)
		outcome_trouble(out, "%ld of %d came out, %s", line->nr_out,
				NR_ITEMS, sley_strerror(err));
	free(line);
	outcome_result(out, "%s each",
		       screen_time(each, outcome_ns(out) / NR_ITEMS));
}
