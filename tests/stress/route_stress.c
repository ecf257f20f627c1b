/* SPDX-License-Identifier: MIT */
/*
 * route_stress.c - tasks and plain threads send requests of all kinds to a few pools,
 * while others drain, upgrade and open the containers, flush the pools, destroy and
 * make them, and cancel requests.  Some requests are periodic, and are ended by whoever
 * comes first: a canceller, a deadline, or the end of the pool.
 *
 * Each request that was accepted completes once: the router counts as many that are
 * complete as it has accepted.  A request is memory of the heap that is freed right
 * after its wait, so a sanitizer sees a party that comes later.  The state of a
 * container has a plain number that is written by upgrade() and read by methods: a
 * keeper that is not alone is a race.  Each state that was made is destroyed.
 */
#include "stress/crowd.h"

#define NR_POOLS 3
#define NR_CONTAINERS 4
#define NR_VERSIONS 64
#define NR_TASKS 14
#define NR_THREADS 4

enum method { COUNT, COUNT_SHORT, SLEEP, CALL, NR_METHODS };

static const char *const names[NR_POOLS] = { "a", "b", "c" };

static struct scene {
	struct sley_router *router;
	bool flushes; /* so each request has to end before its router */
	atomic_int created, destroyed;
} scene;

struct state {
	atomic_int inside;
	uint32_t version; /* plain: by upgrade() */
};

/* ---- the module ---------------------------------------------------------------------- */

static int create(void **self, const struct sley_container_info *info)
{
	struct state *state = calloc(1, sizeof(*state));

	CHECK(state != NULL);
	CHECK_EQ(info->nr, NR_CONTAINERS);
	if (one_in(8))
		sley_yield();
	atomic_fetch_add(&scene.created, 1);
	*self = state;
	return 0;
}

static void destroy(void *self)
{
	struct state *state = self;

	CHECK_EQ(atomic_load(&state->inside), 0);
	atomic_fetch_add(&scene.destroyed, 1);
	free(state);
}

static int upgrade(void **self, uint32_t from,
		   const struct sley_container_info *info)
{
	struct state *state = *self;

	(void)info;
	CHECK_EQ(atomic_load(&state->inside), 0);
	CHECK_EQ(state->version, from);
	dawdle();
	CHECK_EQ(atomic_load(&state->inside), 0);
	state->version = from + 1;
	return 0;
}

static uint64_t work_remaining(void *self)
{
	const struct state *state = self;

	CHECK(state->version < NR_VERSIONS);
	return one_in(4);
}

static struct sley_query schedule(void *self,
				  const struct sley_request *request)
{
	const struct state *state = self;

	(void)request;
	CHECK(state->version < NR_VERSIONS);
	return one_in(4) ? sley_query_broadcast()
			 : sley_query_id(test_random(NR_CONTAINERS));
}

/* Each container counts 1. */
static int answer(struct sley_request *request)
{
	uint32_t one = 1;

	return sley_request_answer(request, &one,
				   request->out_size ? sizeof(one) : 0);
}

static int add(void *into, size_t room, size_t *size, const void *from,
	       size_t from_size)
{
	CHECK_EQ(room, sizeof(uint32_t));
	CHECK_EQ(*size, sizeof(uint32_t));
	CHECK_EQ(from_size, sizeof(uint32_t));
	*(uint32_t *)into += *(const uint32_t *)from;
	return 0;
}

static void begin(struct state *state)
{
	atomic_fetch_add(&state->inside, 1);
	CHECK(state->version < NR_VERSIONS);
}

static int end(struct state *state, struct sley_request *request)
{
	CHECK(state->version < NR_VERSIONS);
	atomic_fetch_sub(&state->inside, 1);
	return answer(request);
}

static int count(void *self, struct sley_request *request)
{
	begin(self);
	return end(self, request);
}

static int sleep_a_little(void *self, struct sley_request *request)
{
	int err;

	begin(self);
	err = sley_sleep(test_random(100 * SLEY_USEC));
	(void)end(self, request);
	return err ? err : answer(request);
}

/* A keeper that drains this container gives up in the end, if the call waits for it. */
static int call_again(void *self, struct sley_request *request)
{
	struct sley_pool *pool =
		sley_container_pool(sley_request_container(request));
	int code;

	begin(self);
	code = sley_pool_call(
		pool,
		SLEY_REQUEST(.method = COUNT, .parent = request,
			     .query = one_in(2) ? sley_query_local()
						: sley_query_broadcast()),
		NULL);
	CHECK(code == 0 || code == -ENOENT || code == -ECANCELED);
	(void)end(self, request);
	return code ? code : answer(request);
}

static const struct sley_method methods[NR_METHODS] = {
	[COUNT] = { .name = "count", .run = count, .combine = add },
	[COUNT_SHORT] = { .name = "short",
			  .run = count,
			  .flags = SLEY_METHOD_SHORT,
			  .combine = add },
	[SLEEP] = { .name = "sleep", .run = sleep_a_little, .combine = add },
	[CALL] = { .name = "call", .run = call_again, .combine = add },
};

