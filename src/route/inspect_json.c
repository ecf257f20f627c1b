/* SPDX-License-Identifier: MIT */
/*
 * inspect_json.c - <sley/pool_inspect.h>: the figures as JSON, by queries.
 *
 * A query is a word, and perhaps a number and a rest, separated by colons.  A query that
 * is not known is an error, and never an empty answer: a reader could not tell the
 * two apart.
 */
#include "core/life/after_fork.h"
#include "route/inspect.h"
#include "route/json_text.h"

#include <errno.h>
#include <sley/error.h>
#include <sley/version.h>
#include <stdlib.h>
#include <string.h>

/* ---- workers ----------------------------------------------------------------------- */

/* The figures that threads have that are no workers. */
static void put_requests(struct json_text *json,
			 const struct sley_router_worker_stats *stats)
{
	json_number(json, "submitted", stats->submitted);
	json_number(json, "completed", stats->completed);
	json_number(json, "inlined", stats->inlined);
	json_number(json, "moved", stats->moved);
}

static void put_worker(struct json_text *json, const struct sley_router *router,
		       uint32_t worker)
{
	struct sley_router_worker_stats stats = inspect_worker(router, worker);

	json_open(json, NULL, '{');
	json_number(json, "worker", worker);
	json_number(json, "queued", stats.queued);
	json_number(json, "load", stats.load);
	json_bool(json, "asleep", stats.asleep);
	json_number(json, "timers", stats.timers);
	put_requests(json, &stats);
	json_number(json, "finished", stats.finished);
	json_number(json, "parks", stats.parks);
	json_close(json, '}');
}

static void put_workers(struct json_text *json, struct sley_router *router)
{
	struct sley_router_worker_stats others =
		inspect_worker(router, router->nr_workers);

	json_open(json, "workers", '[');
	for (uint32_t i = 0; i < router->nr_workers; i++)
		put_worker(json, router, i);
	json_close(json, ']');
	json_open(json, "others", '{');
	put_requests(json, &others);
	json_close(json, '}');
}

/* ---- pools ------------------------------------------------------------------------- */

/* With the lock of the router. */
static void put_pool(struct json_text *json, struct sley_pool *pool)
{
	static const char *const phases[] = {
		[POOL_MAKING] = "making",
		[POOL_LIVE] = "live",
		[POOL_GONE] = "gone",
	};
	struct sley_pool_stats stats = inspect_pool(pool);

	json_string(json, "name", stats.name);
	json_string(json, "module", stats.module);
	json_number(json, "version", stats.version);
	json_string(json, "phase", phases[stats.phase]);
	json_number(json, "handles", stats.handles);
	json_number(json, "containers", stats.containers);
	json_number(json, "open", stats.open);
	json_number(json, "draining", stats.draining);
	json_number(json, "drained", stats.drained);
	json_number(json, "upgrading", stats.upgrading);
	json_number(json, "gone", stats.gone);
	json_number(json, "down", stats.down);
	json_number(json, "inside", stats.inside);
	json_number(json, "waiting", stats.waiting);
	json_number(json, "periodic", stats.periodic);
}

static void put_pools(struct json_text *json, struct sley_router *router)
{
	json_open(json, "pools", '[');
	sley_mutex_lock(&router->lock);
	for (struct list *link = router->pools.next; link != &router->pools;
	     link = link->next) {
		json_open(json, NULL, '{');
		put_pool(json, container_of(link, struct sley_pool, link));
		json_close(json, '}');
	}
	sley_mutex_unlock(&router->lock);
	json_close(json, ']');
}

/* ---- the router -------------------------------------------------------------------- */

static void put_role(struct json_text *json, const char *key, uint32_t worker)
{
	if (worker == SLEY_NO_WORKER)
		json_null(json, key);
	else
		json_number(json, key, worker);
}

/* With the lock. */
static void put_modules(struct json_text *json,
			const struct sley_router *router)
{
	json_open(json, "modules", '[');
	for (struct list *link = router->modules.next; link != &router->modules;
	     link = link->next) {
		const struct sley_module *module =
			container_of(link, struct router_module, link)->module;

		json_open(json, NULL, '{');
		json_string(json, "name", module->name);
		json_number(json, "version", module->version);
		json_close(json, '}');
	}
	json_close(json, ']');
}

/* With the lock. */
static void put_names(struct json_text *json, const struct sley_router *router)
{
	json_open(json, "pools", '[');
	for (struct list *link = router->pools.next; link != &router->pools;
	     link = link->next)
		json_string(json, NULL,
			    container_of(link, struct sley_pool, link)->name);
	json_close(json, ']');
}

static void put_system(struct json_text *json, struct sley_router *router)
{
	struct sley_router_stats stats = { .size = sizeof(stats) };

	(void)!sley_router_get_stats(router, &stats);
	json_string(json, "sley", sley_version());
	json_string(json, "policy", router->policy->name);
	json_number(json, "workers", router->nr_workers);
	json_number(json, "client_lanes", router->client_lanes);
	put_role(json, "network_worker", router->network_worker);
	put_role(json, "gpu_worker", router->gpu_worker);
	json_number(json, "submitted", stats.submitted);
	json_number(json, "completed", stats.completed);
	json_number(json, "inlined", stats.inlined);
	json_number(json, "moved", stats.moved);
	json_number(json, "refused", stats.refused);
	json_number(json, "stolen", stats.stolen);
	sley_mutex_lock(&router->lock);
	put_modules(json, router);
	put_names(json, router);
	sley_mutex_unlock(&router->lock);
}

