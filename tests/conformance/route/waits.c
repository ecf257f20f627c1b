/* SPDX-License-Identifier: MIT */
/*
 * waits.c - methods that yield, sleep and call: C22, C27, C28, C30; workers that sleep
 * while only periodic requests are there: C32; and are woken for each request: R-C1.
 */
#include "conformance/route/routing.h"

#include <time.h>

enum waits_method { YIELD, NAP, NEST, COUNT, NR_METHODS };

/* The IN part. */
struct errand {
	atomic_int begun, ended;
	int nr; /* yields, or calls                    */
	uint64_t nap_ns;
	uint64_t napped_ns; /* how long it took                    */
	enum waits_method inner;
};

static struct errand *errand_of(struct sley_request *request)
{
	size_t size;

	return *(struct errand *const *)sley_request_in(request, &size);
}

static int yield_often(void *self, struct sley_request *request)
{
	struct errand *errand = errand_of(request);

	(void)self;
	atomic_fetch_add(&errand->begun, 1);
	for (int i = 0; i < errand->nr; i++)
		sley_yield();
	atomic_fetch_add(&errand->ended, 1);
	return 0;
}

static int nap(void *self, struct sley_request *request)
{
	struct errand *errand = errand_of(request);
	uint64_t start_ns = sley_now();
	int err = 0;

	(void)self;
	atomic_fetch_add(&errand->begun, 1);
	for (int i = 0; i < errand->nr && !err; i++)
		err = sley_sleep(errand->nap_ns);
	errand->napped_ns = sley_now() - start_ns;
	atomic_fetch_add(&errand->ended, 1);
	return err;
}

static int call_inner(void *self, struct sley_request *request)
{
	struct errand *errand = errand_of(request);
	int err = 0;

	(void)self;
	atomic_fetch_add(&errand->begun, 1);
	for (int i = 0; i < errand->nr && !err; i++) {
		err = sley_pool_call(
			sley_container_pool(sley_request_container(request)),
			SLEY_REQUEST(.method = errand->inner, .in = request->in,
				     .in_size = request->in_size,
				     .parent = request),
			NULL);
	}
	atomic_fetch_add(&errand->ended, 1);
	return err;
}

static int count(void *self, struct sley_request *request)
{
	(void)self;
	atomic_fetch_add(&errand_of(request)->begun, 1);
	return 0;
}

static const struct sley_method methods[NR_METHODS] = {
	[YIELD] = { .name = "yield", .run = yield_often },
	[NAP] = { .name = "nap", .run = nap },
	[NEST] = { .name = "nest", .run = call_inner },
	[COUNT] = { .name = "count", .run = count, .flags = SLEY_METHOD_SHORT },
};
static const struct sley_module waits_module = {
	SLEY_MODULE_HEAD("waits"),
	.methods = methods,
	.nr_methods = NR_METHODS,
};

static struct routing waits_start(const char *policy)
{
	struct routing r = { .rt = start() };

	CHECK_EQ(sley_router_create(r.rt, &r.router,
				    SLEY_ROUTER_OPTIONS(.policy = policy)),
		 0);
	CHECK_EQ(sley_router_add(r.router, &waits_module), 0);
	CHECK_EQ(sley_pool_open(r.router, &r.pool, "p",
				SLEY_POOL_OPTIONS(.module = "waits")),
		 0);
	return r;
}

static struct sley_request_spec spec_of(enum waits_method method,
					struct errand **in)
{
	return *SLEY_REQUEST(.method = method, .in = in,
			     .in_size = sizeof(*in));
}

/* ---- resumed, and not restarted ---------------------------------------------------------- */

/* Moved from worker to worker, and off its worker many times, as a task and inline. */
TEST_WORKERS(c22_a_request_that_waits_is_resumed_and_not_restarted)
{
	struct routing r = waits_start("local");
	struct errand errand = { .nr = 50 }, *in = &errand;
	struct sley_request request[8];
	struct sley_request_spec spec = spec_of(YIELD, &in);

	for (int i = 0; i < 8; i++) {
		spec.enqueue = i % 2;
		CHECK_EQ(sley_submit(r.pool, &request[i], &spec), 0);
	}
	for (int i = 0; i < 8; i++) {
		CHECK_EQ(sley_request_wait(&request[i]), 0);
		CHECK_EQ(sley_request_code(&request[i]), 0);
	}
	CHECK_EQ(atomic_load(&errand.begun), 8);
	CHECK_EQ(atomic_load(&errand.ended), 8);
	routing_stop(&r);
}

/* ---- yields and sleeps -------------------------------------------------------------------- */

static void yield_in_call(void *arg)
{
	struct routing *r = arg;
	struct errand errand = { .nr = 100 }, *in = &errand;
	struct sley_request_spec spec = spec_of(YIELD, &in);

	CHECK_EQ(sley_pool_call(r->pool, &spec, NULL), 0);
	CHECK_EQ(atomic_load(&errand.ended), 1);
	spec.enqueue = true;
	CHECK_EQ(sley_pool_call(r->pool, &spec, NULL), 0);
	CHECK_EQ(atomic_load(&errand.ended), 2);
}

/* Also where no other task is there to run meanwhile. */
TEST_WORKERS(c27_a_method_that_yields_goes_on)
{
	struct routing r = waits_start("default");

	run_task(yield_in_call, &r);
	routing_stop(&r);
}

