/* SPDX-License-Identifier: MIT */
/*
 * chan.c - channels: order, room, closing, threads.
 */
#include "conformance/bound.h"

static struct sley_chan *chan_of(size_t value_size, size_t capacity)
{
	struct sley_chan *chan = NULL;

	CHECK_EQ(sley_chan_create(&chan, value_size, capacity), 0);
	CHECK(chan != NULL);
	return chan;
}

/* ---- one thread, no runtime -------------------------------------------- */

TEST(chan_values_come_out_in_the_order_in_which_they_went_in)
{
	struct sley_chan *chan = chan_of(sizeof(int), 4);
	int i, value, round;

	for (round = 0; round < 5; round++) {
		for (i = 0; i < 4; i++)
			CHECK_EQ(sley_chan_send(chan, &i), 0);
		CHECK_EQ(sley_chan_length(chan), 4);
		value = 99;
		CHECK_EQ(sley_chan_try_send(chan, &value), -EAGAIN);
		CHECK_EQ(sley_chan_send_until(chan, &value, in_ms(2)),
			 -ETIMEDOUT);
		for (i = 0; i < 4; i++) {
			CHECK_EQ(sley_chan_recv(chan, &value), 0);
			CHECK_EQ(value, i);
		}
		value = 77;
		CHECK_EQ(sley_chan_try_recv(chan, &value), -EAGAIN);
		CHECK_EQ(sley_chan_recv_until(chan, &value, in_ms(2)),
			 -ETIMEDOUT);
		CHECK_EQ(value, 77);
		CHECK_EQ(sley_chan_length(chan), 0);
	}
	sley_chan_destroy(chan);
}

TEST(chan_after_a_close_receivers_drain_and_then_get_epipe)
{
	struct sley_chan *chan = chan_of(sizeof(int), 3);
	int i, value = 5;

	for (i = 0; i < 2; i++)
		CHECK_EQ(sley_chan_send(chan, &i), 0);
	sley_chan_close(chan);
	sley_chan_close(chan);
	CHECK_EQ(sley_chan_send(chan, &value), -EPIPE);
	CHECK_EQ(sley_chan_try_send(chan, &value), -EPIPE);
	CHECK_EQ(sley_chan_send_until(chan, &value, 0), -EPIPE);
	CHECK_EQ(sley_chan_recv(chan, &value), 0);
	CHECK_EQ(value, 0);
	CHECK_EQ(sley_chan_try_recv(chan, &value), 0);
	CHECK_EQ(value, 1);
	CHECK_EQ(sley_chan_recv(chan, &value), -EPIPE);
	CHECK_EQ(sley_chan_try_recv(chan, &value), -EPIPE);
	CHECK_EQ(sley_chan_recv_until(chan, &value, 0), -EPIPE);
	CHECK_EQ(value, 1);
	sley_chan_destroy(chan);
}

TEST(chan_unbounded_never_makes_a_sender_wait)
{
	struct sley_chan *chan = chan_of(sizeof(long), SLEY_UNBOUNDED);
	long i, value;

	for (i = 0; i < 10000; i++)
		CHECK_EQ(sley_chan_try_send(chan, &i), 0);
	CHECK_EQ(sley_chan_length(chan), 10000);
	for (i = 0; i < 10000; i++) {
		CHECK_EQ(sley_chan_try_recv(chan, &value), 0);
		CHECK_EQ(value, i);
	}
	/* Destroyed with values inside: freed with it. */
	for (i = 0; i < 1000; i++)
		CHECK_EQ(sley_chan_send(chan, &i), 0);
	sley_chan_destroy(chan);
	sley_chan_destroy(NULL);
}

TEST(chan_of_an_impossible_size_is_an_error)
{
	struct sley_chan *chan = NULL;

	CHECK_EQ(sley_chan_create(&chan, 0, 1), -EINVAL);
	CHECK_EQ(sley_chan_create(&chan, SIZE_MAX / 2, 3), -EINVAL);
	CHECK_EQ(sley_chan_create(&chan, 16, SIZE_MAX - 1), -EINVAL);
	CHECK(chan == NULL);
}

struct big {
	char bytes[1000];
};

