/* SPDX-License-Identifier: MIT */
/*
 * periodic.c - row `periodic`: how late the runs of periodic requests begin, while the
 * workers are busy with tasks of 100 us; and the CPU time of many requests that find
 * nothing to do.
 *
 * As in `timers-busy`, the length of one task is taken off: the rest of the running task
 * has to be waited for.
 */
#include "rows.h"

#define TASK_NS (100 * SLEY_USEC)

enum { TICK, LOOK };

/* One periodic request. */
struct ticker {
	struct sley_request request;
	uint64_t due_ns;
	uint64_t left; /* runs */
	uint64_t *late_ns;
};

struct scene {
	const struct measure *m;
	struct sley_router *router;
	struct sley_pool *pool;
	bool over;
	uint64_t looks;
};

static int tick(void *self, struct sley_request *request)
{
	size_t size;
	struct ticker *ticker = sley_request_out(request, &size);
	uint64_t late_ns = sley_now() - ticker->due_ns;

	(void)self;
	/* Times that have passed were left out. */
	ticker->due_ns += (1 + late_ns / PERIODIC_NS) * PERIODIC_NS;
	*ticker->late_ns++ = late_ns > TASK_NS ? late_ns - TASK_NS : 0;
	return --ticker->left == 0;
}

static int look(void *self, struct sley_request *request)
{
	size_t size;
	struct scene *scene = sley_request_out(request, &size);

	(void)self;
	sley_request_set_idle(request);
	__atomic_fetch_add(&scene->looks, 1, __ATOMIC_RELAXED);
	return 0;
}

static const struct sley_method methods[] = {
	[TICK] = { .name = "tick", .run = tick },
	[LOOK] = { .name = "look", .run = look },
};

static const struct sley_module module = {
	SLEY_MODULE_HEAD("ticker"),
	.methods = methods,
	.nr_methods = 2,
};

static void start(struct scene *scene, struct sley *rt)
{
	const struct measure *m = scene->m;

	MEASURE_CHECK(m, sley_router_create(rt, &scene->router, NULL) == 0);
	MEASURE_CHECK(m, sley_router_add(scene->router, &module) == 0);
	MEASURE_CHECK(
		m, sley_pool_open(scene->router, &scene->pool, "tickers",
				  SLEY_POOL_OPTIONS(.module = "ticker")) == 0);
}

static void stop(struct scene *scene)
{
	sley_pool_close(scene->pool);
	MEASURE_CHECK(scene->m, sley_router_destroy(scene->router) == 0);
}

/* ---- late runs --------------------------------------------------------------------- */

static void be_busy(void *arg)
{
	struct scene *scene = arg;
	uint64_t start_ns = measure_now();

	while (measure_now() - start_ns < TASK_NS)
		measure_pause();
	if (!__atomic_load_n(&scene->over, __ATOMIC_RELAXED))
		MEASURE_CHECK(scene->m, sley_schedule(be_busy, scene) == 0);
}

static void run_tickers(void *arg)
{
	static struct ticker tickers[PERIODIC_BUSY];
	static uint64_t late_ns[PERIODIC_BUSY][PERIODIC_RUNS];
	struct scene *scene = arg;
	const struct measure *m = scene->m;
	uint64_t runs = m->quick ? 10 : PERIODIC_RUNS;

	start(scene, sley_current());
	for (int i = 0; i < 2 * m->workers; i++)
		MEASURE_CHECK(m, sley_schedule(be_busy, scene) == 0);
	for (int i = 0; i < PERIODIC_BUSY; i++) {
		struct ticker *ticker = &tickers[i];

		/* Not all at the same moment. */
		MEASURE_CHECK(m, sley_sleep(PERIODIC_NS / PERIODIC_BUSY) == 0);
		ticker->left = runs;
		ticker->late_ns = &late_ns[0][0] + (uint64_t)i * runs;
		ticker->due_ns = sley_now();
		MEASURE_CHECK(
			m,
			sley_submit(scene->pool, &ticker->request,
				    SLEY_REQUEST(.method = TICK, .out = ticker,
						 .period_ns = PERIODIC_NS)) ==
				0);
	}
	for (int i = 0; i < PERIODIC_BUSY; i++) {
		MEASURE_CHECK(m, sley_request_wait(&tickers[i].request) == 0);
		MEASURE_CHECK(m, sley_request_code(&tickers[i].request) == 1);
	}
	__atomic_store_n(&scene->over, true, __ATOMIC_RELAXED);
	stop(scene);
	measure_report_percentiles(&late_ns[0][0], PERIODIC_BUSY * runs);
}

/* ---- idle requests ------------------------------------------------------------------- */

static void measure_idle(const struct measure *m)
{
	uint64_t ns = m->quick ? 200000000 : PERIODIC_IDLE_NS, cpu_ns, start_ns;
	uint64_t nr = m->quick ? 10 : PERIODIC_IDLE;
	struct scene scene = { .m = m };
	struct sley_request *requests = calloc(nr, sizeof(*requests));
	struct sley *rt;

	MEASURE_CHECK(m, requests != NULL);
	MEASURE_CHECK(m, sley_create(&rt, SLEY_CONFIG(.workers = m->workers)) ==
				 0);
	start(&scene, rt);
	for (uint64_t i = 0; i < nr; i++)
		MEASURE_CHECK(
			m,
			sley_submit(scene.pool, &requests[i],
				    SLEY_REQUEST(.method = LOOK, .out = &scene,
						 .period_ns = 100 *
							      SLEY_MSEC)) == 0);
	measure_sleep_until(measure_now() + 150000000);
	cpu_ns = measure_cpu_now();
	start_ns = measure_now();
	measure_sleep_until(start_ns + ns);
	measure_report("idle_pct", (double)(measure_cpu_now() - cpu_ns) *
					   100.0 /
					   (double)(measure_now() - start_ns));
	/* Nearly one for each 100 ms. */
	MEASURE_CHECK(m, __atomic_load_n(&scene.looks, __ATOMIC_RELAXED) >=
				 nr * ns / 200000000);
	stop(&scene);
	MEASURE_CHECK(m, sley_destroy(rt) == 0);
	for (uint64_t i = 0; i < nr; i++)
		MEASURE_CHECK(m, sley_request_code(&requests[i]) < 0);
	free(requests);
}

void row_periodic(const struct measure *m)
{
	struct scene scene = { .m = m };

	row_run(m, run_tickers, &scene);
	measure_idle(m);
}
