/* SPDX-License-Identifier: MIT */
/*
 * admin.c - <sley/admin.h>: the calls of <sley/pool.h>, as requests.
 *
 * A method copies its IN part first, and checks the copy: the memory belongs to the
 * submitter, which may be another process one day.  Then it opens the pool by its name,
 * makes the call, and closes the pool.  The state of a container is a copy of its
 * params.
 *
 * Rejected: numbers for pools, which the admin pool gives out.  A name is as good, and
 * cannot name the next pool by mistake once the first is gone.  To leave the own request
 * out of a flush of the own pool: two such requests would still wait for each other.
 */
#include "base/options.h"
#include "core/life/runtime.h"
#include "mem/alloc.h"

#include <errno.h>
#include <sley/admin.h>
#include <sley/pool.h>
#include <sley/pool_inspect.h>
#include <sley/sync.h>
#include <string.h>

/* ---- what requests say -------------------------------------------------------------- */

/* Copies the first @size bytes of IN; a longer IN is an error, unless @rest. */
static int take_in(const struct sley_request *request, void *copy, size_t size,
		   bool rest)
{
	size_t given;
	const void *in = sley_request_in(request, &given);

	if (given < size || (given > size && !rest))
		return -EINVAL;
	memcpy(copy, in, size);
	return 0;
}

static bool is_text(const char *field, size_t size)
{
	return memchr(field, '\0', size) != NULL;
}

static int take_target(const struct sley_request *request,
		       struct sley_admin_target *target)
{
	int err = take_in(request, target, sizeof(*target), false);

	if (err)
		return err;
	return is_text(target->pool, sizeof(target->pool)) &&
			       options_are_clear(target->reserved)
		       ? 0
		       : -EINVAL;
}

/* ---- pools -------------------------------------------------------------------------- */

static struct sley_pool *own_pool(const struct sley_request *request)
{
	return sley_container_pool(sley_request_container(request));
}

static struct sley_router *router_of(const struct sley_request *request)
{
	return sley_pool_router(own_pool(request));
}

/* The pool of a name, which exists; a reference. */
static int find(const struct sley_request *request, const char *name,
		struct sley_pool **pool)
{
	return sley_pool_open(router_of(request), pool, name, NULL);
}

/* The state of a container. */
struct admin {
	struct mem *mem;
	struct sley_admin_params params;
};

typedef int admin_call(struct sley_pool *pool,
		       const struct sley_admin_target *target);

/* @waits: the call waits until the pool has no requests, of which this is one. */
static int call_pool(struct sley_request *request, admin_call *call, bool waits)
{
	struct sley_admin_target target;
	struct sley_pool *pool;
	int err = take_target(request, &target);

	if (!err)
		err = find(request, target.pool, &pool);
	if (err)
		return err;
	err = waits && pool == own_pool(request) ? -EDEADLK
						 : call(pool, &target);
	sley_pool_close(pool);
	return err;
}

static int call_destroy(struct sley_pool *pool,
			const struct sley_admin_target *target)
{
	(void)target;
	return sley_pool_destroy(pool);
}

static int destroy_pool(void *self, struct sley_request *request)
{
	const struct sley_admin_params *params =
		&((struct admin *)self)->params;
	struct sley_admin_target target;
	int err = call_pool(request, call_destroy, true);

	if (!err && params->forget) {
		(void)!take_target(request, &target);
		err = params->forget(params->keeper, target.pool);
	}
	return err;
}

static int call_flush(struct sley_pool *pool,
		      const struct sley_admin_target *target)
{
	(void)target;
	return sley_pool_flush_until(pool, SLEY_FOREVER);
}

static int flush_pool(void *self, struct sley_request *request)
{
	(void)self;
	return call_pool(request, call_flush, true);
}

static int call_drain(struct sley_pool *pool,
		      const struct sley_admin_target *target)
{
	return sley_container_drain_until(pool, target->container,
					  SLEY_FOREVER);
}

static int drain_container(void *self, struct sley_request *request)
{
	(void)self;
	return call_pool(request, call_drain, true);
}

static int call_open(struct sley_pool *pool,
		     const struct sley_admin_target *target)
{
	return sley_container_open(pool, target->container);
}

static int open_container(void *self, struct sley_request *request)
{
	(void)self;
	return call_pool(request, call_open, false);
}

static int call_upgrade(struct sley_pool *pool,
			const struct sley_admin_target *target)
{
	return sley_container_upgrade_to(pool, target->container,
					 target->version);
}

static int upgrade_container(void *self, struct sley_request *request)
{
	(void)self;
	return call_pool(request, call_upgrade, false);
}

static int take_make(const struct sley_request *request,
		     const struct sley_admin_params *params,
		     struct sley_admin_make *make)
{
	size_t size;
	int err = take_in(request, make, sizeof(*make), true);

	if (err)
		return err;
	if (!is_text(make->pool, sizeof(make->pool)) ||
	    !is_text(make->module, sizeof(make->module)) ||
	    make->flags & ~(SLEY_ADMIN_ISOLATED | SLEY_ADMIN_KEEP) ||
	    make->reserved)
		return -EINVAL;
	if (make->flags & SLEY_ADMIN_KEEP && !params->keep)
		return -EOPNOTSUPP;
	/* Its params are addresses, and the submitter may be another process. */
	(void)sley_request_in(request, &size);
	return size > sizeof(*make) &&
			       !strcmp(make->module, sley_admin_module.name)
		       ? -EPERM
		       : 0;
}

