/* SPDX-License-Identifier: MIT */
/*
 * how_scope.c - algorithms that end with a scope.
 */
#include "conformance/everywhere.h"

static void do_nothing(void *arg)
{
	(void)arg;
}

static void count(size_t begin, size_t end, void *arg)
{
	atomic_fetch_add((atomic_size_t *)arg, end - begin);
}

static void count_tile(const struct sley_tile *tile, void *arg)
{
	(void)tile;
	atomic_fetch_add((atomic_size_t *)arg, 1);
}

static bool count_match(size_t index, void *arg)
{
	(void)index;
	atomic_fetch_add((atomic_size_t *)arg, 1);
	return true;
}

static double count_double(size_t begin, size_t end, void *arg)
{
	count(begin, end, arg);
	return 1;
}

/* Each of them ends at once, and has done nothing. */
static void check_all_end(struct sley_scope *scope)
{
	const struct sley_how *how = SLEY_HOW(.scope = scope);
	const struct sley_invocation call = { do_nothing, NULL };
	struct sley_tile board = { 0, 9, 0, 9 };
	int64_t number[] = { 1, 1 };
	atomic_size_t done = 0;
	double sum = 7;

	CHECK_EQ(sley_for_with(0, 9, count, &done, how), -ECANCELED);
	CHECK_EQ(sley_for_with(0, 9999, count, &done, how), -ECANCELED);
	CHECK_EQ(sley_for_tiles_with(&board, count_tile, &done, how),
		 -ECANCELED);
	CHECK_EQ(sley_find_any_with(0, 9, count_match, &done, NULL, how),
		 -ECANCELED);
	CHECK_EQ(sley_reduce_double_with(&sum, 0, 9, count_double, &done, how),
		 -ECANCELED);
	CHECK_EQ(sley_scan_int64_with(number, number, 2, how), -ECANCELED);
	CHECK_EQ(sley_invoke_with(&call, 1, how), -ECANCELED);
	CHECK_EQ(done, 0);
	CHECK_EQ(number[1], 1);
	CHECK(sum == 0);
}

static void check_cancelled_before(void *arg)
{
	struct sley_scope scope;
	atomic_size_t done = 0;

	(void)arg;
	sley_scope_open(&scope);
	CHECK_EQ(sley_for_with(0, 999, count, &done, SLEY_HOW(.scope = &scope)),
		 0);
	CHECK_EQ(done, 999);
	sley_scope_cancel(&scope);
	check_all_end(&scope);
	/* The short form does not care. */
	sley_for(0, 999, count, &done);
	CHECK_EQ(done, 2 * 999);
	CHECK_EQ(sley_scope_close(&scope), -ECANCELED);
}

TEST_WORKERS(how_a_cancelled_scope_ends_every_algorithm)
{
	from_everywhere(check_cancelled_before, NULL);
}

TEST(how_a_scope_needs_no_runtime)
{
	check_cancelled_before(NULL);
}

/* ---- midway -------------------------------------------------------------------- */

struct midway {
	struct sley_scope scope;
	size_t at;
	atomic_size_t done;
};

static void cancel_midway(size_t begin, size_t end, void *arg)
{
	struct midway *m = arg;

	atomic_fetch_add(&m->done, end - begin);
	if (begin <= m->at && m->at < end)
		sley_scope_cancel(&m->scope);
}

static void check_midway(void *arg)
{
	static const int priority[] = { 0, -6 };

	(void)arg;
	for (int i = 0; i < 10; i++) {
		struct midway m = { .at = test_random(1000) };

		sley_scope_open(&m.scope);
		CHECK_EQ(sley_for_with(0, 1000000, cancel_midway, &m,
				       SLEY_HOW(.scope = &m.scope, .grain = 1,
						.priority = priority[i % 2])),
			 -ECANCELED);
		CHECK_GT(m.done, 0);
		CHECK_LT(m.done, 1000000);
		CHECK_EQ(sley_scope_close(&m.scope), -ECANCELED);
	}
}

TEST_WORKERS(how_a_scope_that_is_cancelled_midway_ends_it)
{
	from_everywhere(check_midway, NULL);
}

/* ---- deadlines ----------------------------------------------------------------- */

static void count_each(size_t begin, size_t end, void *arg)
{
	for (size_t i = begin; i < end; i++)
		atomic_fetch_add((atomic_size_t *)arg, 1);
}

static bool never(size_t index, void *arg)
{
	(void)index;
	(void)arg;
	return false;
}

static void check_deadline(void *arg)
{
	static const int priority[] = { 0, 8 };
	const size_t ages = (size_t)1 << 50;

	(void)arg;
	for (int i = 0; i < 2; i++) {
		struct sley_scope scope;
		atomic_size_t done = 0;

		sley_scope_open_until(&scope, in_ms(5));
		CHECK_EQ(sley_for_with(0, ages, count_each, &done,
				       SLEY_HOW(.scope = &scope, .grain = 1,
						.priority = priority[i])),
			 -ECANCELED);
		CHECK_EQ(sley_scope_close(&scope), -ETIMEDOUT);
		CHECK_LT(done, ages);
		sley_scope_open_until(&scope, in_ms(5));
		CHECK_EQ(sley_find_any_with(0, ages, never, NULL, NULL,
					    SLEY_HOW(.scope = &scope,
						     .grain = 100)),
			 -ECANCELED);
		CHECK_EQ(sley_scope_close(&scope), -ETIMEDOUT);
	}
}

TEST_WORKERS(how_a_deadline_ends_it)
{
	from_everywhere(check_deadline, NULL);
}

/* ---- scopes that nobody names --------------------------------------------------- */

