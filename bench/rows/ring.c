/* SPDX-License-Identifier: MIT */
/*
 * ring.c - row `ring`: one token goes round among 1,000 processes.
 *
 * The token counts down.  At 0, one more trip around the ring adds up the hops that
 * each process has seen.
 */
#include "actors.h"

enum { TOKEN, NEXT, SUM };

struct station {
	struct answer *answer;
	sley_pid next;
	uint64_t seen;
};

struct sum {
	uint64_t stations;
	uint64_t hops;
};

static void pass_sum(struct station *s, const struct sum *before)
{
	struct sum sum = { before->stations + 1, before->hops + s->seen };

	if (sum.stations == RING_PROCESSES)
		answer_give(s->answer, sum.hops);
	else
		sley_send(s->next, SUM, &sum, sizeof(sum));
}

static void pass_token(struct station *s, uint64_t left)
{
	static const struct sum nothing;

	if (left == 0) {
		sley_send(s->next, SUM, &nothing, sizeof(nothing));
		return;
	}
	s->seen++;
	actors_send(s->next, TOKEN, left - 1);
}

static enum sley_step station_step(void *self, struct sley_msg *const *msg,
				   size_t nr, struct sley_out *out)
{
	struct station *s = self;

	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->tag == SUM) {
			pass_sum(s, msg[i]->data);
			return sley_out_done(out, 0);
		}
		if (msg[i]->tag == NEXT)
			s->next = actors_word(msg[i]);
		else
			pass_token(s, actors_word(msg[i]));
	}
	return SLEY_WAIT;
}

static const struct sley_behaviour station = {
	.name = "station",
	.size = sizeof(struct station),
	.init = actors_init,
	.step = station_step,
};

static void ring(const struct measure *m, uint64_t hops)
{
	struct answer answer = ANSWER_INIT;
	struct station s = { .answer = &answer };
	sley_pid first = actors_spawn(m, &station, &s);

	s.next = first;
	for (int i = 1; i < RING_PROCESSES; i++)
		s.next = actors_spawn(m, &station, &s);
	actors_send(first, NEXT, s.next);
	actors_send(first, TOKEN, hops);
	MEASURE_CHECK(m, answer_take(&answer) == hops);
}

void row_ring(const struct measure *m)
{
	actors_run(m, ring, "ns", RING_HOPS, 1);
}
