/* SPDX-License-Identifier: MIT */
/*
 * kv.c - row `kv-local`: the module "kv", used by tasks of the same process, one for each
 * worker, under the policy that leaves a request on the worker of its caller.
 */
#include "rows.h"

#include "../problems/kv.h"

static int get(void *store, const void *key, void *value, size_t room)
{
	return sley_kv_get(store, key, KV_KEY_SIZE, value, room, NULL);
}

static int set(void *store, const void *key, const void *value)
{
	return sley_kv_set(store, key, KV_KEY_SIZE, value, KV_VALUE_SIZE, NULL);
}

static uint64_t crowd(const struct kv_run *run, struct kv_client *clients)
{
	static struct sley_task tasks[KV_CLIENTS_MAX];
	struct sley_group group = SLEY_GROUP_INIT;
	uint64_t start = measure_now();

	for (int i = 0; i < run->m->workers; i++)
		sley_spawn(&group, &tasks[i], kv_client_run, &clients[i]);
	sley_join(&group);
	return measure_now() - start;
}

static void root(void *arg)
{
	const struct measure *m = arg;
	struct sley_router *router;
	struct sley_pool *pool;
	struct kv_side side = { get, set, NULL };
	struct kv_run run = { .m = m, .side = &side, .crowd = crowd };

	MEASURE_CHECK(m, sley_router_create(
				 sley_current(), &router,
				 SLEY_ROUTER_OPTIONS(.policy = "local")) == 0);
	MEASURE_CHECK(m, sley_router_add(router, &sley_kv_module) == 0);
	MEASURE_CHECK(
		m, sley_pool_open(router, &pool, "store",
				  SLEY_POOL_OPTIONS(.module = "kv",
						    .containers = KV_SHARDS)) ==
			   0);
	side.self = pool;
	kv_local(&run);
	sley_pool_close(pool);
	MEASURE_CHECK(m, sley_router_destroy(router) == 0);
}

void row_kv_local(const struct measure *m)
{
	row_run(m, root, (void *)m);
}
