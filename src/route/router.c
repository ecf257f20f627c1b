/* SPDX-License-Identifier: MIT */
/*
 * router.c - <sley/pool.h> and <sley/policy.h> for routers: making, ending, asking.
 */
#include "route/router.h"

#include "base/options.h"
#include "core/life/after_fork.h"
#include "core/trace/report.h"
#include "os/clock.h"
#include "os/pidfd.h"
#include "route/cost.h"
#include "route/load.h"
#include "route/neighbour.h"
#include "route/policy.h"
#include "route/pool.h"
#include "route/serving.h"

#include <errno.h>
#include <sley/error.h>
#include <sley/time.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A policy that answers nonsense is told so at most once in this time. */
#define WARN_AGAIN_NS (10 * SLEY_SEC)

/* ---- making and ending ------------------------------------------------------------- */

static size_t counts_size(const struct sley_router *router)
{
	return (router->nr_workers + 1) * sizeof(*router->counts);
}

static void router_free(struct sley_router *router)
{
	struct mem *mem = &router->rt->mem;

	load_end(router);
	if (router->directories)
		mem_free(mem, router->directories,
			 strlen(router->directories) + 1);
	mem_free(mem, router->counts, counts_size(router));
	mem_free(mem, router->load, router->nr_workers * sizeof(*router->load));
	mem_free(mem, router, sizeof(*router));
}

static struct sley_router *router_alloc(struct sley *rt)
{
	struct sley_router *router = mem_alloc(&rt->mem, sizeof(*router));

	if (!router)
		return NULL;
	router->rt = rt;
	router->nr_workers = runtime_nr_runners(rt);
	router->pid = os_pid();
	router->client_lanes = 1;
	router->network_worker = SLEY_NO_WORKER;
	router->gpu_worker = SLEY_NO_WORKER;
	list_init(&router->modules);
	list_init(&router->libraries);
	list_init(&router->pools);
	router->counts = mem_alloc(&rt->mem, counts_size(router));
	if (router->counts)
		return router;
	router_free(router);
	return NULL;
}

/* False: no memory. */
static bool set_directories(struct sley_router *router, const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0;

	if (!size)
		return true;
	router->directories = mem_alloc(&router->rt->mem, size);
	if (!router->directories)
		return false;
	memcpy(router->directories, text, size);
	return true;
}

int sley_router_create(struct sley *rt, struct sley_router **out,
		       const struct sley_router_options *given)
{
	struct sley_router_options options;
	struct sley_router *router;
	int err = runtime_is_lost(rt) ? SLEY_EFORKED
				      : options_take(&options, given);

	if (err)
		return err;
	if (options.log_level > SLEY_LOG_ERROR ||
	    !cost_rate(options.learning_rate))
		return -EINVAL;
	router = router_alloc(rt);
	if (!router)
		return -ENOMEM;
	router->log_level = options.log_level ? options.log_level
					      : SLEY_LOG_WARNING;
	router->learning_rate = cost_rate(options.learning_rate);
	err = set_directories(router, options.directories)
		      ? policy_start(router, options.policy, options.own_policy)
		      : -ENOMEM;
	if (err)
		router_free(router);
	else
		*out = router;
	return err;
}

static void free_modules(struct sley_router *router)
{
	struct list *link;

	while ((link = list_take_first(&router->modules))) {
		struct router_module *added =
			container_of(link, struct router_module, link);

		mem_free(&router->rt->mem, added, sizeof(*added));
	}
}

/*
 * Has a user a handle of any pool?  Pools without a name are there only for their
 * handles; a named pool has a handle of its own.  With the lock.
 */
static bool is_in_use(const struct sley_router *router)
{
	uint32_t nr_named = 0;

	for (struct list *link = router->pools.next; link != &router->pools;
	     link = link->next) {
		if (container_of(link, struct sley_pool, link)->nr_handles > 1)
			return true;
		nr_named++;
	}
	return nr_named != router->nr_pools;
}

/* A handle of the first pool with a name, or NULL. */
static struct sley_pool *first_pool(struct sley_router *router)
{
	struct sley_pool *pool = NULL;
	struct list *link;

