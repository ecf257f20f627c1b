/* SPDX-License-Identifier: MIT */
/*
 * sort.c - arrays in order, whatever was in them.
 */
#include "conformance/task/sort_inputs.h"

/* ---- who sorts ------------------------------------------------------------- */

struct job {
	void (*sort)(int64_t *a, size_t nr);
	int64_t *a;
	size_t nr;
};

static void sort_any(int64_t *a, size_t nr)
{
	sley_sort(a, nr, sizeof(*a), compare_int64, NULL);
}

static void sort_stable(int64_t *a, size_t nr)
{
	CHECK_EQ(sley_sort_stable(a, nr, sizeof(*a), compare_int64, NULL), 0);
}

/* Pieces as small as can be. */
static void sort_any_finely(int64_t *a, size_t nr)
{
	CHECK_EQ(sley_sort_with(a, nr, sizeof(*a), compare_int64, NULL,
				SLEY_HOW(.grain = 1)),
		 0);
}

static void sort_stable_finely(int64_t *a, size_t nr)
{
	CHECK_EQ(sley_sort_stable_with(a, nr, sizeof(*a), compare_int64, NULL,
				       SLEY_HOW(.grain = 1)),
		 0);
}

static void sort_finely(int64_t *a, size_t nr)
{
	CHECK_EQ(sley_sort_int64_with(a, nr, SLEY_HOW(.grain = 1)), 0);
}

static void sort_urgently(int64_t *a, size_t nr)
{
	CHECK_EQ(sley_sort_int64_with(a, nr, SLEY_HOW(.priority = -3)), 0);
}

static void (*const sorts[])(int64_t *a, size_t nr) = {
	sort_any,           sort_stable, sley_sort_int64, sort_any_finely,
	sort_stable_finely, sort_finely, sort_urgently,
};

static void run_job(void *arg)
{
	struct job *job = arg;

	job->sort(job->a, job->nr);
}

static void in_a_task(struct job *job)
{
	run_task(run_job, job);
}

static void check_sorts(size_t nr, input_fn *input, bool task)
{
	int64_t *in = calloc(nr + 1, sizeof(*in));
	int64_t *want = calloc(nr + 1, sizeof(*in));
	int64_t *a = calloc(nr + 1, sizeof(*in));

	fill(in, nr, input);
	memcpy(want, in, nr * sizeof(*in));
	qsort(want, nr, sizeof(*want), compare_plain);
	for (size_t i = 0; i < ARRAY_SIZE(sorts); i++) {
		struct job job = { sorts[i], a, nr };

		memcpy(a, in, nr * sizeof(*in));
		a[nr] = INT64_MIN; /* must stay where it is */
		if (task)
			in_a_task(&job);
		else
			run_job(&job);
		CHECK_EQ(memcmp(a, want, nr * sizeof(*a)), 0);
		CHECK_EQ(a[nr], INT64_MIN);
	}
	free(in);
	free(want);
	free(a);
}

TEST_WORKERS(sort_every_short_length_of_every_kind_of_input)
{
	struct sley *rt = start();

	for (size_t nr = 0; nr <= 100; nr++) {
		for (size_t i = 0; i < ARRAY_SIZE(inputs); i++)
			check_sorts(nr, inputs[i], nr % 2);
	}
	stop(rt);
}

TEST_WORKERS(sort_long_arrays_of_every_kind_of_input)
{
	struct sley *rt = start();

	for (size_t i = 0; i < ARRAY_SIZE(inputs); i++) {
		check_sorts(1000 + test_random(1000), inputs[i], true);
		check_sorts(10000 + test_random(10000), inputs[i], i % 2);
	}
	stop(rt);
}

TEST(sort_without_a_runtime)
{
	for (size_t i = 0; i < ARRAY_SIZE(inputs); i++) {
		for (size_t nr = 0; nr < 40; nr++)
			check_sorts(nr, inputs[i], false);
		check_sorts(5000, inputs[i], false);
	}
}

