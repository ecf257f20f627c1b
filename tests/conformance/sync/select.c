/* SPDX-License-Identifier: MIT */
/*
 * select.c - one of several sends and receives: W31.
 */
#include "conformance/bound.h"

static struct sley_chan *chan_of(size_t capacity)
{
	struct sley_chan *chan = NULL;

	CHECK_EQ(sley_chan_create(&chan, sizeof(int), capacity), 0);
	return chan;
}

static void fill(struct sley_chan *chan, int value)
{
	CHECK_EQ(sley_chan_try_send(chan, &value), 0);
}

/* Nobody waits at it: a channel of capacity 0 that somebody waits at takes. */
static void check_deserted(struct sley_chan *chan)
{
	int value = 0;

	CHECK_EQ(sley_chan_try_send(chan, &value), -EAGAIN);
	CHECK_EQ(sley_chan_try_recv(chan, &value), -EAGAIN);
}

/* ---- one thread, no runtime -------------------------------------------- */

TEST(w31_try_select_takes_what_is_ready_or_the_default)
{
	struct sley_chan *a = chan_of(1), *b = chan_of(1);
	int x = 5, y = 6;
	struct sley_case cases[] = {
		SLEY_CASE_RECV(a, &x),
		SLEY_CASE_SEND(b, &y),
		SLEY_CASE_RECV(NULL, &x),
	};

	cases[0].status = cases[1].status = 77;
	CHECK_EQ(sley_try_select(cases, 1), -EAGAIN);
	CHECK_EQ(sley_try_select(&cases[2], 1), -EAGAIN);
	CHECK_EQ(sley_try_select(cases, 3), 1);
	CHECK_EQ(cases[1].status, 0);
	CHECK_EQ(cases[0].status, 77);
	CHECK_EQ(sley_chan_length(b), 1);
	CHECK_EQ(sley_try_select(cases, 3), -EAGAIN);
	CHECK_EQ(x, 5);
	fill(a, 42);
	CHECK_EQ(sley_try_select(cases, 3), 0);
	CHECK_EQ(cases[0].status, 0);
	CHECK_EQ(x, 42);
	CHECK_EQ(sley_chan_recv(b, &x), 0);
	CHECK_EQ(x, 6);
	sley_chan_destroy(a);
	sley_chan_destroy(b);
}

TEST(w31_a_closed_channel_is_drained_and_then_says_epipe)
{
	struct sley_chan *chan = chan_of(2);
	int x = 0;
	struct sley_case cases[] = { SLEY_CASE_RECV(chan, &x) };
	struct sley_case sending[] = { SLEY_CASE_SEND(chan, &x) };

	fill(chan, 7);
	sley_chan_close(chan);
	sley_chan_close(chan);
	CHECK_EQ(sley_select(cases, 1), 0);
	CHECK_EQ(cases[0].status, 0);
	CHECK_EQ(x, 7);
	CHECK_EQ(sley_select(cases, 1), 0);
	CHECK_EQ(cases[0].status, -EPIPE);
	CHECK_EQ(x, 7);
	CHECK_EQ(sley_select_until(sending, 1, 0), 0);
	CHECK_EQ(sending[0].status, -EPIPE);
	sending[0].status = 0;
	CHECK_EQ(sley_try_select(sending, 1), 0);
	CHECK_EQ(sending[0].status, -EPIPE);
	sley_chan_destroy(chan);
}

TEST(select_of_none_or_of_too_many_is_an_error)
{
	struct sley_case cases[SLEY_SELECT_MAX + 1] = { { NULL, NULL, 0, 0 } };

	CHECK_EQ(sley_select(cases, 0), -EINVAL);
	CHECK_EQ(sley_select_until(cases, 0, 0), -EINVAL);
	CHECK_EQ(sley_try_select(cases, 0), -EINVAL);
	CHECK_EQ(sley_select(cases, ARRAY_SIZE(cases)), -EINVAL);
	CHECK_EQ(sley_select_until(cases, ARRAY_SIZE(cases), 0), -EINVAL);
	CHECK_EQ(sley_try_select(cases, ARRAY_SIZE(cases)), -EINVAL);
	CHECK_EQ(sley_try_select(cases, SIZE_MAX), -EINVAL);
}

