/* SPDX-License-Identifier: MIT */
/*
 * modules.c - the modules that come with the library: what fails below a method is the
 * code of its request, and a pool that cannot be made is not there.
 */
#include "fault/sweep.h"

#include <errno.h>

static struct sley_router *router_of(struct sley *rt,
				     const struct sley_module *module)
{
	struct sley_router *router;

	if (!TRY(sley_router_create(rt, &router, NULL), -ENOMEM))
		return NULL;
	if (TRY(sley_router_add(router, module), -ENOMEM))
		return router;
	CHECK_EQ(sley_router_destroy(router), 0);
	return NULL;
}

/* ---- admin ----------------------------------------------------------------------------- */

static int ask(struct sley_pool *admin, uint32_t method, const void *in,
	       size_t size)
{
	return sley_pool_call(admin,
			      SLEY_REQUEST(.method = method, .in = in,
					   .in_size = size),
			      NULL);
}

static void administer(struct sley_router *router)
{
	struct sley_admin_make make = { .pool = "second",
					.module = "admin",
					.containers = 2 };
	struct sley_admin_target target = { .pool = "second" };
	struct sley_pool *admin;

	if (!TRY(sley_pool_open(router, &admin, "admin",
				SLEY_POOL_OPTIONS(.module = "admin")),
		 -ENOMEM))
		return;
	if (TRY(ask(admin, SLEY_ADMIN_MAKE, &make, sizeof(make)), -ENOMEM)) {
		CHECK_EQ(ask(admin, SLEY_ADMIN_FLUSH, &target, sizeof(target)),
			 0);
		CHECK_EQ(ask(admin, SLEY_ADMIN_DESTROY, &target,
			     sizeof(target)),
			 0);
	}
	CHECK_EQ(sley_router_pool_names(router, NULL, 0), 1);
	sley_pool_close(admin);
}

SCENARIO(pools_by_requests)
{
	struct sley *rt = trial_start(2);
	struct sley_router *router;

	if (!rt)
		return;
	trial_mark();
	router = router_of(rt, &sley_admin_module);
	if (router) {
		administer(router);
		CHECK_EQ(sley_router_destroy(router), 0);
	}
	trial_stop(rt);
}
