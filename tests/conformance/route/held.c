/* SPDX-License-Identifier: MIT */
/*
 * held.c - requests beside a task that never yields, and beside more threads than
 * processors: R-C9, R-C12.
 */
#include "conformance/route/routing.h"

#include <sched.h>

/* Computes, and calls nothing, until it is told to stop. */
struct hog {
	atomic_int worker; /* 1 + the worker that it holds */
	atomic_bool stop;
};

static void hog(void *arg)
{
	struct hog *it = arg;

	atomic_store(&it->worker, 1 + sley_worker());
	while (!atomic_load(&it->stop))
		;
}

static uint32_t hog_start(struct sley *rt, struct hog *it)
{
	*it = (struct hog){ .worker = 0 };
	CHECK_EQ(sley_schedule_on(rt, hog, it, NULL), 0);
	CHECK_EVENTUALLY(atomic_load(&it->worker));
	return (uint32_t)atomic_load(&it->worker) - 1;
}

static void hog_stop(struct sley_router *router, struct hog *it,
		     uint32_t worker)
{
	atomic_store(&it->stop, true);
	/* The monitor sees that, too. */
	CHECK_EVENTUALLY(!sley_router_is_held(router, worker));
}

TEST(rc9_a_worker_that_does_not_yield_is_noticed_and_passed_over)
{
	skip_chaos();
	for (int nr = 2; nr <= 4; nr++) {
		struct routing r = routing_of(nr, "default");
		uint64_t large = SLEY_IO_LARGE;
		struct hog it;

		for (int round = 0; round < 2; round++) {
			uint32_t held = hog_start(r.rt, &it);

			CHECK_EVENTUALLY(sley_router_is_held(r.router, held));
			for (int i = 0; i < 20; i++) {
				CHECK_NE(
					sent_to(r.pool,
						SLEY_REQUEST(.method =
								     PROBE_ECHO)),
					held);
				CHECK_NE(
					sent_to(r.pool,
						SLEY_REQUEST(.method =
								     PROBE_ECHO,
							     .io_size = large)),
					held);
				CHECK_NE(
					sent_to(r.pool,
						SLEY_REQUEST(.method =
								     PROBE_NETWORK)),
					held);
			}
			hog_stop(r.router, &it, held);
			/* As before. */
			CHECK_EQ(sent_to(r.pool,
					 SLEY_REQUEST(.method = PROBE_ECHO)),
				 0);
		}
		routing_stop(&r);
	}
}

TEST(rc9_with_all_workers_held_a_request_waits_and_then_runs)
{
	struct routing r = routing_of(2, "default");
	struct sley_request request;
	struct hog it[2];

	for (int i = 0; i < 2; i++)
		(void)hog_start(r.rt, &it[i]);
	CHECK_EVENTUALLY(sley_router_is_held(r.router, 0) &&
			 sley_router_is_held(r.router, 1));
	CHECK_EQ(sley_submit(r.pool, &request,
			     SLEY_REQUEST(.method = PROBE_ECHO)),
		 0);
	CHECK_EQ(request.worker, 0);
	CHECK_EQ(sley_request_wait_until(&request, in_ms(20)), -ETIMEDOUT);
	for (int i = 0; i < 2; i++)
		atomic_store(&it[i].stop, true);
	CHECK_EQ(sley_request_wait(&request), 0);
	routing_stop(&r);
}

/* Sends every request to worker `target`, whatever runs there. */
static atomic_uint target;

static uint32_t to_target(void *self, const struct sley_route *route)
{
	(void)self;
	(void)route;
	return atomic_load(&target);
}

static const struct sley_policy stubborn = {
	SLEY_POLICY_HEAD("stubborn"),
	.runtime_map = to_target,
};

/* What is queued behind a hog is run by another worker, before the hog ends. */
TEST(rc9_requests_behind_a_task_that_does_not_yield_are_rescued)
{
	static struct sley_request request[1000];
	struct sley_config config = config_of(2);
	struct routing r = routing_by(&config, &stubborn, 0);
	struct hog it;

	atomic_store(&target, hog_start(r.rt, &it));
	for (size_t i = 0; i < ARRAY_SIZE(request); i++)
		CHECK_EQ(sley_submit(r.pool, &request[i],
				     SLEY_REQUEST(.method = PROBE_COUNT)),
			 0);
	for (size_t i = 0; i < ARRAY_SIZE(request); i++)
		CHECK_EQ(sley_request_wait(&request[i]), 0);
	CHECK_EQ(atomic_load(&probe_counts.begun), 1000);
	CHECK(!atomic_load(&it.stop));
	atomic_store(&it.stop, true);
	routing_stop(&r);
}