TEST_WORKERS(sort_many_arrays_at_the_same_time)
{
	enum { NR = 12, EACH = 6000 };
	static int64_t a[NR][EACH];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[NR];
	struct job job[NR];

	for (int i = 0; i < NR; i++) {
		fill(a[i], EACH, inputs[(size_t)i % ARRAY_SIZE(inputs)]);
		job[i] = (struct job){ sorts[i % 3], a[i], EACH };
		sley_spawn(&group, &task[i], run_job, &job[i]);
	}
	sley_join(&group);
	for (int i = 0; i < NR; i++) {
		for (int k = 1; k < EACH; k++)
			CHECK_LE(a[i][k - 1], a[i][k]);
	}
	stop(rt);
}

/* ---- how often it compares ------------------------------------------------- */

/*
 * Decides what the elements are as they are asked for, so that whatever the
 * sort takes for its middle turns out to be among the smallest.
 */
struct adversary {
	int32_t *value; /* of element i; NR: not decided */
	int32_t nr, solid, candidate;
	uint64_t compared;
};

static int compare_adversary(const void *a, const void *b, void *arg)
{
	struct adversary *adv = arg;
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	adv->compared++;
	if (adv->value[x] == adv->nr && adv->value[y] == adv->nr)
		adv->value[x == adv->candidate ? x : y] = adv->solid++;
	if (adv->value[x] == adv->nr)
		adv->candidate = x;
	else if (adv->value[y] == adv->nr)
		adv->candidate = y;
	return (adv->value[x] > adv->value[y]) -
	       (adv->value[x] < adv->value[y]);
}

TEST(sort_no_input_makes_it_quadratic)
{
	enum { NR = 20000 };
	struct adversary adv = { .nr = NR, .solid = 2 };
	int32_t *a = calloc(NR, sizeof(*a));

	adv.value = calloc(NR, sizeof(*adv.value));
	for (int i = 0; i < NR; i++) {
		a[i] = i;
		adv.value[i] = NR;
	}
	/* Or the look whether it is sorted already would make it so. */
	adv.value[0] = 1;
	adv.value[1] = 0;
	sley_sort(a, NR, sizeof(*a), compare_adversary, &adv);
	for (int i = 1; i < NR; i++)
		CHECK_LE(adv.value[a[i - 1]], adv.value[a[i]]);
	/* log2(NR) is below 15; that many bad cuts, and a heap. */
	CHECK_LT(adv.compared, (uint64_t)NR * 15 * 4);
	free(adv.value);
	free(a);
}

static int count_compare(const void *a, const void *b, void *arg)
{
	atomic_fetch_add((atomic_ulong *)arg, 1);
	return compare_int64(a, b, NULL);
}

TEST_WORKERS(sort_compares_as_often_as_it_says)
{
	enum { NR = 30000 };
	struct sley *rt = start();
	int64_t *a = calloc(NR, sizeof(*a));

	for (size_t i = 0; i < ARRAY_SIZE(inputs); i++) {
		atomic_ulong n = 0;

		fill(a, NR, inputs[i]);
		sley_sort(a, NR, sizeof(*a), count_compare, &n);
		CHECK_LT(n, 2 * NR * 15);
		/* Sorted now: one pass. */
		atomic_store(&n, 0);
		sley_sort(a, NR, sizeof(*a), count_compare, &n);
		CHECK_EQ(n, NR - 1);
		fill(a, NR, inputs[i]);
		CHECK_EQ(sley_sort_stable(a, NR, sizeof(*a), count_compare, &n),
			 0);
		CHECK_LT(n, 2 * NR * 15);
	}
	free(a);
	stop(rt);
}

/* ---- elements of all sizes, and what comparisons do ------------------------ */

/* The key is in the first byte, the sum of all others must stay with it. */
static int compare_size(const void *a, const void *b, void *arg)
{
	size_t size = *(const size_t *)arg;

	return memcmp(a, b, size);
}

