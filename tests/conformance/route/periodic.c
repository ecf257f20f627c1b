/* SPDX-License-Identifier: MIT */
/*
 * periodic.c - requests that run again and again: C22, C29; and wait longer while they
 * find nothing to do: C08.
 *
 * A run may be late, on a machine that does other things; it is never early.  So the tests
 * compare times with bounds from below, and ask for "soon" where a run has to come.
 */
#include "conformance/route/routing.h"

#define HOUR (3600 * SLEY_SEC)
#define NR_TIMES 64

/* The IN part: what the method has to do, and what it did. */
struct clock {
	int stop_at; /* after so many runs the method returns .code */
	int code;
	uint64_t busy_ns;   /* a run sleeps so long                        */
	uint64_t first_ns;  /* the first run in place of that              */
	uint64_t idle_from; /* runs from this one on are idle, if not 0,   */
	uint64_t idle_to;   /* up to this one                              */
	atomic_int begun, ended, running;
	uint64_t at_ns[NR_TIMES];
	uint32_t worker[NR_TIMES]; /* that the run was sent to              */
};

static struct clock *clock_of(struct sley_request *request)
{
	size_t size;

	return *(struct clock *const *)sley_request_in(request, &size);
}

static int sleep_for(uint64_t ns)
{
	return ns ? sley_sleep(ns) : 0;
}

static int tick(void *self, struct sley_request *request)
{
	struct clock *clock = clock_of(request);
	uint64_t now_ns = sley_now();
	int nr = atomic_fetch_add(&clock->begun, 1);
	int err;

	(void)self;
	CHECK_EQ(atomic_fetch_add(&clock->running, 1), 0);
	if (nr < NR_TIMES) {
		clock->at_ns[nr] = now_ns;
		clock->worker[nr] = request->worker;
	}
	if ((uint64_t)nr + 1 >= clock->idle_from &&
	    (uint64_t)nr + 1 <= clock->idle_to)
		sley_request_set_idle(request);
	err = sleep_for(nr ? clock->busy_ns : clock->first_ns);
	if (!err && request->out_size)
		err = sley_request_answer(request, &nr, sizeof(nr));
	atomic_fetch_sub(&clock->running, 1);
	atomic_fetch_add(&clock->ended, 1);
	if (err)
		return err;
	return nr + 1 == clock->stop_at ? clock->code : 0;
}

/* The second version counts twice. */
static int tick_twice(void *self, struct sley_request *request)
{
	atomic_fetch_add(&clock_of(request)->begun, 1);
	return tick(self, request);
}

static int keep_state(void **self, uint32_t from,
		      const struct sley_container_info *info)
{
	(void)self;
	(void)from;
	(void)info;
	return 0;
}

enum { TICK };

static const struct sley_method methods[] = {
	[TICK] = { .name = "tick", .run = tick, .flags = SLEY_METHOD_SHORT },
};
static const struct sley_method methods_2[] = {
	[TICK] = { .name = "tick", .run = tick_twice },
};
static const struct sley_module ticker = {
	SLEY_MODULE_HEAD("ticker"),
	.version = 1,
	.methods = methods,
	.nr_methods = 1,
};
static const struct sley_module ticker_2 = {
	SLEY_MODULE_HEAD("ticker"), .version = 2,
	.methods = methods_2,       .nr_methods = 1,
	.upgrade = keep_state,
};

static struct routing ticking_with(const struct sley_router_options *options)
{
	struct routing r = { .rt = start() };

	CHECK_EQ(sley_router_create(r.rt, &r.router, options), 0);
	CHECK_EQ(sley_router_add(r.router, &ticker), 0);
	CHECK_EQ(sley_pool_open(r.router, &r.pool, "p",
				SLEY_POOL_OPTIONS(.module = "ticker",
						  .containers = 2)),
		 0);
	return r;
}

static struct routing ticking(const char *policy)
{
	return ticking_with(SLEY_ROUTER_OPTIONS(.policy = policy));
}

static void submit_clock(struct sley_pool *pool, struct sley_request *request,
			 struct clock **clock, uint64_t period_ns)
{
	CHECK_EQ(sley_submit(pool, request,
			     SLEY_REQUEST(.method = TICK, .in = clock,
					  .in_size = sizeof(*clock),
					  .period_ns = period_ns)),
		 0);
}

