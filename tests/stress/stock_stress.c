/* SPDX-License-Identifier: MIT */
/*
 * stock_stress.c - one, some or all objects of a stock, with deadlines and
 * cancels, by tasks and plain threads; again and again with a new stock, which
 * is destroyed under loans and requests.
 *
 * What is in an object is plain: two who have it at a time would be a race.
 */
#include "stress/stress.h"

#define NR_OBJECTS 4
#define NR_TASKS 10
#define NR_THREADS 2

struct scene {
	struct sley_stock *stock;
	struct sley_task tasks[NR_TASKS];
	atomic_int constructed, out;
	atomic_bool over;
};

static int construct(void *object, void *self)
{
	struct scene *s = self;

	if (one_in(64))
		return -EIO;
	*(int *)object = 1;
	atomic_fetch_add(&s->constructed, 1);
	return 0;
}

static void destruct(void *object, void *self)
{
	struct scene *s = self;

	CHECK_EQ(*(int *)object, 1);
	*(int *)object = 0;
	atomic_fetch_sub(&s->constructed, 1);
}

static void use(struct scene *s, void **objects, int n)
{
	CHECK_LE(atomic_fetch_add(&s->out, n) + n, NR_OBJECTS);
	for (int i = 0; i < n; i++)
		CHECK_EQ((*(int *)objects[i])++, 1);
	dawdle();
	for (int i = 0; i < n; i++)
		CHECK_EQ(--*(int *)objects[i], 1);
	atomic_fetch_sub(&s->out, n);
	for (int i = 0; i < n; i++) {
		if (one_in(4)) {
			sley_loan_ref(objects[i]);
			sley_stock_return(objects[i]);
		}
		sley_stock_return(objects[i]);
	}
}

static int borrow_and_use(struct scene *s)
{
	int n = one_in(2) ? 1 : 1 + (int)test_random(NR_OBJECTS);
	void *objects[NR_OBJECTS];
	int err, none = -EIO; /* what this call says if there are none */

	if (one_in(8)) {
		n = 1;
		none = -EAGAIN;
		err = sley_stock_try_borrow(s->stock, objects);
	} else if (one_in(2)) {
		none = -ETIMEDOUT;
		err = sley_stock_borrow_n_until(s->stock, objects, (size_t)n,
						soon());
	} else {
		err = sley_stock_borrow_n(s->stock, objects, (size_t)n);
	}
	if (!err)
		use(s, objects, n);
	else
		CHECK(err == -EIO || err == none ||
		      (err == -ECANCELED && sley_cancelled()));
	return err;
}

static void use_stock(void *arg)
{
	struct scene *s = arg;

	while (!atomic_load(&s->over)) {
		if (borrow_and_use(s) == -ECANCELED)
			return;
	}
}

static void *use_stock_in_thread(void *arg)
{
	use_stock(arg);
	return NULL;
}

static void make_stock(struct scene *s, bool preserve, size_t keep)
{
	CHECK_EQ(sley_stock_create(
			 &s->stock,
			 SLEY_STOCK_CONFIG(.object_size = sizeof(int),
					   .capacity = NR_OBJECTS,
					   .preserve = preserve, .keep = keep,
					   .construct = construct,
					   .destruct = destruct, .self = s)),
		 0);
}

static void stress(const struct sley_config *config, bool preserve, size_t keep)
{
	struct sley *rt = start_with(config);
	struct sley_group group = SLEY_GROUP_INIT;
	struct scene s = { .stock = NULL };
	pthread_t threads[NR_THREADS];
	struct sley_stock_stats stats;
	uint64_t end = stress_end();

	make_stock(&s, preserve, keep);
	for (int i = 0; i < NR_TASKS; i++)
		sley_spawn(&group, &s.tasks[i], use_stock, &s);
	for (int i = 0; i < NR_THREADS; i++)
		threads[i] = test_thread(use_stock_in_thread, &s);
	for (int i = 0; i < NR_TASKS / 2; i++) {
		(void)sley_sleep(STRESS_MS * SLEY_MSEC / NR_TASKS);
		sley_cancel(&s.tasks[i]);
	}
	(void)sley_sleep_until(end);
	atomic_store(&s.over, true);
	sley_join(&group);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	sley_stock_get_stats(s.stock, &stats);
	CHECK_EQ(stats.lent, 0);
	CHECK_EQ(stats.waiting, 0);
	CHECK_GT(stats.borrows, 0);
	test_count(stats.borrows);
	CHECK_EQ(stats.constructed, s.constructed);
	sley_stock_destroy(s.stock);
	CHECK_EQ(s.constructed, 0);
	stop(rt);
}

TEST(stock_that_reconstructs)
{
	struct sley_config config = stress_config();

	stress(&config, false, 0);
}

TEST(stock_that_preserves_and_keeps_few)
{
	struct sley_config config = stress_config_migratable();

	stress(&config, true, 2);
}

/* ---- destroyed under those who use it ---------------------------------------- */

struct holder {
	struct sley_stock *stock;
	void *loan; /* keeps the stock alive: it may be asked for more */
};

static void borrow_until_shutdown(void *arg)
{
	struct holder *h = arg;
	void *more;
	int err;

	do {
		if (one_in(2))
			err = sley_stock_borrow_until(h->stock, &more, soon());
		else
			err = sley_stock_borrow(h->stock, &more);
		if (!err)
			sley_stock_return(more);
	} while (err != -ESHUTDOWN);
	dawdle();
	sley_stock_return(h->loan);
}

/* All but one are out from the start. */
static void destroy_under_holders(void)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct holder holders[NR_OBJECTS - 1];
	struct scene s = { .stock = NULL };

	make_stock(&s, one_in(2), 0);
	for (int i = 0; i < NR_OBJECTS - 1; i++) {
		holders[i].stock = s.stock;
		while (sley_stock_borrow(s.stock, &holders[i].loan))
			;
	}
	for (int i = 0; i < NR_OBJECTS - 1; i++)
		sley_spawn(&group, &s.tasks[i], borrow_until_shutdown,
			   &holders[i]);
	if (one_in(2))
		(void)sley_sleep(test_random(100 * SLEY_USEC));
	sley_stock_destroy(s.stock);
	sley_join(&group);
	CHECK_EQ(s.constructed, 0);
	test_count(NR_OBJECTS);
}

TEST(stock_destroyed_under_loans_and_requests)
{
	struct sley_config config = stress_config();
	struct sley *rt = start_with(&config);
	uint64_t end = stress_end();

	while (sley_now() < end)
		destroy_under_holders();
	stop(rt);
}