static void check_size(size_t nr, size_t size, bool stable)
{
	unsigned char *a = malloc(nr * size + 1);
	uint64_t before = 0, after = 0;

	for (size_t i = 0; i < nr; i++) {
		a[i * size] = (unsigned char)test_random(256);
		for (size_t k = 1; k < size; k++)
			a[i * size + k] = (unsigned char)(a[i * size] + k);
		before += a[i * size];
	}
	a[nr * size] = 99;
	if (stable)
		CHECK_EQ(sley_sort_stable(a, nr, size, compare_size, &size), 0);
	else
		sley_sort(a, nr, size, compare_size, &size);
	for (size_t i = 0; i < nr; i++) {
		after += a[i * size];
		CHECK(i == 0 || a[(i - 1) * size] <= a[i * size]);
		for (size_t k = 1; k < size; k++)
			CHECK_EQ(a[i * size + k],
				 (unsigned char)(a[i * size] + k));
	}
	CHECK_EQ(before, after);
	CHECK_EQ(a[nr * size], 99);
	free(a);
}

TEST_WORKERS(sort_elements_of_any_size)
{
	static const size_t large[] = { 100, 255, 256, 257, 1000, 5000 };
	struct sley *rt = start();

	for (size_t size = 1; size <= 70; size++) {
		check_size(3000, size, false);
		check_size(3000, size, true);
	}
	for (size_t i = 0; i < ARRAY_SIZE(large); i++) {
		check_size(300, large[i], false);
		check_size(300, large[i], true);
	}
	stop(rt);
}

struct record {
	int16_t key;
	int32_t tag;
};

static int compare_key(const void *a, const void *b, void *arg)
{
	(void)arg;
	return ((const struct record *)a)->key -
	       ((const struct record *)b)->key;
}

TEST_WORKERS(sort_stable_keeps_the_order_of_equals)
{
	enum { NR = 20000 };
	static struct record a[NR];
	struct sley *rt = start();

	for (unsigned int kinds = 1; kinds <= 4096; kinds *= 8) {
		for (int i = 0; i < NR; i++)
			a[i] = (struct record){ (int16_t)test_random(kinds),
						i };
		CHECK_EQ(sley_sort_stable_with(a, NR, sizeof(*a), compare_key,
					       NULL, SLEY_HOW(.grain = 64)),
			 0);
		for (int i = 1; i < NR; i++) {
			CHECK_LE(a[i - 1].key, a[i].key);
			CHECK(a[i - 1].key < a[i].key ||
			      a[i - 1].tag < a[i].tag);
		}
	}
	stop(rt);
}

/* Its state says which way round, and is read under a lock that blocks. */
struct state {
	struct sley_mutex mutex;
	int sign;
	uint64_t compared;
};

static int compare_locked(const void *a, const void *b, void *arg)
{
	struct state *state = arg;
	int sign;

	sley_mutex_lock(&state->mutex);
	sign = state->sign;
	if (state->compared++ % 256 == 0)
		(void)!sley_sleep(SLEY_USEC);
	sley_mutex_unlock(&state->mutex);
	return sign * compare_int64(a, b, NULL);
}

TEST_WORKERS(sort_comparisons_may_have_a_state_and_block)
{
	enum { NR = 3000 };
	static int64_t a[NR];
	struct sley *rt = start();
	struct state state = { .sign = -1 };

	fill(a, NR, random_at);
	CHECK_EQ(sley_sort_with(a, NR, sizeof(*a), compare_locked, &state,
				SLEY_HOW(.grain = 100)),
		 0);
	for (int i = 1; i < NR; i++)
		CHECK_GE(a[i - 1], a[i]);
	state.sign = 1;
	CHECK_EQ(sley_sort_stable_with(a, NR, sizeof(*a), compare_locked,
				       &state, SLEY_HOW(.grain = 100)),
		 0);
	for (int i = 1; i < NR; i++)
		CHECK_LE(a[i - 1], a[i]);
	stop(rt);
}
