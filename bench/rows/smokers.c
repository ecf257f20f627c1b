/* SPDX-License-Identifier: MIT */
/*
 * smokers.c - row `smokers`: an arbiter lets one of 200 smokers after the other
 * smoke for a while; the next smoker is told as soon as the last has begun.
 */
#include "actors.h"

#include "../problems/minstd.h"

enum { SMOKE, SMOKING, STOP, SMOKED };

/* ---- smokers ------------------------------------------------------------------------ */

struct smoker {
	uint64_t seed; /* of the work while smoking */
	uint64_t smoked;
};

static enum sley_step smoker_step(void *self, struct sley_msg *const *msg,
				  size_t nr, struct sley_out *out)
{
	struct smoker *s = self;

	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->tag == STOP) {
			actors_send(msg[i]->from, SMOKED, s->smoked);
			return sley_out_done(out, 0);
		}
		sley_send(msg[i]->from, SMOKING, NULL, 0);
		s->smoked++;
		for (uint64_t j = actors_word(msg[i]); j > 0; j--)
			s->seed = minstd(s->seed);
	}
	return SLEY_WAIT;
}

static const struct sley_behaviour smoker = {
	.name = "smoker",
	.size = sizeof(struct smoker),
	.init = actors_init,
	.step = smoker_step,
};

/* ---- the arbiter -------------------------------------------------------------------- */

struct arbiter {
	struct answer *answer;
	uint64_t seed;
	uint64_t rounds; /* that are left */
	uint64_t smoked;
	int gone;
	sley_pid smokers[SMOKERS];
};

static void choose(struct arbiter *a)
{
	if (a->rounds-- > 0) {
		a->seed = minstd(a->seed);
		actors_send(a->smokers[a->seed % SMOKERS], SMOKE, a->seed % 16);
		return;
	}
	for (int i = 0; i < SMOKERS; i++)
		sley_send(a->smokers[i], STOP, NULL, 0);
}

static enum sley_step arbiter_step(void *self, struct sley_msg *const *msg,
				   size_t nr, struct sley_out *out)
{
	struct arbiter *a = self;

	if (nr == 0)
		choose(a);
	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->tag == SMOKING) {
			choose(a);
			continue;
		}
		a->smoked += actors_word(msg[i]);
		a->gone++;
	}
	if (a->gone < SMOKERS)
		return SLEY_WAIT;
	answer_give(a->answer, a->smoked);
	return sley_out_done(out, 0);
}

static const struct sley_behaviour arbiter = {
	.name = "arbiter",
	.size = sizeof(struct arbiter),
	.init = actors_init,
	.step = arbiter_step,
};

static void smoke(const struct measure *m, uint64_t rounds)
{
	struct answer answer = ANSWER_INIT;
	struct arbiter a = { .answer = &answer, .seed = 1, .rounds = rounds };
	struct smoker s = { 0 };

	for (uint64_t i = 0; i < SMOKERS; i++) {
		s.seed = i + 1;
		a.smokers[i] = actors_spawn(m, &smoker, &s);
	}
	actors_spawn(m, &arbiter, &a);
	MEASURE_CHECK(m, answer_take(&answer) == rounds);
}

void row_smokers(const struct measure *m)
{
	actors_run(m, smoke, "ns", SMOKERS_ROUNDS, 1);
}
