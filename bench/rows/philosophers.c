/* SPDX-License-Identifier: MIT */
/*
 * philosophers.c - row `philosophers`: 20 philosophers, 20 forks, an arbitrator.
 *
 * A hungry philosopher asks the arbitrator for both forks.  The arbitrator says eat,
 * or denies the forks; then the philosopher asks again.
 */
#include "actors.h"

enum { HUNGRY, EAT, DENIED, DONE, FULL };

/* ---- philosophers ---------------------------------------------------------------- */

struct philosopher {
	sley_pid arbitrator;
	uint64_t me;
	uint64_t meals; /* that are left */
};

static enum sley_step philosopher_step(void *self, struct sley_msg *const *msg,
				       size_t nr, struct sley_out *out)
{
	struct philosopher *p = self;

	if (nr > 0 && msg[0]->tag == EAT) {
		actors_send(p->arbitrator, DONE, p->me);
		if (--p->meals == 0) {
			actors_send(p->arbitrator, FULL, 0);
			return sley_out_done(out, 0);
		}
	}
	actors_send(p->arbitrator, HUNGRY, p->me);
	return SLEY_WAIT;
}

static const struct sley_behaviour philosopher = {
	.name = "philosopher",
	.size = sizeof(struct philosopher),
	.init = actors_init,
	.step = philosopher_step,
};

/* ---- the arbitrator --------------------------------------------------------------- */

struct arbitrator {
	struct answer *answer;
	uint64_t eaten;
	int guests;
	bool taken[PHILOSOPHERS];
};

static void set_forks(struct arbitrator *a, uint64_t who, bool taken)
{
	a->taken[who] = taken;
	a->taken[(who + 1) % PHILOSOPHERS] = taken;
}

static bool may_eat(const struct arbitrator *a, uint64_t who)
{
	return !a->taken[who] && !a->taken[(who + 1) % PHILOSOPHERS];
}

static void arbitrate(struct arbitrator *a, const struct sley_msg *msg)
{
	uint64_t who = actors_word(msg);

	if (msg->tag == FULL) {
		a->guests--;
	} else if (msg->tag == DONE) {
		set_forks(a, who, false);
		a->eaten++;
	} else if (may_eat(a, who)) {
		set_forks(a, who, true);
		sley_send(msg->from, EAT, NULL, 0);
	} else {
		sley_send(msg->from, DENIED, NULL, 0);
	}
}

static enum sley_step arbitrator_step(void *self, struct sley_msg *const *msg,
				      size_t nr, struct sley_out *out)
{
	struct arbitrator *a = self;

	for (size_t i = 0; i < nr; i++)
		arbitrate(a, msg[i]);
	if (a->guests > 0)
		return SLEY_WAIT;
	answer_give(a->answer, a->eaten);
	return sley_out_done(out, 0);
}

static const struct sley_behaviour arbitrator = {
	.name = "arbitrator",
	.size = sizeof(struct arbitrator),
	.init = actors_init,
	.step = arbitrator_step,
};

static void dinner(const struct measure *m, uint64_t meals)
{
	struct answer answer = ANSWER_INIT;
	struct arbitrator a = { .answer = &answer, .guests = PHILOSOPHERS };
	struct philosopher p = {
		.arbitrator = actors_spawn(m, &arbitrator, &a),
		.meals = meals,
	};

	for (p.me = 0; p.me < PHILOSOPHERS; p.me++)
		actors_spawn(m, &philosopher, &p);
	MEASURE_CHECK(m, answer_take(&answer) == PHILOSOPHERS * meals);
}

void row_philosophers(const struct measure *m)
{
	actors_run(m, dinner, "ns", PHILOSOPHERS_MEALS, PHILOSOPHERS);
}