	sley_mutex_lock(&router->lock);
	link = list_first(&router->pools);
	if (link) {
		pool = container_of(link, struct sley_pool, link);
		pool->nr_handles++;
	}
	sley_mutex_unlock(&router->lock);
	return pool;
}

int sley_router_destroy(struct sley_router *router)
{
	struct sley_pool *pool;
	bool in_use;

	if (!router)
		return 0;
	if (runtime_is_lost(router->rt))
		return SLEY_EFORKED;
	if (serving_router(router))
		return -EDEADLK;
	sley_mutex_lock(&router->lock);
	in_use = is_in_use(router);
	sley_mutex_unlock(&router->lock);
	if (in_use)
		return -EBUSY;
	/*
	 * Methods may make and destroy pools meanwhile.  The pool of a method stands
	 * before the pools that the method makes: so none of these is half made when
	 * the router gets there.
	 */
	while ((pool = first_pool(router))) {
		(void)!pool_destroy(pool);
		sley_pool_close(pool);
	}
	neighbour_end(router);
	policy_end(router);
	free_modules(router);
	router_free(router);
	return 0;
}

/* ---- modules ----------------------------------------------------------------------- */

/* The newest version that is not above @most; NULL: none.  With the lock. */
static const struct sley_module *find_version(const struct sley_router *router,
					      const char *name, uint32_t most)
{
	const struct sley_module *newest = NULL;

	for (struct list *link = router->modules.next; link != &router->modules;
	     link = link->next) {
		const struct sley_module *module =
			container_of(link, struct router_module, link)->module;

		if (module_is_same(module, name) && module->version <= most &&
		    (!newest || module->version > newest->version))
			newest = module;
	}
	return newest;
}

const struct sley_module *router_find_module(struct sley_router *router,
					     const char *name)
{
	return find_version(router, name, UINT32_MAX);
}

/* The name of the module that was added as number @i, if it is from a file; or "". */
static const char *loaded_name(struct sley_router *router, uint32_t i)
{
	const char *name = NULL;
	struct list *link;

	sley_mutex_lock(&router->lock);
	link = router->modules.next;
	for (; link != &router->modules && i; i--)
		link = link->next;
	if (link != &router->modules) {
		const struct sley_module *module =
			container_of(link, struct router_module, link)->module;

		name = load_has(router, module) ? module->name : "";
	}
	sley_mutex_unlock(&router->lock);
	return name;
}

/* A version that is added meanwhile is at the end of the list, and finds itself. */
int sley_router_refresh(struct sley_router *router)
{
	const char *name;
	int added = 0, failed = 0;

	if (runtime_is_lost(router->rt))
		return SLEY_EFORKED;
	for (uint32_t i = 0; (name = loaded_name(router, i)); i++) {
		int result = *name ? load_again(router, name) : 0;

		if (result > 0)
			added++;
		else if (result < 0)
			failed = result;
	}
	return failed ?: added;
}

/* Was this version of the module added?  With the lock. */
static bool has_version(const struct sley_router *router,
			const struct sley_module *module)
{
	const struct sley_module *found =
		find_version(router, module->name, module->version);

	return found && found->version == module->version;
}

int sley_router_add(struct sley_router *router,
		    const struct sley_module *module)
{
	struct mem *mem = &router->rt->mem;
	struct router_module *added;
	int err = runtime_is_lost(router->rt) ? SLEY_EFORKED
					      : module_check(module);

	if (err)
		return err;
	added = mem_alloc(mem, sizeof(*added));
	if (!added)
		return -ENOMEM;
	list_init(&added->link);
	added->module = module;
	sley_mutex_lock(&router->lock);
	if (has_version(router, module))
		err = -EEXIST;
	else
		list_append(&router->modules, &added->link);
	sley_mutex_unlock(&router->lock);
	if (err)
		mem_free(mem, added, sizeof(*added));
	return err;
}

