/* SPDX-License-Identifier: MIT */
/*
 * container.c - see container.h, and <sley/pool.h> for containers.
 */
#include "route/container.h"

#include "core/life/after_fork.h"
#include "core/trace/report.h"
#include "route/isolated.h"
#include "route/pool.h"
#include "route/router.h"
#include "route/serving.h"

#include <errno.h>
#include <sley/error.h>

/* ---- the life of a container ------------------------------------------------------ */

void container_init(struct sley_container *container, struct sley_pool *pool,
		    uint32_t id)
{
	container->pool = pool;
	container->id = id;
	container->module = pool->module;
	container->version = pool->module->version;
	container->phase = CONTAINER_DRAINED;
	container->costs = &pool->costs[id * pool->module->nr_methods];
	container->door = (struct door){ .word = DOOR_SHUT };
	sley_event_init(&container->opened, false, false);
	group_map_init(&container->groups);
}

static struct sley_container_info
describe(const struct sley_container *container)
{
	const struct sley_pool *pool = container->pool;

	return (struct sley_container_info){
		.pool = pool->name,
		.id = container->id,
		.nr = pool->nr_containers,
		.rt = pool->router->rt,
	};
}

/* With the lock of the pool, or before other threads know the container. */
static void open_door(struct sley_container *container)
{
	/* relaxed: the lock; an enterer asks only whether it is gone. */
	store_relaxed(&container->phase, CONTAINER_OPEN);
	door_open(&container->door);
	sley_event_set(&container->opened);
}

int container_start(struct sley_container *container, const void *params,
		    size_t params_size)
{
	struct sley_container_info info = describe(container);
	struct serving here;
	int err = 0;

	info.params = params;
	info.params_size = params_size;
	serving_begin(&here, container);
	if (container->pool->isolation)
		err = isolated_start(container, &info);
	else if (container->module->create)
		err = container->module->create(&container->self, &info);
	serving_end(&here);
	if (err)
		return err;
	open_door(container);
	return 0;
}

void container_end(struct sley_container *container)
{
	if (container->module->destroy)
		container->module->destroy(container->self);
	group_map_fini(&container->groups, &container->pool->router->rt->mem);
}

void container_condemn(struct sley_container *container)
{
	/* relaxed: written with the lock only. */
	bool was_open = load_relaxed(&container->phase) == CONTAINER_OPEN;

	/* relaxed: the lock; the event passes it on to enterers. */
	store_relaxed(&container->phase, CONTAINER_GONE);
	if (was_open) {
		sley_event_clear(&container->opened);
		door_shut(&container->door);
	}
	sley_event_set(&container->opened);
}

/* ---- requests that wait ----------------------------------------------------------- */

int container_enter_until(struct sley_container *container,
			  uint64_t deadline_ns)
{
	while (!door_enter(&container->door)) {
		int err;

		if (container_is_gone(container))
			return -ENOENT;
		err = sley_event_wait_until(&container->opened, deadline_ns);
		if (err)
			return err;
	}
	return 0;
}

/* ---- the keeper ------------------------------------------------------------------- */

/* The container, with the lock of its pool; or an error, without. */
static int find_locked(struct sley_pool *pool, uint32_t id,
		       struct sley_container **container)
{
	/* In a child of fork() the lock may be held for ever. */
	int err = pool_refuses(pool);

	if (err)
		return err;
	if (id >= pool->nr_containers)
		return -ENXIO;
	*container = &pool->container[id];
	sley_mutex_lock(&pool->lock);
	/* relaxed: the lock. */
	if (load_relaxed(&(*container)->phase) != CONTAINER_GONE)
		return 0;
	sley_mutex_unlock(&pool->lock);
	return -ENOENT;
}

/* With the lock; it is not held while the keeper waits. */
static int drain_locked(struct sley_pool *pool,
			struct sley_container *container, uint64_t deadline_ns)
{
	int err;

	/* relaxed: the lock. */
	if (load_relaxed(&container->phase) != CONTAINER_OPEN)
		return -EALREADY;
	/* relaxed: the lock. */
	store_relaxed(&container->phase, CONTAINER_DRAINING);
	sley_event_clear(&container->opened);
	door_shut(&container->door);
	sley_mutex_unlock(&pool->lock);
	err = door_wait(&container->door, deadline_ns, 0);
	sley_mutex_lock(&pool->lock);
	/* relaxed: the lock. */
	if (load_relaxed(&container->phase) == CONTAINER_GONE)
		return -ENOENT;
	if (err) {
		door_give_up(&container->door);
		/* relaxed: the lock. */
		store_relaxed(&container->phase, CONTAINER_OPEN);
		sley_event_set(&container->opened);
		return err;
	}
	/* relaxed: the lock. */
	store_relaxed(&container->phase, CONTAINER_DRAINED);
	return 0;
}

