/* SPDX-License-Identifier: MIT */
/*
 * select_stress.c - tasks and plain threads that select over the same few
 * channels, to send, to receive and for both, with deadlines and cancels.
 *
 * Every value that a select says it has sent must be received by somebody, once
 * and in order; a value of a case that did not go must not.  Plain threads
 * cannot be cancelled, so there is always somebody left at both ends.
 */
#include "stress/stress.h"

#define NR_CHANS 3
#define NR_CASES 5
#define NR_TASKS 5   /* of each kind */
#define NR_THREADS 1 /* of each kind */
#define NR_EACH (NR_TASKS + NR_THREADS)
#define NR_ENDS (3 * NR_EACH)
#define NR_VALUES 100 /* of each that sends */

struct value {
	uint32_t sender;
	uint32_t number;
	uint64_t check; /* a value that was torn shows */
};

struct end {
	struct sley_task task;
	struct traffic *traffic;
	uint32_t index;
	uint32_t number;  /* of the value it sends next                    */
	int64_t nr;       /* sent less received                            */
	uint64_t sum;     /* the same of the checks                        */
	struct value in;  /* what all its cases receive into               */
	struct value out; /* and send from                                 */
	uint32_t next[NR_CHANS][NR_ENDS]; /* the least number due             */
};

struct traffic {
	struct sley_chan *chan[NR_CHANS];
	struct end ends[NR_ENDS];
	atomic_bool over;
};

static uint64_t check_of(const struct value *value)
{
	return (value->sender + 1) * 0x9e3779b97f4a7c15ULL ^ value->number;
}

static int channel_of(const struct traffic *t, const struct sley_case *c)
{
	int i = 0;

	while (t->chan[i] != c->chan)
		i++;
	return i;
}

static int select_somehow(struct sley_case *cases, size_t nr)
{
	switch (test_random(3)) {
	case 0:
		return sley_select(cases, nr);
	case 1:
		return sley_select_until(cases, nr, soon());
	default:
		return sley_try_select(cases, nr);
	}
}

static void prepare(struct end *end)
{
	end->in = (struct value){ UINT32_MAX, 0, 0 };
	end->out = (struct value){ end->index, end->number, 0 };
	end->out.check = check_of(&end->out);
}

static void sent(struct end *end)
{
	CHECK_EQ(end->in.sender, UINT32_MAX);
	end->number++;
	end->nr++;
	end->sum += end->out.check;
}

static void received(struct end *end, int channel)
{
	const struct value *value = &end->in;
	uint32_t *next;

	CHECK_LT(value->sender, NR_ENDS);
	CHECK(value->check == check_of(value));
	next = &end->next[channel][value->sender];
	CHECK_GE(value->number, *next);
	*next = value->number + 1;
	end->nr--;
	end->sum -= value->check;
}

/* False: cancelled. */
static bool went(struct end *end, const struct sley_case *cases, int result)
{
	if (result < 0) {
		CHECK(result == -ETIMEDOUT || result == -EAGAIN ||
		      result == -ECANCELED);
		CHECK_EQ(end->in.sender, UINT32_MAX);
		return result != -ECANCELED;
	}
	CHECK_EQ(cases[result].status, 0);
	if (cases[result].kind == SLEY_SEND)
		sent(end);
	else
		received(end, channel_of(end->traffic, &cases[result]));
	return true;
}

static struct sley_chan *some_channel(const struct traffic *t)
{
	return t->chan[test_random(NR_CHANS)];
}

static void produce(void *arg)
{
	struct end *end = arg;
	struct sley_case cases[NR_CASES];

	for (int i = 0; i < NR_VALUES; i++) {
		size_t nr = 1 + test_random(NR_CASES);

		prepare(end);
		for (size_t k = 0; k < nr; k++)
			cases[k] = (struct sley_case)SLEY_CASE_SEND(
				some_channel(end->traffic), &end->out);
		if (!went(end, cases, select_somehow(cases, nr)))
			return;
		dawdle();
	}
}

