/* SPDX-License-Identifier: MIT */
/*
 * chan.c - rows `chan` and `chan-cross`: a value goes to another task over one
 * channel and comes back over a second channel.
 *
 * For `chan-cross` both tasks first meet in a loop that does not yield.  So the two
 * tasks are on two workers.  A task resumes on the worker where the task blocked, so
 * the tasks stay there.  Each task pins its worker to a CPU.
 */
#include "rows.h"

struct trip {
	const struct measure *m;
	const char *metric;
	size_t capacity;
	bool cross;
	struct sley_chan *to, *fro;
	uint64_t nr;
	uint64_t right;   /* values that came back unchanged      */
	uint64_t arrived; /* at the meeting                       */
	int workers[2];   /* the worker of each task              */
};

/* Waits without yielding until both tasks are here. */
static void meet(struct trip *t, int me)
{
	uint64_t start = measure_now();

	if (!t->cross)
		return;
	measure_pin(me);
	__atomic_fetch_add(&t->arrived, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&t->arrived, __ATOMIC_ACQUIRE) < 2) {
		measure_pause();
		MEASURE_CHECK(t->m, measure_now() - start < 10 * SLEY_SEC);
	}
}

static void ping(void *arg)
{
	struct trip *t = arg;
	uint64_t start, value;

	meet(t, 0);
	start = measure_now();
	for (uint64_t i = 0; i < t->nr; i++) {
		sley_chan_send(t->to, &i);
		if (sley_chan_recv(t->fro, &value) == 0)
			t->right += value == i + 1;
	}
	measure_report_each(t->metric, start, t->nr);
	t->workers[0] = sley_worker();
}

static void pong(void *arg)
{
	struct trip *t = arg;
	uint64_t value;

	meet(t, 1);
	for (uint64_t i = 0; i < t->nr; i++) {
		if (sley_chan_recv(t->to, &value) != 0)
			break;
		value++;
		sley_chan_send(t->fro, &value);
	}
	t->workers[1] = sley_worker();
}

static void root(void *arg)
{
	struct trip *t = arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[2];

	sley_spawn(&group, &tasks[0], pong, t);
	sley_spawn(&group, &tasks[1], ping, t);
	sley_join(&group);
}

static void round_trips(const struct measure *m, const char *metric,
			size_t capacity, bool cross)
{
	struct trip t = {
		.m = m,
		.metric = metric,
		.cross = cross,
		.nr = measure_size(m, CHAN_TRIPS),
	};

	MEASURE_CHECK(m,
		      sley_chan_create(&t.to, sizeof(uint64_t), capacity) == 0);
	MEASURE_CHECK(m, sley_chan_create(&t.fro, sizeof(uint64_t), capacity) ==
				 0);
	row_run(m, root, &t);
	MEASURE_CHECK(m, t.right == t.nr);
	MEASURE_CHECK(m, !cross || t.workers[0] != t.workers[1]);
	sley_chan_destroy(t.to);
	sley_chan_destroy(t.fro);
}

void row_chan(const struct measure *m)
{
	round_trips(m, "ns", 0, false);
	round_trips(m, "buffered_ns", 1, false);
}

void row_chan_cross(const struct measure *m)
{
	if (CPU_COUNT(measure_cpus()) < 2) {
		fprintf(stderr, "chan-cross: needs 2 CPUs\n");
		exit(MEASURE_SKIP);
	}
	round_trips(m, "ns", 0, true);
}
