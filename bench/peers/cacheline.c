/* SPDX-License-Identifier: MIT */
/*
 * cacheline.c - the reference `cacheline`: the cost in hardware of a trip to
 * a second core and back.
 *
 * chan-cross   two pinned threads spin; `ns` is a round trip with both
 *              directions on one line, `two_lines_ns` with a line for each
 * client-rtt   the same between two processes on one line; the median of means of 100
 *              trips, so that the clock is not part of it
 */
#include "../problems/blocks.h"

#include <pthread.h>

struct line {
	uint64_t word;
	uint64_t padding[15];
} __attribute__((aligned(128)));

struct trip {
	uint64_t *to;
	uint64_t *fro;
	uint64_t nr;
};

static void wait_for(uint64_t *word, uint64_t value)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value)
		measure_pause();
}

static void answer_all(void *arg)
{
	struct trip *trip = arg;

	for (uint64_t i = 1; i <= trip->nr; i++) {
		wait_for(trip->to, 2 * i - 1);
		__atomic_store_n(trip->fro, 2 * i, __ATOMIC_RELEASE);
	}
}

static void *echo(void *trip)
{
	measure_pin(1);
	answer_all(trip);
	return NULL;
}

static void ask(struct trip *trip, uint64_t i)
{
	__atomic_store_n(trip->to, 2 * i - 1, __ATOMIC_RELEASE);
	wait_for(trip->fro, 2 * i);
}

static void round_trips(const struct measure *m, const char *metric,
			struct trip *trip)
{
	uint64_t start = 0, warm = trip->nr / 10;
	pthread_t thread;

	MEASURE_CHECK(m, pthread_create(&thread, NULL, echo, trip) == 0);
	for (uint64_t i = 1; i <= trip->nr; i++) {
		if (i == warm + 1)
			start = measure_now();
		ask(trip, i);
	}
	measure_report_each(metric, start, trip->nr - warm);
	pthread_join(thread, NULL);
	MEASURE_CHECK(m, *trip->fro == 2 * trip->nr);
}

static void run_chan_cross(const struct measure *m)
{
	static struct line one, to, fro;
	uint64_t nr = measure_size(m, CHAN_TRIPS);
	struct trip same = { &one.word, &one.word, nr };
	struct trip apart = { &to.word, &fro.word, nr };

	measure_pin(1); /* ends the program on a machine with one CPU */
	measure_pin(0);
	round_trips(m, "ns", &same);
	round_trips(m, "two_lines_ns", &apart);
}

#define BLOCK 100

static void run_client_rtt(const struct measure *m)
{
	uint64_t nr = measure_size(m, CLIENT_TRIPS) / BLOCK * BLOCK;
	struct line *line = crowd_shared(m, sizeof(*line));
	struct trip trip = { &line->word, &line->word, nr };
	struct blocks blocks;
	pid_t pid;

	crowd_needs_two_cpus();
	blocks_init(&blocks, m, BLOCK, nr);
	pid = crowd_serve(m, answer_all, &trip);
	crowd_pin(m, 0);
	blocks_begin(&blocks);
	for (uint64_t i = 1; i <= nr; i++) {
		ask(&trip, i);
		blocks_count(&blocks);
	}
	crowd_join(m, pid);
	measure_report("p50_ns", blocks_median(&blocks) / BLOCK);
	blocks_free(&blocks);
	munmap(line, sizeof(*line));
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "chan-cross", run_chan_cross },
		{ "client-rtt", run_client_rtt },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
