/* SPDX-License-Identifier: MIT */
/*
 * stock.c - objects that are borrowed and returned.
 */
#include "conformance/bound.h"

/* ---- objects that know how they are treated --------------------------------- */

struct counts {
	atomic_int constructs, destructs;
	atomic_int fail_after; /* constructs that still succeed; < 0: all */
};

struct object {
	atomic_int users;
	int uses; /* since it was constructed */
	bool alive;
};

static int construct(void *memory, void *self)
{
	struct counts *counts = self;
	struct object *object = memory;

	if (atomic_load(&counts->fail_after) >= 0 &&
	    atomic_fetch_sub(&counts->fail_after, 1) == 0) {
		atomic_store(&counts->fail_after, 0);
		return -EIO;
	}
	CHECK(!object->alive);
	object->alive = true;
	object->uses = 0;
	atomic_fetch_add(&counts->constructs, 1);
	return 0;
}

static void destruct(void *memory, void *self)
{
	struct counts *counts = self;
	struct object *object = memory;

	CHECK(object->alive);
	CHECK_EQ(object->users, 0);
	object->alive = false;
	atomic_fetch_add(&counts->destructs, 1);
}

static struct sley_stock *stock_of(struct counts *counts, size_t capacity,
				   bool preserve)
{
	struct sley_stock *stock = NULL;

	atomic_store(&counts->fail_after, -1);
	CHECK_EQ(sley_stock_create(
			 &stock,
			 SLEY_STOCK_CONFIG(.object_size = sizeof(struct object),
					   .capacity = capacity,
					   .preserve = preserve,
					   .construct = construct,
					   .destruct = destruct,
					   .self = counts)),
		 0);
	return stock;
}

static struct sley_stock_stats stock_stats_of(const struct sley_stock *stock)
{
	struct sley_stock_stats stats;

	sley_stock_get_stats(stock, &stats);
	return stats;
}

static void *borrow(struct sley_stock *stock)
{
	void *object = NULL;

	CHECK_EQ(sley_stock_borrow(stock, &object), 0);
	CHECK(object != NULL);
	CHECK_EQ((uintptr_t)object % 16, 0);
	return object;
}

/* ---- many ---------------------------------------------------------------------- */

#define NR_OBJECTS 10
#define NR_TASKS 100

struct crowd {
	struct sley_stock *stock;
	struct sley_task task[NR_TASKS];
	int rounds;
	atomic_int out;
	int max;
};

static void borrow_again_and_again(void *arg)
{
	struct crowd *crowd = arg;

	for (int i = 0; i < crowd->rounds; i++) {
		struct object *object = borrow(crowd->stock);

		CHECK(object->alive);
		CHECK_EQ(atomic_fetch_add(&object->users, 1), 0);
		CHECK_LT(atomic_fetch_add(&crowd->out, 1), crowd->max);
		object->uses++;
		if (i % 4 == 0)
			sley_yield();
		CHECK_EQ(atomic_fetch_sub(&object->users, 1), 1);
		atomic_fetch_sub(&crowd->out, 1);
		sley_stock_return(object);
	}
}

static void crowd(struct counts *counts, struct sley_stock *stock, int max)
{
	struct crowd crowd = { .stock = stock, .rounds = 100, .max = max };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct sley_stock_stats stats;

	for (int i = 0; i < NR_TASKS; i++)
		sley_spawn(&group, &crowd.task[i], borrow_again_and_again,
			   &crowd);
	sley_join(&group);
	stats = stock_stats_of(stock);
	CHECK_EQ(stats.borrows, NR_TASKS * 100);
	CHECK_EQ(stats.lent, 0);
	CHECK_EQ(stats.waiting, 0);
	CHECK_GE(stats.kept, 1);
	CHECK_LE(stats.kept, max);
	CHECK_EQ(stats.constructed, counts->constructs - counts->destructs);
	sley_stock_destroy(stock);
	CHECK_EQ(counts->constructs, counts->destructs);
	stop(rt);
}

TEST_WORKERS(m34_ten_thousand_borrows_from_ten_objects_reconstruct)
{
	struct counts counts = { 0 };

	crowd(&counts, stock_of(&counts, NR_OBJECTS, false), NR_OBJECTS);
	CHECK_EQ(counts.constructs, NR_TASKS * 100);
}

TEST_WORKERS(m34_ten_thousand_borrows_from_ten_objects_preserve)
{
	struct counts counts = { 0 };

	crowd(&counts, stock_of(&counts, NR_OBJECTS, true), NR_OBJECTS);
	CHECK_LE(counts.constructs, NR_OBJECTS);
}

