/* SPDX-License-Identifier: MIT */
/*
 * tour_pools.c - a stop of the tour: a pool whose requests find their containers, one of
 * which is drained again and again under load.
 */
#include "tour.h"

#include <errno.h>
#include <sley/sley.h>
#include <stdlib.h>
#include <string.h>

#define NR_CONTAINERS 8
#define NR_KEYS 1000
#define NR_CALLERS 10
#define NR_EACH 2000
#define NR_DRAINS 100

enum { ADD, SUM };

struct shard { /* the state of a container */
	struct sley_mutex lock;
	uint64_t sum;
};

/* ---- the module -------------------------------------------------------------------- */

static int create(void **self, const struct sley_container_info *info)
{
	(void)info;
	*self = tour_alloc(1, sizeof(struct shard));
	return 0;
}

static int add(void *self, struct sley_request *request)
{
	struct shard *shard = self;

	(void)request;
	sley_mutex_lock(&shard->lock);
	shard->sum++;
	sley_mutex_unlock(&shard->lock);
	return 0;
}

static int sum(void *self, struct sley_request *request)
{
	struct shard *shard = self;
	uint64_t sum;

	sley_mutex_lock(&shard->lock);
	sum = shard->sum;
	sley_mutex_unlock(&shard->lock);
	return sley_request_answer(request, &sum, sizeof(sum));
}

static int combine_sums(void *into, size_t room, size_t *size, const void *from,
			size_t from_size)
{
	uint64_t all, one;

	if (room < sizeof(all) || *size != sizeof(all) ||
	    from_size != sizeof(one))
		return -EPROTO;
	memcpy(&all, into, sizeof(all));
	memcpy(&one, from, sizeof(one));
	all += one;
	memcpy(into, &all, sizeof(all));
	return 0;
}

/* The key of an addition leads to its container; a sum goes to all of them. */
static struct sley_query schedule(void *self,
				  const struct sley_request *request)
{
	size_t size;
	const uint64_t *key = sley_request_in(request, &size);

	(void)self;
	return key ? sley_query_hash(*key) : sley_query_broadcast();
}

static const struct sley_method methods[] = {
	[ADD] = { .name = "add", .run = add },
	[SUM] = { .name = "sum", .run = sum, .combine = combine_sums },
};

static const struct sley_module module = {
	SLEY_MODULE_HEAD("sums"), .methods = methods, .nr_methods = 2,
	.create = create,         .destroy = free,    .schedule = schedule,
};

/* ---- the load ---------------------------------------------------------------------- */

static int call_often(void *arg)
{
	struct sley_pool *pool = arg;
	int err = 0;

	for (uint64_t i = 0; i < NR_EACH && !err; i++) {
		uint64_t key = i % NR_KEYS;

		err = sley_pool_call(pool,
				     SLEY_REQUEST(.method = ADD,
						  .query = sley_query_dynamic(),
						  .in = &key,
						  .in_size = sizeof(key)),
				     NULL);
	}
	return err;
}

/* Requests for the container wait meanwhile; no request is lost. */
static int drain_and_open(void *arg)
{
	struct sley_pool *pool = arg;
	int err = 0;

	for (int i = 0; i < NR_DRAINS && !err; i++) {
		err = sley_container_drain_until(pool, 3,
						 sley_after(5 * SLEY_SEC));
		if (!err)
			err = sley_container_open(pool, 3);
		sley_yield();
	}
	return err;
}

static int run_load(struct sley_pool *pool, uint64_t *total)
{
	struct sley_task tasks[NR_CALLERS], keeper;
	struct sley_scope scope;
	int err;

	sley_scope_open_until(&scope, sley_after(20 * SLEY_SEC));
	sley_scope_spawn(&scope, &keeper, drain_and_open, pool);
	for (int i = 0; i < NR_CALLERS; i++)
		sley_scope_spawn(&scope, &tasks[i], call_often, pool);
	err = sley_scope_close(&scope);
	if (err)
		return err;
	return sley_pool_call(
		pool,
		SLEY_REQUEST(.method = SUM, .query = sley_query_dynamic(),
			     .out = total, .out_size = sizeof(*total)),
		NULL);
}

static int open_pool(struct sley_router *router, struct sley_pool **pool)
{
	int err = sley_router_add(router, &module);

	return err ? err
		   : sley_pool_open(router, pool, "sums",
				    SLEY_POOL_OPTIONS(.module = "sums",
						      .containers =
							      NR_CONTAINERS));
}

void tour_pools(struct outcome *out)
{
	struct sley_router *router;
	struct sley_pool *pool = NULL;
	uint64_t total = 0;
	int err = sley_router_create(sley_current(), &router, NULL);

	if (err) {
		outcome_trouble(out, "no router: %s", sley_strerror(err));
		return;
	}
	err = open_pool(router, &pool);
	outcome_start(out);
	if (!err)
		err = run_load(pool, &total);
	outcome_stop(out);
	sley_pool_close(pool);
	if (!err)
		err = sley_router_destroy(router);
	if (err)
		outcome_trouble(out, "requests failed: %s", sley_strerror(err));
	else if (total != NR_CALLERS * NR_EACH)
		outcome_trouble(out, "%llu of %d requests were counted",
				(unsigned long long)total,
				NR_CALLERS * NR_EACH);
	outcome_result(out, "%.0f ns a request",
		       outcome_ns(out) / (NR_CALLERS * NR_EACH));
}
