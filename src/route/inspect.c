/* SPDX-License-Identifier: MIT */
/*
 * inspect.c - <sley/pool_inspect.h>: the figures of workers, pools and containers.
 *
 * Nothing is counted here: the figures are those that routing keeps for itself.  They are
 * read without the lock of the pool, which a keeper holds while upgrade() of a module
 * runs; so an inspector never waits for a module that hangs.  The list of pools, their
 * phases and handles are under the lock of the router, which is held for short times.
 *
 * The groups and the state of a container, and whether its process is down, may be looked
 * at inside of its door only, as by a request.  An inspector that is inside counts as a request for that moment.
 */
#include "route/inspect.h"

#include "base/options.h"
#include "core/life/after_fork.h"
#include "route/isolated.h"

#include <errno.h>
#include <sley/error.h>
#include <string.h>

_Static_assert((int)SLEY_POOL_MAKING == POOL_MAKING &&
		       (int)SLEY_POOL_LIVE == POOL_LIVE &&
		       (int)SLEY_POOL_GONE == POOL_GONE,
	       "the public phases of a pool are its phases");
_Static_assert((int)SLEY_CONTAINER_OPEN == CONTAINER_OPEN &&
		       (int)SLEY_CONTAINER_DRAINING == CONTAINER_DRAINING &&
		       (int)SLEY_CONTAINER_DRAINED == CONTAINER_DRAINED &&
		       (int)SLEY_CONTAINER_UPGRADING == CONTAINER_UPGRADING &&
		       (int)SLEY_CONTAINER_GONE == CONTAINER_GONE,
	       "the public phases of a container are its phases");

/* Cut off where it is too long. */
static void copy_name(char to[SLEY_POOL_NAME_MAX + 1], const char *name)
{
	size_t length = strnlen(name, SLEY_POOL_NAME_MAX);

	memcpy(to, name, length);
	to[length] = '\0';
}

/* ---- workers ----------------------------------------------------------------------- */

struct sley_router_worker_stats inspect_worker(const struct sley_router *router,
					       uint32_t worker)
{
	struct sley_worker_stats engine = SLEY_WORKER_STATS_INIT;
	uint64_t completed = router_counted(router, worker, COUNT_COMPLETED);

	/* The bound thread of a single-threaded runtime has none. */
	if (worker < router->nr_workers &&
	    sley_get_worker_stats(router->rt, (int)worker, &engine))
		engine = (struct sley_worker_stats){ 0 };
	return (struct sley_router_worker_stats){
		.size = sizeof(struct sley_router_worker_stats),
		.queued = engine.ready,
		.load = engine.load,
		.asleep = engine.asleep,
		.timers = engine.timers,
		.submitted = router_counted(router, worker, COUNT_SUBMITTED),
		.completed = completed,
		.inlined = router_counted(router, worker, COUNT_INLINED),
		.moved = router_counted(router, worker, COUNT_MOVED),
		.finished = engine.finished,
		.parks = engine.parks,
	};
}

int sley_router_inspect_worker(const struct sley_router *router,
			       uint32_t worker,
			       struct sley_router_worker_stats *out)
{
	struct sley_router_worker_stats stats;

	if (runtime_is_lost(router->rt))
		return SLEY_EFORKED;
	if (worker == SLEY_NO_WORKER)
		worker = router->nr_workers;
	else if (worker >= router->nr_workers)
		return -EINVAL;
	stats = inspect_worker(router, worker);
	return options_give(out, &stats, sizeof(stats));
}

/* ---- containers -------------------------------------------------------------------- */

/* A container whose process is down has an open door: its requests fail at once. */
static enum sley_container_phase phase_of(struct sley_container *container)
{
	enum sley_container_phase phase =
		(enum sley_container_phase)container_phase(container);

	if (container->pool->isolation && door_enter(&container->door)) {
		if (isolated_is_down(container))
			phase = SLEY_CONTAINER_DOWN;
		door_leave(&container->door);
	}
	return phase;
}

struct sley_container_stats inspect_container(struct sley_container *container)
{
	struct sley_container_stats stats = {
		.size = sizeof(stats),
		.phase = phase_of(container),
		.version = container_version(container),
		.inside = door_count(&container->door),
	};

	if (door_enter(&container->door)) {
		stats.groups = group_map_count(&container->groups);
		door_leave(&container->door);
	}
	return stats;
}

int sley_container_inspect(struct sley_pool *pool, uint32_t id,
			   struct sley_container_stats *out)
{
	struct sley_container_stats stats;
	int err = pool_refuses(pool);

	if (err)
		return err;
	if (id >= pool->nr_containers)
		return -ENXIO;
	stats = inspect_container(&pool->container[id]);
	return options_give(out, &stats, sizeof(stats));
}

/* ---- pools ------------------------------------------------------------------------- */

static void add_container(struct sley_pool_stats *stats,
			  struct sley_container *container)
{
	uint32_t *const phases[] = {
		[SLEY_CONTAINER_OPEN] = &stats->open,
		[SLEY_CONTAINER_DRAINING] = &stats->draining,
		[SLEY_CONTAINER_DRAINED] = &stats->drained,
		[SLEY_CONTAINER_UPGRADING] = &stats->upgrading,
		[SLEY_CONTAINER_GONE] = &stats->gone,
		[SLEY_CONTAINER_DOWN] = &stats->down,
	};

	uint32_t version = container_version(container);

	if (version < stats->version)
		stats->version = version;
	stats->inside += door_count(&container->door);
	++*phases[phase_of(container)];
}

struct sley_pool_stats inspect_pool(struct sley_pool *pool)
{
	struct sley_pool_stats stats = {
		.size = sizeof(stats),
		.phase = pool->phase,
		/* A pool that is not gone has a handle of its own. */
		.handles = pool->nr_handles - (pool->phase != POOL_GONE),
		.version = UINT32_MAX, /* of the oldest container: below */
		.containers = pool->nr_containers,
		.waiting = door_count(&pool->waiting),
		.periodic = door_count(&pool->series.door),
	};

	copy_name(stats.name, pool->name);
	copy_name(stats.module, pool->module->name);
	for (uint32_t i = 0; i < pool->nr_containers; i++)
		add_container(&stats, &pool->container[i]);
	return stats;
}

int sley_pool_inspect(struct sley_pool *pool, struct sley_pool_stats *out)
{
	struct sley_router *router = pool->router;
	struct sley_pool_stats stats;
	int err = pool_refuses(pool);

	if (err)
		return err;
	sley_mutex_lock(&router->lock);
	stats = inspect_pool(pool);
	sley_mutex_unlock(&router->lock);
	return options_give(out, &stats, sizeof(stats));
}

int sley_router_pool_names(struct sley_router *router,
			   struct sley_pool_name *names, uint32_t room)
{
	int nr = 0;

	if (runtime_is_lost(router->rt))
		return SLEY_EFORKED;
	sley_mutex_lock(&router->lock);
	for (struct list *link = router->pools.next; link != &router->pools;
	     link = link->next, nr++) {
		if ((uint32_t)nr < room)
			copy_name(names[nr].text,
				  container_of(link, struct sley_pool, link)
					  ->name);
	}
	sley_mutex_unlock(&router->lock);
	return nr;
}