TEST_WORKERS(m34_ten_thousand_borrows_without_a_limit)
{
	struct counts counts = { 0 };

	crowd(&counts, stock_of(&counts, 0, false), NR_TASKS);
	counts = (struct counts){ 0 };
	crowd(&counts, stock_of(&counts, 0, true), NR_TASKS);
	CHECK_LE(counts.constructs, NR_TASKS);
}

static void *borrow_in_thread(void *arg)
{
	borrow_again_and_again(arg);
	return NULL;
}

TEST(m34_plain_threads_use_it_without_any_runtime)
{
	struct counts counts = { 0 };
	struct crowd crowd = { .stock = stock_of(&counts, 2, true),
			       .rounds = test_scale(2000),
			       .max = 2 };

	run_threads(4, borrow_in_thread, &crowd);
	sley_stock_destroy(crowd.stock);
	CHECK_EQ(counts.destructs, counts.constructs);
}

/* ---- the two policies ------------------------------------------------------------- */

TEST(m34_reconstruct_makes_an_object_anew_for_each_loan)
{
	struct counts counts = { 0 };
	struct sley_stock *stock = stock_of(&counts, 1, false);
	struct object *object = borrow(stock);

	CHECK_EQ(counts.constructs, 1);
	CHECK_EQ(stock_stats_of(stock).constructed, 1);
	object->uses = 7;
	sley_stock_return(object);
	CHECK_EQ(counts.destructs, 1);
	CHECK_EQ(stock_stats_of(stock).constructed, 0);
	object = borrow(stock);
	CHECK_EQ(counts.constructs, 2);
	CHECK_EQ(object->uses, 0);
	sley_stock_return(object);
	sley_stock_destroy(stock);
	CHECK_EQ(counts.destructs, 2);
}

TEST(m34_preserve_keeps_what_is_in_an_object)
{
	struct counts counts = { 0 };
	struct sley_stock *stock = stock_of(&counts, 1, true);
	struct object *object = borrow(stock);

	object->uses = 7;
	sley_stock_return(object);
	CHECK_EQ(counts.destructs, 0);
	object = borrow(stock);
	CHECK_EQ(object->uses, 7);
	CHECK_EQ(counts.constructs, 1);
	CHECK_EQ(stock_stats_of(stock).constructed, 1);
	sley_stock_return(object);
	sley_stock_destroy(stock);
	CHECK_EQ(counts.destructs, 1);
}

TEST(m34_what_is_kept_can_be_limited)
{
	struct counts counts = { .fail_after = -1 };
	struct sley_stock *stock = NULL;
	void *objects[5];

	CHECK_EQ(sley_stock_create(
			 &stock,
			 SLEY_STOCK_CONFIG(.object_size = sizeof(struct object),
					   .keep = 2, .preserve = true,
					   .construct = construct,
					   .destruct = destruct,
					   .self = &counts)),
		 0);
	CHECK_EQ(sley_stock_borrow_n(stock, objects, 5), 0);
	for (int i = 0; i < 5; i++)
		sley_stock_return(objects[i]);
	CHECK_EQ(stock_stats_of(stock).kept, 2);
	CHECK_EQ(stock_stats_of(stock).constructed, 2);
	CHECK_EQ(counts.destructs, 3);
	sley_stock_destroy(stock);
	CHECK_EQ(counts.destructs, 5);
}

TEST(m34_objects_without_functions_are_zeroed_memory)
{
	struct sley_stock *stock = NULL;
	char *object;

	CHECK_EQ(sley_stock_create(&stock, SLEY_STOCK_CONFIG(.object_size = 3)),
		 0);
	object = borrow(stock);
	CHECK_EQ(object[0] | object[1] | object[2], 0);
	sley_stock_return(object);
	sley_stock_destroy(stock);
	sley_stock_destroy(NULL);
}

TEST(m34_a_configuration_is_checked)
{
	struct sley_stock_config config = { .object_size = 8 };
	struct sley_stock *stock = NULL;

	CHECK_EQ(sley_stock_create(&stock, &config), -EINVAL);
	CHECK_EQ(sley_stock_create(&stock, NULL), -EINVAL);
	CHECK_EQ(sley_stock_create(&stock, SLEY_STOCK_CONFIG(.capacity = 1)),
		 -EINVAL);
	CHECK_EQ(sley_stock_create(&stock,
				   SLEY_STOCK_CONFIG(.object_size = SIZE_MAX)),
		 -EINVAL);
	CHECK(stock == NULL);
}

/* ---- one by one --------------------------------------------------------------------- */

