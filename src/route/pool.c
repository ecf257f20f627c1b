/* SPDX-License-Identifier: MIT */
/*
 * pool.c - <sley/pool.h>: opening, closing and destroying pools.
 */
#include "route/pool.h"

#include "base/options.h"
#include "core/life/after_fork.h"
#include "os/clock.h"
#include "route/isolated.h"
#include "route/load.h"
#include "route/neighbour.h"
#include "route/remote.h"
#include "route/router.h"
#include "route/serving.h"

#include <errno.h>
#include <sley/error.h>
#include <string.h>

/* A flush looks so often whether a module has work of its own. */
#define FLUSH_LOOK_NS 1000000ull

/* ---- memory ------------------------------------------------------------------------ */

static size_t containers_size(uint32_t nr)
{
	return nr * sizeof(struct sley_container);
}

static size_t costs_size(const struct sley_module *module, uint32_t nr)
{
	return (size_t)nr * module->nr_methods * sizeof(struct method_cost);
}

static void pool_free(struct sley_pool *pool)
{
	struct mem *mem = &pool->router->rt->mem;

	mem_free(mem, pool->container, containers_size(pool->nr_containers));
	mem_free(mem, pool->costs,
		 costs_size(pool->module, pool->nr_containers));
	isolation_free(pool); /* and with it the table of its module */
	mem_free(mem, pool, sizeof(*pool));
}

struct sley_pool *pool_alloc(struct sley_router *router,
			     const struct sley_module *module, const char *name,
			     uint32_t nr)
{
	struct mem *mem = &router->rt->mem;
	struct sley_pool *pool = mem_alloc(mem, sizeof(*pool));

	if (!pool)
		return NULL;
	pool->router = router;
	pool->module = module;
	pool->nr_containers = nr;
	pool->container = mem_alloc(mem, containers_size(nr));
	pool->costs = mem_alloc(mem, costs_size(module, nr));
	if (!pool->container || !pool->costs) {
		pool_free(pool);
		return NULL;
	}
	memcpy(pool->name, name, strlen(name) + 1);
	list_init(&pool->link);
	list_init(&pool->series.list);
	for (uint32_t i = 0; i < nr; i++)
		container_init(&pool->container[i], pool, i);
	return pool;
}

/* One handle less.  With the lock of the router; true: the caller frees the pool. */
static bool handle_put(struct sley_pool *pool)
{
	if (--pool->nr_handles)
		return false;
	pool->router->nr_pools--;
	return true;
}

/* ---- the end ----------------------------------------------------------------------- */

/* The first @nr containers, which were started, are empty and shut for good. */
static void end_containers(struct sley_pool *pool, uint32_t nr)
{
	sley_mutex_lock(&pool->lock);
	for (uint32_t i = 0; i < pool->nr_containers; i++)
		container_condemn(&pool->container[i]);
	sley_mutex_unlock(&pool->lock);
	series_end_all(pool);
	if (unlikely(pool->router->neighbour))
		neighbour_end_pool(pool);
	for (uint32_t i = 0; i < nr; i++)
		(void)!door_wait(&pool->container[i].door, SLEY_FOREVER,
				 WAIT_SHIELDED);
	door_shut(&pool->waiting);
	(void)!door_wait(&pool->waiting, SLEY_FOREVER, WAIT_SHIELDED);
	(void)!door_wait(&pool->series.door, SLEY_FOREVER, WAIT_SHIELDED);
	for (uint32_t i = 0; i < nr; i++)
		container_end(&pool->container[i]);
}

void pool_end(struct sley_pool *pool)
{
	end_containers(pool, pool->nr_containers);
}

/* The pool has no name any more.  With the lock of the router. */
static void pool_leave(struct sley_pool *pool)
{
	list_remove(&pool->link);
	pool->phase = POOL_GONE;
}

int pool_destroy(struct sley_pool *pool)
{
	struct sley_router *router = pool->router;
	bool was_live;

	if (serving_pool(pool))
		return -EDEADLK;
	sley_mutex_lock(&router->lock);
	was_live = pool->phase == POOL_LIVE;
	if (was_live)
		pool_leave(pool);
	sley_mutex_unlock(&router->lock);
	if (!was_live)
		return -EALREADY;
	pool_end(pool);
	sley_pool_close(pool); /* the pool's own handle */
	return 0;
}

int sley_pool_destroy(struct sley_pool *pool)
{
	int err = pool_refuses(pool);

	if (err)
		return err;
	return pool->permanent && !serving_pool(pool) ? -EPERM
						      : pool_destroy(pool);
}

void sley_pool_close(struct sley_pool *pool)
{
	struct sley_router *router;
	bool last;

	if (pool && pool->remote) {
		pool->remote->close(pool);
		return;
	}
	if (!pool || pool_refuses(pool))
		return;
	router = pool->router;
	sley_mutex_lock(&router->lock);
	last = handle_put(pool);
	sley_mutex_unlock(&router->lock);
	if (last)
		pool_free(pool);
}

/* ---- making a pool ----------------------------------------------------------------- */

static int start_containers(struct sley_pool *pool,
			    const struct sley_pool_options *options)
{
	for (uint32_t i = 0; i < pool->nr_containers; i++) {
		int err = container_start(&pool->container[i], options->params,
					  options->params_size);

		if (err) {
			end_containers(pool, i);
			return err;
		}
	}
	return 0;
}

/* Its maker calls create(), without a lock; others wait for pool->made. */
static int make(struct sley_pool *pool, const struct sley_pool_options *options)
{
	struct sley_router *router = pool->router;
	int err = start_containers(pool, options);

	sley_mutex_lock(&router->lock);
	pool->making_failed = err;
	if (err) {
		pool_leave(pool);
		(void)handle_put(pool); /* the pool's own; the maker has one */
	} else {
		pool->phase = POOL_LIVE;
	}
	sley_mutex_unlock(&router->lock);
	sley_event_set(&pool->made);
	return err;
}

