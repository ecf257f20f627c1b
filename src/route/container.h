/* SPDX-License-Identifier: MIT */
/*
 * container.h - a container: the state of a module, behind a door.
 *
 * A request enters the door of its container when it is accepted, and leaves when it is
 * complete.  So whatever is done with the door shut and nothing inside is seen by no
 * method: create(), destroy() and upgrade() run then.
 *
 * A request that finds the door shut waits in a task of its own for `opened`
 * (container_enter_until).  `opened` is set while requests may try: the door is open, or
 * the container is gone for good.  It is cleared before the door is shut, so that no
 * request tries again and again meanwhile.
 *
 *      OPEN ──drain──► DRAINING ──empty──► DRAINED ──open──► OPEN
 *        │                 │                 └─► UPGRADING ─► DRAINED
 *        │                 └──out of time────────────────────► OPEN
 *        └──destroy of the pool, from each of them──► GONE
 *
 * No lock is held while code of a module runs.  The phase says that a keeper is there: an
 * upgrader is counted by `waiting` of the pool, and the end of the pool waits for it.
 *
 * The phase is written with the lock of the pool.  An enterer reads it without the lock,
 * only to learn whether the container is gone.  It learns so at the latest when it has
 * waited for `opened`, which is set after the phase (W1 of core/wait/waitq.h).
 */
#ifndef SLEY_ROUTE_CONTAINER_H
#define SLEY_ROUTE_CONTAINER_H

#include "route/cost.h"
#include "route/door.h"
#include "route/group_map.h"

#include <sley/module.h>
#include <sley/pool.h>

enum container_phase {
	CONTAINER_OPEN,
	CONTAINER_DRAINING,
	CONTAINER_DRAINED,
	CONTAINER_UPGRADING,
	CONTAINER_GONE,
};

struct sley_container {
	/* Written with each request. */
	cache_aligned struct door door;
	/* Written by its keeper, with nothing inside. */
	cache_aligned void *self;
	const struct sley_module *module;
	struct sley_pool *pool;
	uint32_t id;
	uint32_t phase;   /* enum container_phase (lock of the pool) */
	uint32_t version; /* of its module: a copy for inspectors (the same) */
	struct method_cost *costs; /* of each method: cost.h              */
	struct sley_event opened;
	struct group_map groups;
};

/* With a closed door; container_start() opens it. */
void container_init(struct sley_container *container, struct sley_pool *pool,
		    uint32_t id);

/* create() of the module.  0, or its error. */
must_check int container_start(struct sley_container *container,
			       const void *params, size_t params_size);

/* Nothing is inside, and nothing will be: destroy() of the module. */
void container_end(struct sley_container *container);

/* From now on no request enters, and those that wait leave.  Lock of the pool. */
void container_condemn(struct sley_container *container);

static inline bool container_is_gone(const struct sley_container *container)
{
	/* relaxed: see above. */
	return load_relaxed(&container->phase) == CONTAINER_GONE;
}

/* For inspectors, without the lock: each is what it was a moment ago. */
static inline enum container_phase
container_phase(const struct sley_container *container)
{
	/* relaxed: a statistic. */
	return load_relaxed(&container->phase);
}

static inline uint32_t container_version(const struct sley_container *container)
{
	/* relaxed: a statistic. */
	return load_relaxed(&container->version);
}

/*
 * Waits until the request is inside.  0, -ENOENT: the container is gone, -ETIMEDOUT
 * or -ECANCELED.
 */
must_check int container_enter_until(struct sley_container *container,
				     uint64_t deadline_ns);

#endif