TEST(m34_try_borrow_takes_what_is_there)
{
	struct counts counts = { 0 };
	struct sley_stock *stock = stock_of(&counts, 2, false);
	void *a, *b, *c = NULL;

	CHECK_EQ(sley_stock_try_borrow(stock, &a), 0);
	CHECK_EQ(sley_stock_try_borrow(stock, &b), 0);
	CHECK(a != b);
	CHECK_EQ(sley_stock_try_borrow(stock, &c), -EAGAIN);
	CHECK(c == NULL);
	CHECK_EQ(stock_stats_of(stock).lent, 2);
	sley_stock_return(a);
	CHECK_EQ(sley_stock_try_borrow(stock, &c), 0);
	sley_stock_return(b);
	sley_stock_return(c);
	CHECK_EQ(stock_stats_of(stock).lent, 0);
	sley_stock_destroy(stock);
}

TEST(m34_the_last_reference_returns_it)
{
	struct counts counts = { 0 };
	struct sley_stock *stock = stock_of(&counts, 1, false);
	void *a = borrow(stock), *b = NULL;

	sley_loan_ref(a);
	sley_loan_ref(a);
	sley_stock_return(a);
	sley_stock_return(a);
	CHECK_EQ(sley_stock_try_borrow(stock, &b), -EAGAIN);
	sley_stock_return(a);
	CHECK_EQ(sley_stock_try_borrow(stock, &b), 0);
	sley_stock_return(b);
	sley_stock_destroy(stock);
}

TEST_ABORTS(m34_returning_too_often_aborts, "sley: misuse in sley_stock_return")
{
	struct counts counts = { 0 };
	struct sley_stock *stock = stock_of(&counts, 1, false);
	void *a = borrow(stock);

	sley_stock_return(a);
	sley_stock_return(a);
}

TEST(m34_a_construct_that_fails_loses_nothing)
{
	struct counts counts = { 0 };

	for (int preserve = 0; preserve < 2; preserve++) {
		struct sley_stock *stock = stock_of(&counts, 4, preserve);
		void *objects[4];

		atomic_store(&counts.fail_after, 2);
		CHECK_EQ(sley_stock_borrow_n(stock, objects, 4), -EIO);
		CHECK_EQ(stock_stats_of(stock).lent, 0);
		CHECK_EQ(stock_stats_of(stock).kept, 3);
		CHECK_EQ(stock_stats_of(stock).constructed, preserve ? 2 : 0);
		atomic_store(&counts.fail_after, -1);
		CHECK_EQ(sley_stock_borrow_n(stock, objects, 4), 0);
		for (int i = 0; i < 4; i++)
			sley_stock_return(objects[i]);
		sley_stock_destroy(stock);
		CHECK_EQ(counts.constructs, counts.destructs);
	}
}

/* ---- waiting ------------------------------------------------------------------------ */

struct waiting {
	struct sley_stock *stock;
	struct sley_group group;
	struct sley_task task[4];
	char order[8]; /* who was served; plain: under the mutex */
	int n;
	struct sley_mutex mutex;
	atomic_int result[4];
};

static struct waiting waiting;

struct customer {
	int number;
	size_t want;
	bool keep; /* does not return them */
	void *objects[4];
};

static struct customer customer[4];

static void buy(void *arg)
{
	struct customer *c = arg;
	int err = sley_stock_borrow_n(waiting.stock, c->objects, c->want);

	atomic_store(&waiting.result[c->number], err);
	if (err)
		return;
	sley_mutex_lock(&waiting.mutex);
	waiting.order[waiting.n++] = (char)('a' + c->number);
	sley_mutex_unlock(&waiting.mutex);
	for (size_t i = 0; i < c->want && !c->keep; i++)
		sley_stock_return(c->objects[i]);
}

/* Comes, and waits before this returns. */
static void come(struct sley *rt, int number, size_t want)
{
	size_t before = stock_stats_of(waiting.stock).waiting;

	customer[number].number = number;
	customer[number].want = want;
	sley_spawn(&waiting.group, &waiting.task[number], buy,
		   &customer[number]);
	if (is_single())
		CHECK_EQ(sley_run_one(rt), 1);
	CHECK_EVENTUALLY(stock_stats_of(waiting.stock).waiting == before + 1);
}

TEST(t32_more_than_the_capacity_is_refused)
{
	struct counts counts = { 0 };
	struct sley_stock *stock = stock_of(&counts, 3, false);
	void *objects[4];

	CHECK_EQ(sley_stock_borrow_n(stock, objects, 4), -EINVAL);
	CHECK_EQ(sley_stock_borrow_n(stock, objects, 0), 0);
	CHECK_EQ(sley_stock_borrow_n_until(stock, objects, 3, 0), 0);
	for (int i = 0; i < 3; i++)
		sley_stock_return(objects[i]);
	sley_stock_destroy(stock);
}