int sley_container_drain_until(struct sley_pool *pool, uint32_t id,
			       uint64_t deadline_ns)
{
	struct sley_container *container;
	int err = find_locked(pool, id, &container);

	if (err)
		return err;
	if (serving_container(container))
		err = -EDEADLK;
	else if (pool->permanent)
		err = -EPERM;
	else
		err = drain_locked(pool, container, deadline_ns);
	sley_mutex_unlock(&pool->lock);
	return err;
}

int sley_container_open(struct sley_pool *pool, uint32_t id)
{
	struct sley_container *container;
	int err = find_locked(pool, id, &container);

	if (err)
		return err;
	/* relaxed: the lock. */
	switch (load_relaxed(&container->phase)) {
	case CONTAINER_DRAINED:
		open_door(container);
		break;
	case CONTAINER_UPGRADING:
		err = -EBUSY;
		break;
	default:
		err = -EINVAL;
	}
	sley_mutex_unlock(&pool->lock);
	return err;
}

static bool has_all_methods(const struct sley_module *next,
			    const struct sley_module *last)
{
	if (next->nr_methods < last->nr_methods)
		return false;
	for (uint32_t i = 0; i < last->nr_methods; i++) {
		if (last->methods[i].run && !next->methods[i].run)
			return false;
	}
	return true;
}

/* Why @next, the new table, cannot take the state of @last over; NULL: it can. */
static const char *why_no_successor(const struct sley_module *next,
				    const struct sley_module *last)
{
	if (module_check(next))
		return "is for another version of sley, or lacks a name or "
		       "methods";
	if (!module_is_same(next, last->name))
		return "is of another module";
	if (next->version <= last->version)
		return "has no higher version";
	if (!next->upgrade)
		return "has no upgrade()";
	return has_all_methods(next, last) ? NULL : "lacks a method";
}

/*
 * May the container, which is not gone, be given to @module?  With the lock.  *@why gets
 * the mistake of @module.
 */
static int check_upgrade(const struct sley_container *container,
			 const struct sley_module *module, const char **why)
{
	/* relaxed: the lock. */
	uint32_t phase = load_relaxed(&container->phase);

	if (container->pool->isolation)
		return -EOPNOTSUPP;
	if (phase == CONTAINER_UPGRADING)
		return -EBUSY;
	if (phase != CONTAINER_DRAINED)
		return -EINVAL;
	*why = why_no_successor(module, container->module);
	return *why ? -EINVAL : 0;
}

/* Without the lock: .report is a function of the user. */
static void tell_refusal(const struct sley_container *container,
			 const char *why)
{
	const struct sley_pool *pool = container->pool;

	report(pool->router->rt,
	       "container %u of \"%s\" stays at version %u of \"%s\": the new "
	       "table %s",
	       container->id, pool->name, container_version(container),
	       pool->module->name, why);
}

/* The container is UPGRADING, and the caller its keeper: alone in it, without a lock. */
static int upgrade_alone(struct sley_container *container,
			 const struct sley_module *module)
{
	struct sley_container_info info = describe(container);
	struct serving here;
	int err;

	serving_begin(&here, container);
	err = module->upgrade(&container->self, container->module->version,
			      &info);
	serving_end(&here);
	if (err)
		return err;
	container->module = module;
	/* relaxed: a statistic. */
	store_relaxed(&container->version, module->version);
	/* The methods are others now. */
	cost_forget(container->costs, container->pool->module->nr_methods);
	return 0;
}

int sley_container_upgrade(struct sley_pool *pool, uint32_t id,
			   const struct sley_module *module)
{
	struct sley_container *container;
	const char *why = NULL;
	int err = find_locked(pool, id, &container);

	if (err)
		return err;
	err = check_upgrade(container, module, &why);
	/* The end of the pool waits for what is in `waiting`. */
	if (!err && !door_enter(&pool->waiting))
		err = -ENOENT;
	if (!err)
		/* relaxed: the lock. */
		store_relaxed(&container->phase, CONTAINER_UPGRADING);
	sley_mutex_unlock(&pool->lock);
	if (why)
		tell_refusal(container, why);
	if (err)
		return err;
	err = upgrade_alone(container, module);
	sley_mutex_lock(&pool->lock);
	/* relaxed: the lock.  The pool may be about to end. */
	if (load_relaxed(&container->phase) == CONTAINER_UPGRADING)
		/* relaxed: the lock. */
		store_relaxed(&container->phase, CONTAINER_DRAINED);
	sley_mutex_unlock(&pool->lock);
	door_leave(&pool->waiting);
	return err;
}

uint32_t sley_container_id(const struct sley_container *container)
{
	return container->id;
}

struct sley_pool *sley_container_pool(const struct sley_container *container)
{
	return container->pool;
}