TEST(select_never_takes_a_case_without_a_channel)
{
	struct sley_chan *chan = chan_of(1);
	uint64_t deadline = in_ms(5);
	int x = 0;
	struct sley_case cases[] = {
		SLEY_CASE_RECV(NULL, NULL),
		SLEY_CASE_SEND(NULL, NULL),
		SLEY_CASE_RECV(chan, &x),
	};

	CHECK_EQ(sley_select_until(cases, 2, deadline), -ETIMEDOUT);
	CHECK_GE(sley_now(), deadline);
	CHECK_EQ(sley_select_until(cases, 3, in_ms(1)), -ETIMEDOUT);
	for (int i = 0; i < 100; i++) {
		fill(chan, i);
		CHECK_EQ(sley_select(cases, 3), 2);
		CHECK_EQ(x, i);
	}
	sley_chan_destroy(chan);
}

TEST(select_what_is_ready_wins_over_a_deadline_that_has_passed)
{
	struct sley_chan *chan = chan_of(1);
	int x = 0;
	struct sley_case cases[] = { SLEY_CASE_RECV(chan, &x) };

	CHECK_EQ(sley_select_until(cases, 1, 0), -ETIMEDOUT);
	fill(chan, 3);
	CHECK_EQ(sley_select_until(cases, 1, 0), 0);
	CHECK_EQ(x, 3);
	sley_chan_destroy(chan);
}

TEST(select_send_and_receive_of_one_select_never_meet)
{
	struct sley_chan *chan = chan_of(0);
	int x = 1, y = 2;
	struct sley_case cases[] = {
		SLEY_CASE_SEND(chan, &x),
		SLEY_CASE_RECV(chan, &y),
		SLEY_CASE_SEND(chan, &x),
	};

	CHECK_EQ(sley_try_select(cases, 3), -EAGAIN);
	CHECK_EQ(sley_select_until(cases, 3, in_ms(2)), -ETIMEDOUT);
	CHECK_EQ(y, 2);
	check_deserted(chan);
	sley_chan_destroy(chan);
}

TEST(select_lets_an_unbounded_channel_grow)
{
	struct sley_chan *a = chan_of(SLEY_UNBOUNDED);
	struct sley_chan *b = chan_of(SLEY_UNBOUNDED);
	struct sley_chan *never = chan_of(0);
	int nr[2] = { 0, 0 }, next[2] = { 0, 0 };
	struct sley_case cases[] = {
		SLEY_CASE_SEND(b, &nr[1]),
		SLEY_CASE_RECV(never, NULL),
		SLEY_CASE_SEND(a, &nr[0]),
	};
	int x;

	for (int i = 0; i < 5000; i++) {
		int went = sley_select(cases, 3);

		CHECK(went == 0 || went == 2);
		CHECK_EQ(cases[went].status, 0);
		nr[went == 0]++;
	}
	CHECK_EQ(nr[0] + nr[1], 5000);
	for (; sley_chan_try_recv(a, &x) == 0; next[0]++)
		CHECK_EQ(x, next[0]);
	for (; sley_chan_try_recv(b, &x) == 0; next[1]++)
		CHECK_EQ(x, next[1]);
	CHECK_EQ(next[0], nr[0]);
	CHECK_EQ(next[1], nr[1]);
	sley_chan_destroy(a);
	sley_chan_destroy(b);
	sley_chan_destroy(never);
}

/* ---- each gets its turn ------------------------------------------------ */

static void count_turns(void *arg)
{
	struct sley_chan *chan[4];
	struct sley_case cases[4];
	int turns[4] = { 0 }, x;

	(void)arg;
	for (int i = 0; i < 4; i++) {
		chan[i] = chan_of(1);
		fill(chan[i], i);
		cases[i] = (struct sley_case)SLEY_CASE_RECV(chan[i], &x);
	}
	for (int i = 0; i < 4000; i++) {
		int went = i % 2 ? sley_select(cases, 4)
				 : sley_try_select(cases, 4);

		CHECK(went >= 0 && went < 4);
		CHECK_EQ(x, went);
		fill(chan[went], went);
		turns[went]++;
	}
	/* 1000 each; 800 would be seven standard deviations away. */
	for (int i = 0; i < 4; i++) {
		CHECK_GE(turns[i], 800);
		sley_chan_destroy(chan[i]);
	}
}