/* ---- how long requests take beside a hog ---------------------------------------------- */

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The 99th of a hundred requests of a microsecond, in nanoseconds. */
static uint64_t p99_ns(struct sley_pool *pool)
{
	enum { NR = 1000 };
	static uint64_t took[NR];
	uint64_t one = 1000;

	for (int i = 0; i < NR; i++) {
		uint64_t start_ns = sley_now();

		CHECK_EQ(sley_pool_call(pool,
					SLEY_REQUEST(.method = PROBE_SPIN,
						     .in = &one,
						     .in_size = sizeof(one)),
					NULL),
			 0);
		took[i] = sley_now() - start_ns;
	}
	qsort(took, NR, sizeof(took[0]), compare);
	return took[NR * 99 / 100];
}

/*
 * Four workers and a hog on two processors: a request waits for some time slices of the
 * kernel, and never for the hog, which ends after the test.
 */
TEST(rc9_short_requests_beside_a_task_that_does_not_yield_have_a_bounded_p99)
{
	static const char *const policies[] = { "default", "local", "steal",
						"prio", "none" };

	for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
		struct routing r = routing_of(4, policies[i]);
		struct hog it;

		(void)hog_start(r.rt, &it);
		CHECK_LT(p99_ns(r.pool), 200 * SLEY_MSEC);
		atomic_store(&it.stop, true);
		routing_stop(&r);
	}
}

/* ---- methods that wait on a worker that is then held ---------------------------------- */

struct suspended {
	struct routing *r;
	struct sley_event event;
	struct hog it;
};

static void hold_here(void *arg)
{
	struct suspended *them = arg;

	sley_event_set(&them->event);
	hog(&them->it);
}

/* Methods wait, and a hog takes the worker that woke them, before they go on. */
static void suspend_and_hold(void *arg)
{
	struct suspended *them = arg;
	struct sley_event *in = &them->event;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_request request[16];
	struct sley_task task;

	for (size_t i = 0; i < ARRAY_SIZE(request); i++)
		CHECK_EQ(sley_submit(them->r->pool, &request[i],
				     SLEY_REQUEST(.method = PROBE_WAIT,
						  .in = &in,
						  .in_size = sizeof(in))),
			 0);
	CHECK_SOON(atomic_load(&probe_counts.running) == 16);
	sley_spawn(&group, &task, hold_here, them);
	for (size_t i = 0; i < ARRAY_SIZE(request); i++)
		CHECK_EQ(sley_request_wait(&request[i]), 0);
	/* All of them have gone on, and the hog still runs. */
	atomic_store(&them->it.stop, true);
	sley_join(&group);
}

TEST(rc9_methods_of_a_migratable_runtime_resume_beside_a_hog)
{
	for (int nr = 2; nr <= 4; nr++) {
		struct sley_config config = config_of(nr);
		struct routing r;
		struct suspended them = { .r = &r, .event = SLEY_EVENT_INIT };

		config.migratable = true;
		r = (struct routing){ .rt = start_with(&config) };
		r.router = router_with(r.rt, "default");
		r.pool = probe_pool(r.router, "p", 2);
		run_task(suspend_and_hold, &them);
		routing_stop(&r);
	}
}

/* ---- more threads than processors ------------------------------------------------------ */

enum { ROUNDS = 200 };

/* All of them take the lock of one container's groups, again and again. */
static void crowd(void *arg)
{
	struct routing *r = arg;

	for (uint64_t i = 0; i < ROUNDS; i++)
		CHECK_EQ(sley_pool_call(r->pool,
					SLEY_REQUEST(.method = PROBE_ECHO,
						     .group = 1 + i % 3,
						     .enqueue = i % 2),
					NULL),
			 0);
}

static void *crowd_outside(void *arg)
{
	crowd(arg);
	return NULL;
}

/* A ticket lock would wait for a thread that has no processor, again and again. */
TEST(rc12_many_threads_at_one_lock_get_on)
{
	struct routing r = routing_of(32, "default");
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[32];

	for (size_t i = 0; i < ARRAY_SIZE(task); i++)
		sley_spawn(&group, &task[i], crowd, &r);
	run_threads(32, crowd_outside, &r);
	sley_join(&group);
	CHECK_EQ(router_stats(r.router).completed, 64 * ROUNDS);
	routing_stop(&r);
}

/* A try that succeeds leaves nothing behind that makes the next one fail. */
TEST_WORKERS(rc12_a_lock_that_was_tried_can_be_tried_again)
{
	struct sley *rt = start();
	struct sley_mutex mutex = SLEY_MUTEX_INIT;
	struct sley_rwlock rwlock = SLEY_RWLOCK_INIT;

	for (int i = 0; i < 1000; i++) {
		CHECK(sley_mutex_try_lock(&mutex));
		CHECK(!sley_mutex_try_lock(&mutex));
		sley_mutex_unlock(&mutex);
		CHECK(sley_rwlock_try_write_lock(&rwlock));
		CHECK(!sley_rwlock_try_write_lock(&rwlock));
		sley_rwlock_write_unlock(&rwlock);
	}
	stop(rt);
}