static int code_at_end(struct sley_request *request)
{
	CHECK_EQ(sley_request_wait_until(request, in_ms(10000)), 0);
	return sley_request_code(request);
}

/* ---- the times of the runs ----------------------------------------------------------- */

TEST_WORKERS(c29_runs_are_counted_from_their_times_and_do_not_drift)
{
	struct routing r = ticking("default");
	struct clock clock = {
		.stop_at = 9,
		.code = 7,
		.busy_ns = SLEY_MSEC,
		.first_ns = SLEY_MSEC,
	};
	struct clock *in = &clock;
	struct sley_request request;
	uint64_t period_ns = 10 * SLEY_MSEC, start_ns = sley_now();
	uint64_t least_ns = UINT64_MAX, submit_ns;

	submit_clock(r.pool, &request, &in, period_ns);
	submit_ns = sley_now() - start_ns;
	CHECK_EQ(code_at_end(&request), 7);
	CHECK_EQ(atomic_load(&clock.begun), 9);
	for (uint64_t i = 0; i < 9; i++) {
		uint64_t at_ns = clock.at_ns[i] - start_ns;

		CHECK_GE(at_ns, i * period_ns);
		if (i >= 3 && at_ns % period_ns < least_ns)
			least_ns = at_ns % period_ns;
	}
	/* Counted from the ends, the fourth would be late by three, and so on. */
	CHECK_LT(least_ns, submit_ns + 5 * SLEY_MSEC / 2);
	CHECK_EQ(router_stats(r.router).submitted, 1);
	CHECK_EQ(router_stats(r.router).completed, 1);
	routing_stop(&r);
}

TEST_WORKERS(c29_a_long_run_leaves_times_out_and_the_next_do_not_bunch_up)
{
	struct routing r = ticking("default");
	struct clock clock = { .stop_at = 6,
			       .code = 1,
			       .first_ns = 52 * SLEY_MSEC };
	struct clock *in = &clock;
	struct sley_request request;
	uint64_t period_ns = 5 * SLEY_MSEC, start_ns = sley_now();

	submit_clock(r.pool, &request, &in, period_ns);
	CHECK_EQ(code_at_end(&request), 1);
	for (uint64_t i = 1; i < 6; i++)
		CHECK_GE(clock.at_ns[i] - start_ns, (10 + i) * period_ns);
	routing_stop(&r);
}

/* Twice as many as a batch of anything; each is looked at. */
TEST_WORKERS(c29_all_of_many_requests_with_one_period_run)
{
	enum { NR = 64 };
	struct routing r = ticking("default");
	struct clock *clock = calloc(NR, sizeof(*clock));
	struct clock *in[NR];
	struct sley_request request[NR];

	CHECK(clock != NULL);
	for (int i = 0; i < NR; i++) {
		clock[i].stop_at = 4;
		clock[i].code = 3;
		in[i] = &clock[i];
		submit_clock(r.pool, &request[i], &in[i], 2 * SLEY_MSEC);
	}
	for (int i = 0; i < NR; i++) {
		CHECK_EQ(code_at_end(&request[i]), 3);
		CHECK_EQ(atomic_load(&clock[i].begun), 4);
	}
	free(clock);
	routing_stop(&r);
}

/* Also for a short method, which otherwise runs on the stack of the submitter. */
static void submit_in_task(void *arg)
{
	struct routing *r = arg;
	struct clock clock = { .stop_at = 3, .code = 5 };
	struct clock *in = &clock;
	struct sley_request request;
	int answer = -1;

	CHECK_EQ(sley_submit(r->pool, &request,
			     SLEY_REQUEST(.method = TICK, .in = &in,
					  .in_size = sizeof(in), .out = &answer,
					  .out_size = sizeof(answer),
					  .period_ns = SLEY_MSEC)),
		 0);
	CHECK(!sley_request_is_done(&request));
	CHECK_EQ(code_at_end(&request), 5);
	/* The answer is that of the last run. */
	CHECK_EQ(answer, 2);
	CHECK_EQ(sley_request_answer_size(&request), sizeof(answer));
	CHECK_EQ(router_stats(r->router).inlined, 0);
}

