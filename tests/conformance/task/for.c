/* SPDX-License-Identifier: MIT */
/*
 * for.c - parallel loops over a range.
 */
#include "conformance/everywhere.h"

/* How often each element was visited, and the pieces they were in. */
struct visits {
	size_t base, nr;
	atomic_int pieces;
	atomic_size_t shortest, longest;
	atomic_uchar at[20000];
};

static struct visits visits;

static void visits_clear(size_t base, size_t nr)
{
	CHECK(nr <= ARRAY_SIZE(visits.at));
	memset(&visits, 0, sizeof(visits));
	visits.base = base;
	visits.nr = nr;
	visits.shortest = SIZE_MAX;
}

static void note_length(size_t length)
{
	size_t old = atomic_load(&visits.shortest);

	while (length < old &&
	       !atomic_compare_exchange_weak(&visits.shortest, &old, length))
		;
	old = atomic_load(&visits.longest);
	while (length > old &&
	       !atomic_compare_exchange_weak(&visits.longest, &old, length))
		;
}

static void visit(size_t begin, size_t end, void *arg)
{
	(void)arg;
	CHECK_LT(begin, end);
	CHECK_LE(visits.base, begin);
	CHECK_LE(end - visits.base, visits.nr);
	for (size_t i = begin; i < end; i++)
		atomic_fetch_add(&visits.at[i - visits.base], 1);
	atomic_fetch_add(&visits.pieces, 1);
	note_length(end - begin);
}

static size_t nr_visited(void)
{
	size_t sum = 0;

	for (size_t i = 0; i < visits.nr; i++) {
		CHECK_LE(visits.at[i], 1);
		sum += visits.at[i];
	}
	return sum;
}

/* ---- every element, once --------------------------------------------------- */

static void check_lengths(void *arg)
{
	static const size_t lengths[] = { 0,  1,   2,    3,    31,   63,   64,
					  65, 100, 1000, 4095, 4096, 19999 };

	(void)arg;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		visits_clear(7, lengths[i]);
		sley_for(7, 7 + lengths[i], visit, NULL);
		CHECK_EQ(nr_visited(), lengths[i]);
		visits_clear(7, lengths[i]);
		CHECK_EQ(sley_for_with(7, 7 + lengths[i], visit, NULL, NULL),
			 0);
		CHECK_EQ(nr_visited(), lengths[i]);
	}
}

TEST_WORKERS(for_each_element_is_done_once)
{
	from_everywhere(check_lengths, NULL);
}

TEST(for_any_number_of_workers)
{
	with_many_workers(check_lengths, NULL);
}

static void check_nothing_to_do(void *arg)
{
	(void)arg;
	visits_clear(0, 1000);
	sley_for(5, 5, visit, NULL);
	sley_for(5, 4, visit, NULL);
	sley_for(SIZE_MAX, 0, visit, NULL);
	CHECK_EQ(sley_for_with(9, 3, visit, NULL, SLEY_HOW(.ordered = true)),
		 0);
	CHECK_EQ(visits.pieces, 0);
}

TEST_WORKERS(for_a_range_that_ends_before_it_begins_is_empty)
{
	from_everywhere(check_nothing_to_do, NULL);
}

static void check_highest(void *arg)
{
	(void)arg;
	for (size_t nr = 1; nr < 10000; nr *= 3) {
		visits_clear(SIZE_MAX - nr, nr);
		sley_for(SIZE_MAX - nr, SIZE_MAX, visit, NULL);
		CHECK_EQ(nr_visited(), nr);
	}
}

TEST_WORKERS(for_the_highest_range_does_not_wrap_around)
{
	from_everywhere(check_highest, NULL);
}

static void add_length(size_t begin, size_t end, void *arg)
{
	atomic_fetch_add((atomic_size_t *)arg, end - begin);
}

static void check_everything(void *arg)
{
	const struct sley_how *how[] = {
		NULL,
		SLEY_HOW(.ordered = true),
		SLEY_HOW(.grain = 1000, .ordered = true),
		SLEY_HOW(.grain = SIZE_MAX / 5),
		SLEY_HOW(.grain = SIZE_MAX),
		SLEY_HOW(.grain = SIZE_MAX - 1),
	};

	(void)arg;
	for (size_t i = 0; i < ARRAY_SIZE(how); i++) {
		atomic_size_t length = 0;
		/* A small grain needs a range that is not the whole. */
		size_t end = how[i] && how[i]->grain == 1000 ? 1000000
							     : SIZE_MAX;

		CHECK_EQ(sley_for_with(0, end, add_length, &length, how[i]), 0);
		CHECK_EQ(length, end);
	}
}