TEST(chan_values_of_any_size_are_copied)
{
	static const size_t sizes[] = { 1, 3, 8, 24, 1000 };
	struct big in, out;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct sley_chan *chan = chan_of(sizes[i], 5);

		for (k = 0; k < 5; k++) {
			memset(&in, (int)(k + 1), sizeof(in));
			CHECK_EQ(sley_chan_send(chan, &in), 0);
		}
		memset(&in, 0x7f, sizeof(in));
		for (k = 0; k < 5; k++) {
			memset(&out, 0, sizeof(out));
			CHECK_EQ(sley_chan_recv(chan, &out), 0);
			CHECK_EQ(out.bytes[0], (int)(k + 1));
			CHECK_EQ(out.bytes[sizes[i] - 1], (int)(k + 1));
			if (sizes[i] < sizeof(out))
				CHECK_EQ(out.bytes[sizes[i]], 0);
		}
		sley_chan_destroy(chan);
	}
}

/* ---- handing over in person -------------------------------------------- */

struct rendezvous {
	struct sley_chan *chan;
	atomic_int sent, may_receive;
};

static void send_one(void *arg)
{
	struct rendezvous *r = arg;
	int value = 42;

	CHECK_EQ(sley_chan_send(r->chan, &value), 0);
	CHECK(atomic_load(&r->may_receive));
	atomic_fetch_add(&r->sent, 1);
}

TEST_WORKERS(chan_of_capacity_0_keeps_the_sender_until_the_value_is_taken)
{
	struct rendezvous r = { .chan = chan_of(sizeof(int), 0) };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	int value = 0;

	CHECK_EQ(sley_chan_try_send(r.chan, &value), -EAGAIN);
	CHECK_EQ(sley_chan_try_recv(r.chan, &value), -EAGAIN);
	sley_spawn(&group, &task, send_one, &r);
	CHECK_EQ(sley_join_until(&group, in_ms(10)), -ETIMEDOUT);
	CHECK_EQ(r.sent, 0);
	CHECK_EQ(sley_chan_length(r.chan), 0);
	atomic_store(&r.may_receive, 1);
	CHECK_EQ(sley_chan_recv(r.chan, &value), 0);
	CHECK_EQ(value, 42);
	sley_join(&group);
	CHECK_EQ(r.sent, 1);
	sley_chan_destroy(r.chan);
	stop(rt);
}

/* ---- many senders, many receivers -------------------------------------- */

struct stream {
	struct sley_chan *chan;
	int per_sender;
	atomic_long sum, count;
};

struct item {
	int sender;
	int number;
};

struct sender {
	struct sley_task task;
	struct stream *stream;
	int index;
};

static void send_many(void *arg)
{
	struct sender *s = arg;
	int i;

	for (i = 1; i <= s->stream->per_sender; i++) {
		struct item item = { s->index, i };

		CHECK_EQ(sley_chan_send(s->stream->chan, &item), 0);
	}
}

static void receive_all(void *arg)
{
	struct stream *s = arg;
	int last[8] = { 0 };
	struct item item;
	int err;

	while ((err = sley_chan_recv(s->chan, &item)) == 0) {
		/* What one receiver gets of one sender is in order. */
		CHECK_LT(last[item.sender], item.number);
		last[item.sender] = item.number;
		atomic_fetch_add(&s->sum, item.number);
		atomic_fetch_add(&s->count, 1);
	}
	CHECK_EQ(err, -EPIPE);
}

static void *send_in_thread(void *arg)
{
	send_many(arg);
	return NULL;
}

static void *receive_in_thread(void *arg)
{
	receive_all(arg);
	return NULL;
}

static void stream_over(size_t capacity)
{
	struct stream s = { .per_sender = test_scale(1000) };
	struct sender senders[8];
	struct sley_task receivers[3];
	pthread_t threads[3];
	struct sley *rt = start();
	struct sley_group sending = SLEY_GROUP_INIT, taking = SLEY_GROUP_INIT;
	long n = s.per_sender;
	int i;

	s.chan = chan_of(sizeof(struct item), capacity);
	for (i = 0; i < 3; i++)
		sley_spawn(&taking, &receivers[i], receive_all, &s);
	for (i = 0; i < 8; i++) {
		senders[i] = (struct sender){ .stream = &s, .index = i };
		if (i < 6)
			sley_spawn(&sending, &senders[i].task, send_many,
				   &senders[i]);
		else
			threads[i - 6] =
				test_thread(send_in_thread, &senders[i]);
	}
	threads[2] = test_thread(receive_in_thread, &s);
	sley_join(&sending);
	for (i = 0; i < 2; i++)
		while (pthread_tryjoin_np(threads[i], NULL))
			CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	sley_chan_close(s.chan);
	sley_join(&taking);
	pthread_join(threads[2], NULL);
	CHECK_EQ(s.count, 8 * n);
	CHECK_EQ(s.sum, 8 * (n * (n + 1) / 2));
	sley_chan_destroy(s.chan);
	stop(rt);
}

