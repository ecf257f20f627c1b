/* SPDX-License-Identifier: MIT */
/*
 * sync_stock.c - src/sync/stock.c: requests that wait, against returns,
 * deadlines, cancels and the end of the stock; with plain threads and with
 * tasks.
 *
 * The memory is the explorer's: a stock or an object that is freed too early, twice
 * or never is seen.  An object holds plain memory, handed from a borrower to the
 * next and to the destructor.  Includes the source to look at the list of waiters.
 *
 * Complete for one loan that is out and one or two requests for one or two objects,
 * with a deadline or a cancel for one request; for a destroy with one or two
 * waiters; and for two objects that are made or scrapped at the same time.  The
 * models could miss mistakes that take a third request, and the remains of a
 * constructor that fails (tests/unit, and the fault sweep).
 */
#include "model_mem.h"
#include "tasks_only.h"

#include "sync/stock.c"

struct object {
	int uses;
	int used_by[2]; /* where two hold one loan */
};

static struct sley_stock *stock;
static void *mine;    /* lent in setup */
static void *more[2]; /* as well, for some */
static struct ledger {
	int served, refused;
	int constructed, destructed;
	bool destroyed;
} ledger;

static int construct_object(void *object, void *self)
{
	(void)self;
	*(struct object *)object = (struct object){ 0 };
	ledger.constructed++;
	return 0;
}

static void destruct_object(void *object, void *self)
{
	struct object *o = object;

	(void)self;
	MODEL_CHECK(o->used_by[0] == o->used_by[1]);
	o->uses = -1;
	ledger.destructed++;
}

static void setup_with(size_t capacity, enum tasks_flags flags)
{
	struct sley_stock_config config = {
		.object_size = sizeof(struct object),
		.capacity = capacity,
		.construct = construct_object,
		.destruct = destruct_object,
		.preserve = true,
	};

	tasks_setup(flags);
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	MODEL_CHECK(stock_create(&stock, &config) == 0);
	MODEL_CHECK(sley_stock_borrow(stock, &mine) == 0);
	model_lock_word(&stock->q.word);
	model_name(&stock->q.word, "stock");
}

static void setup_one(void)
{
	setup_with(1, 0);
}

static void setup_two(void)
{
	setup_with(2, 0);
}

static void setup_three(void)
{
	setup_with(3, 0);
}

static void setup_one_timed(void)
{
	setup_with(1, TASKS_TIMED);
}

static void setup_two_timed(void)
{
	setup_with(2, TASKS_TIMED);
}

static void use(void *object)
{
	struct object *o = object;

	MODEL_CHECK(o->uses >= 0);
	o->uses++;
}

static void return_mine(int id)
{
	(void)id;
	use(mine);
	sley_stock_return(mine);
}

static void borrow(size_t n, uint64_t deadline_ns)
{
	void *objects[2];
	int err = sley_stock_borrow_n_until(stock, objects, n, deadline_ns);

	MODEL_CHECK(err == 0 || err == -ETIMEDOUT || err == -ECANCELED ||
		    err == -ESHUTDOWN);
	ledger.served += err == 0;
	ledger.refused += err != 0;
	for (size_t i = 0; !err && i < n; i++) {
		use(objects[i]);
		sley_stock_return(objects[i]);
	}
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
	borrow(2, LATER);
}

static void borrow_one_until(int id)
{
	(void)id;
	borrow(1, LATER);
}

/* All objects are back, and counted. */
static void end(void)
{
	struct sley_stock_stats stats;

	sley_stock_get_stats(stock, &stats);
	MODEL_CHECK(stats.constructed ==
		    (uint64_t)(ledger.constructed - ledger.destructed));
	MODEL_CHECK(!stock->q.first && !stock->waiting && !stock->lent);
	MODEL_CHECK(stock->units == stock->config.capacity);
	sley_stock_destroy(stock);
}

static void both_were_served(void)
{
	MODEL_CHECK(ledger.served == 2);
	end();
}

MODEL(two_who_want_all_of_it, .setup = setup_two,
      .threads = { return_mine, borrow_two, borrow_two },
      .finish = both_were_served);

MODEL(a_big_request_and_a_small_one, .setup = setup_two,
      .threads = { return_mine, borrow_two, borrow_one },
      .finish = both_were_served);

/* One object is there all the time; only a request in front delays the small one. */
static void the_small_one_was_served(void)
{
	MODEL_CHECK(ledger.served == 1);
	sley_stock_return(mine);
	end();
}

MODEL(who_gives_up_lets_the_next_one_in, .setup = setup_two,
      .threads = { borrow_two_until, borrow_one },
      .finish = the_small_one_was_served);

/* ---- objects that are made and unmade at the same time ---------------------- */

/* Three objects are out, and the shelf has room for one. */
static void setup_little_room(void)
{
	setup_with(3, 0);
	stock->config.keep = 1;
	MODEL_CHECK(sley_stock_borrow_n(stock, more, 2) == 0);
}

static void return_more(int id)
{
	use(more[id]);
	sley_stock_return(more[id]);
}

