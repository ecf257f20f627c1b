/* SPDX-License-Identifier: MIT */
/*
 * deadline_race.c - a wake and a deadline at the same time: M20, T18.
 *
 * One of the two decides a wait.  If the wake wins the wait succeeds, however
 * late its task gets to run; if the deadline wins nothing is consumed.
 */
#include "conformance/bound.h"

/* ---- M20: satisfied before the deadline, run after it ------------------ */

struct late {
	struct sley_event event;
	struct sley_mutex mutex;
	struct sley_waitgroup wg;
	struct sley_chan *chan;
	atomic_int waiting, passed;
	uint64_t deadline;
	struct sley_event go;
};

static void wait_event(void *arg)
{
	struct late *l = arg;

	atomic_fetch_add(&l->waiting, 1);
	CHECK_EQ(sley_event_wait_until(&l->event, l->deadline), 0);
	CHECK_GT(sley_now(), l->deadline);
	atomic_fetch_add(&l->passed, 1);
}

static void wait_mutex(void *arg)
{
	struct late *l = arg;

	atomic_fetch_add(&l->waiting, 1);
	CHECK_EQ(sley_mutex_lock_until(&l->mutex, l->deadline), 0);
	sley_mutex_unlock(&l->mutex);
	atomic_fetch_add(&l->passed, 1);
}

static void wait_waitgroup(void *arg)
{
	struct late *l = arg;

	atomic_fetch_add(&l->waiting, 1);
	CHECK_EQ(sley_waitgroup_wait_until(&l->wg, l->deadline), 0);
	atomic_fetch_add(&l->passed, 1);
}

static void wait_chan(void *arg)
{
	struct late *l = arg;
	int value = 0;

	atomic_fetch_add(&l->waiting, 1);
	CHECK_EQ(sley_chan_recv_until(l->chan, &value, l->deadline), 0);
	CHECK_EQ(value, 7);
	atomic_fetch_add(&l->passed, 1);
}

/*
 * Has the mutex.  Once all wait it holds the only worker: wakes all before the
 * deadline, returns after it.
 */
static void wake_and_hold(void *arg)
{
	struct late *l = arg;
	int value = 7;

	sley_mutex_lock(&l->mutex);
	atomic_fetch_add(&l->waiting, 1);
	CHECK_EQ(sley_event_wait(&l->go), 0);
	test_nap_ms(10);
	sley_event_set(&l->event);
	sley_mutex_unlock(&l->mutex);
	CHECK(sley_waitgroup_done(&l->wg));
	CHECK_EQ(sley_chan_try_send(l->chan, &value), 0);
	CHECK_LT(sley_now(), l->deadline);
	while (sley_now() < l->deadline + 30 * SLEY_MSEC)
		test_nap_ms(1);
}

/* marl: signalled at 10 ms of 30, and yet the wait returned false. */
static void run_late(int workers)
{
	struct late l = { SLEY_EVENT_INIT,
			  SLEY_MUTEX_INIT,
			  SLEY_WAITGROUP_INIT,
			  NULL,
			  0,
			  0,
			  in_ms(400),
			  SLEY_EVENT_INIT };
	struct sley_config config = config_of(workers);
	struct sley *rt = start_with(&config);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[5];

	CHECK_EQ(sley_chan_create(&l.chan, sizeof(int), 0), 0);
	sley_waitgroup_add(&l.wg, 1);
	sley_spawn(&group, &tasks[4], wake_and_hold, &l);
	if (workers == SLEY_SINGLE)
		CHECK_EQ(sley_run_one(rt), 1);
	CHECK_EVENTUALLY(atomic_load(&l.waiting) == 1);
	sley_spawn(&group, &tasks[0], wait_event, &l);
	sley_spawn(&group, &tasks[1], wait_mutex, &l);
	sley_spawn(&group, &tasks[2], wait_waitgroup, &l);
	sley_spawn(&group, &tasks[3], wait_chan, &l);
	if (workers == SLEY_SINGLE)
		run_all(rt);
	CHECK_EVENTUALLY(atomic_load(&l.waiting) == 5);
	/* The last one has counted itself, but may not be waiting yet. */
	test_nap_ms(20);
	sley_event_set(&l.go);
	sley_join(&group);
	CHECK_EQ(l.passed, 4);
	sley_chan_destroy(l.chan);
	stop(rt);
}

TEST(m20_what_held_before_the_deadline_is_no_timeout_on_one_worker)
{
	run_late(1);
}

TEST(m20_what_held_before_the_deadline_is_no_timeout_single_threaded)
{
	run_late(SLEY_SINGLE);
}

