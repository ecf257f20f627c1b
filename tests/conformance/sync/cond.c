/* SPDX-License-Identifier: MIT */
/*
 * cond.c - condition variables: M28, T4, T5.
 */
#include "conformance/bound.h"

/* Tokens guarded by a mutex; each waiter takes one. */
struct stock {
	struct sley_mutex mutex;
	struct sley_cond cond;
	int tokens;
	int waiting; /* under mutex: so it counts those who really wait */
	atomic_int taken;
	int order[64];
};

struct buyer {
	struct sley_task task;
	struct stock *stock;
	int index;
};

static void buy(struct stock *s, int index)
{
	sley_mutex_lock(&s->mutex);
	s->waiting++;
	while (s->tokens == 0)
		sley_cond_wait(&s->cond, &s->mutex);
	s->waiting--;
	s->tokens--;
	s->order[s->taken] = index;
	atomic_fetch_add(&s->taken, 1);
	sley_mutex_unlock(&s->mutex);
}

static void buy_task(void *arg)
{
	struct buyer *b = arg;

	buy(b->stock, b->index);
}

static void *buy_thread(void *arg)
{
	buy_task(arg);
	return NULL;
}

static int nr_waiting(struct stock *s)
{
	int n;

	sley_mutex_lock(&s->mutex);
	n = s->waiting;
	sley_mutex_unlock(&s->mutex);
	return n;
}

/* Lets @n tasks wait, in the order of their index. */
static void line_up(struct sley *rt, struct sley_group *group, struct stock *s,
		    struct buyer *b, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		b[i] = (struct buyer){ .stock = s, .index = i };
		sley_spawn(group, &b[i].task, buy_task, &b[i]);
		if (is_single())
			CHECK_EQ(sley_run_one(rt), 1);
		CHECK_EVENTUALLY(nr_waiting(s) == i + 1);
	}
}

static void add_token(struct stock *s)
{
	sley_mutex_lock(&s->mutex);
	s->tokens++;
	sley_mutex_unlock(&s->mutex);
	sley_cond_notify_one(&s->cond);
}

/* ---- T4: N notifies wake N distinct waiters, first come first served --- */

/* marl: two tokens, two notifies, one woken. */
TEST_WORKERS(t04_n_notifies_in_a_row_wake_n_waiters)
{
	struct stock s = { .tokens = 0 };
	struct buyer buyers[32];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int i;

	line_up(rt, &group, &s, buyers, 32);
	for (i = 0; i < 20; i++)
		add_token(&s);
	while (atomic_load(&s.taken) < 20)
		CHECK_EQ(sley_sleep(50 * SLEY_USEC), 0);
	CHECK_EQ(nr_waiting(&s), 12);
	for (i = 0; i < 12; i++)
		add_token(&s);
	sley_join(&group);
	CHECK_EQ(s.taken, 32);
	stop(rt);
}

/* With time between the notifies the order shows. */
TEST_WORKERS(t04_waiters_are_woken_in_the_order_in_which_they_came)
{
	struct stock s = { .tokens = 0 };
	struct buyer buyers[16];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int i;

	line_up(rt, &group, &s, buyers, 16);
	for (i = 0; i < 16; i++) {
		add_token(&s);
		while (atomic_load(&s.taken) < i + 1)
			CHECK_EQ(sley_sleep(50 * SLEY_USEC), 0);
	}
	sley_join(&group);
	for (i = 0; i < 16; i++)
		CHECK_EQ(s.order[i], i);
	stop(rt);
}

/* ---- M28 ---------------------------------------------------------------- */

TEST_WORKERS(m28_notify_all_wakes_everybody_who_waits)
{
	struct stock s = { .tokens = 0 };
	struct buyer buyers[50];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;

	line_up(rt, &group, &s, buyers, 50);
	sley_mutex_lock(&s.mutex);
	s.tokens = 50;
	sley_cond_notify_all(&s.cond);
	sley_mutex_unlock(&s.mutex);
	sley_join(&group);
	CHECK_EQ(s.taken, 50);
	stop(rt);
}

TEST(m28_a_notify_that_finds_nobody_is_not_remembered)
{
	struct sley_mutex mutex = SLEY_MUTEX_INIT;
	struct sley_cond cond = SLEY_COND_INIT;

	sley_cond_notify_one(&cond);
	sley_cond_notify_all(&cond);
	sley_mutex_lock(&mutex);
	CHECK_EQ(sley_cond_wait_until(&cond, &mutex, in_ms(5)), -ETIMEDOUT);
	/* Held again. */
	CHECK(!sley_mutex_try_lock(&mutex));
	sley_mutex_unlock(&mutex);
}

struct queue {
	struct sley_mutex mutex;
	struct sley_cond not_empty, not_full;
	long items[4];
	int head, length;
	bool closed;
	atomic_long sum;
	int per_producer;
};

