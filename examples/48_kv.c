/* SPDX-License-Identifier: MIT */
/*
 * 48_kv.c - a store of keys: a counter that four tasks count up, and a key that expires.
 *
 *   cc 48_kv.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>

enum { TASKS = 4, VISITS = 1000 };

struct visits {
	struct sley_kv_entry entry;
	uint64_t nr;
};

static void visit(void *store) /* counts again if another task came between */
{
	struct visits got;

	for (int i = 0, err; i < VISITS; i += !err) {
		if (sley_kv_get_entry(store, "n", 1, &got.entry, sizeof(got)))
			got = (struct visits){ .nr = 0 }; /* not there yet */
		got.nr++;
		err = sley_kv_cas(store, "n", 1, &got.nr, sizeof(got.nr),
				  &got.entry.version);
	}
}

static void root(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_router *router = NULL;
	struct sley_pool *store = NULL;
	struct sley_task task[TASKS];
	uint64_t *nr = arg;

	if (sley_router_create(sley_current(), &router, NULL) ||
	    sley_router_add(router, &sley_kv_module) ||
	    sley_pool_open(router, &store, "visits",
			   SLEY_POOL_OPTIONS(.module = "kv")) ||
	    sley_kv_set(store, "ada", 3, "in", 2, SLEY_KV_HOW(.ttl_ms = 20)))
		return;
	for (int i = 0; i < TASKS; i++)
		sley_spawn(&group, &task[i], visit, store);
	sley_join(&group);
	while (!sley_kv_get(store, "ada", 3, nr, sizeof(*nr), NULL))
		sley_sleep(SLEY_MSEC);
	*nr = sley_kv_get(store, "n", 1, nr, sizeof(*nr), NULL) ? 0 : *nr;
	printf("%d visits, and ada has left\n", (int)*nr);
	sley_pool_close(store);
	(void)!sley_router_destroy(router);
}

int main(void)
{
	uint64_t nr = 0;

	return sley_run(NULL, root, &nr) || nr != TASKS * VISITS;
}