TEST_WORKERS(chan_of_capacity_0_loses_nothing_among_tasks_and_threads)
{
	stream_over(0);
}

TEST_WORKERS(chan_of_capacity_1_loses_nothing_among_tasks_and_threads)
{
	stream_over(1);
}

TEST_WORKERS(chan_of_capacity_100_loses_nothing_among_tasks_and_threads)
{
	stream_over(100);
}

TEST_WORKERS(chan_unbounded_loses_nothing_among_tasks_and_threads)
{
	stream_over(SLEY_UNBOUNDED);
}

/* ---- closing and cancelling those who wait ----------------------------- */

struct stuck {
	struct sley_chan *full, *empty;
	atomic_int waiting, ended;
	int expected;
};

static void stuck_sending(void *arg)
{
	struct stuck *s = arg;
	int value = 1;

	atomic_fetch_add(&s->waiting, 1);
	CHECK_EQ(sley_chan_send(s->full, &value), s->expected);
	atomic_fetch_add(&s->ended, 1);
}

static void stuck_receiving(void *arg)
{
	struct stuck *s = arg;
	int value = 1;

	atomic_fetch_add(&s->waiting, 1);
	CHECK_EQ(sley_chan_recv(s->empty, &value), s->expected);
	CHECK_EQ(value, 1);
	atomic_fetch_add(&s->ended, 1);
}

static void get_stuck(struct stuck *s, struct sley *rt, struct sley_task *tasks,
		      struct sley_group *group)
{
	int i, value = 0;

	s->full = chan_of(sizeof(int), 1);
	s->empty = chan_of(sizeof(int), 1);
	CHECK_EQ(sley_chan_send(s->full, &value), 0);
	for (i = 0; i < 20; i++)
		sley_spawn(group, &tasks[i],
			   i % 2 ? stuck_sending : stuck_receiving, s);
	if (is_single())
		run_all(rt);
	CHECK_EVENTUALLY(atomic_load(&s->waiting) == 20);
	test_nap_ms(5);
	CHECK_EQ(s->ended, 0);
}

TEST_WORKERS(chan_close_wakes_all_who_wait)
{
	struct stuck s = { .expected = -EPIPE };
	struct sley_task tasks[20];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int value = 7;

	get_stuck(&s, rt, tasks, &group);
	sley_chan_close(s.full);
	sley_chan_close(s.empty);
	sley_join(&group);
	CHECK_EQ(s.ended, 20);
	/* What was in before the close is still there. */
	CHECK_EQ(sley_chan_recv(s.full, &value), 0);
	CHECK_EQ(value, 0);
	sley_chan_destroy(s.full);
	sley_chan_destroy(s.empty);
	stop(rt);
}

TEST_WORKERS(chan_cancelling_a_waiter_neither_sends_nor_receives)
{
	struct stuck s = { .expected = -ECANCELED };
	struct sley_task tasks[20];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int i, value;

	get_stuck(&s, rt, tasks, &group);
	for (i = 0; i < 20; i++)
		sley_cancel(&tasks[i]);
	sley_join(&group);
	CHECK_EQ(s.ended, 20);
	CHECK_EQ(sley_chan_length(s.full), 1);
	value = 9;
	CHECK_EQ(sley_chan_try_send(s.empty, &value), 0);
	CHECK_EQ(sley_chan_length(s.empty), 1);
	sley_chan_destroy(s.full);
	sley_chan_destroy(s.empty);
	stop(rt);
}

static void receive_for_ever(void *chan)
{
	int value;
	int err = sley_chan_recv(chan, &value);

	(void)err;
}

TEST_ABORTS(chan_destroyed_under_a_waiter_aborts,
	    "sley: misuse in sley_chan_destroy")
{
	struct sley *rt = start();
	struct sley_chan *chan = chan_of(sizeof(int), 1);

	CHECK_EQ(sley_schedule(receive_for_ever, chan), 0);
	test_nap_ms(50);
	sley_chan_destroy(chan);
	stop(rt);
}
