/* SPDX-License-Identifier: MIT */
/*
 * resolve.c - see resolve.h.
 *
 * The module is asked for dynamic queries only, and once: a concrete query is never
 * changed, or a request that came from elsewhere could go round in circles.
 */
#include "route/resolve.h"

#include "route/pool.h"
#include "route/router.h"

#include <errno.h>

/* The container of the caller. */
static uint32_t local_id(const struct sley_pool *pool,
			 const struct sley_request *parent)
{
	if (parent && parent->container && parent->container->pool == pool)
		return parent->container->id;
	return 0;
}

static int one(struct targets *targets, uint64_t id, uint32_t nr_containers)
{
	if (id >= nr_containers)
		return -ENXIO;
	*targets = (struct targets){ (uint32_t)id, 1 };
	return 0;
}

static int range(struct targets *targets, uint64_t first, uint64_t count,
		 uint32_t nr_containers)
{
	if (!count)
		return -EINVAL;
	if (first >= nr_containers || count > nr_containers - first)
		return -ENXIO;
	*targets = (struct targets){ (uint32_t)first, (uint32_t)count };
	return 0;
}

/*
 * What schedule() of the module answers, asked in the container @id.  A container that
 * takes no requests now cannot be asked: the request waits for it, as a local one.
 */
static struct sley_query ask(struct sley_container *container,
			     const struct sley_request *request)
{
	struct sley_query query = sley_query_local();

	if (!container->pool->module->schedule || !door_enter(&container->door))
		return query;
	if (container->module->schedule)
		query = container->module->schedule(container->self, request);
	door_leave(&container->door);
	return query.kind == SLEY_QUERY_DYNAMIC ? sley_query_local() : query;
}

static void resolve_dynamic(struct sley_pool *pool,
			    struct sley_request *request, uint32_t here)
{
	uint32_t timeout = request->query.timeout;

	request->query = ask(&pool->container[here], request);
	if (!request->query.timeout)
		request->query.timeout = timeout;
}

int resolve(struct sley_pool *pool, struct sley_request *request,
	    const struct sley_request *parent, struct targets *targets)
{
	const struct sley_query *query = &request->query;
	uint32_t nr = pool->nr_containers;
	uint32_t here = local_id(pool, parent);

	if (unlikely(query->kind == SLEY_QUERY_DYNAMIC))
		resolve_dynamic(pool, request, here);
	switch (query->kind) {
	case SLEY_QUERY_LOCAL:
		return one(targets, here, nr);
	case SLEY_QUERY_ID:
		return one(targets, query->first, nr);
	case SLEY_QUERY_HASH:
		return one(targets, query->first % nr, nr);
	case SLEY_QUERY_RANGE:
		return range(targets, query->first, query->count, nr);
	case SLEY_QUERY_BROADCAST:
		return range(targets, 0, nr, nr);
	case SLEY_QUERY_PHYSICAL:
		return query->first && !pool->router->neighbour
			       ? -EHOSTUNREACH
			       : one(targets, here, nr);
	default:
		return -EINVAL;
	}
}
