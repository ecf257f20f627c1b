/* SPDX-License-Identifier: MIT */
/*
 * sort_edges.c - sorts that are cut short, misled, refused, or have no memory.
 */
#include "conformance/task/sort_inputs.h"

/* ---- in some order --------------------------------------------------------- */

static int compare_madly(const void *a, const void *b, void *arg)
{
	(void)*(const volatile int64_t *)a;
	(void)*(const volatile int64_t *)b;
	(void)arg;
	return (int)test_random(3) - 1;
}

static int always_before(const void *a, const void *b, void *arg)
{
	(void)*(const volatile int64_t *)a;
	(void)*(const volatile int64_t *)b;
	(void)arg;
	return -1;
}

static int always_behind(const void *a, const void *b, void *arg)
{
	return -always_before(a, b, arg);
}

TEST_WORKERS(sort_a_comparison_that_contradicts_itself_does_no_harm)
{
	static sley_compare_fn *const mad[] = { compare_madly, always_before,
						always_behind };
	struct sley *rt = start();

	for (size_t nr = 0; nr < 6000; nr = nr * 3 / 2 + 1) {
		int64_t *in = malloc(nr * sizeof(*in) + 1);
		int64_t *a = malloc(nr * sizeof(*a) + 1);

		fill(in, nr, random_at);
		for (size_t i = 0; i < ARRAY_SIZE(mad); i++) {
			memcpy(a, in, nr * sizeof(*a));
			sley_sort(a, nr, sizeof(*a), mad[i], NULL);
			check_permutation(a, in, nr);
			memcpy(a, in, nr * sizeof(*a));
			CHECK_EQ(sley_sort_stable_with(a, nr, sizeof(*a),
						       mad[i], NULL,
						       SLEY_HOW(.grain = 30)),
				 0);
			check_permutation(a, in, nr);
		}
		free(in);
		free(a);
	}
	stop(rt);
}

/* A sort that cancels the task that called it, after some comparisons. */
struct cut {
	struct sley_task task;
	atomic_long left;
	int64_t *a;
	size_t nr;
	int which, result;
};

static int compare_and_cancel(const void *a, const void *b, void *arg)
{
	struct cut *cut = arg;

	if (atomic_fetch_sub(&cut->left, 1) == 1)
		sley_cancel(&cut->task);
	return compare_int64(a, b, NULL);
}

static void cut_short(void *arg)
{
	struct cut *cut = arg;
	const struct sley_how *how = SLEY_HOW(.grain = 50);

	if (cut->which == 0)
		cut->result = sley_sort_with(cut->a, cut->nr, sizeof(*cut->a),
					     compare_and_cancel, cut, how);
	else if (cut->which == 1)
		cut->result =
			sley_sort_stable_with(cut->a, cut->nr, sizeof(*cut->a),
					      compare_and_cancel, cut, how);
	else
		sley_sort(cut->a, cut->nr, sizeof(*cut->a), compare_and_cancel,
			  cut);
}

static int cut_after(struct cut *cut, int which, long compared)
{
	struct sley_group group = SLEY_GROUP_INIT;

	atomic_store(&cut->left, compared);
	cut->which = which;
	cut->result = 0;
	sley_spawn(&group, &cut->task, cut_short, cut);
	sley_join(&group);
	return cut->result;
}

TEST_WORKERS(sort_that_is_cancelled_leaves_the_elements_in_some_order)
{
	enum { NR = 4000 };
	static int64_t in[NR], a[NR];
	static struct cut cut = { .a = a, .nr = NR };
	struct sley *rt = start();

	fill(in, NR, random_at);
	for (int which = 0; which < 3; which++) {
		for (long after = 1; after < 40000; after = after * 3 + 1) {
			memcpy(a, in, sizeof(a));
			CHECK_EQ(cut_after(&cut, which, after),
				 which < 2 ? -ECANCELED : 0);
			CHECK_EQ(is_sorted(a, NR), which == 2);
			check_permutation(a, in, NR);
		}
		/* Never cancelled. */
		memcpy(a, in, sizeof(a));
		CHECK_EQ(cut_after(&cut, which, INT32_MAX), 0);
		CHECK(is_sorted(a, NR));
	}
	stop(rt);
}

