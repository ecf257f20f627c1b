/* SPDX-License-Identifier: MIT */
/*
 * find.c - search a range with early exit.
 */
#include "conformance/everywhere.h"

struct hay {
	size_t first, last; /* what matches */
	size_t offset;
	atomic_size_t looked;
	atomic_uchar *at; /* how often each was looked at */
};

static bool match(size_t index, void *arg)
{
	struct hay *hay = arg;

	atomic_fetch_add(&hay->looked, 1);
	if (hay->at)
		CHECK_EQ(atomic_fetch_add(&hay->at[index - hay->offset], 1), 0);
	return index >= hay->first && index <= hay->last;
}

static void check_one_needle(void *arg)
{
	static const size_t nr[] = { 1, 2, 3, 64, 100, 5000 };

	(void)arg;
	for (size_t i = 0; i < ARRAY_SIZE(nr); i++) {
		for (size_t k = 0; k < 20; k++) {
			size_t at = 9 + test_random((unsigned int)nr[i]);
			struct hay hay = { .first = at, .last = at };
			size_t found = 0;

			CHECK(sley_find_any(9, 9 + nr[i], match, &hay, &found));
			CHECK_EQ(found, at);
			CHECK_LE(hay.looked, nr[i]);
			found = 0;
			CHECK_EQ(sley_find_any_with(9, 9 + nr[i], match, &hay,
						    &found, NULL),
				 1);
			CHECK_EQ(found, at);
			CHECK(sley_find_any(9, 9 + nr[i], match, &hay, NULL));
		}
	}
}

TEST_WORKERS(find_the_only_one)
{
	from_everywhere(check_one_needle, NULL);
}

TEST(find_with_any_number_of_workers)
{
	with_many_workers(check_one_needle, NULL);
}

static void check_no_needle(void *arg)
{
	static atomic_uchar at[5000];

	(void)arg;
	for (size_t nr = 0; nr <= ARRAY_SIZE(at); nr = nr * 3 + 1) {
		struct hay hay = { .first = 1, .last = 0, .at = at };
		size_t found = 77;

		memset(at, 0, sizeof(at));
		CHECK(!sley_find_any(0, nr, match, &hay, &found));
		/* Each was looked at, once. */
		CHECK_EQ(hay.looked, nr);
		memset(at, 0, sizeof(at));
		CHECK_EQ(sley_find_any_with(0, nr, match, &hay, &found,
					    SLEY_HOW(.ordered = true)),
			 0);
		CHECK_EQ(hay.looked, 2 * nr);
		CHECK_EQ(found, 77);
	}
	CHECK(!sley_find_any(5, 4, match, NULL, NULL));
}

TEST_WORKERS(find_nothing_where_nothing_is)
{
	from_everywhere(check_no_needle, NULL);
}

static void check_any(void *arg)
{
	struct hay hay = { .first = 300, .last = 4000 };
	size_t found = 0;

	(void)arg;
	CHECK(sley_find_any(0, 5000, match, &hay, &found));
	CHECK(found >= 300 && found <= 4000);
}

TEST_WORKERS(find_any_of_several)
{
	from_everywhere(check_any, NULL);
}

static void check_first(void *arg)
{
	(void)arg;
	for (int i = 0; i < 30; i++) {
		size_t first = test_random(5000);
		struct hay hay = { .first = first, .last = 4999 };
		size_t found = 0;

		CHECK_EQ(sley_find_any_with(0, 5000, match, &hay, &found,
					    SLEY_HOW(.ordered = true,
						     .grain = 1u + (i & 7))),
			 1);
		CHECK_EQ(found, first);
	}
}

TEST_WORKERS(find_the_first_if_ordered)
{
	from_everywhere(check_first, NULL);
}

static void check_high(void *arg)
{
	struct hay hay = { .first = SIZE_MAX - 1, .last = SIZE_MAX - 1 };
	size_t found = 0;

	(void)arg;
	CHECK(sley_find_any(SIZE_MAX - 3000, SIZE_MAX, match, &hay, &found));
	CHECK_EQ(found, SIZE_MAX - 1);
}

TEST_WORKERS(find_the_highest)
{
	from_everywhere(check_high, NULL);
}

