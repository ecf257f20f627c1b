/* SPDX-License-Identifier: MIT */
/*
 * big.c - row `big`: 120 processes; each process asks a random process, waits for
 * the answer, and asks again.
 *
 * Each process tells a sink after its last question.  When all have, the sink tells
 * all processes to stop, and adds up how often each process was asked.
 */
#include "actors.h"

#include "../problems/minstd.h"

enum { ALL, PING, PONG, DONE, STOP, SEEN };

struct all {
	struct answer *answer;
	uint64_t pings; /* of each */
	sley_pid sink;
	sley_pid pids[BIG_PROCESSES];
};

/* ---- the talkers --------------------------------------------------------------- */

struct talker {
	const struct all *all;
	uint64_t seed;
	uint64_t asked;
	uint64_t seen;
};

static void ask(struct talker *t)
{
	t->seed = minstd(t->seed);
	actors_send(t->all->pids[t->seed % BIG_PROCESSES], PING, t->asked);
}

static void hear(struct talker *t, uint64_t value)
{
	if (value == t->asked + 1)
		t->asked++;
	if (t->asked < t->all->pings)
		ask(t);
	else
		actors_send(t->all->sink, DONE, 0);
}

static enum sley_step talker_step(void *self, struct sley_msg *const *msg,
				  size_t nr, struct sley_out *out)
{
	struct talker *t = self;

	for (size_t i = 0; i < nr; i++) {
		switch (msg[i]->tag) {
		case PING:
			t->seen++;
			actors_send(msg[i]->from, PONG,
				    actors_word(msg[i]) + 1);
			break;
		case PONG:
			hear(t, actors_word(msg[i]));
			break;
		case STOP:
			actors_send(t->all->sink, SEEN, t->seen);
			return sley_out_done(out, 0);
		default:
			ask(t);
		}
	}
	return SLEY_WAIT;
}

static const struct sley_behaviour talker = {
	.name = "talker",
	.size = sizeof(struct talker),
	.init = actors_init,
	.step = talker_step,
};

/* ---- the sink ------------------------------------------------------------------- */

struct sink {
	const struct all *all;
	uint64_t sum;
	int done;
	int seen;
};

static void tell(const struct all *all, uint64_t tag)
{
	for (int i = 0; i < BIG_PROCESSES; i++)
		actors_send(all->pids[i], tag, 0);
}

static enum sley_step sink_step(void *self, struct sley_msg *const *msg,
				size_t nr, struct sley_out *out)
{
	struct sink *s = self;

	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->tag == DONE) {
			if (++s->done == BIG_PROCESSES)
				tell(s->all, STOP);
			continue;
		}
		s->sum += actors_word(msg[i]);
		if (++s->seen == BIG_PROCESSES) {
			answer_give(s->all->answer, s->sum);
			return sley_out_done(out, 0);
		}
	}
	return SLEY_WAIT;
}

static const struct sley_behaviour sink = {
	.name = "sink",
	.size = sizeof(struct sink),
	.init = actors_init,
	.step = sink_step,
};

static void big(const struct measure *m, uint64_t pings)
{
	struct answer answer = ANSWER_INIT;
	struct all all = { .answer = &answer, .pings = pings };
	struct sink s = { .all = &all };
	struct talker t = { .all = &all };

	all.sink = actors_spawn(m, &sink, &s);
	for (int i = 0; i < BIG_PROCESSES; i++) {
		t.seed = (uint64_t)i + 1;
		all.pids[i] = actors_spawn(m, &talker, &t);
	}
	tell(&all, ALL);
	MEASURE_CHECK(m, answer_take(&answer) == BIG_PROCESSES * pings);
}

void row_big(const struct measure *m)
{
	actors_run(m, big, "ns", BIG_PINGS, BIG_PROCESSES);
}