TEST(select_gives_each_ready_case_its_turn_in_a_thread)
{
	count_turns(NULL);
}

TEST_WORKERS(select_gives_each_ready_case_its_turn_in_a_task)
{
	struct sley *rt = start();

	run_task(count_turns, NULL);
	stop(rt);
}

/* ---- woken ------------------------------------------------------------- */

struct party {
	struct sley_chan *in, *out, *other;
	uint64_t deadline;
	atomic_int waiting;
	int went, status; /* what the selecter got */
	int x, y;
};

static void select_in_or_out(void *arg)
{
	struct party *p = arg;
	struct sley_case cases[] = {
		SLEY_CASE_RECV(p->other, &p->x),
		SLEY_CASE_RECV(p->in, &p->x),
		SLEY_CASE_SEND(p->out, &p->y),
		SLEY_CASE_SEND(p->other, &p->y),
		SLEY_CASE_RECV(NULL, NULL),
	};

	atomic_fetch_add(&p->waiting, 1);
	p->went = sley_select_until(cases, ARRAY_SIZE(cases), p->deadline);
	if (p->went >= 0)
		p->status = cases[p->went].status;
}

static void *select_in_thread(void *arg)
{
	select_in_or_out(arg);
	return NULL;
}

static void party_begin(struct party *p)
{
	*p = (struct party){ .in = chan_of(0),
			     .out = chan_of(0),
			     .other = chan_of(0),
			     .deadline = UINT64_MAX,
			     .status = 99,
			     .x = 1,
			     .y = 2 };
}

/* Whoever selected is gone from all three. */
static void party_end(struct party *p)
{
	check_deserted(p->other);
	sley_chan_destroy(p->in);
	sley_chan_destroy(p->out);
	sley_chan_destroy(p->other);
}

/* Runs @act, which makes the selecter return, for a task and for a thread. */
static void with_party(void (*act)(struct party *p),
		       void (*check)(struct party *p))
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct party p;
	pthread_t thread;

	for (int round = 0; round < 20; round++) {
		/* With a deadline that is far away it must be the same. */
		party_begin(&p);
		p.deadline = round % 2 ? in_ms(60000) : UINT64_MAX;
		sley_spawn(&group, &task, select_in_or_out, &p);
		if (round % 4 < 2)
			CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
		act(&p);
		sley_join(&group);
		check(&p);
		party_end(&p);

		party_begin(&p);
		p.deadline = round % 2 ? in_ms(60000) : UINT64_MAX;
		thread = test_thread(select_in_thread, &p);
		if (round % 4 < 2)
			CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
		act(&p);
		pthread_join(thread, NULL);
		check(&p);
		party_end(&p);
	}
	stop(rt);
}

static void give(struct party *p)
{
	int value = 42;

	CHECK_EQ(sley_chan_send(p->in, &value), 0);
}

static void was_given(struct party *p)
{
	CHECK_EQ(p->went, 1);
	CHECK_EQ(p->status, 0);
	CHECK_EQ(p->x, 42);
	check_deserted(p->out);
}

TEST_WORKERS(select_is_woken_by_a_send)
{
	with_party(give, was_given);
}

static void take(struct party *p)
{
	int value = 0;

	CHECK_EQ(sley_chan_recv(p->out, &value), 0);
	CHECK_EQ(value, 2);
}

static void was_taken(struct party *p)
{
	CHECK_EQ(p->went, 2);
	CHECK_EQ(p->status, 0);
	CHECK_EQ(p->x, 1);
	check_deserted(p->in);
}

TEST_WORKERS(select_is_woken_by_a_receive)
{
	with_party(take, was_taken);
}

static void close_in(struct party *p)
{
	sley_chan_close(p->in);
}

static void saw_in_closed(struct party *p)
{
	CHECK_EQ(p->went, 1);
	CHECK_EQ(p->status, -EPIPE);
	CHECK_EQ(p->x, 1);
	check_deserted(p->out);
}

TEST_WORKERS(w31_a_close_wakes_who_selects_to_receive)
{
	with_party(close_in, saw_in_closed);
}

