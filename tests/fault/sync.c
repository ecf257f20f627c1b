/* SPDX-License-Identifier: MIT */
/*
 * sync.c - what tasks meet at: channels, locks, stocks, futures.
 */
#include "fault/sweep.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

static atomic_int nr_ran;

static void with_runtime(int workers, sley_fn *root)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = trial_start(workers);
	struct sley_task task;

	if (!rt)
		return;
	trial_mark();
	if (TRY(sley_spawn_on(rt, &group, &task, root, NULL, NULL), -ENOMEM))
		sley_join(&group);
	trial_stop(rt);
}

/* ---- channels --------------------------------------------------------------------- */

#define NR_VALUES 100

struct traffic {
	struct sley_chan *chan;
	int nr_sent;
	int nr_received;
};

static void send_all(void *arg)
{
	struct traffic *t = arg;

	for (int i = 0; i < NR_VALUES; i++)
		t->nr_sent += TRY(sley_chan_send(t->chan, &i), -ENOMEM);
	sley_chan_close(t->chan);
}

static void receive_all(void *arg)
{
	struct traffic *t = arg;
	int value;

	while (sley_chan_recv(t->chan, &value) == 0)
		t->nr_received++;
}

static void exchange(size_t capacity)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct traffic t = { 0 };
	struct sley_task tasks[2];

	if (!TRY(sley_chan_create(&t.chan, sizeof(int), capacity), -ENOMEM))
		return;
	sley_spawn(&group, &tasks[0], send_all, &t);
	sley_spawn(&group, &tasks[1], receive_all, &t);
	sley_join(&group);
	CHECK_EQ(t.nr_received, t.nr_sent);
	if (capacity != SLEY_UNBOUNDED)
		CHECK_EQ(t.nr_sent, NR_VALUES);
	sley_chan_destroy(t.chan);
}

static void use_channels(void *arg)
{
	(void)arg;
	exchange(0);
	exchange(4);
	exchange(SLEY_UNBOUNDED);
}

SCENARIO(channels)
{
	with_runtime(2, use_channels);
}

/* What it holds stays when it cannot grow. */
static void fill_channel(void *arg)
{
	struct sley_chan *chan;
	int nr = 0, value;

	(void)arg;
	if (!TRY(sley_chan_create(&chan, sizeof(int), SLEY_UNBOUNDED), -ENOMEM))
		return;
	for (int i = 0; i < 1000; i++)
		nr += TRY(sley_chan_send(chan, &i), -ENOMEM);
	CHECK_EQ(sley_chan_length(chan), nr);
	for (int i = 0; i < nr; i++) {
		CHECK_EQ(sley_chan_recv(chan, &value), 0);
		CHECK_GE(value, i);
	}
	sley_chan_destroy(chan);
}

SCENARIO(channels_that_grow)
{
	with_runtime(1, fill_channel);
}

static void select_both(void *arg)
{
	struct sley_chan **chans = arg;
	int value;

	for (int i = 0; i < 20; i++) {
		struct sley_case cases[] = {
			{ .chan = chans[0], .value = &value },
			{ .chan = chans[1], .value = &value },
		};
		int which = sley_select(cases, 2);

		CHECK(which == 0 || which == 1);
		CHECK_EQ(cases[which].status, 0);
	}
}

static void select_from_two(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_chan *chans[2];
	struct sley_task task;
	int i;

	(void)arg;
	for (i = 0; i < 2; i++) {
		if (!TRY(sley_chan_create(&chans[i], sizeof(int), 1), -ENOMEM))
			break;
	}
	if (i == 2) {
		sley_spawn(&group, &task, select_both, chans);
		for (int n = 0; n < 20; n++)
			CHECK_EQ(sley_chan_send(chans[n % 2], &n), 0);
		sley_join(&group);
	}
	while (i-- > 0)
		sley_chan_destroy(chans[i]);
}

SCENARIO(selects)
{
	with_runtime(2, select_from_two);
}