/* Two borrowers found nothing on the shelf. */
static void two_were_made(void)
{
	MODEL_CHECK(ledger.served == 2);
	sley_stock_return(mine);
	end();
}

/* One object is kept. */
static void two_were_unmade(void)
{
	MODEL_CHECK(ledger.destructed == 2);
	end();
}

MODEL(two_are_constructed_at_once, .setup = setup_three,
      .threads = { borrow_one, borrow_one }, .finish = two_were_made);

MODEL(two_are_destructed_at_once, .setup = setup_little_room,
      .threads = { return_more, return_more, return_mine },
      .finish = two_were_unmade);

/* ---- tasks -------------------------------------------------------------------- */

static void task_return_mine(int id)
{
	task_begin(id);
	return_mine(id);
}

static void task_borrow_one(int id)
{
	task_begin(id);
	borrow(1, UINT64_MAX);
}

static void task_borrow_two(int id)
{
	task_begin(id);
	borrow(2, UINT64_MAX);
}

static void task_borrow_one_until(int id)
{
	task_begin(id);
	borrow(1, LATER);
}

static void task_borrow_two_until(int id)
{
	task_begin(id);
	borrow(2, LATER);
}

static void cancel_first(int id)
{
	task_begin(id);
	task_end_wait(0);
}

static void served_or_refused(void)
{
	MODEL_CHECK(ledger.served + ledger.refused == 1);
	end();
}

MODEL(two_tasks_who_want_all_of_it, .setup = setup_two,
      .threads = { task_return_mine, task_borrow_two, task_borrow_two },
      .finish = both_were_served);

MODEL(a_cancelled_request_holds_nothing, .setup = setup_one,
      .threads = { task_borrow_one, task_return_mine, cancel_first },
      .finish = served_or_refused);

MODEL(wake_and_deadline_and_cancel, .setup = setup_one_timed,
      .threads = { task_borrow_one_until, task_return_mine, cancel_first },
      .finish = served_or_refused);

/* One object is there all the time, and the big request is in front or not. */
MODEL(a_cancelled_request_lets_the_next_one_in, .setup = setup_two,
      .threads = { task_borrow_two, task_borrow_one, cancel_first },
      .finish = the_small_one_was_served);

MODEL(a_request_of_a_task_that_gives_up_lets_the_next_one_in,
      .setup = setup_two_timed,
      .threads = { task_borrow_two_until, task_borrow_one },
      .finish = the_small_one_was_served);

/* ---- the end of the stock ---------------------------------------------------- */

static bool all_wait(size_t nr)
{
	size_t waiting;

	(void)waitq_lock(&stock->q);
	waiting = stock->waiting;
	unlock(stock);
	return waiting == nr;
}

/* The waiters are inside, and have no loan that keeps the stock alive. */
static void destroy_under(size_t nr_waiters)
{
	bool first = model_choose(2);

	ledger.destroyed = all_wait(nr_waiters);
	if (!first)
		sley_stock_return(mine);
	if (ledger.destroyed)
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

/* The explorer sees memory that was not freed. */
static void gone(void)
{
	if (!ledger.destroyed)
		end();
	MODEL_CHECK(ledger.destructed == 1);
}

MODEL(destroy_against_a_deadline, .setup = setup_one,
      .threads = { borrow_one_until, destroy_under_one }, .finish = gone);

MODEL(destroy_against_two_who_wait, .setup = setup_one,
      .threads = { borrow_one_until, borrow_one_until, destroy_under_two },
      .slow = true, .finish = gone);

static void task_destroy_under_one(int id)
{
	task_begin(id);
	destroy_under(1);
}

static void task_destroy_under_two(int id)
{
	task_begin(id);
	destroy_under(2);
}

MODEL(destroy_against_a_cancel, .setup = setup_one,
      .threads = { task_borrow_one, task_destroy_under_one, cancel_first },
      .finish = gone);

MODEL(destroy_against_two_tasks_and_a_deadline, .setup = setup_one_timed,
      .threads = { task_borrow_one_until, task_borrow_one,
		   task_destroy_under_two },
      .finish = gone);

/* ---- references -------------------------------------------------------------- */

static void setup_shared_loan(void)
{
	setup_one();
	sley_loan_ref(mine);
	sley_stock_destroy(stock);
}

/* Two threads hold the loan; whichever is last, the destructor sees both. */
static void use_and_return_mine(int id)
{
	struct object *o = mine;

	o->used_by[id] = 7;
	sley_stock_return(mine);
}

/* Holds the loan once more, for a while. */
static void hold_and_return_mine(int id)
{
	sley_loan_ref(mine);
	use_and_return_mine(id);
	sley_stock_return(mine);
}

static void destructed_once(void)
{
	MODEL_CHECK(ledger.destructed == 1);
}

MODEL(the_last_of_two_frees_what_outlived_its_stock, .setup = setup_shared_loan,
      .threads = { use_and_return_mine, use_and_return_mine },
      .finish = destructed_once);

MODEL(who_holds_it_again_may_be_the_last, .setup = setup_shared_loan,
      .threads = { use_and_return_mine, hold_and_return_mine },
      .finish = destructed_once);