TEST_WORKERS(for_the_longest_range_there_is)
{
	from_everywhere(check_everything, NULL);
}

/* ---- the grain -------------------------------------------------------------- */

static void check_grain(void *arg)
{
	(void)arg;
	for (size_t grain = 1; grain < 3000; grain = grain * 2 + 1) {
		size_t nr = 1000;

		visits_clear(0, nr);
		CHECK_EQ(sley_for_with(0, nr, visit, NULL,
				       SLEY_HOW(.grain = grain)),
			 0);
		CHECK_EQ(nr_visited(), nr);
		CHECK_LE(grain < nr ? grain : nr, visits.shortest);
		if (grain * 2 > nr)
			CHECK_EQ(visits.pieces, 1);
		visits_clear(0, nr);
		CHECK_EQ(sley_for_with(0, nr, visit, NULL,
				       SLEY_HOW(.grain = grain,
						.ordered = true)),
			 0);
		CHECK_EQ(nr_visited(), nr);
		CHECK_LE(grain < nr ? grain : nr, visits.shortest);
		if (grain < nr)
			CHECK_LT(visits.longest, 2 * grain);
	}
}

TEST_WORKERS(for_no_piece_is_smaller_than_the_grain)
{
	from_everywhere(check_grain, NULL);
}

static void note_only(size_t begin, size_t end, void *arg)
{
	(void)arg;
	note_length(end - begin);
}

/* Whatever the first pieces, which grow, leave to the last one. */
TEST(for_what_is_left_is_no_smaller_than_the_grain)
{
	for (size_t nr = 13000; nr < 14000; nr++) {
		visits_clear(0, 0);
		CHECK_EQ(sley_for_with(0, nr, note_only, NULL,
				       SLEY_HOW(.grain = 5)),
			 0);
		CHECK_LE(5, visits.shortest);
	}
}

TEST(for_with_reads_what_it_is_given)
{
	struct sley_how none = { .grain = 1 };
	struct newer {
		struct sley_how how;
		uint64_t more;
	} newer = { .how.size = sizeof(newer), .more = 1 };

	visits_clear(0, 1000);
	CHECK_EQ(sley_for_with(0, 1000, visit, NULL, SLEY_HOW(.priority = 40)),
		 SLEY_EPRIORITY);
	CHECK_EQ(sley_for_with(0, 1000, visit, NULL, &none), -EINVAL);
	CHECK_EQ(sley_for_with(0, 1000, visit, NULL, &newer.how), -E2BIG);
	CHECK_EQ(visits.pieces, 0);
}

/* ---- the shape --------------------------------------------------------------- */

struct shape {
	size_t nr, grain;
	bool known;
	size_t end[10000], first[10000];
};

static void note_shape(size_t begin, size_t end, void *arg)
{
	struct shape *shape = arg;

	shape->end[begin] = end;
}

static void compare_shapes(void *arg)
{
	struct shape *shape = arg;

	memset(shape->end, 0, sizeof(shape->end));
	CHECK_EQ(
		sley_for_with(0, shape->nr, note_shape, shape,
			      SLEY_HOW(.ordered = true, .grain = shape->grain)),
		0);
	if (!shape->known)
		memcpy(shape->first, shape->end, sizeof(shape->end));
	CHECK(memcmp(shape->first, shape->end, sizeof(shape->end)) == 0);
	shape->known = true;
}

TEST(for_an_ordered_loop_has_the_same_pieces_in_every_run)
{
	static struct shape shape;
	static const size_t nr[] = { 5, 100, 1000, 10000 };

	for (size_t i = 0; i < 2 * ARRAY_SIZE(nr); i++) {
		shape.nr = nr[i / 2];
		shape.grain = i % 2 ? 11 : 0;
		shape.known = false;
		with_many_workers(compare_shapes, &shape);
	}
}

/* ---- bodies that block ------------------------------------------------------- */

struct blocking {
	struct sley_mutex mutex;
	struct sley_chan *chan;
	int under_mutex;
	atomic_int slept, inner;
};

static void lock_it(size_t begin, size_t end, void *arg)
{
	struct blocking *b = arg;

	sley_mutex_lock(&b->mutex);
	b->under_mutex += (int)(end - begin);
	sley_yield();
	sley_mutex_unlock(&b->mutex);
}

static void send_it(size_t begin, size_t end, void *arg)
{
	struct blocking *b = arg;

	for (size_t i = begin; i < end; i++)
		CHECK_EQ(sley_chan_send(b->chan, &(int){ 1 }), 0);
}

static void receive_all(void *arg)
{
	struct blocking *b = arg;
	int n;

	for (int i = 0; i < 100; i++)
		CHECK_EQ(sley_chan_recv(b->chan, &n), 0);
}