int sley_router_inspect_json(struct sley_router *router, const char *query,
			     char *text, size_t size)
{
	static const struct {
		const char *query;
		void (*put)(struct json_text *json, struct sley_router *router);
	} answers[] = {
		{ "worker_stats", put_workers },
		{ "pool_stats", put_pools },
		{ "system_stats", put_system },
	};
	struct json_text json;

	if (runtime_is_lost(router->rt))
		return SLEY_EFORKED;
	for (size_t i = 0; i < array_size(answers); i++) {
		if (strcmp(query, answers[i].query) != 0)
			continue;
		json_begin(&json, text, size);
		json_open(&json, NULL, '{');
		answers[i].put(&json, router);
		json_close(&json, '}');
		return json_end(&json);
	}
	return -ENOENT;
}

/* ---- containers -------------------------------------------------------------------- */

static void put_container(struct json_text *json,
			  struct sley_container *container)
{
	static const char *const phases[] = {
		[SLEY_CONTAINER_OPEN] = "open",
		[SLEY_CONTAINER_DRAINING] = "draining",
		[SLEY_CONTAINER_DRAINED] = "drained",
		[SLEY_CONTAINER_UPGRADING] = "upgrading",
		[SLEY_CONTAINER_GONE] = "gone",
		[SLEY_CONTAINER_DOWN] = "down",
	};
	struct sley_container_stats stats = inspect_container(container);

	json_open(json, NULL, '{');
	json_number(json, "id", container->id);
	json_string(json, "phase", phases[stats.phase]);
	json_number(json, "version", stats.version);
	json_number(json, "inside", stats.inside);
	json_number(json, "groups", stats.groups);
	json_close(json, '}');
}

static void put_containers(struct json_text *json, struct sley_pool *pool)
{
	json_open(json, NULL, '{');
	json_open(json, "containers", '[');
	for (uint32_t i = 0; i < pool->nr_containers; i++)
		put_container(json, &pool->container[i]);
	json_close(json, ']');
	json_close(json, '}');
}

static int ask_module(struct sley_container *container, const char *query,
		      char *text, size_t size)
{
	int result = -ENOENT;

	/* Only inside: the keeper of a shut container may change its module. */
	if (!door_enter(&container->door))
		return -EAGAIN;
	if (container->module->monitor)
		result = container->module->monitor(container->self, query,
						    text, size);
	door_leave(&container->door);
	return result;
}

/* @at is what follows "container_stats:". */
static int answer_one(struct sley_pool *pool, const char *at, char *text,
		      size_t size)
{
	struct json_text json;
	unsigned long long id;
	char *end;

	if (*at < '0' || *at > '9')
		return -ENOENT;
	id = strtoull(at, &end, 10);
	if (*end && *end != ':')
		return -ENOENT;
	if (id >= pool->nr_containers)
		return -ENXIO;
	if (*end)
		return ask_module(&pool->container[id], end + 1, text, size);
	json_begin(&json, text, size);
	put_container(&json, &pool->container[id]);
	return json_end(&json);
}

static int answer_pool(struct sley_pool *pool, char *text, size_t size)
{
	struct sley_router *router = pool->router;
	struct json_text json;

	json_begin(&json, text, size);
	json_open(&json, NULL, '{');
	sley_mutex_lock(&router->lock);
	put_pool(&json, pool);
	sley_mutex_unlock(&router->lock);
	json_close(&json, '}');
	return json_end(&json);
}

/* The newest names: those of the module of the first container. */
static int answer_methods(struct sley_pool *pool, char *text, size_t size)
{
	struct sley_container *first = &pool->container[0];
	const struct sley_module *module = pool->module;
	struct json_text json;

	/* Only inside: the keeper of a shut container may change its module. */
	bool inside = !pool->isolation && door_enter(&first->door);

	if (inside)
		module = first->module;
	json_begin(&json, text, size);
	json_open(&json, NULL, '{');
	json_string(&json, "module", module->name);
	json_open(&json, "methods", '[');
	for (uint32_t i = 0; i < module->nr_methods; i++)
		json_string(&json, NULL, module->methods[i].name ?: "");
	json_close(&json, ']');
	json_close(&json, '}');
	if (inside)
		door_leave(&first->door);
	return json_end(&json);
}

int sley_pool_inspect_json(struct sley_pool *pool, const char *query,
			   char *text, size_t size)
{
	static const char containers[] = "container_stats";
	const size_t length = sizeof(containers) - 1;
	struct json_text json;
	int err = pool_refuses(pool);

	if (err)
		return err;
	if (strcmp(query, "pool_stats") == 0)
		return answer_pool(pool, text, size);
	if (strcmp(query, "methods") == 0)
		return answer_methods(pool, text, size);
	if (strncmp(query, containers, length) != 0)
		return -ENOENT;
	if (query[length] == ':')
		return answer_one(pool, query + length + 1, text, size);
	if (query[length])
		return -ENOENT;
	json_begin(&json, text, size);
	put_containers(&json, pool);
	return json_end(&json);
}
