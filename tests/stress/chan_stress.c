/* SPDX-License-Identifier: MIT */
/*
 * chan_stress.c - tasks and plain threads at both ends of one channel, with
 * deadlines and cancels: what goes in comes out once, and in order.
 *
 * Every value that a send took must be received by somebody; one that a send
 * refused, for whatever reason, must not.  Plain threads cannot be cancelled,
 * so there is always somebody left at both ends.
 */
#include "stress/stress.h"

#define NR_TASKS 6   /* at each end */
#define NR_THREADS 2 /* at each end */
#define NR_ENDS (NR_TASKS + NR_THREADS)
#define NR_VALUES 150 /* of each producer */

struct value {
	uint32_t producer;
	uint32_t number;
	uint64_t check; /* a value that was torn shows */
};

struct end {
	struct traffic *traffic;
	uint32_t index;
	uint64_t nr; /* values that it sent or received        */
	uint64_t sum;
	uint32_t next[NR_ENDS]; /* receiver: the least number due */
};

struct traffic {
	struct sley_chan *chan;
	struct end producers[NR_ENDS], consumers[NR_ENDS];
	struct sley_task producing[NR_TASKS], consuming[NR_TASKS];
	atomic_bool over;
};

static uint64_t check_of(const struct value *value)
{
	return (value->producer + 1) * 0x9e3779b97f4a7c15ULL ^ value->number;
}

static int send(struct sley_chan *chan, const struct value *value)
{
	switch (test_random(3)) {
	case 0:
		return sley_chan_send(chan, value);
	case 1:
		return sley_chan_send_until(chan, value, soon());
	default:
		return sley_chan_try_send(chan, value);
	}
}

static void produce(void *arg)
{
	struct end *end = arg;
	uint32_t i;

	for (i = 0; i < NR_VALUES; i++) {
		struct value value = { end->index, i, 0 };
		int err;

		value.check = check_of(&value);
		err = send(end->traffic->chan, &value);
		if (err == -ECANCELED)
			return;
		CHECK(err == 0 || err == -ETIMEDOUT || err == -EAGAIN);
		if (!err) {
			end->nr++;
			end->sum += value.check;
		}
		dawdle();
	}
}

static int receive(struct sley_chan *chan, struct value *value)
{
	switch (test_random(3)) {
	case 0:
		return sley_chan_recv(chan, value);
	case 1:
		return sley_chan_recv_until(chan, value, soon());
	default:
		return sley_chan_try_recv(chan, value);
	}
}

static void consume(void *arg)
{
	struct end *end = arg;

	for (;;) {
		struct value value = { UINT32_MAX, 0, 0 };
		int err = receive(end->traffic->chan, &value);

		if (err == -EPIPE || err == -ECANCELED)
			return;
		if (err) {
			CHECK(err == -ETIMEDOUT || err == -EAGAIN);
			CHECK_EQ(value.producer, UINT32_MAX);
			dawdle();
			continue;
		}
		CHECK_LT(value.producer, NR_ENDS);
		CHECK(value.check == check_of(&value));
		CHECK_GE(value.number, end->next[value.producer]);
		end->next[value.producer] = value.number + 1;
		end->nr++;
		end->sum += value.check;
	}
}

static void *produce_in_thread(void *arg)
{
	produce(arg);
	return NULL;
}

static void *consume_in_thread(void *arg)
{
	consume(arg);
	return NULL;
}

static void *cancel_some(void *arg)
{
	struct traffic *t = arg;

	while (!atomic_load(&t->over)) {
		test_nap_ms(1);
		sley_cancel(one_in(2) ? &t->producing[test_random(NR_TASKS)]
				      : &t->consuming[test_random(NR_TASKS)]);
	}
	return NULL;
}

static void check_conservation(const struct traffic *t)
{
	uint64_t sent = 0, received = 0, sum = 0;

	for (int i = 0; i < NR_ENDS; i++) {
		sent += t->producers[i].nr;
		received += t->consumers[i].nr;
		sum += t->producers[i].sum - t->consumers[i].sum;
	}
	CHECK_GT(sent, 0);
	CHECK_EQ(received, sent);
	CHECK_EQ(sum, 0);
}

static void run_traffic(size_t capacity)
{
	static struct traffic t;
	struct sley_group producing = SLEY_GROUP_INIT;
	struct sley_group consuming = SLEY_GROUP_INIT;
	pthread_t producer[NR_THREADS], consumer[NR_THREADS], canceller;

	memset(&t, 0, sizeof(t));
	CHECK_EQ(sley_chan_create(&t.chan, sizeof(struct value), capacity), 0);
	for (uint32_t i = 0; i < NR_ENDS; i++) {
		t.producers[i] = (struct end){ .traffic = &t, .index = i };
		t.consumers[i] = (struct end){ .traffic = &t, .index = i };
	}
	for (int i = 0; i < NR_TASKS; i++) {
		sley_spawn(&consuming, &t.consuming[i], consume,
			   &t.consumers[i]);
		sley_spawn(&producing, &t.producing[i], produce,
			   &t.producers[i]);
	}
	for (int i = 0; i < NR_THREADS; i++) {
		consumer[i] = test_thread(consume_in_thread,
					  &t.consumers[NR_TASKS + i]);
		producer[i] = test_thread(produce_in_thread,
					  &t.producers[NR_TASKS + i]);
	}
	canceller = test_thread(cancel_some, &t);
	sley_join(&producing);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(producer[i], NULL);
	sley_chan_close(t.chan);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(consumer[i], NULL);
	sley_join(&consuming);
	atomic_store(&t.over, true);
	pthread_join(canceller, NULL);
	check_conservation(&t);
	CHECK_EQ(sley_chan_length(t.chan), 0);
	sley_chan_destroy(t.chan);
}

static void run(const struct sley_config *config)
{
	static const size_t capacities[] = { 0, 1, 7, SLEY_UNBOUNDED };
	struct sley *rt = start_with(config);
	uint64_t end = in_ms(STRESS_MS);

	do {
		for (size_t i = 0; i < ARRAY_SIZE(capacities); i++)
			run_traffic(capacities[i]);
	} while (sley_now() < end);
	stop(rt);
}

TEST(nothing_is_lost_doubled_or_reordered)
{
	struct sley_config config = stress_config();

	run(&config);
}

TEST(nothing_is_lost_without_membarrier)
{
	struct sley_config config = stress_config_no_membarrier();

	run(&config);
}

TEST(nothing_is_lost_where_fibers_move)
{
	struct sley_config config = stress_config_migratable();

	run(&config);
}