static void borrow_four(void *arg)
{
	void *objects[4];

	for (int i = 0; i < 200; i++) {
		CHECK_EQ(sley_stock_borrow_n(arg, objects, 4), 0);
		if (i % 8 == 0)
			sley_yield();
		for (int j = 0; j < 4; j++) {
			sley_stock_return(objects[j]);
			if (j == i % 8)
				sley_yield();
		}
	}
}

TEST_WORKERS(t32_two_who_want_all_of_it_do_not_block_each_other)
{
	struct counts counts = { 0 };
	struct sley_stock *stock = stock_of(&counts, 4, true);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[4];
	struct sley *rt = start();

	for (int i = 0; i < 4; i++)
		sley_spawn(&group, &task[i], borrow_four, stock);
	sley_join(&group);
	CHECK_EQ(stock_stats_of(stock).lent, 0);
	CHECK_EQ(counts.constructs, 4);
	sley_stock_destroy(stock);
	stop(rt);
}

TEST_WORKERS(t32_a_big_request_is_not_overtaken_by_small_ones)
{
	struct counts counts = { 0 };
	struct sley *rt = start();
	void *mine[4], *more = NULL;

	waiting.stock = stock_of(&counts, 4, false);
	CHECK_EQ(sley_stock_borrow_n(waiting.stock, mine, 4), 0);
	come(rt, 0, 4);
	come(rt, 1, 1);
	for (int i = 0; i < 3; i++) {
		sley_stock_return(mine[i]);
		/* There is enough for a small one, but it is not its turn. */
		CHECK_EQ(sley_stock_try_borrow(waiting.stock, &more), -EAGAIN);
		CHECK_EQ(stock_stats_of(waiting.stock).waiting, 2);
	}
	sley_stock_return(mine[3]);
	sley_join(&waiting.group);
	CHECK_STR(waiting.order, "ab");
	sley_stock_destroy(waiting.stock);
	stop(rt);
}

TEST_WORKERS(t32_a_cancelled_request_lets_those_behind_it_in)
{
	struct counts counts = { 0 };
	struct sley *rt = start();
	void *mine[2];

	waiting.stock = stock_of(&counts, 4, false);
	CHECK_EQ(sley_stock_borrow_n(waiting.stock, mine, 2), 0);
	customer[1].keep = customer[2].keep = true;
	come(rt, 0, 3);
	come(rt, 1, 1);
	come(rt, 2, 1);
	come(rt, 3, 1);
	sley_cancel(&waiting.task[0]);
	/* Those two have kept theirs, so the last one still waits. */
	while (stock_stats_of(waiting.stock).lent != 4 ||
	       stock_stats_of(waiting.stock).waiting != 1)
		sley_yield();
	sley_stock_return(mine[0]);
	sley_stock_return(mine[1]);
	sley_join(&waiting.group);
	CHECK_EQ(waiting.result[0], -ECANCELED);
	CHECK_EQ(waiting.result[3], 0);
	sley_stock_return(customer[1].objects[0]);
	sley_stock_return(customer[2].objects[0]);
	CHECK_EQ(stock_stats_of(waiting.stock).lent, 0);
	sley_stock_destroy(waiting.stock);
	stop(rt);
}

TEST_WORKERS(m34_a_wait_ends_at_its_deadline_and_takes_nothing)
{
	struct counts counts = { 0 };
	struct sley_stock *stock = stock_of(&counts, 2, false);
	struct sley *rt = start();
	void *mine = borrow(stock), *objects[2];
	uint64_t deadline = in_ms(5);

	CHECK_EQ(sley_stock_borrow_n_until(stock, objects, 2, deadline),
		 -ETIMEDOUT);
	CHECK_GE(sley_now(), deadline);
	CHECK_EQ(stock_stats_of(stock).lent, 1);
	CHECK_EQ(stock_stats_of(stock).waiting, 0);
	CHECK_EQ(sley_stock_borrow_until(stock, objects, 0), 0);
	CHECK_EQ(sley_stock_borrow_until(stock, &objects[1], 0), -ETIMEDOUT);
	sley_stock_return(mine);
	sley_stock_return(objects[0]);
	sley_stock_destroy(stock);
	stop(rt);
}

/* ---- the end ------------------------------------------------------------------------ */

