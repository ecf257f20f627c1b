/* SPDX-License-Identifier: MIT */
/*
 * routes.c - requests to pools: what there is no memory for is an error of the call, a
 * code of the request, or a group that is not kept.
 */
#include "fault/sweep.h"

#include "route/neighbour.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NR_CONTAINERS 3
#define LARGE_PART 100000 /* fits no slot of a ring of calls */

static atomic_int nr_ran, nr_alive;

static int create(void **self, const struct sley_container_info *info)
{
	(void)info;
	*self = &nr_alive;
	atomic_fetch_add(&nr_alive, 1);
	return 0;
}

static void destroy(void *self)
{
	atomic_fetch_sub((atomic_int *)self, 1);
}

static int count(void *self, struct sley_request *request)
{
	(void)self;
	atomic_fetch_add(&nr_ran, 1);
	return sley_request_answer(request, "x", request->out_size ? 1 : 0);
}

/* The second run is the last. */
static int count_to_2(void *self, struct sley_request *request)
{
	int nr = atomic_fetch_add(&nr_ran, 1) + 1;

	(void)self;
	(void)request;
	return nr == 2 ? nr : 0;
}

/* All of its OUT part. */
static int fill(void *self, struct sley_request *request)
{
	size_t room;
	void *out = sley_request_out(request, &room);

	(void)self;
	memset(out, 'x', room);
	return sley_request_answer(request, out, room);
}

static const struct sley_method methods[] = {
	{ .name = "count", .run = count },
	{ .name = "count to 2", .run = count_to_2 },
	{ .name = "fill", .run = fill },
};

static const struct sley_module module = {
	SLEY_MODULE_HEAD("counter"),
	.methods = methods,
	.nr_methods = 3,
	.create = create,
	.destroy = destroy,
};

/* Runs @nr times, or not at all if that says -ENOMEM. */
static void call(struct sley_pool *pool, struct sley_query query, int nr)
{
	char out[4];

	atomic_store(&nr_ran, 0);
	if (TRY(sley_pool_call(pool,
			       SLEY_REQUEST(.query = query, .group = 7,
					    .out = out, .out_size = sizeof(out)),
			       NULL),
		-ENOMEM))
		CHECK_EQ(atomic_load(&nr_ran), nr);
	else
		CHECK_EQ(atomic_load(&nr_ran), 0);
}

/* A periodic request.  Runs twice; or not at all, which is an error or a code. */
static int repeat(struct sley_pool *pool)
{
	struct sley_request request;
	int err;

	atomic_store(&nr_ran, 0);
	err = sley_submit(pool, &request,
			  SLEY_REQUEST(.method = 1, .group = 7,
				       .period_ns = SLEY_MSEC));
	if (err)
		return err;
	CHECK_EQ(sley_request_wait(&request), 0);
	err = sley_request_code(&request);
	return err == 2 ? 0 : err;
}

static void use(struct sley_pool *pool)
{
	call(pool, sley_query_id(1), 1);
	call(pool, sley_query_broadcast(), NR_CONTAINERS);
	atomic_store(&nr_ran, 0);
	if (TRY(sley_submit_and_forget(pool,
				       SLEY_REQUEST(.in = "x", .in_size = 1)),
		-ENOMEM)) {
		CHECK_EQ(sley_pool_flush_until(pool, SLEY_FOREVER), 0);
		CHECK_EQ(atomic_load(&nr_ran), 1);
	}
	CHECK_EQ(atomic_load(&nr_ran), TRY(repeat(pool), -ENOMEM) ? 2 : 0);
	if (!TRY(sley_container_drain_until(pool, 0, SLEY_FOREVER), -ENOMEM))
		return;
	CHECK_EQ(sley_pool_call(pool,
				SLEY_REQUEST(.query = sley_query_within(
						     sley_query_id(0), 0)),
				NULL),
		 -ETIMEDOUT);
	CHECK_EQ(sley_container_open(pool, 0), 0);
}

static void with_router(struct sley *rt, const char *policy)
{
	struct sley_router *router;
	struct sley_pool *pool;

	if (!TRY(sley_router_create(rt, &router,
				    SLEY_ROUTER_OPTIONS(.policy = policy)),
		 -ENOMEM))
		return;
	if (TRY(sley_router_add(router, &module), -ENOMEM) &&
	    TRY(sley_pool_open(router, &pool, "p",
			       SLEY_POOL_OPTIONS(.module = "counter",
						 .containers = NR_CONTAINERS)),
		-ENOMEM)) {
		use(pool);
		sley_pool_close(pool);
	}
	CHECK_EQ(sley_router_destroy(router), 0);
	CHECK_EQ(atomic_load(&nr_alive), 0);
}