TEST_WORKERS(c29_the_first_run_is_at_once_and_in_a_task_of_its_own)
{
	struct routing r = ticking("none");

	run_task(submit_in_task, &r);
	routing_stop(&r);
}

/* ---- where the runs are ---------------------------------------------------------------- */

static atomic_uint nr_mapped;

static uint32_t map_in_turn(void *self, const struct sley_route *route)
{
	(void)self;
	return atomic_fetch_add(&nr_mapped, 1) %
	       sley_router_nr_workers(route->router);
}

static const struct sley_policy in_turn = {
	SLEY_POLICY_HEAD("in turn"),
	.runtime_map = map_in_turn,
};

TEST_WORKERS(c29_each_run_is_routed_anew)
{
	struct routing r =
		ticking_with(SLEY_ROUTER_OPTIONS(.own_policy = &in_turn));
	struct clock clock = { .stop_at = 20, .code = 1 };
	struct clock *in = &clock;
	struct sley_request request;
	uint32_t nr = sley_router_nr_workers(r.router);

	atomic_store(&nr_mapped, 0);
	submit_clock(r.pool, &request, &in, SLEY_MSEC);
	CHECK_EQ(code_at_end(&request), 1);
	CHECK_EQ(atomic_load(&nr_mapped), 20);
	for (uint32_t i = 0; i < 20; i++)
		CHECK_EQ(clock.worker[i], i % nr);
	CHECK_EQ(router_stats(r.router).refused, 0);
	routing_stop(&r);
}

/* The run waits, too: it is resumed where it was. */
TEST_WORKERS(c22_a_run_that_is_sent_to_another_worker_begins_once)
{
	struct routing r =
		ticking_with(SLEY_ROUTER_OPTIONS(.own_policy = &in_turn));
	struct clock clock = { .stop_at = 10,
			       .code = 1,
			       .first_ns = SLEY_MSEC / 10,
			       .busy_ns = SLEY_MSEC / 10 };
	struct clock *in = &clock;
	struct sley_request request;

	atomic_store(&nr_mapped, 0);
	submit_clock(r.pool, &request, &in, SLEY_MSEC);
	CHECK_EQ(code_at_end(&request), 1);
	CHECK_EQ(atomic_load(&clock.begun), 10);
	CHECK_EQ(atomic_load(&clock.ended), 10);
	CHECK_EQ(atomic_load(&nr_mapped), 10);
	routing_stop(&r);
}

static atomic_int held = -1; /* the worker that a task holds */
static atomic_bool may_end;

static void hold_worker(void *arg)
{
	(void)arg;
	atomic_store(&held, (int)sley_worker());
	while (!atomic_load(&may_end))
		;
}

static uint32_t pin_to_held(void *self, const struct sley_route *route)
{
	(void)self;
	sley_route_pin(route);
	return (uint32_t)atomic_load(&held);
}

static const struct sley_policy pinning = {
	SLEY_POLICY_HEAD("pinning"),
	.runtime_map = pin_to_held,
};

/* The runs for a worker that a task holds are taken by the other worker. */
TEST(c29_a_pin_has_no_effect_on_a_periodic_request)
{
	struct routing r =
		ticking_with(SLEY_ROUTER_OPTIONS(.own_policy = &pinning));
	struct clock clock = { .stop_at = 8, .code = 1 };
	struct clock *in = &clock;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_request request;
	struct sley_task task;

	sley_spawn(&group, &task, hold_worker, NULL);
	CHECK_SOON(atomic_load(&held) >= 0);
	submit_clock(r.pool, &request, &in, SLEY_MSEC);
	CHECK_EQ(code_at_end(&request), 1);
	CHECK_EQ(atomic_load(&clock.begun), 8);
	atomic_store(&may_end, true);
	sley_join(&group);
	routing_stop(&r);
}

