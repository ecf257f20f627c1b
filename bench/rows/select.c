/* SPDX-License-Identifier: MIT */
/*
 * select.c - row `select`: a task selects over two unbuffered channels; a second
 * task sends over the two channels in turn, and waits for the answer.
 */
#include "rows.h"

struct selecting {
	const struct measure *m;
	struct sley_chan *ask[2], *answer;
	uint64_t nr;
	uint64_t right;
};

static void select_often(void *arg)
{
	struct selecting *s = arg;

	for (uint64_t i = 0; i < s->nr; i++) {
		uint64_t a = 0, b = 0;
		struct sley_case cases[] = {
			SLEY_CASE_RECV(s->ask[0], &a),
			SLEY_CASE_RECV(s->ask[1], &b),
		};
		int which = sley_select(cases, 2);

		MEASURE_CHECK(s->m, which == (int)(i & 1));
		a += b + 1;
		sley_chan_send(s->answer, &a);
	}
}

static void root(void *arg)
{
	struct selecting *s = arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	uint64_t start = measure_now(), value;

	sley_spawn(&group, &task, select_often, s);
	for (uint64_t i = 0; i < s->nr; i++) {
		sley_chan_send(s->ask[i & 1], &i);
		if (sley_chan_recv(s->answer, &value) == 0)
			s->right += value == i + 1;
	}
	measure_report_each("ns", start, s->nr);
	sley_join(&group);
	MEASURE_CHECK(s->m, s->right == s->nr);
}

void row_select(const struct measure *m)
{
	struct selecting s = { .m = m, .nr = measure_size(m, SELECT_TRIPS) };
	struct sley_chan **all[] = { &s.ask[0], &s.ask[1], &s.answer };

	for (int i = 0; i < 3; i++)
		MEASURE_CHECK(m, sley_chan_create(all[i], sizeof(uint64_t),
						  0) == 0);
	row_run(m, root, &s);
	for (int i = 0; i < 3; i++)
		sley_chan_destroy(*all[i]);
}
