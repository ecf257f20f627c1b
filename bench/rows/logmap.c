/* SPDX-License-Identifier: MIT */
/*
 * logmap.c - row `logmap`: ten series of terms x' = r x (1 - x).  Each series is a
 * process, and has a computer, which is also a process.
 *
 * A master asks each series for the next term many times.  A series calls its
 * computer, and leaves other messages in the mailbox meanwhile: so a series is an
 * actor.
 */
#include "actors.h"

enum { NEXT, TERM, STOP };

static double rate_of(int i)
{
	return 3.5 + (i + 1) * 0.025;
}

static double start_of(int i)
{
	return (i + 1) * 0.05;
}

/* ---- computers ----------------------------------------------------------------------- */

struct computer {
	double rate;
};

static enum sley_step computer_step(void *self, struct sley_msg *const *msg,
				    size_t nr, struct sley_out *out)
{
	const struct computer *c = self;

	for (size_t i = 0; i < nr; i++) {
		double term;

		if (msg[i]->tag == STOP)
			return sley_out_done(out, 0);
		term = *(const double *)msg[i]->data;
		term = c->rate * term * (1 - term);
		sley_reply(msg[i], TERM, &term, sizeof(term));
	}
	return SLEY_WAIT;
}

static const struct sley_behaviour computer = {
	.name = "computer",
	.size = sizeof(struct computer),
	.init = actors_init,
	.step = computer_step,
};

/* ---- series --------------------------------------------------------------------------- */

struct series {
	sley_pid computer;
	double term;
};

static int series(void *arg)
{
	struct series *s = arg;
	struct sley_msg *msg, *reply;

	while (sley_receive(&msg) == 0) {
		if (msg->tag == TERM) {
			sley_send(s->computer, STOP, NULL, 0);
			sley_reply(msg, TERM, &s->term, sizeof(s->term));
			return 0;
		}
		if (sley_call(s->computer, TERM, &s->term, sizeof(s->term),
			      &reply) != 0)
			return -EIO;
		s->term = *(const double *)reply->data;
		sley_msg_free(reply);
	}
	return -EIO;
}

/* ---- the master ----------------------------------------------------------------------- */

struct master {
	struct answer *answer;
	uint64_t left;
	sley_pid series[LOGMAP_SERIES];
};

static enum sley_step master_step(void *self, struct sley_msg *const *msg,
				  size_t nr, struct sley_out *out)
{
	struct master *m = self;

	(void)msg, (void)nr;
	for (int i = 0; i < ACTORS_CHUNK / LOGMAP_SERIES && m->left > 0; i++) {
		for (int j = 0; j < LOGMAP_SERIES; j++)
			sley_send(m->series[j], NEXT, NULL, 0);
		m->left--;
	}
	if (m->left > 0)
		return SLEY_CONTINUE;
	answer_give(m->answer, 0);
	return sley_out_done(out, 0);
}

static const struct sley_behaviour master = {
	.name = "master",
	.size = sizeof(struct master),
	.init = actors_init,
	.step = master_step,
};

static double last_term(const struct measure *m, sley_pid pid)
{
	struct sley_msg *reply;
	double term;

	MEASURE_CHECK(m, sley_call(pid, TERM, NULL, 0, &reply) == 0);
	term = *(const double *)reply->data;
	sley_msg_free(reply);
	return term;
}

static void iterate(const struct measure *m, uint64_t terms)
{
	struct answer answer = ANSWER_INIT;
	struct series all[LOGMAP_SERIES];
	struct master first = { .answer = &answer, .left = terms };

	for (int i = 0; i < LOGMAP_SERIES; i++) {
		struct computer c = { .rate = rate_of(i) };

		all[i].computer = actors_spawn(m, &computer, &c);
		all[i].term = start_of(i);
		first.series[i] = actors_spawn_fiber(m, series, &all[i]);
	}
	actors_spawn(m, &master, &first);
	answer_take(&answer);
	for (int i = 0; i < LOGMAP_SERIES; i++) {
		double right = start_of(i);

		for (uint64_t j = 0; j < terms; j++)
			right = rate_of(i) * right * (1 - right);
		MEASURE_CHECK(m, last_term(m, first.series[i]) == right);
	}
}

void row_logmap(const struct measure *m)
{
	actors_run(m, iterate, "ns", LOGMAP_TERMS, LOGMAP_SERIES);
}