/* Never without a deadline: the others may have ended. */
static void trade(void *arg)
{
	struct end *end = arg;
	struct sley_case cases[NR_CASES];

	for (int i = 0; i < NR_VALUES; i++) {
		size_t nr = 1 + test_random(NR_CASES);

		prepare(end);
		for (size_t k = 0; k < nr; k++) {
			cases[k] = (struct sley_case)SLEY_CASE_SEND(
				some_channel(end->traffic), &end->out);
			if (one_in(2))
				cases[k] = (struct sley_case)SLEY_CASE_RECV(
					cases[k].chan, &end->in);
		}
		if (!went(end, cases, sley_select_until(cases, nr, soon())))
			return;
		dawdle();
	}
}

/* Until all channels are closed and empty. */
static void consume(void *arg)
{
	struct end *end = arg;
	struct sley_case cases[NR_CHANS];
	int left = NR_CHANS;

	for (int i = 0; i < NR_CHANS; i++)
		cases[i] = (struct sley_case)SLEY_CASE_RECV(
			end->traffic->chan[i], &end->in);
	while (left) {
		int result;

		prepare(end);
		result = select_somehow(cases, NR_CHANS);
		if (result >= 0 && cases[result].status == -EPIPE) {
			cases[result].chan = NULL;
			left--;
		} else if (!went(end, cases, result)) {
			return;
		} else if (result < 0) {
			dawdle();
		}
	}
}

static void *run_end(void *arg)
{
	struct end *end = arg;

	if (end->index < NR_EACH)
		produce(end);
	else if (end->index < 2 * NR_EACH)
		trade(end);
	else
		consume(end);
	return NULL;
}

static void run_end_as_task(void *arg)
{
	(void)run_end(arg);
}

static void *cancel_some(void *arg)
{
	struct traffic *t = arg;

	while (!atomic_load(&t->over)) {
		test_nap_ms(1);
		sley_cancel(&t->ends[test_random(3) * NR_EACH +
				     test_random(NR_TASKS)]
				     .task);
	}
	return NULL;
}

static void open_traffic(struct traffic *t)
{
	static const size_t capacities[] = { 0, 0, 1, 7, SLEY_UNBOUNDED };

	memset(t, 0, sizeof(*t));
	for (int i = 0; i < NR_CHANS; i++) {
		size_t capacity = capacities[test_random(5)];

		CHECK_EQ(sley_chan_create(&t->chan[i], sizeof(struct value),
					  capacity),
			 0);
	}
	for (uint32_t i = 0; i < NR_ENDS; i++) {
		t->ends[i].traffic = t;
		t->ends[i].index = i;
	}
}

static void close_traffic(struct traffic *t)
{
	uint64_t sum = 0, nr_sent = 0;
	int64_t nr = 0;

	for (int i = 0; i < NR_ENDS; i++) {
		nr += t->ends[i].nr;
		sum += t->ends[i].sum;
		nr_sent += t->ends[i].number;
	}
	test_count(nr_sent);
	CHECK_EQ(nr, 0);
	CHECK_EQ(sum, 0);
	for (int i = 0; i < NR_CHANS; i++) {
		CHECK_EQ(sley_chan_length(t->chan[i]), 0);
		sley_chan_destroy(t->chan[i]);
	}
}

static void run_traffic(void)
{
	static struct traffic t;
	struct sley_group group[3] = { SLEY_GROUP_INIT, SLEY_GROUP_INIT,
				       SLEY_GROUP_INIT };
	pthread_t threads[NR_ENDS], canceller;

	open_traffic(&t);
	for (int i = 0; i < NR_ENDS; i++) {
		if (i % NR_EACH < NR_TASKS)
			sley_spawn(&group[i / NR_EACH], &t.ends[i].task,
				   run_end_as_task, &t.ends[i]);
		else
			threads[i] = test_thread(run_end, &t.ends[i]);
	}
	canceller = test_thread(cancel_some, &t);
	for (int kind = 0; kind < 3; kind++) {
		if (kind == 2)
			for (int i = 0; i < NR_CHANS; i++)
				sley_chan_close(t.chan[i]);
		sley_join(&group[kind]);
		for (int i = NR_TASKS; i < NR_EACH; i++)
			pthread_join(threads[kind * NR_EACH + i], NULL);
	}
	atomic_store(&t.over, true);
	pthread_join(canceller, NULL);
	close_traffic(&t);
}

STRESS(selects_lose_double_and_reorder_nothing, run_traffic);