static struct sley_module modules[NR_VERSIONS];

static void make_modules(void)
{
	for (uint32_t i = 0; i < NR_VERSIONS; i++)
		modules[i] = (struct sley_module){
			SLEY_MODULE_HEAD("counter"),
			.version = i,
			.nr_methods = NR_METHODS,
			.methods = methods,
			.create = create,
			.destroy = destroy,
			.schedule = schedule,
			.work_remaining = work_remaining,
			.upgrade = upgrade,
		};
}

static int try_to_open(struct sley_pool **pool)
{
	return sley_pool_open(scene.router, pool, names[test_random(NR_POOLS)],
			      SLEY_POOL_OPTIONS(.module = "counter",
						.containers = NR_CONTAINERS));
}

static void open_in_its_place(void *pool)
{
	CHECK_EQ(try_to_open(pool), 0);
}

/* A task that is cancelled cannot wait for the maker of a pool: another task does. */
static struct sley_pool *open_pool(void)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_pool *pool = NULL;
	struct sley_task task;
	int err = try_to_open(&pool);

	if (err == -ECANCELED) {
		sley_spawn(&group, &task, open_in_its_place, &pool);
		sley_join(&group);
		return pool;
	}
	CHECK_EQ(err, 0);
	return pool;
}

/* ---- requests ---------------------------------------------------------------------------- */

static struct sley_query any_query(void)
{
	struct sley_query query;

	switch (test_random(6)) {
	case 0:
		query = sley_query_local();
		break;
	case 1:
		query = sley_query_dynamic();
		break;
	case 2:
		query = sley_query_id(test_random(NR_CONTAINERS));
		break;
	case 3:
		query = sley_query_hash(test_random(1000));
		break;
	case 4:
		query = sley_query_range(1, 1 + test_random(3));
		break;
	default:
		query = sley_query_broadcast();
	}
	return one_in(4) ? sley_query_within(query, test_random(2)) : query;
}

static struct sley_request_spec any_spec(void)
{
	return *SLEY_REQUEST(.method = test_random(NR_METHODS),
			     .query = any_query(),
			     .priority = (int)test_random(3) - 1,
			     .enqueue = one_in(2),
			     .deadline_ns = one_in(8) ? 1 + soon() : 0,
			     .group = one_in(2) ? 1 + test_random(8)
						: SLEY_NO_GROUP,
			     .io_size = test_random(2 * SLEY_IO_LARGE));
}

static void check_end(const struct sley_request_spec *spec, int code,
		      uint32_t sum)
{
	CHECK(code == 0 || code == -ENOENT || code == -ETIMEDOUT ||
	      code == -ECANCELED);
	if (code)
		return;
	if (spec->query.kind == SLEY_QUERY_RANGE)
		CHECK_EQ(sum, spec->query.count);
	else if (spec->query.kind == SLEY_QUERY_BROADCAST)
		CHECK_EQ(sum, NR_CONTAINERS);
	else if (spec->query.kind == SLEY_QUERY_DYNAMIC)
		CHECK(sum == 1 || sum == NR_CONTAINERS);
	else
		CHECK_EQ(sum, 1);
}

static void cancel(void *request)
{
	dawdle();
	sley_request_cancel(request);
}

static void wait_in_its_place(void *request)
{
	CHECK_EQ(sley_request_wait(request), 0);
}

/*
 * A task that is cancelled cannot wait any more: another task does so in its place, and
 * is joined.
 */
static int await(struct sley_request *request)
{
	int err = one_in(4) ? sley_request_wait_until(request, soon()) : 0;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	if (err != -ECANCELED)
		err = sley_request_wait(request);
	if (!err)
		return 0;
	sley_request_cancel(request);
	sley_spawn(&group, &task, wait_in_its_place, request);
	sley_join(&group);
	return err;
}

static int submit(struct sley_pool *pool, struct sley_request_spec *spec,
		  bool is_task)
{
	struct sley_request *request = malloc(sizeof(*request));
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task canceller;
	uint32_t sum = 0;
	int err;

	CHECK(request != NULL);
	spec->out = &sum;
	spec->out_size = sizeof(sum);
	CHECK_EQ(sley_submit(pool, request, spec), 0);
	if (is_task && one_in(4))
		sley_spawn(&group, &canceller, cancel, request);
	else if (one_in(4))
		sley_request_cancel(request);
	err = await(request);
	sley_join(&group);
	check_end(spec, sley_request_code(request), sum);
	free(request);
	return err;
}

static uint64_t any_period(void)
{
	return 1 + test_random(200 * SLEY_USEC);
}

/* A canceller ends it at the latest. */
static int repeat(struct sley_pool *pool, struct sley_request_spec *spec)
{
	struct sley_request *request = malloc(sizeof(*request));
	int err, code;

	CHECK(request != NULL);
	spec->period_ns = any_period();
	CHECK_EQ(sley_submit(pool, request, spec), 0);
	err = one_in(2) ? sley_request_wait_until(request, soon()) : 0;
	sley_request_cancel(request);
	if (err != -ECANCELED)
		err = await(request);
	else
		(void)await(request);
	code = sley_request_code(request);
	CHECK(code == -ECANCELED || code == -ENOENT || code == -ETIMEDOUT ||
	      code == -EINVAL);
	free(request);
	return err;
}

