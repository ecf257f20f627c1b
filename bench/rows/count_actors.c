/* SPDX-License-Identifier: MIT */
/*
 * count_actors.c - row `count`: a process sends many messages that add 1 to the
 * counter of a second process, and then asks for the sum.
 */
#include "actors.h"

enum { ADD, GET };

struct counter {
	uint64_t sum;
};

static enum sley_step counter_step(void *self, struct sley_msg *const *msg,
				   size_t nr, struct sley_out *out)
{
	struct counter *c = self;

	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->tag == GET) {
			actors_send(msg[i]->from, GET, c->sum);
			return sley_out_done(out, 0);
		}
		c->sum += actors_word(msg[i]);
	}
	return SLEY_WAIT;
}

struct adder {
	struct answer *answer;
	sley_pid counter;
	uint64_t left;
};

static enum sley_step adder_step(void *self, struct sley_msg *const *msg,
				 size_t nr, struct sley_out *out)
{
	struct adder *a = self;

	if (nr > 0) {
		answer_give(a->answer, actors_word(msg[0]));
		return sley_out_done(out, 0);
	}
	for (int i = 0; i < ACTORS_CHUNK && a->left > 0; i++, a->left--)
		actors_send(a->counter, ADD, 1);
	if (a->left > 0)
		return SLEY_CONTINUE;
	actors_send(a->counter, GET, 0);
	return SLEY_WAIT;
}

static const struct sley_behaviour counter = {
	.name = "counter",
	.size = sizeof(struct counter),
	.step = counter_step,
};

static const struct sley_behaviour adder = {
	.name = "adder",
	.size = sizeof(struct adder),
	.init = actors_init,
	.step = adder_step,
};

static void count(const struct measure *m, uint64_t nr)
{
	struct answer answer = ANSWER_INIT;
	struct adder a = {
		.answer = &answer,
		.counter = actors_spawn(m, &counter, NULL),
		.left = nr,
	};

	actors_spawn(m, &adder, &a);
	MEASURE_CHECK(m, answer_take(&answer) == nr);
}

void row_count(const struct measure *m)
{
	actors_run(m, count, "ns", COUNT_MESSAGES, 1);
}