/* A scope that the caller names. */
struct scoped {
	struct sley_scope scope;
	atomic_long left;
};

static int compare_and_cancel_scope(const void *a, const void *b, void *arg)
{
	struct scoped *scoped = arg;

	if (atomic_fetch_sub(&scoped->left, 1) == 1)
		sley_scope_cancel(&scoped->scope);
	return compare_int64(a, b, NULL);
}

TEST_WORKERS(sort_ends_when_the_scope_it_was_given_does)
{
	enum { NR = 6000 };
	static int64_t in[NR], a[NR];
	struct sley *rt = start();
	struct scoped scoped;

	fill(in, NR, random_at);
	for (long after = 100; after < 60000; after *= 8) {
		memcpy(a, in, sizeof(a));
		atomic_store(&scoped.left, after);
		sley_scope_open(&scoped.scope);
		CHECK_EQ(sley_sort_with(a, NR, sizeof(*a),
					compare_and_cancel_scope, &scoped,
					SLEY_HOW(.scope = &scoped.scope,
						 .grain = 50)),
			 -ECANCELED);
		CHECK_EQ(sley_scope_close(&scoped.scope), -ECANCELED);
		check_permutation(a, in, NR);
	}
	stop(rt);
}

static void cancelled_numbers(void *arg)
{
	struct cut *cut = arg;
	double *d = (double *)(void *)cut->a;

	sley_cancel(&cut->task);
	CHECK_EQ(sley_sort_int64_with(cut->a, cut->nr, NULL), -ECANCELED);
	CHECK_EQ(sley_sort_double_with(d, cut->nr, NULL), -ECANCELED);
	sley_sort_int64(cut->a, cut->nr);
}

TEST_WORKERS(sort_of_numbers_is_cancelled_or_is_not)
{
	enum { NR = 9000 };
	static int64_t in[NR], a[NR];
	static struct cut cut = { .a = a, .nr = NR };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;

	fill(in, NR, random_at);
	memcpy(a, in, sizeof(a));
	sley_spawn(&group, &cut.task, cancelled_numbers, &cut);
	sley_join(&group);
	CHECK(is_sorted(a, NR));
	check_permutation(a, in, NR);
	stop(rt);
}

/* ---- what it refuses ------------------------------------------------------- */

TEST_WORKERS(sort_says_what_is_wrong)
{
	struct sley *rt = start();
	int64_t a[3] = { 3, 2, 1 };
	struct sley_how how = sley_how_default();

	CHECK_EQ(sley_sort_with(a, 3, 0, compare_int64, NULL, NULL), -EINVAL);
	CHECK_EQ(sley_sort_stable_with(a, 3, 0, compare_int64, NULL, NULL),
		 -EINVAL);
	CHECK_EQ(sley_sort_stable(a, 3, 0, compare_int64, NULL), -EINVAL);
	sley_sort(a, 3, 0, compare_int64, NULL);
	how.priority = 1000;
	CHECK_EQ(sley_sort_with(a, 3, 8, compare_int64, NULL, &how),
		 SLEY_EPRIORITY);
	CHECK_EQ(sley_sort_stable_with(a, 3, 8, compare_int64, NULL, &how),
		 SLEY_EPRIORITY);
	how.size = 0;
	CHECK_EQ(sley_sort_with(a, 3, 8, compare_int64, NULL, &how), -EINVAL);
	CHECK_EQ(a[0] == 3 && a[1] == 2 && a[2] == 1, true);
	stop(rt);
}

TEST_WORKERS(sort_stable_without_memory_moves_nothing)
{
	enum { NR = 5000 };
	static int64_t in[NR], a[NR];
	struct sley *rt = start();

	fill(in, NR, random_at);
	memcpy(a, in, sizeof(a));
	test_fail_allocation_after(0);
	CHECK_EQ(sley_sort_stable(a, NR, sizeof(*a), compare_int64, NULL),
		 -ENOMEM);
	CHECK_EQ(memcmp(a, in, sizeof(a)), 0);
	/* No memory for forks either: it sorts nevertheless. */
	sley_sort(a, NR, sizeof(*a), compare_int64, NULL);
	CHECK(is_sorted(a, NR));
	test_fail_allocation_after(-1);
	stop(rt);
}