static void produce(void *arg)
{
	struct queue *q = arg;
	int i;

	for (i = 1; i <= q->per_producer; i++) {
		sley_mutex_lock(&q->mutex);
		while (q->length == 4)
			sley_cond_wait(&q->not_full, &q->mutex);
		q->items[(q->head + q->length++) % 4] = i;
		sley_cond_notify_one(&q->not_empty);
		sley_mutex_unlock(&q->mutex);
	}
}

static void consume(void *arg)
{
	struct queue *q = arg;

	for (;;) {
		sley_mutex_lock(&q->mutex);
		while (q->length == 0 && !q->closed)
			sley_cond_wait(&q->not_empty, &q->mutex);
		if (q->length == 0) {
			sley_mutex_unlock(&q->mutex);
			return;
		}
		atomic_fetch_add(&q->sum, q->items[q->head]);
		q->head = (q->head + 1) % 4;
		q->length--;
		sley_cond_notify_one(&q->not_full);
		sley_mutex_unlock(&q->mutex);
	}
}

TEST_WORKERS(m28_a_bounded_queue_of_mutex_and_conditions_loses_nothing)
{
	struct queue q = { .per_producer = test_scale(2000) };
	struct sley_task producers[5], consumers[5];
	struct sley *rt = start();
	struct sley_group making = SLEY_GROUP_INIT, taking = SLEY_GROUP_INIT;
	long n = q.per_producer;
	int i;

	for (i = 0; i < 5; i++) {
		sley_spawn(&making, &producers[i], produce, &q);
		sley_spawn(&taking, &consumers[i], consume, &q);
	}
	sley_join(&making);
	sley_mutex_lock(&q.mutex);
	q.closed = true;
	sley_cond_notify_all(&q.not_empty);
	sley_mutex_unlock(&q.mutex);
	sley_join(&taking);
	CHECK_EQ(q.sum, 5 * n * (n + 1) / 2);
	stop(rt);
}

/* ---- T5: fibers and threads at one condition --------------------------- */

TEST_WORKERS(t05_threads_and_fibers_wait_together_one_woken_per_notify)
{
	struct stock s = { .tokens = 0 };
	struct buyer fibers[10], threads[10];
	pthread_t pthreads[10];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int i;

	line_up(rt, &group, &s, fibers, 10);
	for (i = 0; i < 10; i++) {
		threads[i] = (struct buyer){ .stock = &s, .index = 10 + i };
		pthreads[i] = test_thread(buy_thread, &threads[i]);
	}
	CHECK_EVENTUALLY(nr_waiting(&s) == 20);
	for (i = 1; i <= 20; i++) {
		add_token(&s);
		while (atomic_load(&s.taken) < i)
			CHECK_EQ(sley_sleep(100 * SLEY_USEC), 0);
		CHECK_EQ(nr_waiting(&s), 20 - i);
	}
	sley_join(&group);
	for (i = 0; i < 10; i++)
		pthread_join(pthreads[i], NULL);
	CHECK_EQ(s.taken, 20);
	stop(rt);
}

static void *produce_thread(void *arg)
{
	produce(arg);
	return NULL;
}

static void *consume_thread(void *arg)
{
	consume(arg);
	return NULL;
}

TEST_WORKERS(t05_threads_feed_fibers_and_fibers_feed_threads)
{
	struct queue q = { .per_producer = test_scale(1000) };
	pthread_t threads[4];
	struct sley_task producers[2], consumers[2];
	struct sley *rt = start();
	struct sley_group making = SLEY_GROUP_INIT, taking = SLEY_GROUP_INIT;
	long n = q.per_producer;
	int i;

	for (i = 0; i < 2; i++) {
		sley_spawn(&making, &producers[i], produce, &q);
		sley_spawn(&taking, &consumers[i], consume, &q);
		threads[i] = test_thread(produce_thread, &q);
		threads[2 + i] = test_thread(consume_thread, &q);
	}
	sley_join(&making);
	for (i = 0; i < 2; i++) {
		/* Fibers of this thread are needed to take what threads make. */
		while (pthread_tryjoin_np(threads[i], NULL))
			CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	}
	sley_mutex_lock(&q.mutex);
	q.closed = true;
	sley_cond_notify_all(&q.not_empty);
	sley_mutex_unlock(&q.mutex);
	sley_join(&taking);
	pthread_join(threads[2], NULL);
	pthread_join(threads[3], NULL);
	CHECK_EQ(q.sum, 4 * n * (n + 1) / 2);
	stop(rt);
}

struct spoiled {
	struct sley_mutex mutex;
	struct sley_cond cond;
	atomic_int waiting, woken, cancelled;
	int inside;
};

static void wait_once(void *arg)
{
	struct spoiled *s = arg;
	int err;

	sley_mutex_lock(&s->mutex);
	atomic_fetch_add(&s->waiting, 1);
	err = sley_cond_wait_until(&s->cond, &s->mutex, SLEY_FOREVER);
	CHECK_EQ(s->inside++, 0);
	atomic_fetch_add(err == 0 ? &s->woken : &s->cancelled, 1);
	CHECK(err == 0 || err == -ECANCELED);
	CHECK_EQ(--s->inside, 0);
	sley_mutex_unlock(&s->mutex);
}