static void sleep_in_it(size_t begin, size_t end, void *arg)
{
	struct blocking *b = arg;

	CHECK_EQ(sley_sleep(test_random(200) * SLEY_USEC), 0);
	atomic_fetch_add(&b->slept, (int)(end - begin));
}

static void count_inner(size_t begin, size_t end, void *arg)
{
	atomic_fetch_add((atomic_int *)arg, (int)(end - begin));
}

static void loop_in_it(size_t begin, size_t end, void *arg)
{
	struct blocking *b = arg;

	for (size_t i = begin; i < end; i++)
		sley_for(0, i, count_inner, &b->inner);
	sley_yield();
}

static void check_blocking(void *arg)
{
	struct blocking b = { .under_mutex = 0 };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task receiver;

	(void)arg;
	sley_for(0, 1000, lock_it, &b);
	CHECK_EQ(b.under_mutex, 1000);
	CHECK_EQ(sley_for_with(0, 50, sleep_in_it, &b, SLEY_HOW(.grain = 1)),
		 0);
	CHECK_EQ(b.slept, 50);
	CHECK_EQ(sley_for_with(0, 100, loop_in_it, &b, SLEY_HOW(.grain = 3)),
		 0);
	CHECK_EQ(b.inner, 4950);
	CHECK_EQ(sley_chan_create(&b.chan, sizeof(int), 1), 0);
	CHECK_EQ(sley_spawn_on(sley_current(), &group, &receiver, receive_all,
			       &b, NULL),
		 0);
	sley_for(0, 100, send_it, &b);
	sley_join(&group);
	sley_chan_destroy(b.chan);
}

TEST_WORKERS(for_pieces_may_block)
{
	struct sley *rt = start();

	check_blocking(NULL);
	run_task(check_blocking, NULL);
	stop(rt);
}

/* ---- sharing ------------------------------------------------------------------- */

struct meeting {
	atomic_int here;
	size_t from;
	pid_t first;
	atomic_bool met;
};

/* From element .from on, nobody leaves before two threads have been here. */
static void meet(size_t begin, size_t end, void *arg)
{
	struct meeting *m = arg;
	pid_t none = 0;

	(void)begin;
	if (end <= m->from)
		return;
	if (!__atomic_compare_exchange_n(&m->first, &none, gettid(), false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) &&
	    none != gettid())
		atomic_store(&m->met, true);
	while (!atomic_load(&m->met))
		test_nap_ms(1);
}

static void check_meeting(size_t nr, size_t from)
{
	struct meeting m = { .from = from };

	sley_for(0, nr, meet, &m);
	CHECK(m.met);
}

static void check_meetings(void *arg)
{
	(void)arg;
	check_meeting(2, 0);
	check_meeting(20, 0);
}

TEST_WORKERS(for_few_elements_are_shared_at_once)
{
	struct sley *rt = start();

	if (nr_runners() < 2)
		test_skip("needs a thief");
	check_meetings(NULL);
	run_task(check_meetings, NULL);
	stop(rt);
}

static void take_long(size_t begin, size_t end, void *arg)
{
	struct meeting *m = arg;

	if (begin == 0)
		test_nap_ms(1);
	else
		meet(begin, end, m);
}

static void check_a_long_loop(void *arg)
{
	struct meeting m = { .here = 0 };

	(void)arg;
	sley_for(0, 5000, take_long, &m);
	CHECK(m.met);
}

TEST_WORKERS(for_a_loop_that_lasts_is_shared)
{
	struct sley *rt = start();

	if (nr_runners() < 2)
		test_skip("needs a thief");
	check_a_long_loop(NULL);
	run_task(check_a_long_loop, NULL);
	stop(rt);
}

/* ---- priority --------------------------------------------------------------------- */

static void check_priority(void *arg)
{
	(void)arg;
	for (int priority = -32; priority < 32; priority += 9) {
		visits_clear(0, 5000);
		CHECK_EQ(sley_for_with(0, 5000, visit, NULL,
				       SLEY_HOW(.priority = priority)),
			 0);
		CHECK_EQ(nr_visited(), 5000);
	}
}

TEST_WORKERS(for_every_priority)
{
	from_everywhere(check_priority, NULL);
}

struct first_come {
	atomic_int turn;
	int low, high;
};

static void note_low(size_t begin, size_t end, void *arg)
{
	struct first_come *f = arg;

	(void)begin, (void)end;
	f->low = atomic_fetch_add(&f->turn, 1);
}

static void note_high(void *arg)
{
	struct first_come *f = arg;

	f->high = atomic_fetch_add(&f->turn, 1);
}

