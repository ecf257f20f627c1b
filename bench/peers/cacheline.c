/* SPDX-License-Identifier: MIT */
/*
 * cacheline.c - the reference `cacheline`: the cost in hardware of a trip to
 * a second core and back.
 *
 * chan-cross   two pinned threads spin; `ns` is a round trip with both
 *              directions on one line, `two_lines_ns` with a line for each
 */
#include "../measure.h"

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

static void *echo(void *arg)
{
	struct trip *trip = arg;

	measure_pin(1);
	for (uint64_t i = 1; i <= trip->nr; i++) {
		wait_for(trip->to, 2 * i - 1);
		__atomic_store_n(trip->fro, 2 * i, __ATOMIC_RELEASE);
	}
	return NULL;
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
		__atomic_store_n(trip->to, 2 * i - 1, __ATOMIC_RELEASE);
		wait_for(trip->fro, 2 * i);
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

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "chan-cross", run_chan_cross },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
