/* SPDX-License-Identifier: MIT */
/*
 * sieve.c - row `sieve`: the primes below 100,000, by a chain of processes.
 *
 * Each process keeps the first hundred primes that arrive, and passes on the numbers
 * that these primes do not divide.  The next process is spawned on demand.
 */
#include "actors.h"

enum { NUMBER, STOP };

/* ---- filters ---------------------------------------------------------------------- */

struct filter {
	const struct measure *m;
	struct answer *answer;
	sley_pid next;
	uint64_t nr;
	uint64_t primes[SIEVE_PRIMES];
};

static enum sley_step filter_step(void *self, struct sley_msg *const *msg,
				  size_t nr, struct sley_out *out);

static const struct sley_behaviour filter = {
	.name = "filter",
	.size = sizeof(struct filter),
	.init = actors_init,
	.step = filter_step,
};

static void sift(struct filter *f, uint64_t number)
{
	for (uint64_t i = 0; i < f->nr; i++) {
		if (number % f->primes[i] == 0)
			return;
	}
	if (f->nr < SIEVE_PRIMES) {
		f->primes[f->nr++] = number;
	} else if (f->next != SLEY_NO_PID) {
		actors_send(f->next, NUMBER, number);
	} else {
		struct filter next = {
			f->m, f->answer, SLEY_NO_PID, 1, { number }
		};

		f->next = actors_spawn(f->m, &filter, &next);
	}
}

static enum sley_step filter_step(void *self, struct sley_msg *const *msg,
				  size_t nr, struct sley_out *out)
{
	struct filter *f = self;

	for (size_t i = 0; i < nr; i++) {
		uint64_t word = actors_word(msg[i]);

		if (msg[i]->tag == NUMBER) {
			sift(f, word);
			continue;
		}
		if (f->next == SLEY_NO_PID)
			answer_give(f->answer, word + f->nr);
		else
			actors_send(f->next, STOP, word + f->nr);
		return sley_out_done(out, 0);
	}
	return SLEY_WAIT;
}

/* ---- the source --------------------------------------------------------------------- */

struct source {
	sley_pid first;
	uint64_t next;
	uint64_t end;
};

static enum sley_step source_step(void *self, struct sley_msg *const *msg,
				  size_t nr, struct sley_out *out)
{
	struct source *s = self;

	(void)msg, (void)nr;
	for (int i = 0; i < ACTORS_CHUNK && s->next < s->end; i++) {
		actors_send(s->first, NUMBER, s->next);
		s->next += 2;
	}
	if (s->next < s->end)
		return SLEY_CONTINUE;
	actors_send(s->first, STOP, 0);
	return sley_out_done(out, 0);
}

static const struct sley_behaviour source = {
	.name = "source",
	.size = sizeof(struct source),
	.init = actors_init,
	.step = source_step,
};

/* The number of primes below @end, to check; at least 1: the first filter has 2. */
static uint64_t primes_below(const struct measure *m, uint64_t end)
{
	bool *composite = calloc(end + 1, sizeof(*composite));
	uint64_t nr = 0;

	MEASURE_CHECK(m, composite != NULL);
	for (uint64_t i = 2; i < end; i++) {
		nr += !composite[i];
		for (uint64_t j = i * i; !composite[i] && j < end; j += i)
			composite[j] = true;
	}
	free(composite);
	return nr > 0 ? nr : 1;
}

static void primes(const struct measure *m, uint64_t end)
{
	struct answer answer = ANSWER_INIT;
	struct filter f = { m, &answer, SLEY_NO_PID, 1, { 2 } };
	struct source s = {
		.first = actors_spawn(m, &filter, &f),
		.next = 3,
		.end = end,
	};

	actors_spawn(m, &source, &s);
	MEASURE_CHECK(m, answer_take(&answer) == primes_below(m, end));
}

void row_sieve(const struct measure *m)
{
	actors_run(m, primes, "ns", SIEVE_NUMBERS, 1);
}
