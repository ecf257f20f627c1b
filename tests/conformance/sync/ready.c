/* SPDX-License-Identifier: MIT */
/*
 * ready.c - what can be had at once is had, whatever the deadline and although
 * the caller is cancelled; what cannot is refused, and nothing is consumed.
 * The same for each object that can be waited for.
 */
#include "conformance/bound.h"

/* @late is what a wait with this deadline returns if it would have to wait. */
typedef void probe(uint64_t deadline_ns, int late);

static void nothing(void *arg)
{
	(void)arg;
}

static void probe_semaphore(uint64_t deadline_ns, int late)
{
	struct sley_sem sem = SLEY_SEM_INIT(2);

	CHECK_EQ(sley_sem_acquire_until(&sem, 2, deadline_ns), 0);
	CHECK_EQ(sley_sem_acquire_until(&sem, 0, deadline_ns), 0);
	CHECK_EQ(sley_sem_acquire_until(&sem, 1, deadline_ns), late);
	sley_sem_release(&sem, 1);
	CHECK_EQ(sley_sem_acquire_until(&sem, 2, deadline_ns), late);
	CHECK_EQ(sley_sem_value(&sem), 1);
	CHECK(sley_sem_try_acquire(&sem, 1));
}

static void probe_barrier(uint64_t deadline_ns, int late)
{
	struct sley_barrier one = SLEY_BARRIER_INIT(1);
	struct sley_barrier two = SLEY_BARRIER_INIT(2);

	CHECK_EQ(sley_barrier_wait_until(&one, deadline_ns), 1);
	CHECK_EQ(sley_barrier_wait_until(&two, deadline_ns), late);
	CHECK_EQ(sley_barrier_wait_until(&two, deadline_ns), late);
}

static void probe_once(uint64_t deadline_ns, int late)
{
	struct sley_once_flag once = SLEY_ONCE_INIT;

	(void)late;
	CHECK_EQ(sley_once_until(&once, nothing, NULL, deadline_ns), 0);
	CHECK_EQ(sley_once_until(&once, nothing, NULL, deadline_ns), 0);
}

static void probe_rwlock(uint64_t deadline_ns, int late)
{
	struct sley_rwlock lock = SLEY_RWLOCK_INIT;

	CHECK_EQ(sley_rwlock_write_lock_until(&lock, deadline_ns), 0);
	CHECK_EQ(sley_rwlock_write_lock_until(&lock, deadline_ns), late);
	CHECK_EQ(sley_rwlock_read_lock_until(&lock, deadline_ns), late);
	sley_rwlock_write_unlock(&lock);
	CHECK_EQ(sley_rwlock_read_lock_until(&lock, deadline_ns), 0);
	CHECK_EQ(sley_rwlock_write_lock_until(&lock, deadline_ns), late);
	/* The writer is gone: it keeps nobody out. */
	CHECK_EQ(sley_rwlock_read_lock_until(&lock, deadline_ns), 0);
	sley_rwlock_read_unlock(&lock);
	sley_rwlock_read_unlock(&lock);
	CHECK(sley_rwlock_try_write_lock(&lock));
}

static void probe_future(uint64_t deadline_ns, int late)
{
	struct sley_future future = SLEY_FUTURE_INIT;
	struct sley_future other = SLEY_FUTURE_INIT;
	struct sley_future *both[] = { &other, &future };

	CHECK_EQ(sley_future_wait_until(&future, deadline_ns), late);
	CHECK_EQ(sley_future_wait_any_until(both, 2, deadline_ns), late);
	CHECK_EQ(sley_future_set(&future, NULL), 0);
	CHECK_EQ(sley_future_wait_until(&future, deadline_ns), 0);
	CHECK_EQ(sley_future_wait_any_until(both, 2, deadline_ns), 1);
	CHECK_EQ(sley_future_wait_all_until(both, 2, deadline_ns), late);
}

static void probe_ticket(uint64_t deadline_ns, int late)
{
	struct sley_ticket_queue queue = SLEY_TICKET_QUEUE_INIT;
	struct sley_ticket first, second;

	sley_ticket_take(&queue, &first);
	sley_ticket_take(&queue, &second);
	CHECK_EQ(sley_ticket_wait_until(&first, deadline_ns), 0);
	CHECK_EQ(sley_ticket_wait_until(&second, deadline_ns), late);
	sley_ticket_done(&first);
	CHECK_EQ(sley_ticket_wait_until(&second, deadline_ns), 0);
	sley_ticket_done(&second);
}

