/* SPDX-License-Identifier: MIT */
/*
 * fanin.c - row `fanin`: 8 producers, one channel, one consumer.
 */
#include "rows.h"

struct fanin {
	const struct measure *m;
	struct sley_chan *mailbox;
	uint64_t each;
	uint64_t sum;
};

static void produce(void *arg)
{
	struct fanin *f = arg;

	for (uint64_t i = 0; i < f->each; i++)
		sley_chan_send(f->mailbox, &i);
}

static void consume(void *arg)
{
	struct fanin *f = arg;
	uint64_t value;

	for (uint64_t i = 0; i < FANIN_PRODUCERS * f->each; i++) {
		if (sley_chan_recv(f->mailbox, &value) != 0)
			break;
		f->sum += value;
	}
}

static void root(void *arg)
{
	struct fanin *f = arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[FANIN_PRODUCERS];
	uint64_t start = measure_now();

	for (int i = 0; i < FANIN_PRODUCERS; i++)
		sley_spawn(&group, &tasks[i], produce, f);
	consume(f);
	measure_report_each("ns", start, FANIN_PRODUCERS * f->each);
	sley_join(&group);
}

void row_fanin(const struct measure *m)
{
	struct fanin f = { .m = m, .each = measure_size(m, FANIN_EACH) };

	MEASURE_CHECK(m, sley_chan_create(&f.mailbox, sizeof(uint64_t),
					  FANIN_CAPACITY) == 0);
	row_run(m, root, &f);
	MEASURE_CHECK(m,
		      f.sum == FANIN_PRODUCERS * (f.each * (f.each - 1) / 2));
	sley_chan_destroy(f.mailbox);
}