static void close_out(struct party *p)
{
	sley_chan_close(p->out);
}

static void saw_out_closed(struct party *p)
{
	CHECK_EQ(p->went, 2);
	CHECK_EQ(p->status, -EPIPE);
	check_deserted(p->in);
}

TEST_WORKERS(w31_a_close_wakes_who_selects_to_send)
{
	with_party(close_out, saw_out_closed);
}

/* ---- neither ----------------------------------------------------------- */

TEST_WORKERS(select_that_is_cancelled_has_done_nothing)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct party p;

	for (int round = 0; round < 20; round++) {
		party_begin(&p);
		p.deadline = round % 2 ? in_ms(60000) : UINT64_MAX;
		sley_spawn(&group, &task, select_in_or_out, &p);
		while (!atomic_load(&p.waiting))
			sley_yield();
		if (round % 4 < 2)
			CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
		sley_cancel(&task);
		sley_join(&group);
		CHECK_EQ(p.went, -ECANCELED);
		CHECK_EQ(p.x, 1);
		check_deserted(p.in);
		check_deserted(p.out);
		party_end(&p);
	}
	stop(rt);
}

static void select_nothing(void *arg)
{
	struct sley_case cases[2] = { SLEY_CASE_RECV(NULL, NULL),
				      SLEY_CASE_SEND(NULL, NULL) };
	struct party *p = arg;

	atomic_fetch_add(&p->waiting, 1);
	p->went = sley_select(cases, 2);
}

TEST_WORKERS(select_without_any_channel_waits_for_a_cancel)
{
	struct party p = { .went = 0 };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, select_nothing, &p);
	/* A thread of its own runs tasks only while it waits. */
	do
		CHECK_EQ(sley_join_until(&group, in_ms(5)), -ETIMEDOUT);
	while (!atomic_load(&p.waiting));
	sley_cancel(&task);
	sley_join(&group);
	CHECK_EQ(p.went, -ECANCELED);
	stop(rt);
}

/* A value that comes about when the deadline does: once, or not at all. */
TEST_WORKERS(select_that_times_out_has_taken_nothing)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct party p;
	int rounds = test_scale(400);

	for (int i = 0; i < rounds; i++) {
		int value = 42, err;

		party_begin(&p);
		p.deadline = sley_now() + test_random(100 * SLEY_USEC);
		sley_spawn(&group, &task, select_in_or_out, &p);
		CHECK_EQ(sley_sleep(test_random(100 * SLEY_USEC)), 0);
		err = sley_chan_try_send(p.in, &value);
		sley_join(&group);
		CHECK(err == 0 || err == -EAGAIN);
		CHECK_EQ(p.went, err == 0 ? 1 : -ETIMEDOUT);
		CHECK_EQ(p.x, err == 0 ? 42 : 1);
		party_end(&p);
	}
	stop(rt);
}

/* ---- many -------------------------------------------------------------- */

struct one_of {
	struct sley_task task;
	struct sley_chan *chan;
	int index;
};

static void send_index(void *arg)
{
	struct one_of *one = arg;

	CHECK_EQ(sley_chan_send(one->chan, &one->index), 0);
}

/* The channels are listed in no order. */
TEST_WORKERS(select_of_64_channels_gets_each_value_once)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct one_of senders[SLEY_SELECT_MAX];
	struct sley_case cases[SLEY_SELECT_MAX];
	int got[SLEY_SELECT_MAX] = { 0 }, x;

	for (int i = 0; i < SLEY_SELECT_MAX; i++)
		senders[i] = (struct one_of){ .chan = chan_of(0), .index = i };
	for (int i = 0; i < SLEY_SELECT_MAX; i++) {
		struct sley_chan *chan = senders[i * 37 % 64].chan;

		cases[i] = (struct sley_case)SLEY_CASE_RECV(chan, &x);
	}
	for (int i = 0; i < SLEY_SELECT_MAX; i++)
		sley_spawn(&group, &senders[i].task, send_index, &senders[i]);
	for (int i = 0; i < SLEY_SELECT_MAX; i++) {
		int went = sley_select(cases, SLEY_SELECT_MAX);

		CHECK(went >= 0 && went < SLEY_SELECT_MAX);
		CHECK_EQ(x, went * 37 % 64);
		CHECK_EQ(got[x]++, 0);
	}
	sley_join(&group);
	CHECK_EQ(sley_select_until(cases, SLEY_SELECT_MAX, in_ms(1)),
		 -ETIMEDOUT);
	for (int i = 0; i < SLEY_SELECT_MAX; i++) {
		check_deserted(senders[i].chan);
		sley_chan_destroy(senders[i].chan);
	}
	stop(rt);
}