static void probe_stock(uint64_t deadline_ns, int late)
{
	struct sley_stock *stock = NULL;
	struct sley_stock_config config = sley_stock_config_default();
	void *object, *other;

	config.object_size = 1;
	config.capacity = 1;
	CHECK_EQ(sley_stock_create(&stock, &config), 0);
	CHECK_EQ(sley_stock_borrow_until(stock, &object, deadline_ns), 0);
	CHECK_EQ(sley_stock_borrow_until(stock, &other, deadline_ns), late);
	CHECK_EQ(sley_stock_try_borrow(stock, &other), -EAGAIN);
	sley_stock_return(object);
	CHECK_EQ(sley_stock_borrow_until(stock, &object, deadline_ns), 0);
	sley_stock_return(object);
	sley_stock_destroy(stock);
}

static void probe_key(uint64_t deadline_ns, int late)
{
	uint64_t key;

	CHECK_EQ(sley_key_create(&key), 0);
	CHECK_EQ(sley_key_wait_until(key, deadline_ns), late);
	CHECK_EQ(sley_key_wake(key), 0);
	CHECK_EQ(sley_key_wait_until(key, deadline_ns), 0);
	CHECK_EQ(sley_key_destroy(key), 0);
	CHECK_EQ(sley_key_wait_until(key, deadline_ns), -ESRCH);
}

static void probe_select(uint64_t deadline_ns, int late)
{
	struct sley_chan *chan = NULL;
	int sent = 1, got = 0;
	struct sley_case cases[] = { SLEY_CASE_RECV(NULL, &got),
				     SLEY_CASE_RECV(chan, &got) };

	CHECK_EQ(sley_chan_create(&chan, sizeof(int), 1), 0);
	cases[1].chan = chan;
	CHECK_EQ(sley_select_until(cases, 2, deadline_ns), late);
	CHECK_EQ(sley_try_select(cases, 2), -EAGAIN);
	CHECK_EQ(sley_chan_send(chan, &sent), 0);
	CHECK_EQ(sley_select_until(cases, 2, deadline_ns), 1);
	CHECK_EQ(got, 1);
	sley_chan_close(chan);
	CHECK_EQ(sley_select_until(cases, 2, deadline_ns), 1);
	CHECK_EQ(cases[1].status, -EPIPE);
	sley_chan_destroy(chan);
}

static void probe_all(uint64_t deadline_ns, int late)
{
	static probe *const all[] = {
		probe_semaphore, probe_barrier, probe_once,
		probe_rwlock,    probe_future,  probe_ticket,
		probe_stock,     probe_key,     probe_select,
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		all[i](deadline_ns, late);
}

static void probe_suspend(uint64_t deadline_ns, int late)
{
	struct sley_waker waker;

	CHECK_EQ(sley_waker_self(&waker), 0);
	CHECK_EQ(sley_suspend_until(deadline_ns), late);
	CHECK_EQ(sley_wake(&waker), 0);
	CHECK_EQ(sley_suspend_until(deadline_ns), 0);
	CHECK_EQ(sley_suspend_until(deadline_ns), late);
}

static void with_cancel(void *self)
{
	static const uint64_t deadline[] = { 0, 1, SLEY_FOREVER - 1,
					     SLEY_FOREVER };

	sley_cancel(self);
	for (size_t i = 0; i < ARRAY_SIZE(deadline); i++) {
		probe_all(deadline[i], -ECANCELED);
		probe_suspend(deadline[i], -ECANCELED);
	}
}

static void with_deadlines(void *arg)
{
	(void)arg;
	for (uint64_t late = 0; late < 2; late++) {
		probe_all(late, -ETIMEDOUT);
		probe_suspend(late, -ETIMEDOUT);
		probe_suspend(sley_now() + SLEY_USEC, -ETIMEDOUT);
	}
	probe_all(sley_now() + 100 * SLEY_USEC, -ETIMEDOUT);
}

static void start_task(sley_fn *fn)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, fn, &task);
	sley_join(&group);
	stop(rt);
}

TEST_WORKERS(what_is_ready_wins_over_a_cancel)
{
	start_task(with_cancel);
}

TEST_WORKERS(what_is_ready_wins_over_a_deadline)
{
	start_task(with_deadlines);
}

TEST(what_is_ready_wins_over_a_deadline_in_a_plain_thread)
{
	probe_all(0, -ETIMEDOUT);
	probe_all(1, -ETIMEDOUT);
	probe_all(sley_now() + 100 * SLEY_USEC, -ETIMEDOUT);
}