/* Waits for the maker of a pool of which the caller has a handle. */
static int await_maker(struct sley_pool *pool)
{
	int err;

	/* A method of a pool that is made finds its pool; create() does not. */
	if (!sley_event_is_set(&pool->made) && serving_pool(pool))
		return -EDEADLK;
	err = sley_event_wait(&pool->made);
	return err ? err : pool->making_failed;
}

static struct sley_pool *find(struct sley_router *router, const char *name)
{
	for (struct list *link = router->pools.next; link != &router->pools;
	     link = link->next) {
		struct sley_pool *pool =
			container_of(link, struct sley_pool, link);

		if (strcmp(pool->name, name) == 0)
			return pool;
	}
	return NULL;
}

static int fits(const struct sley_pool *pool,
		const struct sley_pool_options *options)
{
	if (options->module && !module_is_same(pool->module, options->module))
		return -EEXIST;
	if (options->containers && options->containers != pool->nr_containers)
		return -EEXIST;
	if (options->permanent && !pool->permanent)
		return -EEXIST;
	return options->isolated && !pool->isolation ? -EEXIST : 0;
}

/*
 * A handle of the pool with that name, which is made if there is none.  *@is_new: the
 * caller has to make it.  With the lock of the router.
 */
static int find_or_add(struct sley_router *router, struct sley_pool **out,
		       const char *name,
		       const struct sley_pool_options *options, bool *is_new)
{
	struct sley_pool *pool = find(router, name);
	const struct sley_module *module;
	int err;

	*is_new = !pool;
	if (pool) {
		err = fits(pool, options);
		if (err)
			return err;
		pool->nr_handles++;
		*out = pool;
		return 0;
	}
	module = options->module ? router_find_module(router, options->module)
				 : NULL;
	if (!module)
		return -ENOENT;
	pool = pool_alloc(router, module, name,
			  options->containers ? options->containers : 1);
	if (!pool)
		return -ENOMEM;
	if (options->isolated && isolation_make(pool, options)) {
		pool_free(pool);
		return -ENOMEM;
	}
	pool->permanent = options->permanent;
	pool->nr_handles = 2; /* the caller's, and the pool's own */
	router->nr_pools++;
	list_append(&router->pools, &pool->link);
	*out = pool;
	return 0;
}

static int check_name(const char *name)
{
	size_t length = strnlen(name, SLEY_POOL_NAME_MAX + 1);

	if (!length)
		return -EINVAL;
	return length > SLEY_POOL_NAME_MAX ? -ENAMETOOLONG : 0;
}

static int find_or_load(struct sley_router *router, struct sley_pool **pool,
			const char *name,
			const struct sley_pool_options *options, bool *is_new)
{
	int err;

	for (bool loaded = false;; loaded = true) {
		sley_mutex_lock(&router->lock);
		err = find_or_add(router, pool, name, options, is_new);
		sley_mutex_unlock(&router->lock);
		if (err != -ENOENT || loaded || !options->module)
			return err;
		err = load_module(router, options->module);
		if (err)
			return err;
	}
}

int sley_pool_open(struct sley_router *router, struct sley_pool **out,
		   const char *name, const struct sley_pool_options *given)
{
	struct sley_pool_options options;
	struct sley_pool *pool = NULL;
	bool is_new;
	int err = options_take(&options, given);

	if (!err)
		err = check_name(name);
	if (err)
		return err;
	if (options.containers > SLEY_CONTAINERS_MAX)
		return -E2BIG;
	if (!options.isolated && (options.limit_ns || options.max_restarts))
		return -EINVAL;
	if (runtime_is_lost(router->rt))
		return SLEY_EFORKED;
	err = find_or_load(router, &pool, name, &options, &is_new);
	if (err)
		return err;
	err = is_new ? make(pool, &options) : await_maker(pool);
	if (err)
		sley_pool_close(pool);
	else
		*out = pool;
	return err;
}

/* ---- flushing ---------------------------------------------------------------------- */

/* What @container has to do, beside requests: its module says so. */
static uint64_t own_work(struct sley_container *container)
{
	uint64_t work = 0;

	/* Only inside: the keeper of a shut container may change its module. */
	if (!door_enter(&container->door))
		return 0;
	if (container->module->work_remaining)
		work = container->module->work_remaining(container->self);
	door_leave(&container->door);
	return work;
}

static bool is_busy(struct sley_pool *pool)
{
	if (!door_is_empty(&pool->waiting))
		return true;
	for (uint32_t i = 0; i < pool->nr_containers; i++) {
		struct sley_container *container = &pool->container[i];

		if (!door_is_empty(&container->door) || own_work(container))
			return true;
	}
	return false;
}

int sley_pool_flush_until(struct sley_pool *pool, uint64_t deadline_ns)
{
	int err = pool_refuses(pool);

	if (err)
		return err;
	if (serving_pool(pool))
		return -EDEADLK;
	while (is_busy(pool)) {
		uint64_t look_ns = os_now() + FLUSH_LOOK_NS;

		if (os_now() >= deadline_ns)
			return -ETIMEDOUT;
		err = sley_sleep_until(look_ns < deadline_ns ? look_ns
							     : deadline_ns);
		if (err)
			return err;
	}
	return 0;
}

const char *sley_pool_name(const struct sley_pool *pool)
{
	return pool->name;
}

struct sley_router *sley_pool_router(const struct sley_pool *pool)
{
	return pool->router;
}

uint32_t sley_pool_nr_containers(const struct sley_pool *pool)
{
	return pool->nr_containers;
}
