/* SPDX-License-Identifier: MIT */
/*
 * plugin.c - a shared object that is a module, a policy, or neither; see loading.c.
 */
#include <sley/policy.h>
#include <sley/pool.h>

#ifdef PLUGIN_MODULE
static int answer(void *self, struct sley_request *request)
{
	(void)self;
	return sley_request_answer(request, PLUGIN_MODULE,
				   sizeof(PLUGIN_MODULE));
}

static const struct sley_method methods[] = {
	{ .name = "answer", .run = answer },
};

#ifdef PLUGIN_VERSION
static int upgrade(void **self, uint32_t from,
		   const struct sley_container_info *info)
{
	(void)self;
	(void)info;
	return from < PLUGIN_VERSION ? 0 : -1;
}

SLEY_MODULE(PLUGIN_MODULE, .methods = methods, .nr_methods = 1,
	    .version = PLUGIN_VERSION, .upgrade = upgrade);
#else
SLEY_MODULE(PLUGIN_MODULE, .methods = methods, .nr_methods = 1);
#endif
#endif

#ifdef PLUGIN_POLICY
static uint32_t last(void *self, const struct sley_route *route)
{
	(void)self;
	return sley_router_nr_workers(route->router) - 1;
}

SLEY_POLICY(PLUGIN_POLICY, .runtime_map = last);
#endif

/* So that a file without a table is a library, too. */
SLEY_EXPORT extern const int sley_plugin;
const int sley_plugin = 1;