TEST(t32_a_loan_outlives_its_stock)
{
	struct counts counts = { 0 };

	for (int preserve = 0; preserve < 2; preserve++) {
		struct sley_stock *stock = stock_of(&counts, 3, preserve);
		struct object *a = borrow(stock), *b = borrow(stock);
		void *c = NULL;

		sley_stock_return(borrow(stock));
		sley_stock_destroy(stock);
		CHECK(a->alive && b->alive);
		CHECK_EQ(counts.constructs - counts.destructs, 2);
		CHECK_EQ(sley_stock_borrow(stock, &c), -ESHUTDOWN);
		CHECK_EQ(sley_stock_try_borrow(stock, &c), -ESHUTDOWN);
		a->uses++;
		sley_stock_return(a);
		b->uses++;
		sley_stock_return(b);
		CHECK_EQ(counts.constructs, counts.destructs);
	}
}

TEST_WORKERS(m34_who_waits_for_a_stock_that_is_destroyed_is_told)
{
	struct counts counts = { 0 };
	struct sley *rt = start();
	void *mine;

	waiting.stock = stock_of(&counts, 1, true);
	mine = borrow(waiting.stock);
	come(rt, 0, 1);
	come(rt, 1, 1);
	sley_stock_destroy(waiting.stock);
	sley_join(&waiting.group);
	CHECK_EQ(waiting.result[0], -ESHUTDOWN);
	CHECK_EQ(waiting.result[1], -ESHUTDOWN);
	CHECK_EQ(counts.destructs, 0);
	sley_stock_return(mine);
	CHECK_EQ(counts.destructs, 1);
	stop(rt);
}

/* ---- functions of the user run without a lock ------------------------------------------- */

struct nested {
	struct sley_stock *stock;
	atomic_int depth;
};

static int construct_nested(void *object, void *self)
{
	struct nested *nested = self;
	void *other = NULL;

	*(void **)object = NULL;
	if (atomic_fetch_add(&nested->depth, 1) == 0) {
		sley_yield();
		CHECK_EQ(sley_stock_borrow(nested->stock, &other), 0);
		*(void **)object = other;
	}
	return 0;
}

static void destruct_nested(void *object, void *self)
{
	void *other = *(void **)object;

	(void)self;
	if (other)
		sley_stock_return(other);
}

TEST(m34_construct_and_destruct_may_use_the_stock)
{
	struct nested nested = { .depth = 0 };
	void *object = NULL;

	CHECK_EQ(sley_stock_create(
			 &nested.stock,
			 SLEY_STOCK_CONFIG(.object_size = sizeof(void *),
					   .capacity = 2,
					   .construct = construct_nested,
					   .destruct = destruct_nested,
					   .self = &nested)),
		 0);
	CHECK_EQ(sley_stock_borrow(nested.stock, &object), 0);
	CHECK_EQ(stock_stats_of(nested.stock).lent, 2);
	sley_stock_return(object);
	CHECK_EQ(stock_stats_of(nested.stock).lent, 0);
	sley_stock_destroy(nested.stock);
}

/* ---- M34: alignment ------------------------------------------------------------------ */

TEST(m34_objects_are_aligned_as_asked_and_each_keeps_its_bytes)
{
	for (size_t align = 1; align <= SLEY_STOCK_ALIGN_MAX; align *= 2) {
		struct sley_stock *stock;
		void *objects[4];

		CHECK_EQ(sley_stock_create(&stock,
					   SLEY_STOCK_CONFIG(.object_size = 100,
							     .capacity = 4,
							     .keep = 2,
							     .align = align)),
			 0);
		for (int round = 0; round < 3; round++) {
			CHECK_EQ(sley_stock_borrow_n(stock, objects, 4), 0);
			for (int i = 0; i < 4; i++) {
				CHECK_EQ((uintptr_t)objects[i] % align, 0);
				CHECK_EQ((uintptr_t)objects[i] % 16, 0);
				memset(objects[i], 0x5a + i, 100);
			}
			for (int i = 0; i < 4; i++) {
				CHECK_EQ(((char *)objects[i])[99], 0x5a + i);
				sley_stock_return(objects[i]);
			}
		}
		sley_stock_destroy(stock);
	}
}

TEST(m34_an_alignment_that_is_none_is_refused)
{
	static const size_t wrong[] = { 3, 24, 100, SLEY_STOCK_ALIGN_MAX * 2,
					SIZE_MAX };
	struct sley_stock *stock;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		CHECK_EQ(sley_stock_create(
				 &stock, SLEY_STOCK_CONFIG(.object_size = 8,
							   .align = wrong[i])),
			 -EINVAL);
}