SCENARIO(requests_to_pools)
{
	struct sley *rt = trial_start(2);

	if (!rt)
		return;
	trial_mark();
	with_router(rt, "default");
	with_router(rt, "local");
	with_router(rt, "none");
	with_router(rt, "steal");
	with_router(rt, "prio");
	trial_stop(rt);
}

/* ---- isolated pools --------------------------------------------------------------- */

/* In the one container, then in both. */
static int call_isolated(struct sley_pool *pool)
{
	char out[4];
	int code = 0;

	for (int i = 0; i < 2 && !code; i++)
		code = sley_pool_call(
			pool,
			SLEY_REQUEST(.query = i ? sley_query_broadcast()
						: sley_query_id(1),
				     .out = out, .out_size = sizeof(out)),
			NULL);
	return code;
}

/*
 * An argument and an answer that fit no slot.  Whatever fails, fails the one request: the
 * next one is answered, if the container is not down.
 */
static int call_large(struct sley_pool *pool)
{
	static char in[LARGE_PART], out[LARGE_PART];
	size_t size;
	int code = sley_pool_call(
		pool,
		SLEY_REQUEST(.method = 2, .in = in, .in_size = sizeof(in),
			     .out = out, .out_size = sizeof(out)),
		&size);

	if (!code) {
		CHECK_EQ(size, sizeof(out));
		CHECK_EQ(out[size - 1], 'x');
		return 0;
	}
	CHECK_EQ(size, 0);
	if (code != SLEY_ECHILD)
		CHECK_EQ(sley_pool_call(pool, SLEY_REQUEST(.method = 0), NULL),
			 0);
	return code;
}

static int use_isolated(struct sley *rt)
{
	struct sley_router *router;
	struct sley_pool *pool;
	int err = sley_router_create(rt, &router, NULL);

	if (err)
		return err;
	err = sley_router_add(router, &module);
	if (!err)
		err = sley_pool_open(
			router, &pool, "p",
			SLEY_POOL_OPTIONS(.module = "counter", .containers = 2,
					  .isolated = true,
					  .max_restarts =
						  SLEY_SUBPROCESS_NEVER));
	if (!err) {
		err = call_isolated(pool);
		if (!err)
			err = call_large(pool);
		sley_pool_close(pool);
	}
	CHECK_EQ(sley_router_destroy(router), 0);
	return err;
}

static int begin_and_isolate(void)
{
	struct sley *rt;
	int err = sley_subprocesses_init();

	if (err)
		return err;
	err = sley_create(&rt, SLEY_CONFIG(.workers = 1));
	if (!err) {
		err = use_isolated(rt);
		CHECK_EQ(sley_destroy(rt), 0);
	}
	sley_subprocesses_exit();
	return err;
}

/*
 * A server that has ended is not started again, so all of it is one try.  No container
 * is started again, either: the next start would absorb a failure of the last.
 */
SCENARIO(pools_that_are_isolated)
{
	(void)TRY(begin_and_isolate(), -ENOMEM, -EAGAIN, -EMFILE, -ENOSPC,
		  -EPERM, -ENOBUFS, -EOPNOTSUPP, -EIO, SLEY_ECHILD);
}

/* ---- the module kv ---------------------------------------------------------------- */

#define NR_KEYS 40
#define LARGE 3000 /* more than a call keeps on its stack */

/* Each value that was written stays, whatever fails later. */
static void use_store(struct sley_pool *store)
{
	static char value[LARGE], back[LARGE];
	bool is_there[NR_KEYS] = { false };
	struct sley_kv_stats stats;
	size_t size;

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < NR_KEYS; i++) {
			memset(value, i, sizeof(value));
			is_there[i] |=
				TRY(sley_kv_set(store, &i, sizeof(i), value,
						i % 2 ? LARGE : 8, NULL),
				    -ENOMEM);
		}
	}
	for (int i = 0; i < NR_KEYS; i++) {
		CHECK_EQ(sley_kv_get(store, &i, sizeof(i), back, sizeof(back),
				     &size),
			 is_there[i] ? 0 : -ENOENT);
		if (is_there[i])
			CHECK(size == (i % 2 ? LARGE : 8) &&
			      back[size - 1] == i);
	}
	if (TRY(sley_kv_get_stats(store, &stats), -ENOMEM))
		CHECK_EQ(stats.evicted, 0);
}