TEST_WORKERS(c29_a_request_in_a_group_leaves_the_group_between_two_runs)
{
	struct routing r = ticking("default");
	struct clock clock = { .stop_at = 5, .code = 1 };
	struct clock *in = &clock;
	struct sley_request request;

	CHECK_EQ(sley_submit(r.pool, &request,
			     SLEY_REQUEST(.method = TICK, .in = &in,
					  .in_size = sizeof(in), .group = 9,
					  .priority = -3,
					  .period_ns = SLEY_MSEC)),
		 0);
	CHECK_EQ(code_at_end(&request), 1);
	CHECK_EQ(atomic_load(&clock.begun), 5);
	routing_stop(&r);
}

/* ---- the end ------------------------------------------------------------------------------ */

static void await_begun(struct clock *clock, int nr)
{
	CHECK_SOON(atomic_load(&clock->begun) >= nr);
	CHECK_SOON(!atomic_load(&clock->running));
}

TEST_WORKERS(c29_a_cancel_between_two_runs_completes_the_request)
{
	struct routing r = ticking("default");
	struct clock clock = { 0 }, *in = &clock;
	struct sley_request request;

	submit_clock(r.pool, &request, &in, HOUR);
	await_begun(&clock, 1);
	CHECK_EQ(sley_request_code(&request), -EINPROGRESS);
	sley_request_cancel(&request);
	CHECK_EQ(code_at_end(&request), -ECANCELED);
	CHECK_EQ(atomic_load(&clock.begun), 1);
	/* Of a complete request. */
	sley_request_cancel(&request);
	routing_stop(&r);
}

TEST_WORKERS(c29_a_cancel_ends_the_waits_of_a_run)
{
	struct routing r = ticking("default");
	struct clock clock = { .first_ns = HOUR }, *in = &clock;
	struct sley_request request;

	submit_clock(r.pool, &request, &in, SLEY_MSEC);
	CHECK_SOON(atomic_load(&clock.running));
	sley_request_cancel(&request);
	CHECK_EQ(code_at_end(&request), -ECANCELED);
	CHECK_EQ(atomic_load(&clock.begun), 1);
	routing_stop(&r);
}

TEST_WORKERS(c29_a_code_that_is_not_0_ends_the_series)
{
	static const int codes[] = { -EIO, -ECANCELED, 1 };
	struct routing r = ticking("none");

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		struct clock clock = { .stop_at = 2, .code = codes[i] };
		struct clock *in = &clock;
		struct sley_request request;

		submit_clock(r.pool, &request, &in, SLEY_MSEC);
		CHECK_EQ(code_at_end(&request), codes[i]);
		CHECK_EQ(atomic_load(&clock.begun), 2);
	}
	routing_stop(&r);
}

TEST_WORKERS(c29_a_deadline_ends_the_series)
{
	struct routing r = ticking("default");
	struct clock clock = { 0 }, *in = &clock;
	struct sley_request request;
	struct sley_request_spec spec =
		*SLEY_REQUEST(.method = TICK, .in = &in, .in_size = sizeof(in),
			      .period_ns = HOUR, .deadline_ns = in_ms(30));

	CHECK_EQ(sley_submit(r.pool, &request, &spec), 0);
	CHECK_EQ(code_at_end(&request), -ETIMEDOUT);
	CHECK_GE(sley_now(), spec.deadline_ns);
	CHECK_EQ(atomic_load(&clock.begun), 1);
	/* In the middle of a run. */
	clock.busy_ns = HOUR;
	spec.period_ns = SLEY_MSEC;
	spec.deadline_ns = in_ms(30);
	CHECK_EQ(sley_submit(r.pool, &request, &spec), 0);
	CHECK_EQ(code_at_end(&request), -ETIMEDOUT);
	CHECK_GE(sley_now(), spec.deadline_ns);
	routing_stop(&r);
}

TEST_WORKERS(c29_the_end_of_the_pool_ends_the_series)
{
	struct routing r = ticking("default");
	struct clock resting = { 0 }, *in = &resting;
	struct clock running = { .first_ns = 30 * SLEY_MSEC };
	struct clock *in_running = &running;
	struct sley_request request[2], late;

	submit_clock(r.pool, &request[0], &in, HOUR);
	await_begun(&resting, 1);
	submit_clock(r.pool, &request[1], &in_running, SLEY_MSEC);
	CHECK_SOON(atomic_load(&running.running));
	CHECK_EQ(sley_pool_destroy(r.pool), 0);
	CHECK_EQ(code_at_end(&request[0]), -ENOENT);
	CHECK_EQ(code_at_end(&request[1]), -ENOENT);
	/* What runs is not cancelled. */
	CHECK_EQ(atomic_load(&running.ended), 1);
	submit_clock(r.pool, &late, &in, HOUR);
	CHECK_EQ(code_at_end(&late), -ENOENT);
	CHECK_EQ(atomic_load(&resting.begun), 1);
	routing_stop(&r);
}