static int loop_as_a_member(void *arg)
{
	struct midway *m = arg;

	CHECK_EQ(sley_for_with(0, (size_t)1 << 50, cancel_midway, m,
			       SLEY_HOW(.grain = 1)),
		 -ECANCELED);
	return 0;
}

static void check_a_member(void *arg)
{
	struct midway m = { .at = 500 };
	struct sley_task task;

	(void)arg;
	sley_scope_open(&m.scope);
	sley_scope_spawn(&m.scope, &task, loop_as_a_member, &m);
	CHECK_EQ(sley_scope_close(&m.scope), -ECANCELED);
}

TEST_WORKERS(how_a_member_of_a_scope_ends_with_it)
{
	struct sley *rt = start();

	check_a_member(NULL);
	run_task(check_a_member, NULL);
	stop(rt);
}

static void check_the_opener(void *arg)
{
	struct midway m = { .at = 500 };

	(void)arg;
	sley_scope_open(&m.scope);
	CHECK_EQ(loop_as_a_member(&m), 0);
	CHECK_EQ(sley_scope_close(&m.scope), -ECANCELED);
}

TEST_WORKERS(how_the_opener_of_a_scope_is_in_it)
{
	struct sley *rt = start();

	run_task(check_the_opener, NULL);
	stop(rt);
}

/* A piece, perhaps stolen, has a loop of its own. */
static void inner_loop(size_t begin, size_t end, void *arg)
{
	(void)begin;
	(void)end;
	(void)loop_as_a_member(arg);
}

static int nested_member(void *arg)
{
	struct midway *m = arg;

	/* All eight may have begun. */
	(void)!sley_for_with(0, 8, inner_loop, m, SLEY_HOW(.grain = 1));
	return 0;
}

TEST_WORKERS(how_loops_in_loops_end_too)
{
	struct sley *rt = start();
	struct midway m = { .at = 500 };
	struct sley_task task;

	sley_scope_open(&m.scope);
	sley_scope_spawn(&m.scope, &task, nested_member, &m);
	CHECK_EQ(sley_scope_close(&m.scope), -ECANCELED);
	stop(rt);
}

/* The first piece cancels what its caller has open; others are in loops. */
static void cancel_or_loop(size_t begin, size_t end, void *arg)
{
	struct midway *m = arg;

	(void)end;
	if (begin > 0) {
		CHECK_EQ(sley_for_with(0, (size_t)1 << 50, count_each, &m->done,
				       SLEY_HOW(.grain = 1, .ordered = true)),
			 -ECANCELED);
		return;
	}
	/* One more worker at least has taken a piece. */
	while (m->at && m->done < 100)
		;
	sley_scope_cancel(&m->scope);
}

static void nested_opener(void *arg)
{
	struct midway *m = arg;

	sley_scope_open(&m->scope);
	(void)!sley_for_with(0, 4, cancel_or_loop, m, SLEY_HOW(.grain = 1));
	CHECK_EQ(sley_scope_close(&m->scope), -ECANCELED);
	sley_scope_open(&m->scope);
	m->done = 0;
	sley_for(0, 4, cancel_or_loop, m); /* not cancelled, but those within */
	CHECK_EQ(sley_scope_close(&m->scope), -ECANCELED);
}

TEST_WORKERS(how_loops_in_stolen_pieces_end_with_the_callers_scope)
{
	struct sley *rt = start();
	struct midway m = { .at = sley_nr_workers(rt) > 1 };

	run_task(nested_opener, &m);
	stop(rt);
}

/* Nobody but the loop itself comes to look at the deadline, perhaps. */
static int loop_until_late(void *arg)
{
	CHECK_EQ(sley_for_with(0, (size_t)1 << 50, count_each, arg,
			       SLEY_HOW(.grain = 1)),
		 -ECANCELED);
	return 0;
}

TEST_WORKERS(how_a_member_ends_at_the_deadline)
{
	struct sley *rt = start();
	struct sley_scope scope;
	struct sley_task task;
	atomic_size_t done = 0;

	sley_scope_open_until(&scope, in_ms(5));
	sley_scope_spawn(&scope, &task, loop_until_late, &done);
	CHECK_EQ(sley_scope_close(&scope), -ETIMEDOUT);
	stop(rt);
}

/* ---- scopes in pieces ------------------------------------------------------------ */

static void fail_inside(size_t begin, size_t end, void *arg)
{
	struct sley_scope scope;

	sley_scope_open(&scope);
	sley_scope_cancel(&scope);
	count(begin, end, arg);
	for (int i = 0; i < 3; i++)
		sley_yield(); /* others look meanwhile */
	CHECK_EQ(sley_scope_close(&scope), -ECANCELED);
}

static void check_inside(void *arg)
{
	(void)arg;
	for (int i = 0; i < 20; i++) {
		atomic_size_t done = 0;

		CHECK_EQ(sley_for_with(0, 50, fail_inside, &done,
				       SLEY_HOW(.grain = 1)),
			 0);
		CHECK_EQ(done, 50);
	}
}

static void check_inside_twice(size_t begin, size_t end, void *arg)
{
	check_inside(arg);
	count(begin, end, arg);
}

static void check_nested(void *arg)
{
	atomic_size_t done = 0;

	(void)arg;
	CHECK_EQ(sley_for_with(0, 4, check_inside_twice, &done,
			       SLEY_HOW(.grain = 1)),
		 0);
	CHECK_EQ(done, 4);
}

TEST_WORKERS(how_a_scope_that_is_cancelled_in_a_piece_ends_nothing_else)
{
	from_everywhere(check_inside, NULL);
}

TEST_WORKERS(how_the_same_in_loops_in_loops)
{
	struct sley *rt = start();

	run_task(check_nested, NULL);
	stop(rt);
}
