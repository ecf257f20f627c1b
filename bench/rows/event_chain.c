/* SPDX-License-Identifier: MIT */
/*
 * event_chain.c - row `event-chain`: 512 tasks; each task waits for the event of the
 * task before, and then sets an event of its own.  The last task is spawned first,
 * so that each task has to wait.  Time per chain.
 */
#include "rows.h"

struct link {
	struct sley_event event;
	struct sley_task task; /* sets the event of the next link */
};

static void pass_on(void *arg)
{
	struct link *link = arg;

	if (sley_event_wait(&link[0].event) == 0)
		sley_event_set(&link[1].event);
}

static void chain(const struct measure *m)
{
	static struct link links[CHAIN_LINKS + 1];
	struct sley_group group = SLEY_GROUP_INIT;

	for (int i = 0; i <= CHAIN_LINKS; i++)
		sley_event_init(&links[i].event, false, false);
	for (int i = CHAIN_LINKS; i-- > 0;)
		sley_spawn(&group, &links[i].task, pass_on, &links[i]);
	sley_event_set(&links[0].event);
	MEASURE_CHECK(m, sley_event_wait(&links[CHAIN_LINKS].event) == 0);
	sley_join(&group);
}

static void root(void *arg)
{
	const struct measure *m = arg;
	uint64_t nr = measure_size(m, CHAINS), start;

	chain(m);
	start = measure_now();
	for (uint64_t i = 0; i < nr; i++)
		chain(m);
	measure_report("us",
		       (double)(measure_now() - start) / 1e3 / (double)nr);
}

void row_event_chain(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