TEST_WORKERS(c29_a_forgotten_periodic_request_ends_with_its_router)
{
	struct routing r = ticking("default");
	struct clock clock[2] = { { 0 }, { .stop_at = 3, .code = -EIO } };

	for (int i = 0; i < 2; i++) {
		struct clock *in = &clock[i];

		CHECK_EQ(sley_submit_and_forget(
				 r.pool, SLEY_REQUEST(.method = TICK, .in = &in,
						      .in_size = sizeof(in),
						      .period_ns = SLEY_MSEC)),
			 0);
	}
	await_begun(&clock[0], 5);
	CHECK_SOON(router_stats(r.router).completed == 1);
	CHECK_EQ(atomic_load(&clock[1].begun), 3);
	routing_stop(&r);
	CHECK_EQ(atomic_load(&clock[0].begun), atomic_load(&clock[0].ended));
}

TEST_WORKERS(c29_a_cancel_of_the_runtime_ends_the_series_at_once)
{
	struct routing r = ticking("default");
	struct clock clock = { 0 }, *in = &clock;
	struct sley_request request[3];

	for (int i = 0; i < 3; i++) {
		submit_clock(r.pool, &request[i], &in, HOUR);
		await_begun(&clock, i + 1);
	}
	sley_cancel_all(r.rt);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(code_at_end(&request[i]), -ECANCELED);
	CHECK_EQ(atomic_load(&clock.begun), 3);
	routing_stop(&r);
}

/* ---- drained containers ------------------------------------------------------------------- */

TEST_WORKERS(c29_neither_a_drain_nor_a_flush_waits_between_two_runs)
{
	struct routing r = ticking("default");
	struct clock clock = { 0 }, *in = &clock;
	struct sley_request request;

	submit_clock(r.pool, &request, &in, HOUR);
	await_begun(&clock, 1);
	CHECK_EQ(sley_pool_flush_until(r.pool, in_ms(10000)), 0);
	CHECK_EQ(sley_container_drain_until(r.pool, 0, in_ms(10000)), 0);
	sley_request_cancel(&request);
	CHECK_EQ(code_at_end(&request), -ECANCELED);
	routing_stop(&r);
}

TEST_WORKERS(c29_no_run_comes_while_the_container_is_drained)
{
	struct routing r = ticking("default");
	struct clock clock = { 0 }, *in = &clock;
	struct sley_request request, late;
	int nr;

	submit_clock(r.pool, &request, &in, SLEY_MSEC);
	await_begun(&clock, 2);
	CHECK_EQ(sley_container_drain_until(r.pool, 0, in_ms(10000)), 0);
	nr = atomic_load(&clock.begun);
	CHECK_EQ(atomic_load(&clock.running), 0);
	CHECK_EQ(sley_sleep(20 * SLEY_MSEC), 0);
	CHECK_EQ(atomic_load(&clock.begun), nr);
	CHECK(!sley_request_is_done(&request));
	/* The other container goes on, and the flush does not wait. */
	CHECK_EQ(sley_pool_flush_until(r.pool, in_ms(10000)), 0);
	/* A new version of the module comes into force with the next run. */
	CHECK_EQ(sley_container_upgrade(r.pool, 0, &ticker_2), 0);
	CHECK_EQ(sley_container_open(r.pool, 0), 0);
	await_begun(&clock, nr + 4);
	sley_request_cancel(&request);
	CHECK_EQ(code_at_end(&request), -ECANCELED);
	CHECK_EQ((atomic_load(&clock.begun) - nr) % 2, 0);
	/* Its first run finds the container drained. */
	CHECK_EQ(sley_container_drain_until(r.pool, 0, in_ms(10000)), 0);
	atomic_store(&clock.begun, 0);
	submit_clock(r.pool, &late, &in, SLEY_MSEC);
	CHECK_EQ(sley_sleep(5 * SLEY_MSEC), 0);
	CHECK_EQ(atomic_load(&clock.begun), 0);
	CHECK_EQ(sley_container_open(r.pool, 0), 0);
	await_begun(&clock, 2);
	sley_request_cancel(&late);
	CHECK_EQ(code_at_end(&late), -ECANCELED);
	routing_stop(&r);
}