/* Its pool ends it, or the router at the latest. */
static int repeat_and_forget(struct sley_pool *pool,
			     struct sley_request_spec *spec)
{
	spec->period_ns = any_period();
	CHECK_EQ(sley_submit_and_forget(pool, spec), 0);
	return 0;
}

static int send_request(bool is_task)
{
	struct sley_pool *pool = open_pool();
	struct sley_request_spec spec = any_spec();
	uint32_t sum = 0;
	int code, err = 0;

	switch (test_random(6)) {
	case 0:
		spec.in = &sum;
		spec.in_size = sizeof(sum);
		CHECK_EQ(sley_submit_and_forget(pool, &spec), 0);
		break;
	case 1:
		spec.out = &sum;
		spec.out_size = sizeof(sum);
		code = sley_pool_call(pool, &spec, NULL);
		check_end(&spec, code, sum);
		break;
	case 2:
		err = one_in(8) && !scene.flushes
			      ? repeat_and_forget(pool, &spec)
			      : repeat(pool, &spec);
		break;
	default:
		err = submit(pool, &spec, is_task);
	}
	sley_pool_close(pool);
	return err;
}

/* ---- the keepers ---------------------------------------------------------------------------- */

static void upgrade_drained(struct sley_pool *pool, uint32_t id)
{
	int err = -EINVAL;

	/* Which version it has now only its state knows. */
	for (uint32_t i = 1; i < NR_VERSIONS && err == -EINVAL; i++)
		err = sley_container_upgrade(pool, id, &modules[i]);
	CHECK(err == 0 || err == -EINVAL || err == -ENOENT);
}

static int keep_container(void)
{
	struct sley_pool *pool = open_pool();
	uint32_t id = (uint32_t)test_random(NR_CONTAINERS);
	int err = sley_container_drain_until(
		pool, id, sley_now() + test_random(500 * SLEY_USEC));

	if (!err) {
		if (one_in(2))
			upgrade_drained(pool, id);
		dawdle();
		err = sley_container_open(pool, id);
		CHECK(err == 0 || err == -ENOENT);
		err = 0;
	}
	sley_pool_close(pool);
	if (err == -EALREADY || err == -ENOENT)
		return 0;
	return err;
}

static int end_pool(void)
{
	struct sley_pool *pool = open_pool();
	int err = one_in(4) ? sley_pool_destroy(pool) : 0;

	CHECK(err == 0 || err == -EALREADY);
	sley_pool_close(pool);
	return 0;
}

static int flush_pool(void)
{
	struct sley_pool *pool = open_pool();
	int err = sley_pool_flush_until(pool, soon());

	sley_pool_close(pool);
	return err;
}

static int act(void *arg, unsigned int index)
{
	(void)arg;
	dawdle();
	switch (index) {
	case 0:
	case NR_TASKS:
		return keep_container();
	case 1:
		return end_pool();
	case 2:
		return flush_pool();
	default:
		return send_request(index < NR_TASKS);
	}
}

/* ---- the plays --------------------------------------------------------------------------------- */

/* All requests are complete, those that no caller waited for, too. */
static void check_complete(void)
{
	struct sley_router_stats stats = { .size = sizeof(stats) };

	for (int i = 0; i < NR_POOLS; i++) {
		struct sley_pool *pool;
		int err = sley_pool_open(scene.router, &pool, names[i], NULL);

		if (err)
			continue;
		CHECK_EQ(sley_pool_flush_until(pool, SLEY_FOREVER), 0);
		sley_pool_close(pool);
	}
	CHECK_EQ(sley_router_get_stats(scene.router, &stats), 0);
	CHECK_EQ(stats.submitted, stats.completed);
	CHECK_EQ(stats.refused, 0);
}

static void start_router(const char *policy)
{
	make_modules();
	scene = (struct scene){ .router = NULL };
	CHECK_EQ(sley_router_create(sley_current(), &scene.router,
				    SLEY_ROUTER_OPTIONS(.policy = policy)),
		 0);
	CHECK_EQ(sley_router_add(scene.router, &modules[0]), 0);
}

static void stop_router(void)
{
	CHECK_EQ(sley_router_destroy(scene.router), 0);
	CHECK_EQ(atomic_load(&scene.created), atomic_load(&scene.destroyed));
}

static void play_with(const char *policy, bool flushes)
{
	struct crowd crowd = {
		.act = act,
		.nr_tasks = NR_TASKS,
		.nr_threads = NR_THREADS,
		.rounds = 40,
		.cancels = true,
	};

	start_router(policy);
	scene.flushes = flushes;
	crowd_run(&crowd);
	if (flushes)
		check_complete();
	/* Else forgotten requests are on their way when the router ends. */
	stop_router();
}

static void play(void)
{
	play_with(one_in(2) ? "default" : "local", one_in(2));
}

STRESS(requests_complete_once_whatever_happens_to_their_containers, play);