/* A waiter that is cancelled takes no notification away from the others. */
TEST_WORKERS(m28_a_cancelled_wait_holds_the_mutex_and_consumes_nothing)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[3];
	int round, i;

	for (round = 0; round < test_scale(300); round++) {
		struct spoiled s = { .inside = 0 };

		for (i = 0; i < 3; i++)
			sley_spawn(&group, &tasks[i], wait_once, &s);
		if (is_single())
			run_all(rt);
		while (atomic_load(&s.waiting) < 3)
			CHECK_EQ(sley_sleep(10 * SLEY_USEC), 0);
		/* All wait once the mutex can be had. */
		sley_mutex_lock(&s.mutex);
		sley_mutex_unlock(&s.mutex);
		sley_cancel(&tasks[round % 3]);
		sley_cond_notify_one(&s.cond);
		sley_cond_notify_one(&s.cond);
		/*
		 * Two are woken besides the cancelled one; unless a notify
		 * came first, then one is still waiting.
		 */
		if (sley_join_until(&group, in_ms(5000))) {
			CHECK_EQ(s.cancelled, 0);
			CHECK_EQ(s.woken, 2);
			sley_cond_notify_one(&s.cond);
			sley_join(&group);
		}
		CHECK_EQ(s.cancelled + s.woken, 3);
	}
	stop(rt);
}

/* ---- a loop around a wait, in a task that was cancelled --------------------------------- */

struct port {
	struct sley_mutex mutex;
	struct sley_cond cond;
	bool ready;
	atomic_int turns;
	atomic_bool waits, done;
};

/* What every program ported from pthreads has. */
static void wait_in_a_loop(void *arg)
{
	struct port *p = arg;

	sley_mutex_lock(&p->mutex);
	atomic_store(&p->waits, true);
	while (!p->ready) {
		sley_cond_wait(&p->cond, &p->mutex);
		atomic_fetch_add(&p->turns, 1);
	}
	sley_mutex_unlock(&p->mutex);
	CHECK(sley_cancelled());
	atomic_store(&p->done, true);
}

static void make_ready(struct port *p)
{
	sley_mutex_lock(&p->mutex);
	p->ready = true;
	sley_cond_notify_all(&p->cond);
	sley_mutex_unlock(&p->mutex);
}

TEST_WORKERS(m28_a_wait_in_a_cancelled_task_lasts_until_it_is_notified)
{
	struct port p = { .ready = false };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, wait_in_a_loop, &p);
	CHECK_SOON(atomic_load(&p.waits));
	sley_cancel(&task);
	/* It waits, and does not turn round and round. */
	CHECK_EQ(sley_sleep(10 * SLEY_MSEC), 0);
	CHECK_EQ(p.turns, 0);
	CHECK(!p.done);
	make_ready(&p);
	sley_join(&group);
	CHECK(p.done);
	CHECK_EQ(p.turns, 1);
	stop(rt);
}

static int wait_in_a_scope(void *arg)
{
	wait_in_a_loop(arg);
	return 0;
}

TEST_WORKERS(m28_a_wait_in_a_cancelled_scope_lasts_until_it_is_notified)
{
	struct port p = { .ready = false };
	struct sley *rt = start();
	struct sley_scope scope;
	struct sley_task task;

	sley_scope_open(&scope);
	sley_scope_spawn(&scope, &task, wait_in_a_scope, &p);
	CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	CHECK_SOON(atomic_load(&p.waits));
	sley_scope_cancel(&scope);
	test_nap_ms(5);
	CHECK_EQ(p.turns, 0);
	make_ready(&p);
	CHECK_EQ(sley_scope_close(&scope), -ECANCELED);
	CHECK(p.done);
	CHECK_EQ(p.turns, 1);
	stop(rt);
}

/* The twin that can be cancelled: it holds the mutex, and fails each time. */
static void wait_and_give_up(void *arg)
{
	struct port *p = arg;
	int err = 0;

	sley_mutex_lock(&p->mutex);
	atomic_store(&p->waits, true);
	while (!err && !p->ready) {
		err = sley_cond_wait_until(&p->cond, &p->mutex, SLEY_FOREVER);
		atomic_fetch_add(&p->turns, 1);
	}
	CHECK(!sley_mutex_try_lock(&p->mutex));
	sley_mutex_unlock(&p->mutex);
	CHECK_EQ(err, -ECANCELED);
}

TEST_WORKERS(m28_a_wait_for_ever_with_a_deadline_ends_with_a_cancel)
{
	struct port p = { .ready = false };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, wait_and_give_up, &p);
	CHECK_SOON(atomic_load(&p.waits));
	sley_cancel(&task);
	sley_join(&group);
	CHECK_EQ(p.turns, 1);
	stop(rt);
}