int sley_container_upgrade_to(struct sley_pool *pool, uint32_t id,
			      uint32_t version)
{
	struct sley_router *router = pool->router;
	const struct sley_module *module;
	int err = pool_refuses(pool);

	if (err)
		return err;
	sley_mutex_lock(&router->lock);
	module = find_version(router, pool->module->name,
			      version ? version : UINT32_MAX);
	sley_mutex_unlock(&router->lock);
	if (!module || (version && module->version != version))
		return -ESRCH;
	return sley_container_upgrade(pool, id, module);
}

/* ---- what a policy may ask and say ------------------------------------------------- */

bool router_may_warn(struct sley_router *router)
{
	uint64_t now_ns = os_now();
	/* relaxed: the CAS checks it. */
	uint64_t again_ns = load_relaxed(&router->warn_again_ns);

	/* relaxed: a time; nothing is published. */
	return now_ns >= again_ns &&
	       cas_relaxed(&router->warn_again_ns, &again_ns,
			   now_ns + WARN_AGAIN_NS);
}

static uint64_t sum(const struct sley_router *router, enum route_count what)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i <= router->nr_workers; i++)
		total += router_counted(router, i, what);
	return total;
}

int sley_router_get_stats(const struct sley_router *router,
			  struct sley_router_stats *out)
{
	struct sley_router_stats stats = {
		.size = sizeof(stats),
		/* Completed first: a request is submitted before it completes. */
		.completed = sum(router, COUNT_COMPLETED),
		.inlined = sum(router, COUNT_INLINED),
		.moved = sum(router, COUNT_MOVED),
		.refused = sum(router, COUNT_REFUSED),
		.stolen = sum(router, COUNT_STOLEN),
	};

	stats.submitted = sum(router, COUNT_SUBMITTED);
	return options_give(out, &stats, sizeof(stats));
}

uint32_t sley_router_nr_workers(const struct sley_router *router)
{
	return router->nr_workers;
}

double sley_router_learning_rate(const struct sley_router *router)
{
	return (double)router->learning_rate / COST_LEARN_ALL;
}

struct sley *sley_router_runtime(const struct sley_router *router)
{
	return router->rt;
}

/* The worker @index, or NULL: a bound thread has no queues that others see. */
static const struct worker *worker_at(const struct sley_router *router,
				      uint32_t index)
{
	const struct sley *rt = router->rt;

	return index < rt->nr_workers ? rt->worker[index] : NULL;
}

uint32_t sley_router_depth(const struct sley_router *router, uint32_t worker)
{
	const struct worker *there = worker_at(router, worker);

	return there ? gauge_ready(there) : 0;
}

bool sley_router_is_held(const struct sley_router *router, uint32_t worker)
{
	const struct worker *there = worker_at(router, worker);

	return there && gauge_is_held(there);
}

uint32_t sley_router_client_lanes(const struct sley_router *router)
{
	return router->client_lanes;
}

int sley_router_set_client_lanes(struct sley_router *router, uint32_t nr)
{
	if (!nr || nr > router->nr_workers)
		return -EINVAL;
	router->client_lanes = nr;
	return 0;
}

int sley_router_set_network_worker(struct sley_router *router, uint32_t worker)
{
	if (worker >= router->nr_workers)
		return -EINVAL;
	router->network_worker = worker;
	return 0;
}

uint32_t sley_router_network_worker(const struct sley_router *router)
{
	return router->network_worker;
}

int sley_router_set_gpu_worker(struct sley_router *router, uint32_t worker)
{
	if (worker >= router->nr_workers)
		return -EINVAL;
	router->gpu_worker = worker;
	return 0;
}

uint32_t sley_router_gpu_worker(const struct sley_router *router)
{
	return router->gpu_worker;
}

void sley_router_log(const struct sley_router *router,
		     enum sley_log_level level, const char *format, ...)
{
	static const char *const names[] = {
		[SLEY_LOG_DEBUG] = "debug",
		[SLEY_LOG_INFO] = "info",
		[SLEY_LOG_WARNING] = "warning",
		[SLEY_LOG_ERROR] = "error",
	};
	char line[512];
	va_list args;

	if (level < router->log_level || level >= array_size(names))
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	report(router->rt, "%s: %s: %s", router->policy->name, names[level],
	       line);
}