/* A range that nobody can look through. */
static void check_early(void *arg)
{
	struct hay hay = { .first = 0, .last = SIZE_MAX };
	size_t found = 0;

	(void)arg;
	CHECK(sley_find_any(0, SIZE_MAX, match, &hay, &found));
	CHECK_EQ(sley_find_any_with(0, SIZE_MAX, match, &hay, &found,
				    SLEY_HOW(.ordered = true)),
		 1);
	CHECK_EQ(found, 0);
	CHECK_EQ(sley_find_any_with(5, SIZE_MAX, match, &hay, &found,
				    SLEY_HOW(.grain = 1)),
		 1);
	CHECK_LE(5, found);
	/* And not where the search begins. */
	hay.first = 1000;
	CHECK(sley_find_any(0, (size_t)1 << 40, match, &hay, &found));
	CHECK_LE(1000, found);
	/* And after it was shared, in very many pieces. */
	hay.first = 50000;
	CHECK_EQ(sley_find_any_with(0, (size_t)1 << 40, match, &hay, &found,
				    SLEY_HOW(.grain = 1)),
		 1);
	CHECK_LE(50000, found);
}

TEST_WORKERS(find_ends_soon_after_it_was_found)
{
	from_everywhere(check_early, NULL);
}

/* The needle is where the last worker begins: the others must end at once. */
static bool match_late(size_t index, void *arg)
{
	atomic_bool *others = arg;

	if (index < ((size_t)1 << 39)) {
		atomic_store(others, true);
		return false;
	}
	return true;
}

TEST_WORKERS(find_one_worker_stops_the_others)
{
	struct sley *rt = start();
	atomic_bool others = false;
	size_t found;

	if (nr_runners() < 2)
		test_skip("needs two workers");
	CHECK(sley_find_any(0, (size_t)1 << 40, match_late, &others, &found));
	CHECK_LE((size_t)1 << 39, found);
	stop(rt);
}

/* ---- cancelling ------------------------------------------------------------ */

struct victim {
	struct sley_task task;
	atomic_size_t looked;
};

static bool cancel_and_go_on(size_t index, void *arg)
{
	struct victim *v = arg;

	if (index == 100)
		sley_cancel(&v->task);
	atomic_fetch_add(&v->looked, 1);
	return false;
}

static void search_until_cancelled(void *arg)
{
	struct victim *v = arg;
	size_t found = 77;

	CHECK_EQ(sley_find_any_with(0, (size_t)1 << 40, cancel_and_go_on, v,
				    &found, SLEY_HOW(.grain = 10)),
		 -ECANCELED);
	CHECK_EQ(found, 77);
	CHECK_EQ(sley_find_any_with(0, 1000, cancel_and_go_on, v, &found, NULL),
		 -ECANCELED);
	atomic_store(&v->looked, 0);
	CHECK(!sley_find_any(0, 1000, cancel_and_go_on, v, &found));
	CHECK_EQ(v->looked, 1000);
}

TEST_WORKERS(find_is_cancelled_with_the_caller)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	static struct victim v;

	sley_spawn(&group, &v.task, search_until_cancelled, &v);
	sley_join(&group);
	stop(rt);
}

TEST(find_with_reads_what_it_is_given)
{
	struct hay hay = { .first = 0, .last = 9 };
	struct sley_how none = { .grain = 1 };

	CHECK_EQ(sley_find_any_with(0, 9, match, &hay, NULL, &none), -EINVAL);
	CHECK_EQ(sley_find_any_with(0, 9, match, &hay, NULL,
				    SLEY_HOW(.priority = 99)),
		 SLEY_EPRIORITY);
	CHECK_EQ(hay.looked, 0);
}

/* What is right of the middle matches; what is left of it waits for that. */
static bool match_right_first(size_t index, void *arg)
{
	struct victim *v = arg;

	if (index >= 10) {
		sley_cancel(&v->task);
		atomic_fetch_add(&v->looked, 1);
		return true;
	}
	while (!atomic_load(&v->looked))
		test_nap_ms(1);
	return false;
}

static void search_for_the_first(void *arg)
{
	size_t found = 77;

	CHECK_EQ(sley_find_any_with(0, 20, match_right_first, arg, &found,
				    SLEY_HOW(.ordered = true, .grain = 1)),
		 -ECANCELED);
	CHECK_EQ(found, 77);
}

TEST_WORKERS(find_what_may_not_be_the_first_is_not_given_out_as_it)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	static struct victim v;

	if (nr_runners() != 2)
		test_skip("needs a thief, and not one for each element");
	sley_spawn(&group, &v.task, search_for_the_first, &v);
	sley_join(&group);
	stop(rt);
}