/* ---- what has no period -------------------------------------------------------------------- */

TEST_WORKERS(c29_a_period_is_for_one_container_and_not_for_calls)
{
	struct routing r = ticking("default");
	struct clock clock = { 0 }, *in = &clock;
	struct sley_request_spec spec = *SLEY_REQUEST(.method = TICK, .in = &in,
						      .in_size = sizeof(in),
						      .period_ns = SLEY_MSEC);
	struct sley_request request;

	CHECK_EQ(sley_pool_call(r.pool, &spec, NULL), -EINVAL);
	CHECK_EQ(router_stats(r.router).submitted, 0);
	spec.query = sley_query_broadcast();
	CHECK_EQ(sley_submit(r.pool, &request, &spec), 0);
	CHECK_EQ(sley_request_code(&request), -EINVAL);
	CHECK_EQ(sley_submit_and_forget(r.pool, &spec), 0);
	spec.query = sley_query_id(2);
	CHECK_EQ(sley_submit(r.pool, &request, &spec), 0);
	CHECK_EQ(sley_request_code(&request), -ENXIO);
	CHECK_EQ(router_stats(r.router).completed, 3);
	CHECK_EQ(atomic_load(&clock.begun), 0);
	/* A range of one container is one container; no period is no series. */
	clock.stop_at = 2;
	clock.code = 4;
	spec.query = sley_query_range(1, 1);
	CHECK_EQ(sley_submit(r.pool, &request, &spec), 0);
	CHECK_EQ(code_at_end(&request), 4);
	spec.period_ns = 0;
	CHECK_EQ(sley_submit(r.pool, &request, &spec), 0);
	CHECK_EQ(code_at_end(&request), 0);
	CHECK_EQ(atomic_load(&clock.begun), 3);
	routing_stop(&r);
}

/* ---- waits of idle requests ------------------------------------------------------------------ */

static struct polled {
	atomic_int nr;
	struct sley_polling polling[NR_TIMES];
	uint64_t answer_ns; /* 0: what the library would have */
} polled;

static uint64_t note_polling(void *self, const struct sley_route *route,
			     const struct sley_polling *polling)
{
	int nr = atomic_load(&polled.nr);

	(void)self;
	CHECK(route->request != NULL);
	CHECK_EQ(sley_container_id(route->container), 0);
	if (nr < NR_TIMES)
		polled.polling[nr] = *polling;
	atomic_store(&polled.nr, nr + 1);
	return polled.answer_ns ? polled.answer_ns : polling->wait_ns;
}

static const struct sley_policy noting = {
	SLEY_POLICY_HEAD("noting"),
	.runtime_map = map_in_turn,
	.adjust_polling = note_polling,
};

static struct routing polling_start(void)
{
	memset(&polled, 0, sizeof(polled));
	return ticking_with(SLEY_ROUTER_OPTIONS(.own_policy = &noting));
}

TEST_WORKERS(c08_idle_runs_double_the_wait_and_work_restores_the_period)
{
	static const uint64_t ms[] = { 2, 4, 8, 16, 32, 64, 100, 100, 1, 1 };
	struct routing r = polling_start();
	struct clock clock = {
		.stop_at = 11,
		.code = 1,
		.idle_from = 1,
		.idle_to = 8,
	};
	struct clock *in = &clock;
	struct sley_request request;
	uint64_t due_ns = sley_now();

	submit_clock(r.pool, &request, &in, SLEY_MSEC);
	CHECK_EQ(code_at_end(&request), 1);
	CHECK_EQ(atomic_load(&polled.nr), 10);
	for (int i = 0; i < 10; i++) {
		const struct sley_polling *polling = &polled.polling[i];

		CHECK_EQ(polling->period_ns, SLEY_MSEC);
		CHECK_EQ(polling->wait_ns, ms[i] * SLEY_MSEC);
		CHECK_EQ(polling->waited_ns, i ? ms[i - 1] * SLEY_MSEC : 0);
		CHECK_EQ(polling->did_work, i >= 8);
		CHECK_EQ(polling->nr_idle, i < 8 ? i + 1 : 0);
		due_ns += ms[i] * SLEY_MSEC;
		CHECK_GE(clock.at_ns[i + 1], due_ns);
	}
	routing_stop(&r);
}