TEST_WORKERS(c27_a_method_sleeps_as_long_as_it_asked)
{
	struct routing r = waits_start("default");
	struct errand errand = { .nr = 2, .nap_ns = 5 * SLEY_MSEC };
	struct errand *in = &errand;
	struct sley_request_spec spec = spec_of(NAP, &in);

	CHECK_EQ(sley_pool_call(r.pool, &spec, NULL), 0);
	CHECK_GE(errand.napped_ns, 10 * SLEY_MSEC);
	errand.nap_ns = 0;
	CHECK_EQ(sley_pool_call(r.pool, &spec, NULL), 0);
	CHECK_EQ(atomic_load(&errand.ended), 2);
	routing_stop(&r);
}

static void nest(void *arg)
{
	struct routing *r = arg;

	for (enum waits_method inner = YIELD; inner <= COUNT; inner++) {
		struct errand errand = { .nr = 5, .inner = inner };
		struct errand *in = &errand;
		struct sley_request_spec spec = spec_of(NEST, &in);

		if (inner == NEST)
			continue;
		CHECK_EQ(sley_pool_call(r->pool, &spec, NULL), 0);
		/* The outer method, and five inner ones. */
		CHECK_EQ(atomic_load(&errand.begun), 6);
		CHECK_EQ(atomic_load(&errand.ended), inner == COUNT ? 1 : 6);
	}
}

/* The inner request may be complete before the caller could wait for it. */
TEST_WORKERS(c28_a_caller_goes_on_once_for_each_call)
{
	static const char *const policies[] = { "default", "local", "none" };

	for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
		struct routing r = waits_start(policies[i]);

		run_task(nest, &r);
		nest(&r);
		routing_stop(&r);
	}
}

/* Some sleep once, others many times: none is looked at more rarely than others. */
TEST_WORKERS(c30_each_of_many_methods_that_sleep_wakes_in_time)
{
	enum { NR = 100 };
	struct routing r = waits_start("default");
	struct errand *errand = calloc(NR, sizeof(*errand)), *in[NR];
	struct sley_request request[NR];

	CHECK(errand != NULL);
	for (int i = 0; i < NR; i++) {
		struct sley_request_spec spec;

		errand[i].nr = 1 + i % 16;
		errand[i].nap_ns = SLEY_MSEC;
		in[i] = &errand[i];
		spec = spec_of(NAP, &in[i]);
		spec.enqueue = true;
		CHECK_EQ(sley_submit(r.pool, &request[i], &spec), 0);
	}
	for (int i = 0; i < NR; i++) {
		CHECK_EQ(sley_request_wait_until(&request[i], in_ms(20000)), 0);
		CHECK_EQ(sley_request_code(&request[i]), 0);
		CHECK_GE(errand[i].napped_ns,
			 (uint64_t)errand[i].nr * SLEY_MSEC);
	}
	free(errand);
	routing_stop(&r);
}

/* ---- workers ------------------------------------------------------------------------------ */

static uint64_t cpu_ns(void)
{
	struct timespec time;

	CHECK_EQ(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time), 0);
	return (uint64_t)time.tv_sec * SLEY_SEC + (uint64_t)time.tv_nsec;
}

/* A worker that looked again and again would use the CPU for the whole time. */
TEST_WORKERS(c32_periodic_requests_alone_keep_no_worker_busy)
{
	enum { NR = 20 };
	struct routing r = waits_start("default");
	struct errand errand = { 0 }, *in = &errand;
	struct sley_request_spec spec = spec_of(COUNT, &in);
	struct sley_request request[NR];
	uint64_t start_ns, used_ns;

	spec.period_ns = 100 * SLEY_MSEC;
	for (int i = 0; i < NR; i++)
		CHECK_EQ(sley_submit(r.pool, &request[i], &spec), 0);
	CHECK_SOON(atomic_load(&errand.begun) >= NR);
	start_ns = sley_now();
	used_ns = cpu_ns();
	CHECK_EQ(sley_sleep(400 * SLEY_MSEC), 0);
	used_ns = cpu_ns() - used_ns;
	CHECK_GT(atomic_load(&errand.begun), NR);
	CHECK_LT(used_ns, (sley_now() - start_ns) / 8);
	for (int i = 0; i < NR; i++)
		sley_request_cancel(&request[i]);
	for (int i = 0; i < NR; i++)
		CHECK_EQ(sley_request_wait(&request[i]), 0);
	routing_stop(&r);
}

/*
 * Each request comes when the worker may be about to sleep: a moment after the request
 * before, or a little later.
 */
TEST_WORKERS(rc1_no_request_is_missed_by_a_worker_that_goes_to_sleep)
{
	static const char *const policies[] = { "default", "local", "none" };
	struct errand errand = { 0 }, *in = &errand;
	struct sley_request_spec spec = spec_of(COUNT, &in);

	spec.enqueue = true;
	for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
		struct routing r = waits_start(policies[i]);

		for (int round = 0; round < 500; round++) {
			struct sley_request request;

			if (round % 8 == 0)
				CHECK_EQ(sley_sleep((uint64_t)round * 200), 0);
			CHECK_EQ(sley_submit(r.pool, &request, &spec), 0);
			CHECK_EQ(sley_request_wait_until(&request,
							 in_ms(10000)),
				 0);
		}
		routing_stop(&r);
	}
	CHECK_EQ(atomic_load(&errand.begun), 1500);
}