/* ---- stocks and shared memory --------------------------------------------------------- */

static atomic_int nr_made;

static int make(void *object, void *self)
{
	(void)self;
	memset(object, 1, 100);
	atomic_fetch_add(&nr_made, 1);
	return 0;
}

static void unmake(void *object, void *self)
{
	(void)object;
	(void)self;
	atomic_fetch_sub(&nr_made, 1);
}

static void borrow_one(void *arg)
{
	void *object;

	if (!TRY(sley_stock_borrow(arg, &object), -ENOMEM))
		return;
	sley_yield();
	sley_stock_return(object);
}

static void use_stock(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[8];
	struct sley_stock *stock;
	void *objects[3];

	(void)arg;
	if (!TRY(sley_stock_create(
			 &stock,
			 SLEY_STOCK_CONFIG(.object_size = 100, .capacity = 4,
					   .preserve = true, .construct = make,
					   .destruct = unmake)),
		 -ENOMEM))
		return;
	for (int i = 0; i < 8; i++)
		sley_spawn(&group, &tasks[i], borrow_one, stock);
	if (TRY(sley_stock_borrow_n(stock, objects, 3), -ENOMEM)) {
		for (int i = 0; i < 3; i++)
			sley_stock_return(objects[i]);
	}
	sley_join(&group);
	sley_stock_destroy(stock);
	CHECK_EQ(atomic_load(&nr_made), 0);
}

SCENARIO(stocks)
{
	with_runtime(2, use_stock);
}

static void last(void *object)
{
	(void)object;
	atomic_fetch_add(&nr_ran, 1);
}

static int share(void **out)
{
	*out = sley_shared_create(100, last);
	return *out ? 0 : -ENOMEM;
}

SCENARIO(shared_memory)
{
	void *object;

	if (!TRY(share(&object), -ENOMEM))
		return;
	sley_shared_unref(sley_shared_ref(object));
	CHECK_EQ(atomic_load(&nr_ran), 0);
	sley_shared_unref(object);
	CHECK_EQ(atomic_load(&nr_ran), 1);
}

/* ---- locks ------------------------------------------------------------------------------ */

static struct sley_rwlock_tree tree;
static struct sley_rwlock tree_lock = SLEY_RWLOCK_TREE_INIT(&tree);

static void read_again(void *arg)
{
	(void)arg;
	sley_rwlock_read_lock(&tree_lock);
	sley_yield();
	sley_rwlock_read_unlock(&tree_lock);
	atomic_fetch_add(&nr_ran, 1);
}

static void write_in_tree(void *arg)
{
	struct sley_forked child;

	(void)arg;
	sley_rwlock_write_lock(&tree_lock);
	sley_fork(&child, read_again, NULL);
	sley_fork_join(&child);
	sley_rwlock_write_unlock(&tree_lock);
}

static void use_trees(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[10];

	(void)arg;
	for (int i = 0; i < 10; i++)
		sley_spawn(&group, &tasks[i],
			   i % 2 ? write_in_tree : read_again, NULL);
	sley_join(&group);
	CHECK_EQ(atomic_load(&nr_ran), 10);
}

SCENARIO(reader_writer_lock_trees)
{
	with_runtime(2, use_trees);
}

struct shop {
	struct sley_mutex mutex;
	struct sley_cond cond;
	struct sley_sem sem;
	struct sley_once_flag once;
	struct sley_waitgroup wg;
	struct sley_ticket_queue queue;
	struct sley_ticket tickets[8];
	int turn;
};

static void set_turn(void *arg)
{
	struct shop *shop = arg;

	shop->turn = 0;
	sley_yield();
}