/* ---- T18: exactly one wins --------------------------------------------- */

struct duel {
	struct sley_event event; /* automatic */
	atomic_int result;
};

static void wait_briefly(void *arg)
{
	struct duel *d = arg;
	uint64_t deadline = sley_now() + test_random(60) * SLEY_USEC;

	atomic_store(&d->result, sley_event_wait_until(&d->event, deadline));
	if (d->result)
		CHECK_GE(sley_now(), deadline);
}

static void set_briefly(void *arg)
{
	struct duel *d = arg;
	uint64_t at = sley_now() + test_random(60) * SLEY_USEC;

	while (sley_now() < at)
		;
	sley_event_set(&d->event);
}

TEST_WORKERS(t18_a_set_and_a_deadline_at_once_have_one_winner)
{
	struct duel d = { SLEY_EVENT_AUTO_INIT, 0 };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task wait, set;
	int i;

	for (i = 0; i < test_scale(2000); i++) {
		sley_spawn(&group, &wait, wait_briefly, &d);
		sley_spawn(&group, &set, set_briefly, &d);
		sley_join(&group);
		CHECK(d.result == 0 || d.result == -ETIMEDOUT);
		/* Consumed by the waiter, or still there: never both. */
		CHECK_EQ(sley_event_try(&d.event), d.result == -ETIMEDOUT);
	}
	stop(rt);
}

struct trade {
	struct sley_chan *chan;
	atomic_long sent, received;
	int rounds;
};

static void send_briefly(void *arg)
{
	struct trade *t = arg;
	int i, err;
	long value;

	for (i = 1; i <= t->rounds; i++) {
		value = i;
		err = sley_chan_send_until(t->chan, &value,
					   sley_now() +
						   test_random(50) * SLEY_USEC);
		CHECK(err == 0 || err == -ETIMEDOUT);
		if (err == 0)
			atomic_fetch_add(&t->sent, value);
	}
}

static void receive_briefly(void *arg)
{
	struct trade *t = arg;
	int i, err;
	long value;

	for (i = 0; i < t->rounds; i++) {
		value = -1;
		err = sley_chan_recv_until(t->chan, &value,
					   sley_now() +
						   test_random(50) * SLEY_USEC);
		CHECK(err == 0 || err == -ETIMEDOUT);
		if (err == 0)
			atomic_fetch_add(&t->received, value);
		else
			CHECK_EQ(value, -1);
	}
}

static void trade_over(size_t capacity)
{
	struct trade t = { .rounds = test_scale(800) };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[8];
	long value;
	size_t i;

	CHECK_EQ(sley_chan_create(&t.chan, sizeof(long), capacity), 0);
	for (i = 0; i < 8; i += 2) {
		sley_spawn(&group, &tasks[i], send_briefly, &t);
		sley_spawn(&group, &tasks[i + 1], receive_briefly, &t);
	}
	sley_join(&group);
	while (sley_chan_try_recv(t.chan, &value) == 0)
		t.received += value;
	CHECK_EQ(t.received, t.sent);
	sley_chan_destroy(t.chan);
	stop(rt);
}

TEST_WORKERS(t18_deadlines_neither_lose_nor_double_a_value_handed_over)
{
	trade_over(0);
}

TEST_WORKERS(t18_deadlines_neither_lose_nor_double_a_value_in_a_buffer)
{
	trade_over(2);
}

struct handed {
	struct sley_mutex mutex;
	long inside, total;
	atomic_long taken;
	int rounds;
};

static void lock_briefly(void *arg)
{
	struct handed *h = arg;
	int i;

	for (i = 0; i < h->rounds; i++) {
		uint64_t at = sley_now() + test_random(50) * SLEY_USEC;

		if (sley_mutex_lock_until(&h->mutex, at))
			continue;
		CHECK_EQ(h->inside++, 0);
		if (i % 4 == 0)
			sley_yield();
		h->total++;
		CHECK_EQ(--h->inside, 0);
		sley_mutex_unlock(&h->mutex);
		atomic_fetch_add(&h->taken, 1);
	}
}

TEST_WORKERS(t18_deadlines_never_leave_a_mutex_without_an_owner)
{
	struct handed h = { .rounds = test_scale(800) };
	struct sley *rt = start();

	run_tasks(8, lock_briefly, &h);
	CHECK_EQ(h.total, h.taken);
	CHECK(sley_mutex_try_lock(&h.mutex));
	sley_mutex_unlock(&h.mutex);
	stop(rt);
}
