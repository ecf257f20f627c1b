/* SPDX-License-Identifier: MIT */
/*
 * routing.h - a router, and a module for tests that tells what was done where.
 */
#ifndef SLEY_TESTS_CONFORMANCE_ROUTE_ROUTING_H
#define SLEY_TESTS_CONFORMANCE_ROUTE_ROUTING_H

#include "conformance/bound.h"

enum probe_method {
	PROBE_ECHO,    /* answers with its IN part                          */
	PROBE_WHERE,   /* answers with the container and the worker         */
	PROBE_WAIT,    /* waits for the event that its IN part points at    */
	PROBE_FAIL,    /* returns the int of its IN part                    */
	PROBE_ID,      /* answers with the container; answers are appended  */
	PROBE_SHORT,   /* as PROBE_WHERE, and short                         */
	PROBE_NOTHING, /* a hole in the table                               */
	PROBE_HOLD,    /* holds its worker until the gate is open           */
	PROBE_COUNT,   /* counts itself as begun                            */
	PROBE_NETWORK, /* as PROBE_ECHO, for the network                    */
	PROBE_GPU,     /* the same, for a GPU                               */
	PROBE_SPIN,    /* computes for the uint64_t nanoseconds of its IN   */
	PROBE_SIZED,   /* the same, and says that it moves 1 MiB            */
	NR_PROBES,
};

struct place {
	uint32_t container;
	int32_t worker;
};

/* Of all containers of all pools of a test. */
struct probe_counts {
	atomic_int created, destroyed, running, begun, scheduled;
	atomic_int create_fails_at; /* 1 + the container; 0: none            */
};
extern struct probe_counts probe_counts;
extern const struct sley_module probe_module;

/* What schedule() of the probe answers. */
extern struct sley_query probe_answer;

static inline struct sley_router *router_with(struct sley *rt,
					      const char *policy)
{
	struct sley_router *router = NULL;

	CHECK_EQ(sley_router_create(rt, &router,
				    SLEY_ROUTER_OPTIONS(.policy = policy)),
		 0);
	CHECK_EQ(sley_router_add(router, &probe_module), 0);
	return router;
}

static inline struct sley_pool *probe_pool(struct sley_router *router,
					   const char *name, uint32_t nr)
{
	struct sley_pool *pool = NULL;

	CHECK_EQ(sley_pool_open(router, &pool, name,
				SLEY_POOL_OPTIONS(.module = "probe",
						  .containers = nr)),
		 0);
	return pool;
}

/* A runtime, a router and a pool named "p". */
struct routing {
	struct sley *rt;
	struct sley_router *router;
	struct sley_pool *pool;
};

static inline struct routing routing_start(uint32_t containers,
					   const char *policy)
{
	struct routing routing = { .rt = start() };

	routing.router = router_with(routing.rt, policy);
	routing.pool = probe_pool(routing.router, "p", containers);
	return routing;
}

/* The numbers of workers that a policy is tried with. */
#define ROUTING_COUNTS 1, 2, 3, 4, 16

/* A runtime with @workers, and a router with @policy. */
static inline struct routing routing_of(int workers, const char *policy)
{
	struct sley_config config = config_of(workers);
	struct routing routing = { .rt = start_with(&config) };

	routing.router = router_with(routing.rt, policy);
	routing.pool = probe_pool(routing.router, "p", 2);
	return routing;
}

/* The same with a policy of the test. */
static inline struct routing routing_by(const struct sley_config *config,
					const struct sley_policy *policy,
					uint32_t log_level)
{
	struct routing r = { .rt = start_with(config) };

	CHECK_EQ(
		sley_router_create(r.rt, &r.router,
				   SLEY_ROUTER_OPTIONS(.own_policy = policy,
						       .log_level = log_level)),
		0);
	CHECK_EQ(sley_router_add(r.router, &probe_module), 0);
	r.pool = probe_pool(r.router, "p", 2);
	return r;
}

/*
 * With chaos, workers pause for so long that the policy "default" takes them for held,
 * and tasks are queued anywhere.
 */
static inline void skip_chaos(void)
{
	if (test_is_chaotic())
		test_skip("looks where requests are sent");
}

/* The worker to which a request of @spec is sent. */
static inline uint32_t sent_to(struct sley_pool *pool,
			       const struct sley_request_spec *given)
{
	struct sley_request_spec spec = *given;
	struct sley_request request;

	spec.enqueue = true;
	CHECK_EQ(sley_submit(pool, &request, &spec), 0);
	CHECK_EQ(sley_request_wait(&request), 0);
	CHECK_EQ(sley_request_code(&request), 0);
	return request.worker;
}

/* A pinned task on each worker: the tasks meet, so that no worker has two. */
struct meeting {
	struct routing *r;
	sley_fn *fn;
	atomic_int nr_here, turn;
};

static inline void meet(void *arg)
{
	struct meeting *meeting = arg;
	int nr = (int)sley_router_nr_workers(meeting->r->router);

	atomic_fetch_add(&meeting->nr_here, 1);
	while (atomic_load(&meeting->nr_here) < nr)
		test_nap_ms(1);
	while (atomic_load(&meeting->turn) != sley_worker())
		CHECK_EQ(sley_sleep(SLEY_MSEC / 5), 0);
	meeting->fn(meeting->r);
	atomic_fetch_add(&meeting->turn, 1);
}

/* @fn on each worker of the routing, one after the other. */
static inline void on_each_worker(struct routing *r, sley_fn *fn)
{
	struct meeting meeting = { .r = r, .fn = fn };

	run_tasks((int)sley_router_nr_workers(r->router), meet, &meeting);
}

static inline void routing_stop(struct routing *routing)
{
	sley_pool_close(routing->pool);
	CHECK_EQ(sley_router_destroy(routing->router), 0);
	stop(routing->rt);
}

static inline struct sley_router_stats
router_stats(const struct sley_router *router)
{
	struct sley_router_stats stats = { .size = sizeof(stats) };

	CHECK_EQ(sley_router_get_stats(router, &stats), 0);
	return stats;
}

/* Where a request with @query runs. */
static inline struct place where(struct sley_pool *pool,
				 struct sley_query query)
{
	struct place place = { UINT32_MAX, -1 };
	size_t size = 0;

	CHECK_EQ(sley_pool_call(pool,
				SLEY_REQUEST(.method = PROBE_WHERE,
					     .query = query, .out = &place,
					     .out_size = sizeof(place)),
				&size),
		 0);
	CHECK_EQ(size, sizeof(place));
	return place;
}

/* The code of a request for @method with @query. */
static inline int code_of(struct sley_pool *pool, uint32_t method,
			  struct sley_query query)
{
	return sley_pool_call(
		pool, SLEY_REQUEST(.method = method, .query = query), NULL);
}

/* Submits a request that waits for *@event in container @id. */
static inline void submit_waiter(struct sley_pool *pool,
				 struct sley_request *request,
				 struct sley_event **event, uint32_t id)
{
	CHECK_EQ(sley_submit(pool, request,
			     SLEY_REQUEST(.method = PROBE_WAIT,
					  .query = sley_query_id(id),
					  .in = event,
					  .in_size = sizeof(*event))),
		 0);
}

#endif