SCENARIO(stores_of_keys)
{
	struct sley *rt = trial_start(1);
	struct sley_router *router;
	struct sley_pool *store;

	if (!rt)
		return;
	trial_mark();
	if (TRY(sley_router_create(rt, &router, NULL), -ENOMEM)) {
		if (TRY(sley_router_add(router, &sley_kv_module), -ENOMEM) &&
		    TRY(sley_pool_open(router, &store, "s",
				       SLEY_POOL_OPTIONS(.module = "kv",
							 .containers = 2)),
			-ENOMEM)) {
			use_store(store);
			sley_pool_close(store);
		}
		CHECK_EQ(sley_router_destroy(router), 0);
	}
	trial_stop(rt);
}

/* ---- containers elsewhere --------------------------------------------------------- */

/* Container 1 is on another machine. */
static uint64_t owner(void *self, const char *pool, uint32_t container)
{
	(void)self;
	(void)pool;
	return container == 1;
}

/* As if the method had run there. */
static int send(void *self, const struct parcel *parcel)
{
	atomic_fetch_add(&nr_ran, 1);
	return neighbour_answer(self, parcel->ticket, 0, "y",
				parcel->out_size ? 1 : 0);
}

static const struct neighbour_ops neighbour_ops = {
	.owner = owner,
	.send = send,
};

static void with_neighbour(struct sley_router *router)
{
	struct sley_pool *pool;

	if (!TRY(neighbour_start(router, &neighbour_ops, router), -ENOMEM) ||
	    !TRY(sley_router_add(router, &module), -ENOMEM) ||
	    !TRY(sley_pool_open(router, &pool, "p",
				SLEY_POOL_OPTIONS(.module = "counter",
						  .containers = NR_CONTAINERS)),
		 -ENOMEM))
		return;
	call(pool, sley_query_id(1), 1);
	call(pool, sley_query_physical(7), 1);
	sley_pool_close(pool);
}

SCENARIO(requests_to_other_machines)
{
	struct sley *rt = trial_start(2);
	struct sley_router *router;

	if (!rt)
		return;
	trial_mark();
	if (TRY(sley_router_create(rt, &router, NULL), -ENOMEM)) {
		with_neighbour(router);
		CHECK_EQ(sley_router_destroy(router), 0);
	}
	CHECK_EQ(atomic_load(&nr_alive), 0);
	trial_stop(rt);
}

/* ---- modules that are files ------------------------------------------------------- */

/* Copies the module that tests/conformance/route builds to a folder of ours. */
static void copy_plugin(char *dir, size_t size)
{
	static char bytes[1 << 20];
	char path[128];
	FILE *from = fopen(PLUGINS "/plugin.so", "r"), *to;
	size_t length;

	snprintf(dir, size, "/tmp/sley-fault.XXXXXX");
	CHECK(from != NULL && mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/plugin.so", dir);
	to = fopen(path, "w");
	length = fread(bytes, 1, sizeof(bytes), from);
	CHECK(to != NULL && length > 0 && length < sizeof(bytes));
	CHECK_EQ(fwrite(bytes, 1, length, to), length);
	CHECK_EQ(fclose(to), 0);
	CHECK_EQ(fclose(from), 0);
	CHECK_EQ(chmod(path, 0700), 0);
}

static void remove_plugin(const char *dir)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/plugin.so", dir);
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(rmdir(dir), 0);
}

static void load(struct sley *rt, const char *dir)
{
	struct sley_router *router;
	struct sley_pool *pool;

	if (!TRY(sley_router_create(rt, &router,
				    SLEY_ROUTER_OPTIONS(.directories = dir)),
		 -ENOMEM))
		return;
	if (TRY(sley_pool_open(router, &pool, "p",
			       SLEY_POOL_OPTIONS(.module = "plugin")),
		-ENOMEM, -EACCES, -ELIBBAD, -EAGAIN)) {
		sley_pool_close(pool);
		(void)TRY(sley_router_refresh(router), -ENOMEM, -EMFILE,
			  -EACCES);
	}
	CHECK_EQ(sley_router_destroy(router), 0);
}

SCENARIO(modules_from_files)
{
	struct sley *rt = trial_start(1);
	char dir[32];

	if (!rt)
		return;
	copy_plugin(dir, sizeof(dir));
	trial_mark();
	load(rt, dir);
	remove_plugin(dir);
	trial_stop(rt);
}
