/* SPDX-License-Identifier: MIT */
/*
 * variety.c - rows `variety` and `variety-thread`: requests of 1 us beside requests of
 * up to 10 ms, while one worker is held for one second of every three.
 *
 * A plain thread submits requests of five lengths, in an order without a pattern and
 * with pauses as of a Poisson process: together they are 0.4 of a worker's time.
 * Requests of more than 100 us yield every 100 us, and the runtime is migratable.  A
 * sample is the time of a request of 1 us, from before its submission to its end.
 *
 * In `variety` a task holds a worker: it computes, and calls nothing.  In
 * `variety-thread`, the peer, a plain thread computes for as long, and competes for the
 * processors in the same way; both workers are free.
 */
#include "rows.h"

#include "../problems/splitmix.h"

#include <math.h>
#include <pthread.h>

/* Requests of one length. */
static const struct kind {
	uint64_t ns;
	double per_second;
} kinds[] = {
	{ 1000, 5000 },   { 10000, 2000 },    { 100000, 500 },
	{ 1000000, 100 }, { 10000000, 22.5 },
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))
#define SLICE_NS 100000 /* a longer request yields */

struct job {
	struct sley_request request;
	uint64_t ns;
	uint64_t submitted_ns;
	uint64_t took_ns;
};

struct variety {
	const struct measure *m;
	struct sley_pool *pool;
	uint64_t end_ns;
	uint64_t hold_ns; /* the hog's, of three times as long */
	struct job *jobs;
	size_t nr; /* jobs that were submitted */
	size_t room;
};

static void compute(uint64_t ns)
{
	uint64_t start = measure_now();

	while (measure_now() - start < ns)
		measure_pause();
}

static int run_job(void *self, struct sley_request *request)
{
	struct job *job = (struct job *)request; /* its first member */
	uint64_t left = job->ns;

	(void)self;
	for (; left > SLICE_NS; left -= SLICE_NS) {
		compute(SLICE_NS);
		sley_yield();
	}
	compute(left);
	job->took_ns = measure_now() - job->submitted_ns;
	return 0;
}

static const struct sley_method methods[] = {
	{ .name = "job", .run = run_job },
};

static const struct sley_module module = {
	SLEY_MODULE_HEAD("jobs"),
	.methods = methods,
	.nr_methods = 1,
};

/* ---- the submitter ------------------------------------------------------------------ */

/* From 0 to 1, and neither. */
static double draw(uint64_t *state)
{
	uint64_t bits = splitmix(*state += SPLITMIX_STEP) >> 12;

	return ((double)bits + 0.5) / (double)(1ull << 52);
}

static double arrivals_per_second(void)
{
	double sum = 0;

	for (size_t i = 0; i < NR_KINDS; i++)
		sum += kinds[i].per_second;
	return sum;
}

static uint64_t draw_length(uint64_t *state)
{
	double at = draw(state) * arrivals_per_second();

	for (size_t i = 0; i < NR_KINDS - 1; i++) {
		if (at < kinds[i].per_second)
			return kinds[i].ns;
		at -= kinds[i].per_second;
	}
	return kinds[NR_KINDS - 1].ns;
}

static void submit(struct variety *variety, uint64_t ns)
{
	struct job *job = &variety->jobs[variety->nr++];

	job->ns = ns;
	job->submitted_ns = measure_now();
	MEASURE_CHECK(variety->m, sley_submit(variety->pool, &job->request,
					      SLEY_REQUEST(.method = 0)) == 0);
}

static void submit_until_the_end(struct variety *variety)
{
	uint64_t state = 1, next_ns = measure_now();

	while (next_ns < variety->end_ns && variety->nr < variety->room) {
		submit(variety, draw_length(&state));
		next_ns += (uint64_t)(-log(draw(&state)) * 1e9 /
				      arrivals_per_second());
		measure_sleep_until(next_ns);
	}
	for (size_t i = 0; i < variety->nr; i++)
		MEASURE_CHECK(variety->m,
			      sley_request_wait(&variety->jobs[i].request) ==
				      0);
}

static void report(struct variety *variety)
{
	uint64_t *samples = calloc(variety->nr + 1, sizeof(*samples));
	size_t nr = 0;

	MEASURE_CHECK(variety->m, samples != NULL);
	for (size_t i = 0; i < variety->nr; i++) {
		if (variety->jobs[i].ns == kinds[0].ns)
			samples[nr++] = variety->jobs[i].took_ns;
	}
	MEASURE_CHECK(variety->m, nr > 0);
	measure_report_percentiles(samples, nr);
	free(samples);
}

/* ---- the hog ------------------------------------------------------------------------ */

/* Holds its worker, or its processor, for a third of the time. */
static void hog_task(void *arg)
{
	const struct variety *variety = arg;

	while (measure_now() < variety->end_ns) {
		compute(variety->hold_ns);
		(void)!sley_sleep(2 * variety->hold_ns);
	}
}

static void *hog_thread(void *arg)
{
	const struct variety *variety = arg;

	while (measure_now() < variety->end_ns) {
		compute(variety->hold_ns);
		measure_sleep_until(measure_now() + 2 * variety->hold_ns);
	}
	return NULL;
}

static void run(const struct measure *m, bool by_task)
{
	uint64_t length_ns = m->quick ? VARIETY_NS / 100 : VARIETY_NS;
	struct variety variety = { .m = m, .hold_ns = length_ns / 6 };
	struct sley_router *router;
	pthread_t thread;
	struct sley *rt;

	variety.end_ns = measure_now() + length_ns;
	variety.room =
		(size_t)(2 * arrivals_per_second() * (double)VARIETY_NS / 1e9);
	variety.jobs = calloc(variety.room, sizeof(*variety.jobs));
	MEASURE_CHECK(m, variety.jobs != NULL);
	MEASURE_CHECK(m,
		      sley_create(&rt,
				  SLEY_CONFIG(.workers = m->workers,
					      .migratable = true,
					      .watchdog_ms = SLEY_NEVER)) == 0);
	MEASURE_CHECK(m, sley_router_create(rt, &router, NULL) == 0);
	MEASURE_CHECK(m, sley_router_add(router, &module) == 0);
	MEASURE_CHECK(m,
		      sley_pool_open(router, &variety.pool, "jobs",
				     SLEY_POOL_OPTIONS(.module = "jobs")) == 0);
	if (by_task)
		MEASURE_CHECK(m, sley_schedule_on(rt, hog_task, &variety,
						  NULL) == 0);
	else
		MEASURE_CHECK(m, pthread_create(&thread, NULL, hog_thread,
						&variety) == 0);
	submit_until_the_end(&variety);
	if (!by_task)
		pthread_join(thread, NULL);
	report(&variety);
	sley_pool_close(variety.pool);
	MEASURE_CHECK(m, sley_router_destroy(router) == 0);
	MEASURE_CHECK(m, sley_destroy(rt) == 0);
	free(variety.jobs);
}

void row_variety(const struct measure *m)
{
	run(m, true);
}

void row_variety_thread(const struct measure *m)
{
	run(m, false);
}