/* Without a policy that has an opinion; and the first run waits for nothing. */
TEST_WORKERS(c08_the_library_backs_off_by_itself)
{
	struct routing r = ticking("none");
	struct clock clock = {
		.stop_at = 8,
		.code = 1,
		.idle_from = 1,
		.idle_to = 99,
	};
	struct clock *in = &clock;
	struct sley_request request;
	uint64_t start_ns = sley_now();

	submit_clock(r.pool, &request, &in, SLEY_MSEC);
	CHECK_EQ(code_at_end(&request), 1);
	CHECK_GE(sley_now() - start_ns,
		 (2 + 4 + 8 + 16 + 32 + 64 + 100) * SLEY_MSEC);
	routing_stop(&r);
}

TEST_WORKERS(c08_a_period_above_100_ms_is_not_made_longer)
{
	struct routing r = polling_start();
	struct clock clock = {
		.stop_at = 2,
		.code = 1,
		.idle_from = 1,
		.idle_to = 99,
	};
	struct clock *in = &clock;
	struct sley_request request;

	submit_clock(r.pool, &request, &in, 123 * SLEY_MSEC);
	CHECK_EQ(code_at_end(&request), 1);
	CHECK_EQ(polled.polling[0].wait_ns, 123 * SLEY_MSEC);
	routing_stop(&r);
}

/* They fire together, whenever they began. */
TEST_WORKERS(c08_waits_of_idle_requests_end_at_a_common_time)
{
	enum { NR = 5 };
	struct routing r = ticking("none");
	struct clock clock[NR], *in[NR];
	struct sley_request request[NR];
	uint64_t due_ns[NR];

	for (int i = 0; i < NR; i++) {
		clock[i] = (struct clock){
			.idle_from = 1, .idle_to = 99, .stop_at = 2, .code = 1
		};
		in[i] = &clock[i];
		due_ns[i] = sley_now() + 40 * SLEY_MSEC;
		submit_clock(r.pool, &request[i], &in[i], 20 * SLEY_MSEC);
		CHECK_EQ(sley_sleep(13 * SLEY_MSEC / 10), 0);
	}
	for (int i = 0; i < NR; i++) {
		uint64_t over_ns = due_ns[i] % SLEY_IDLE_ALIGN_NS;

		CHECK_EQ(code_at_end(&request[i]), 1);
		if (over_ns)
			due_ns[i] += SLEY_IDLE_ALIGN_NS - over_ns;
		CHECK_GE(clock[i].at_ns[1], due_ns[i]);
	}
	routing_stop(&r);
}

TEST_WORKERS(c08_a_policy_may_wait_longer_but_not_less_than_the_period)
{
	struct routing r = polling_start();
	struct clock clock = { .stop_at = 3, .code = 1 }, *in = &clock;
	struct sley_request request;
	uint64_t start_ns = sley_now();

	polled.answer_ns = 30 * SLEY_MSEC;
	submit_clock(r.pool, &request, &in, SLEY_MSEC);
	CHECK_EQ(code_at_end(&request), 1);
	CHECK_GE(clock.at_ns[2] - start_ns, 60 * SLEY_MSEC);
	CHECK_EQ(router_stats(r.router).refused, 0);
	atomic_store(&clock.begun, 0);
	polled.answer_ns = SLEY_MSEC - 1;
	submit_clock(r.pool, &request, &in, SLEY_MSEC);
	CHECK_EQ(code_at_end(&request), 1);
	CHECK_EQ(router_stats(r.router).refused, 2);
	routing_stop(&r);
}
