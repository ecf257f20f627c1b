/* SPDX-License-Identifier: MIT */
/*
 * isolated_serve.c - the side of the subprocess: see isolated.h.
 *
 * The process has one thread and one container.  It trusts the program.  The runtime,
 * the router and the pool end with the process.
 */
#include "route/isolated.h"

#include "os/symbol.h"
#include "route/load.h"
#include "route/pool.h"
#include "route/router.h"
#include "subprocess/function_table.h"

#include <errno.h>
#include <string.h>

/* The container of this process. */
static struct sley_container *container;

__attribute__((constructor)) static void set_functions(void)
{
	function_table_set(FUNCTION_TABLE_CONTAINER, "a container",
			   isolated_serve_start);
	function_table_set(FUNCTION_TABLE_REQUEST, "a request",
			   isolated_serve_call);
}

/* ---- the start ---------------------------------------------------------------------- */

/* What follows the birth: the parameters, then the folders. */
static const char *params_of(const struct isolated_birth *birth)
{
	return (const char *)(birth + 1);
}

static const char *directories_of(const struct isolated_birth *birth)
{
	return birth->directories_size ? params_of(birth) + birth->params_size
				       : NULL;
}

/* Memory that the program has got later is no part of a loaded file here. */
static int add_table(struct sley_router *router,
		     const struct sley_module *table)
{
	if (!os_symbol_is_known(table) || module_check(table) ||
	    !os_symbol_is_known(table->methods))
		return -ELIBACC;
	return sley_router_add(router, table);
}

static int find_module(struct sley_router *router,
		       const struct isolated_birth *birth,
		       const struct sley_module **module)
{
	int err = birth->table ? add_table(router, birth->table)
			       : load_module(router, birth->module);

	if (err)
		return err;
	*module = router_find_module(router, birth->module);
	if (*module && (*module)->version == birth->version &&
	    (*module)->nr_methods == birth->nr_methods)
		return 0;
	return birth->table ? -ELIBACC : -ELIBBAD;
}

static int make_container(struct sley_router *router,
			  const struct sley_module *module,
			  const struct isolated_birth *birth)
{
	struct sley_pool *pool =
		pool_alloc(router, module, birth->pool, birth->nr);

	if (!pool)
		return -ENOMEM;
	for (uint32_t i = 0; i < birth->nr; i++) {
		if (i != birth->id)
			container_condemn(&pool->container[i]);
	}
	container = &pool->container[birth->id];
	return container_start(container,
			       birth->params_size ? params_of(birth) : NULL,
			       birth->params_size);
}

int isolated_serve_start(struct sley_subprocess_work *work)
{
	const struct isolated_birth *birth = work->arg;
	const struct sley_module *module;
	struct sley_router *router;
	struct sley *rt;
	int err = sley_create(&rt, SLEY_CONFIG(.workers = SLEY_SINGLE));

	if (err)
		return err;
	err = sley_router_create(
		rt, &router,
		SLEY_ROUTER_OPTIONS(.policy = "none",
				    .directories = directories_of(birth)));
	/* A thread that is not bound loads the file by itself. */
	if (!err)
		err = find_module(router, birth, &module);
	if (!err)
		err = sley_bind(rt);
	return err ? err : make_container(router, module, birth);
}

/* ---- calls -------------------------------------------------------------------------- */

static int run(const struct isolated_head *head, const void *in, size_t in_size,
	       struct sley_subprocess_work *work)
{
	return sley_pool_call(
		container->pool,
		SLEY_REQUEST(.method = head->method,
			     .query = sley_query_id(container->id),
			     .in = in_size ? in : NULL, .in_size = in_size,
			     .out = head->room ? work->result : NULL,
			     .out_size = head->room,
			     .deadline_ns = head->deadline_ns),
		&work->result_size);
}

static int tell_work_remaining(struct sley_subprocess_work *work)
{
	uint64_t left = container->module->work_remaining(container->self);

	memcpy(work->result, &left, sizeof(left));
	work->result_size = sizeof(left);
	return 0;
}

static int tell_monitor(const struct isolated_head *head, const char *query,
			struct sley_subprocess_work *work)
{
	int length = container->module->monitor(container->self, query,
						work->result, head->room);

	if (length >= 0 && head->room)
		work->result_size = (size_t)length < head->room
					    ? (size_t)length + 1
					    : head->room;
	return length;
}

/* Requests that methods have sent and not waited for are completed first. */
static int end(void)
{
	container_condemn(container);
	(void)!door_wait(&container->door, SLEY_FOREVER, WAIT_SHIELDED);
	container_end(container);
	return 0;
}

int isolated_serve_call(struct sley_subprocess_work *work)
{
	const struct isolated_head *head = work->arg;
	const void *arg = head + 1;

	switch (head->kind) {
	case ISOLATED_RUN:
		return run(head, arg, work->arg_size - sizeof(*head), work);
	case ISOLATED_WORK_REMAINING:
		return tell_work_remaining(work);
	case ISOLATED_MONITOR:
		return tell_monitor(head, arg, work);
	case ISOLATED_END:
		return end();
	default:
		return 0; /* ISOLATED_IS_FREE */
	}
}
