/* SPDX-License-Identifier: MIT */
/*
 * chan_stress.c - tasks and plain threads at both ends of one channel, with
 * deadlines and cancels: what goes in comes out once, and in order.
 *
 * Every value that a send took must be received by somebody; one that a send
 * refused, for whatever reason, must not.  Plain threads cannot be cancelled,
 * so there is always somebody left at both ends.
 */
#include "stress/crowd.h"

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
	uint32_t number; /* sender: of its next value              */
	uint64_t nr;     /* values that it sent or received        */
	uint64_t sum;
	uint32_t next[NR_ENDS]; /* receiver: the least number due */
};

struct traffic {
	struct sley_chan *chan;
	struct end producers[NR_ENDS], consumers[NR_ENDS];
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

static int produce(void *scene, unsigned int index)
{
	struct traffic *t = scene;
	struct end *end = &t->producers[index];
	struct value value = { index, end->number++, 0 };
	int err;

	value.check = check_of(&value);
	err = send(t->chan, &value);
	if (!err) {
		end->nr++;
		end->sum += value.check;
	}
	dawdle();
	return err;
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

static int consume(void *scene, unsigned int index)
{
	struct traffic *t = scene;
	struct end *end = &t->consumers[index];
	struct value value = { UINT32_MAX, 0, 0 };
	int err = receive(t->chan, &value);

	if (err) {
		CHECK_EQ(value.producer, UINT32_MAX);
		dawdle();
		return err;
	}
	CHECK_LT(value.producer, NR_ENDS);
	CHECK(value.check == check_of(&value));
	CHECK_GE(value.number, end->next[value.producer]);
	end->next[value.producer] = value.number + 1;
	end->nr++;
	end->sum += value.check;
	return 0;
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
	struct crowd producers = { .act = produce,
				   .scene = &t,
				   .nr_tasks = NR_TASKS,
				   .nr_threads = NR_THREADS,
				   .rounds = NR_VALUES,
				   .cancels = true };
	struct crowd consumers = producers;

	consumers.act = consume;
	consumers.rounds = 0;
	memset(&t, 0, sizeof(t));
	CHECK_EQ(sley_chan_create(&t.chan, sizeof(struct value), capacity), 0);
	crowd_begin(&consumers);
	crowd_begin(&producers);
	crowd_end(&producers);
	sley_chan_close(t.chan);
	crowd_end(&consumers);
	check_conservation(&t);
	CHECK_EQ(sley_chan_length(t.chan), 0);
	sley_chan_destroy(t.chan);
}

static void play(void)
{
	static const size_t capacities[] = { 0, 1, 7, SLEY_UNBOUNDED };

	for (size_t i = 0; i < ARRAY_SIZE(capacities); i++)
		run_traffic(capacities[i]);
}

STRESS(nothing_is_lost_doubled_or_reordered, play);