static void loop_at_low_priority(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task usual;

	sley_spawn(&group, &usual, note_high, arg);
	CHECK_EQ(sley_for_with(0, 1, note_low, arg, SLEY_HOW(.priority = 20)),
		 0);
	sley_join(&group);
}

TEST(for_a_less_urgent_loop_comes_after_what_is_more_urgent)
{
	struct sley_config config = config_of(1);
	struct sley *rt = start_with(&config);
	struct first_come f = { .turn = 0 };

	if (test_is_chaotic())
		test_skip("about the order in which tasks run");
	run_task(loop_at_low_priority, &f);
	CHECK_EQ(f.high, 0);
	CHECK_EQ(f.low, 1);
	stop(rt);
}

/* ---- cancelling -------------------------------------------------------------------- */

struct victim {
	struct sley_task task;
	size_t at;
	size_t nr, grain;
	int priority, result;
	bool all;
};

/* The element .at cancels whoever waits for the loop. */
static void visit_and_cancel(size_t begin, size_t end, void *arg)
{
	struct victim *v = arg;

	visit(begin, end, NULL);
	if (begin > v->at || end <= v->at)
		return;
	if (v->all)
		sley_cancel_all(sley_current());
	else
		sley_cancel(&v->task);
}

static void loop_until_cancelled(void *arg)
{
	struct victim *v = arg;

	v->result = sley_for_with(0, v->nr, visit_and_cancel, v,
				  SLEY_HOW(.grain = v->grain,
					   .priority = v->priority));
	if (v->result)
		CHECK_EQ(v->result, -ECANCELED);
	if (!v->all)
		CHECK(sley_cancelled());
}

static void cancel_at(struct victim *v)
{
	struct sley_group group = SLEY_GROUP_INIT;

	visits_clear(0, v->nr);
	sley_spawn(&group, &v->task, loop_until_cancelled, v);
	sley_join(&group);
	CHECK_EQ(nr_visited() == v->nr, v->result == 0);
}

TEST_WORKERS(for_a_cancelled_loop_ends_and_says_so)
{
	struct sley *rt = start();
	static struct victim v;
	int midway = 0;

	for (int i = 0; i < 40; i++) {
		v = (struct victim){
			.nr = ARRAY_SIZE(visits.at),
			.grain = 1,
			.at = test_random(1000),
			.priority = i % 3 ? 0 : 7,
		};
		cancel_at(&v);
		/* Nearly all were still to come. */
		midway += v.result != 0;
	}
	CHECK_EQ(midway, 40);
	stop(rt);
}

TEST_WORKERS(for_a_loop_that_is_cancelled_too_late_is_complete)
{
	struct sley *rt = start();
	static struct victim v;

	v = (struct victim){ .nr = 1000, .grain = 1000, .at = 999 };
	cancel_at(&v);
	CHECK_EQ(v.result, 0);
	stop(rt);
}

TEST_WORKERS(for_cancelling_everything_ends_it_too)
{
	struct sley *rt = start();
	static struct victim v;

	v = (struct victim){ .nr = 20000, .grain = 1, .at = 17, .all = true };
	visits_clear(0, v.nr);
	loop_until_cancelled(&v);
	CHECK_EQ(v.result, -ECANCELED);
	CHECK_GT(nr_visited(), 0);
	CHECK_LT(nr_visited(), v.nr);
	visits_clear(0, v.nr);
	loop_until_cancelled(&v);
	CHECK_EQ(v.result, -ECANCELED);
	CHECK_EQ(nr_visited(), 0);
	/* The short form does not care. */
	sley_for(0, v.nr, visit, NULL);
	CHECK_EQ(nr_visited(), v.nr);
	stop(rt);
}

static void loop_though_cancelled(void *arg)
{
	struct victim *v = arg;

	sley_cancel(&v->task);
	visits_clear(0, 5000);
	CHECK_EQ(sley_for_with(0, 5000, visit, NULL, NULL), -ECANCELED);
	CHECK_EQ(sley_for_with(0, 5000, visit, NULL, SLEY_HOW(.priority = 3)),
		 -ECANCELED);
	CHECK_EQ(sley_for_with(0, 5, visit, NULL, SLEY_HOW(.ordered = true)),
		 -ECANCELED);
	CHECK_EQ(nr_visited(), 0);
	CHECK_EQ(sley_for_with(0, 0, visit, NULL, NULL), 0);
	sley_for(0, 5000, visit, NULL);
	CHECK_EQ(nr_visited(), 5000);
}

TEST_WORKERS(for_a_cancelled_caller_does_nothing_unless_it_uses_the_short_form)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	static struct victim v;

	sley_spawn(&group, &v.task, loop_though_cancelled, &v);
	sley_join(&group);
	stop(rt);
}
