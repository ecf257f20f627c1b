/* SPDX-License-Identifier: MIT */
/*
 * sync_stock.c - src/sync/stock.c: requests that wait, against returns,
 * deadlines and the end of the stock.
 *
 * Its memory is the explorer's: a stock or an object that is freed too early,
 * twice or never is seen.  Includes the source to look at who waits.  Complete.
 */
#include "model_mem.h"
#include "tasks_only.h"

#include "sync/stock.c"

static struct sley_stock *stock;
static void *mine; /* lent in setup */
static int served;
static bool destroyed;

static void setup_with(size_t capacity)
{
	struct sley_stock_config config = {
		.object_size = 8,
		.capacity = capacity,
		.preserve = true,
	};

	served = 0;
	destroyed = false;
	MODEL_CHECK(stock_create(&stock, &config) == 0);
	MODEL_CHECK(sley_stock_borrow(stock, &mine) == 0);
	model_lock_word(&stock->q.word);
	model_name(&stock->q.word, "stock");
}

static void setup_one(void)
{
	setup_with(1);
}

static void setup_two(void)
{
	setup_with(2);
}

static void return_mine(int id)
{
	(void)id;
	sley_stock_return(mine);
}

static void borrow(size_t n, uint64_t deadline_ns)
{
	void *objects[2];
	int err = sley_stock_borrow_n_until(stock, objects, n, deadline_ns);

	MODEL_CHECK(err == 0 || err == -ETIMEDOUT || err == -ESHUTDOWN);
	if (err)
		return;
	served++;
	for (size_t i = 0; i < n; i++)
		sley_stock_return(objects[i]);
}

static void borrow_one(int id)
{
	(void)id;
	borrow(1, UINT64_MAX);
}

static void borrow_two(int id)
{
	(void)id;
	borrow(2, UINT64_MAX);
}

static void borrow_two_until(int id)
{
	(void)id;
	borrow(2, 2000000000);
}

static void borrow_one_until(int id)
{
	(void)id;
	borrow(1, 2000000000);
}

/* Everything is back. */
static void end(void)
{
	MODEL_CHECK(!stock->q.first && !stock->waiting && !stock->lent);
	MODEL_CHECK(stock->units == stock->config.capacity);
	sley_stock_destroy(stock);
}

static void both_were_served(void)
{
	MODEL_CHECK(served == 2);
	end();
}

MODEL(two_who_want_all_of_it, .setup = setup_two,
      .threads = { return_mine, borrow_two, borrow_two },
      .finish = both_were_served);

MODEL(a_big_request_and_a_small_one, .setup = setup_two,
      .threads = { return_mine, borrow_two, borrow_one },
      .finish = both_were_served);

/* One is there all the time; only a request in front keeps it from the other. */
static void the_small_one_was_served(void)
{
	MODEL_CHECK(served == 1);
	sley_stock_return(mine);
	end();
}

MODEL(who_gives_up_lets_the_next_one_in, .setup = setup_two,
      .threads = { borrow_two_until, borrow_one },
      .finish = the_small_one_was_served);

/* ---- the end of it ----------------------------------------------------------- */

static bool all_wait(size_t nr)
{
	size_t waiting;

	(void)waitq_lock(&stock->q);
	waiting = stock->waiting;
	unlock(stock);
	return waiting == nr;
}

/* Those who wait are inside, and have no loan to keep the stock alive. */
static void destroy_under(size_t nr_waiters)
{
	bool first = model_choose(2);

	destroyed = all_wait(nr_waiters);
	if (!first)
		sley_stock_return(mine);
	if (destroyed)
		sley_stock_destroy(stock);
	if (first)
		sley_stock_return(mine);
}

static void destroy_under_one(int id)
{
	(void)id;
	destroy_under(1);
}

static void destroy_under_two(int id)
{
	(void)id;
	destroy_under(2);
}

/* The explorer sees what was not freed. */
static void gone(void)
{
	if (!destroyed)
		end();
}

MODEL(destroy_against_a_deadline, .setup = setup_one,
      .threads = { borrow_one_until, destroy_under_one }, .finish = gone);

MODEL(destroy_against_two_who_wait, .setup = setup_one,
      .threads = { borrow_one_until, borrow_one_until, destroy_under_two },
      .finish = gone);

/* ---- references -------------------------------------------------------------- */

static void setup_shared_loan(void)
{
	setup_with(1);
	sley_loan_ref(mine);
	sley_stock_destroy(stock);
}

static void nothing(void)
{
}

MODEL(the_last_of_two_frees_what_outlived_its_stock, .setup = setup_shared_loan,
      .threads = { return_mine, return_mine }, .finish = nothing);
