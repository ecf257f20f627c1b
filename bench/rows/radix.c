/* SPDX-License-Identifier: MIT */
/*
 * radix.c - row `radix`: numbers go through a pipeline with a process for each bit
 * of a number, and come out sorted.
 *
 * A process passes on numbers with bit 0 at once.  Numbers with bit 1 wait in the
 * process until all numbers have come.
 */
#include "actors.h"

#include "../problems/minstd.h"

/* ---- the pipeline ------------------------------------------------------------------- */

struct stage {
	sley_pid next;
	uint64_t bit;
	uint64_t left; /* numbers that are still to come */
	uint64_t nr;   /* that were kept                 */
	uint64_t passed;
	uint64_t *kept;
};

static int stage_init(void *self, const char *method, const void *input,
		      size_t size)
{
	struct stage *s = self;

	actors_init(self, method, input, size);
	s->kept = calloc(s->left, sizeof(*s->kept));
	return s->kept != NULL ? 0 : -ENOMEM;
}

static void stage_close(void *self, int reason)
{
	struct stage *s = self;

	(void)reason;
	free(s->kept);
}

static enum sley_step stage_step(void *self, struct sley_msg *const *msg,
				 size_t nr, struct sley_out *out)
{
	struct stage *s = self;

	for (size_t i = 0; i < nr; i++) {
		uint64_t number = actors_word(msg[i]);

		if ((number & s->bit) == 0)
			actors_send(s->next, 0, number);
		else
			s->kept[s->nr++] = number;
	}
	s->left -= nr;
	if (s->left > 0)
		return SLEY_WAIT;
	for (int i = 0; i < ACTORS_CHUNK && s->passed < s->nr; i++)
		actors_send(s->next, 0, s->kept[s->passed++]);
	return s->passed < s->nr ? SLEY_CONTINUE : sley_out_done(out, 0);
}

static const struct sley_behaviour stage = {
	.name = "stage",
	.size = sizeof(struct stage),
	.init = stage_init,
	.step = stage_step,
	.close = stage_close,
};

/* ---- the ends of the pipeline -------------------------------------------------------- */

struct source {
	sley_pid next;
	uint64_t seed;
	uint64_t left;
};

static enum sley_step source_step(void *self, struct sley_msg *const *msg,
				  size_t nr, struct sley_out *out)
{
	struct source *s = self;

	(void)msg, (void)nr;
	for (int i = 0; i < ACTORS_CHUNK && s->left > 0; i++, s->left--) {
		s->seed = minstd(s->seed);
		actors_send(s->next, 0, s->seed % (1u << RADIX_BITS));
	}
	return s->left > 0 ? SLEY_CONTINUE : sley_out_done(out, 0);
}

static const struct sley_behaviour source = {
	.name = "source",
	.size = sizeof(struct source),
	.init = actors_init,
	.step = source_step,
};

struct end {
	struct answer *answer;
	uint64_t left;
	uint64_t last;
	uint64_t sum;
	uint64_t wrong; /* below the number before */
};

static enum sley_step end_step(void *self, struct sley_msg *const *msg,
			       size_t nr, struct sley_out *out)
{
	struct end *e = self;

	for (size_t i = 0; i < nr; i++) {
		uint64_t number = actors_word(msg[i]);

		e->wrong += number < e->last;
		e->last = number;
		e->sum += number;
	}
	e->left -= nr;
	if (e->left > 0)
		return SLEY_WAIT;
	answer_give(e->answer, e->wrong > 0 ? 0 : e->sum);
	return sley_out_done(out, 0);
}

static const struct sley_behaviour end = {
	.name = "end",
	.size = sizeof(struct end),
	.init = actors_init,
	.step = end_step,
};

static void sort(const struct measure *m, uint64_t nr)
{
	struct answer answer = ANSWER_INIT;
	struct end last = { .answer = &answer, .left = nr };
	struct stage s = { .next = actors_spawn(m, &end, &last), .left = nr };
	struct source first = { .seed = 1, .left = nr };
	uint64_t sum = 0;

	for (s.bit = 1u << (RADIX_BITS - 1); s.bit > 0; s.bit >>= 1)
		s.next = actors_spawn(m, &stage, &s);
	first.next = s.next;
	actors_spawn(m, &source, &first);
	for (uint64_t i = 0, seed = 1; i < nr; i++) {
		seed = minstd(seed);
		sum += seed % (1u << RADIX_BITS);
	}
	MEASURE_CHECK(m, answer_take(&answer) == sum);
}

void row_radix(const struct measure *m)
{
	actors_run(m, sort, "ns", RADIX_NUMBERS, RADIX_BITS);
}
