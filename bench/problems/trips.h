/* SPDX-License-Identifier: MIT */
/*
 * trips.h - the work of a client in the rows `client-rtt`, `client-rate` and `client-big`:
 * questions to a process, and their answers.
 *
 * client-rtt:
 *   p50_ns, p99_ns      there and back, while both sides spin, each on a CPU
 *   parked_p50_ns, ...  the same after a pause, in which both sides sleep
 *   near_p50_ns, ...    the same, but both sides share a CPU.  Where the kernel is free to
 *                       place them it does the one or the other, and the second
 *                       CPU must be woken up in the first case only.
 * client-rate:
 *   ns        per request, one request at a time
 *   batch_ns  per request, CLIENT_BATCH requests at a time
 *   p50_ns, batch_p50_ns  with one client: the medians (blocks.h)
 * client-big:
 *   there_ns  CLIENT_BIG bytes go there, a word comes back
 *   back_ns   a word goes there, CLIENT_BIG bytes come back
 *
 * A participant asks, and checks the answer.
 */
#ifndef BENCH_PROBLEMS_TRIPS_H
#define BENCH_PROBLEMS_TRIPS_H

#include "blocks.h"
#include "crowd.h"

/* Asks question number @value, and waits for the answer. */
typedef void trips_fn(void *self, uint64_t value);

/* ---- client-rtt ---------------------------------------------------------------------- */

/* How both sides wait, and where; the server is on CPU 1. */
struct trips_way {
	const char *name; /* of the metrics; NULL: both sides spin            */
	int cpu;          /* of the client                                    */
};

#define TRIPS_NR_WAYS 3

static const struct trips_way trips_ways[TRIPS_NR_WAYS] = {
	{ NULL, 0 },
	{ "parked", 0 },
	{ "near", 1 },
};

static inline void trips_spinning(const struct measure *m, trips_fn *ask,
				  void *self)
{
	uint64_t nr = measure_size(m, CLIENT_TRIPS);
	uint64_t *samples = malloc(nr * sizeof(*samples));

	MEASURE_CHECK(m, samples != NULL);
	for (uint64_t i = 0; i < nr / 10; i++)
		ask(self, i);
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t start = measure_now();

		ask(self, i);
		samples[i] = measure_now() - start;
	}
	measure_report_percentiles(samples, nr);
	free(samples);
}

static inline void trips_parked(const struct measure *m, const char *name,
				trips_fn *ask, void *self)
{
	static uint64_t samples[BLOCKING_SAMPLES];
	uint32_t nr = m->quick ? 10 : BLOCKING_SAMPLES;

	for (uint32_t i = 0; i < nr; i++) {
		uint64_t start;

		measure_sleep_until(measure_now() + BLOCKING_PAUSE_NS);
		start = measure_now();
		ask(self, i);
		samples[i] = measure_now() - start;
	}
	measure_report_tail(name, samples, nr);
}

static inline void trips_run(const struct measure *m,
			     const struct trips_way *way, trips_fn *ask,
			     void *self)
{
	measure_pin(way->cpu);
	if (way->name)
		trips_parked(m, way->name, ask, self);
	else
		trips_spinning(m, ask, self);
}

/* ---- client-rate --------------------------------------------------------------------- */

/* All clients send batches of .at_a_time, which may be 1. */
struct trips_rate {
	const struct measure *m;
	uint32_t at_a_time;
	struct blocks blocks; /* of the first client */
};

/* Asks .at_a_time questions, from number @first on, and waits for all answers. */
typedef void trips_batch_fn(void *self, uint64_t first);

static inline uint64_t trips_rate_turns(const struct trips_rate *rate)
{
	return measure_size(rate->m, rate->at_a_time == 1 ? CLIENT_SINGLES
							  : CLIENT_BATCHES);
}

static inline void trips_rate_init(struct trips_rate *rate,
				   const struct measure *m, uint32_t at_a_time)
{
	rate->m = m;
	rate->at_a_time = at_a_time;
	blocks_init(&rate->blocks, m, at_a_time == 1 ? CLIENT_BATCH : 1,
		    trips_rate_turns(rate));
}

/* The work of a client; a tenth of it goes before, and is not timed. */
static inline void trips_rate_ask(struct trips_rate *rate,
				  struct crowd_member *member,
				  trips_batch_fn *ask, void *self)
{
	uint64_t turns = trips_rate_turns(rate);

	for (uint64_t i = 0; i < turns / 10; i++)
		ask(self, i * rate->at_a_time);
	crowd_begin(member);
	blocks_begin(&rate->blocks);
	for (uint64_t i = 0; i < turns; i++) {
		ask(self, i * rate->at_a_time);
		if (member->nth == 0)
			blocks_count(&rate->blocks);
	}
	crowd_end(member);
}

/* Reports @ns, the time of all clients. */
static inline void trips_rate_report(struct trips_rate *rate, uint64_t ns)
{
	uint64_t nr = trips_rate_turns(rate) * rate->at_a_time *
		      (uint64_t)rate->m->workers;
	bool single = rate->at_a_time == 1;

	measure_report(single ? "ns" : "batch_ns", (double)ns / (double)nr);
	if (rate->m->workers == 1)
		measure_report(single ? "p50_ns" : "batch_p50_ns",
			       blocks_median(&rate->blocks) / CLIENT_BATCH);
	blocks_free(&rate->blocks);
}

/* ---- client-big ---------------------------------------------------------------------- */

#define TRIPS_BIG_WORDS (CLIENT_BIG / sizeof(uint64_t))

/* Memory of CLIENT_BIG bytes that the kernel has given already. */
static inline uint64_t *trips_big_alloc(const struct measure *m)
{
	uint64_t *words = malloc(CLIENT_BIG);

	MEASURE_CHECK(m, words != NULL);
	memset(words, 1, CLIENT_BIG);
	return words;
}

/* The contents of trip @value, as far as the receiver looks. */
static inline void trips_big_stamp(uint64_t *words, uint64_t value)
{
	words[0] = value;
	words[TRIPS_BIG_WORDS - 1] = ~value;
}

static inline bool trips_big_is(const uint64_t *words, uint64_t value)
{
	return words[0] == value && words[TRIPS_BIG_WORDS - 1] == ~value;
}

static inline void trips_big(const struct measure *m, const char *metric,
			     trips_fn *ask, void *self)
{
	uint64_t nr = m->quick ? 10 : CLIENT_BIG_TRIPS, start;

	for (uint64_t i = 0; i < nr / 10; i++)
		ask(self, i);
	start = measure_now();
	for (uint64_t i = 0; i < nr; i++)
		ask(self, i);
	measure_report_each(metric, start, nr);
}

#endif