static int make_pool(void *self, struct sley_request *request)
{
	const struct sley_admin_params *params =
		&((struct admin *)self)->params;
	struct sley_admin_make make;
	struct sley_pool_options options;
	struct sley_pool *pool;
	size_t size;
	const char *in = sley_request_in(request, &size);
	int err = take_make(request, params, &make);

	if (err)
		return err;
	options =
		*SLEY_POOL_OPTIONS(.module = *make.module ? make.module : NULL,
				   .containers = make.containers,
				   .params = size > sizeof(make)
						     ? in + sizeof(make)
						     : NULL,
				   .params_size = size - sizeof(make),
				   .isolated = make.flags & SLEY_ADMIN_ISOLATED,
				   .max_restarts = make.max_restarts,
				   .limit_ns = make.limit_ns);
	err = sley_pool_open(router_of(request), &pool, make.pool, &options);
	if (err)
		return err;
	if (make.flags & SLEY_ADMIN_KEEP)
		err = params->keep(params->keeper, make.pool, &options);
	sley_pool_close(pool);
	return err;
}

/* ---- questions ---------------------------------------------------------------------- */

static int inspect_pool(struct sley_request *request,
			const struct sley_admin_query *query, char *text,
			size_t room)
{
	struct sley_pool *pool;
	int result = find(request, query->pool, &pool);

	if (result)
		return result;
	result = sley_pool_inspect_json(pool, query->query, text, room);
	sley_pool_close(pool);
	return result;
}

static int inspect(void *self, struct sley_request *request)
{
	struct sley_admin_query query;
	size_t room;
	char *text = sley_request_out(request, &room);
	int result = take_in(request, &query, sizeof(query), false);

	(void)self;
	if (result)
		return result;
	if (!is_text(query.pool, sizeof(query.pool)) ||
	    !is_text(query.query, sizeof(query.query)) ||
	    !options_are_clear(query.reserved))
		return -EINVAL;
	result = *query.pool
			 ? inspect_pool(request, &query, text, room)
			 : sley_router_inspect_json(router_of(request),
						    query.query, text, room);
	if (result < 0)
		return result;
	if ((size_t)result >= room)
		return -EMSGSIZE;
	return sley_request_answer(request, text, (size_t)result);
}

static int list(void *self, struct sley_request *request)
{
	size_t given, room;
	struct sley_pool_name *names = sley_request_out(request, &room);
	size_t nr_fit = room / sizeof(*names);
	int nr;

	(void)self;
	(void)sley_request_in(request, &given);
	if (given)
		return -EINVAL;
	nr = sley_router_pool_names(router_of(request), names,
				    nr_fit < UINT32_MAX ? (uint32_t)nr_fit
							: UINT32_MAX);
	if (nr < 0)
		return nr;
	if ((size_t)nr > nr_fit)
		return -EMSGSIZE;
	return sley_request_answer(request, names, (size_t)nr * sizeof(*names));
}

static int stop(void *self, struct sley_request *request)
{
	struct sley_event *event = ((struct admin *)self)->params.stop;
	size_t given;

	(void)sley_request_in(request, &given);
	if (given)
		return -EINVAL;
	if (!event)
		return -EOPNOTSUPP;
	sley_event_set(event);
	return 0;
}

static int refresh(void *self, struct sley_request *request)
{
	size_t given, room;
	uint32_t nr;
	int result;

	(void)self;
	(void)sley_request_in(request, &given);
	if (given)
		return -EINVAL;
	result = sley_router_refresh(router_of(request));
	(void)sley_request_out(request, &room);
	if (result < 0 || !room)
		return result < 0 ? result : 0;
	nr = (uint32_t)result;
	return sley_request_answer(request, &nr, sizeof(nr));
}

/* ---- the module --------------------------------------------------------------------- */

static int take_params(const struct sley_container_info *info,
		       struct sley_admin_params *params)
{
	if (!info->params_size)
		return 0;
	if (info->params_size < sizeof(params->size))
		return -EINVAL;
	memcpy(&params->size, info->params, sizeof(params->size));
	if (params->size > info->params_size)
		return -EINVAL;
	return options_take(params, info->params);
}

static int create(void **self, const struct sley_container_info *info)
{
	struct mem *mem = &info->rt->mem;
	struct sley_admin_params params = { 0 };
	struct admin *admin;
	int err = take_params(info, &params);

	if (err)
		return err;
	admin = mem_alloc(mem, sizeof(*admin));
	if (!admin)
		return -ENOMEM;
	*admin = (struct admin){ mem, params };
	*self = admin;
	return 0;
}

static void destroy(void *self)
{
	struct admin *admin = self;

	mem_free(admin->mem, admin, sizeof(*admin));
}

static const struct sley_method methods[] = {
	[SLEY_ADMIN_MAKE] = { .name = "make", .run = make_pool },
	[SLEY_ADMIN_DESTROY] = { .name = "destroy", .run = destroy_pool },
	[SLEY_ADMIN_FLUSH] = { .name = "flush", .run = flush_pool },
	[SLEY_ADMIN_DRAIN] = { .name = "drain", .run = drain_container },
	[SLEY_ADMIN_OPEN] = { .name = "open", .run = open_container },
	[SLEY_ADMIN_UPGRADE] = { .name = "upgrade", .run = upgrade_container },
	[SLEY_ADMIN_INSPECT] = { .name = "inspect", .run = inspect },
	[SLEY_ADMIN_LIST] = { .name = "list", .run = list },
	[SLEY_ADMIN_STOP] = { .name = "stop", .run = stop },
	[SLEY_ADMIN_REFRESH] = { .name = "refresh", .run = refresh },
};

const struct sley_module sley_admin_module = {
	SLEY_MODULE_HEAD("admin"),         .version = 1,     .methods = methods,
	.nr_methods = array_size(methods), .create = create, .destroy = destroy,
};