static void select_one_of_64(void *arg)
{
	struct sley_case cases[SLEY_SELECT_MAX];
	struct sley_chan *chan = arg;
	int x = 0;

	for (int i = 0; i < SLEY_SELECT_MAX; i++)
		cases[i] = (struct sley_case)SLEY_CASE_RECV(chan, &x);
	CHECK_GE(sley_select(cases, SLEY_SELECT_MAX), 0);
	CHECK_EQ(x, 42);
}

TEST_WORKERS(select_may_list_the_same_channel_64_times)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[4];

	for (int round = 0; round < 10; round++) {
		struct sley_chan *chan = chan_of(0);
		int value = 42;

		for (int i = 0; i < 4; i++)
			sley_spawn(&group, &tasks[i], select_one_of_64, chan);
		for (int i = 0; i < 4; i++)
			CHECK_EQ(sley_chan_send(chan, &value), 0);
		sley_join(&group);
		check_deserted(chan);
		sley_chan_destroy(chan);
	}
	stop(rt);
}

/* ---- select against select --------------------------------------------- */

struct duel {
	struct sley_chan *a, *b;
	int rounds;
	int sent[2], got[2]; /* by the first: into a; from b: by the second */
	long sum[2];         /* of what came out of a, of b                 */
};

/* Sends into one channel and receives from the other, as it comes. */
static void fight(struct sley_case *cases, struct duel *d, int me, int *in,
		  int *out)
{
	*out = 1;
	for (int i = 0; i < d->rounds; i++) {
		int went = sley_select(cases, 2);

		CHECK(went == 0 || went == 1);
		CHECK_EQ(cases[went].status, 0);
		if (cases[went].kind == SLEY_SEND) {
			d->sent[me]++;
			++*out;
		} else {
			d->got[me]++;
			d->sum[me] += *in;
		}
	}
}

static void fight_first(void *arg)
{
	struct duel *d = arg;
	int in, out;
	struct sley_case cases[] = {
		SLEY_CASE_SEND(d->a, &out),
		SLEY_CASE_RECV(d->b, &in),
	};

	fight(cases, d, 0, &in, &out);
}

static void fight_second(void *arg)
{
	struct duel *d = arg;
	int in, out;
	struct sley_case cases[] = {
		SLEY_CASE_SEND(d->b, &out),
		SLEY_CASE_RECV(d->a, &in),
	};

	fight(cases, d, 1, &in, &out);
}

static void *fight_in_thread(void *arg)
{
	fight_second(arg);
	return NULL;
}

static void duel(bool against_a_thread)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[2];
	struct duel d = { .a = chan_of(0),
			  .b = chan_of(0),
			  .rounds = test_scale(2000) };
	pthread_t thread;

	sley_spawn(&group, &tasks[0], fight_first, &d);
	if (against_a_thread)
		thread = test_thread(fight_in_thread, &d);
	else
		sley_spawn(&group, &tasks[1], fight_second, &d);
	sley_join(&group);
	if (against_a_thread)
		pthread_join(thread, NULL);
	for (int me = 0; me < 2; me++) {
		long n = d.sent[!me];

		CHECK_EQ(d.got[me], n);
		CHECK_EQ(d.sum[me], n * (n + 1) / 2);
	}
	CHECK_EQ(d.sent[0] + d.sent[1], d.rounds);
	check_deserted(d.a);
	check_deserted(d.b);
	sley_chan_destroy(d.a);
	sley_chan_destroy(d.b);
	stop(rt);
}

TEST_WORKERS(select_against_select_over_two_channels_in_opposite_order)
{
	duel(false);
}

TEST_WORKERS(select_against_select_between_a_task_and_a_thread)
{
	duel(true);
}