static void *one_of_all(struct shop *shop, int i)
{
	sley_once(&shop->once, set_turn, shop);
	CHECK_EQ(sley_sem_acquire(&shop->sem, 1), 0);
	sley_sem_release(&shop->sem, 1);
	CHECK_EQ(sley_ticket_wait(&shop->tickets[i]), 0);
	sley_mutex_lock(&shop->mutex);
	while (shop->turn != i)
		sley_cond_wait(&shop->cond, &shop->mutex);
	shop->turn++;
	sley_cond_notify_all(&shop->cond);
	sley_mutex_unlock(&shop->mutex);
	sley_ticket_done(&shop->tickets[i]);
	sley_waitgroup_done(&shop->wg);
	return NULL;
}

static struct shop shop;
static atomic_int next_number;

static void visit(void *arg)
{
	(void)arg;
	one_of_all(&shop, atomic_fetch_add(&next_number, 1));
}

static void *visit_as_thread(void *arg)
{
	visit(arg);
	return NULL;
}

static void open_shop(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[6];
	pthread_t threads[2];

	(void)arg;
	sley_sem_init(&shop.sem, 2);
	sley_waitgroup_add(&shop.wg, 8);
	sley_ticket_take_n(&shop.queue, shop.tickets, 8);
	for (int i = 0; i < 2; i++)
		threads[i] = test_thread(visit_as_thread, NULL);
	for (int i = 0; i < 6; i++)
		sley_spawn(&group, &tasks[i], visit, NULL);
	CHECK_EQ(sley_waitgroup_wait(&shop.wg), 0);
	sley_join(&group);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(shop.turn, 8);
}

SCENARIO(tickets_mutexes_conditions_and_semaphores)
{
	with_runtime(2, open_shop);
}

/* ---- futures ------------------------------------------------------------------------------ */

static void keep_promise(void *arg)
{
	sley_yield();
	CHECK_EQ(sley_future_set(arg, arg), 0);
}

static void use_futures(void *arg)
{
	struct sley_future futures[4] = { SLEY_FUTURE_INIT, SLEY_FUTURE_INIT,
					  SLEY_FUTURE_INIT, SLEY_FUTURE_INIT };
	struct sley_future *all[4];
	int nr = 0;

	(void)arg;
	for (int i = 0; i < 4; i++) {
		if (TRY(sley_schedule(keep_promise, &futures[i]), -ENOMEM))
			all[nr++] = &futures[i];
	}
	if (nr) {
		CHECK_GE(sley_future_wait_any(all, (size_t)nr), 0);
		CHECK_EQ(sley_future_wait_all(all, (size_t)nr), 0);
	}
}

SCENARIO(futures)
{
	with_runtime(2, use_futures);
}

/* ---- levels that are lent --------------------------------------------------------------- */

static struct debt {
	struct sley_group group;
	struct sley_mutex mutex;
	struct sley_future done;
	struct sley_task low, urgent;
} debt;

static void borrow(void *arg)
{
	(void)arg;
	sley_mutex_lock(&debt.mutex);
	sley_mutex_unlock(&debt.mutex);
	CHECK_EQ(sley_future_wait(&debt.done), 0);
}

/* Owes the mutex, then the future. */
static void owe(void *arg)
{
	(void)arg;
	sley_mutex_lock(&debt.mutex);
	CHECK_EQ(sley_spawn_with(&debt.group, &debt.urgent, borrow, NULL,
				 SLEY_OPTIONS(.priority = -10)),
		 0);
	sley_yield();
	sley_mutex_unlock(&debt.mutex);
	sley_yield();
	CHECK_EQ(sley_future_set(&debt.done, &debt), 0);
}

static void lend_to_the_low(void *arg)
{
	(void)arg;
	debt = (struct debt){ .done = SLEY_FUTURE_INIT };
	CHECK_EQ(sley_spawn_with(&debt.group, &debt.low, owe, NULL,
				 SLEY_OPTIONS(.priority = 10,
					      .future = &debt.done)),
		 0);
	sley_join(&debt.group);
}

/* Without memory no level is lent, and all else is as ever. */
SCENARIO(levels_that_are_lent)
{
	with_runtime(1, lend_to_the_low);
}
