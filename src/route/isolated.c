/* SPDX-License-Identifier: MIT */
/*
 * isolated.c - the side of the program: see isolated.h.
 */
#include "route/isolated.h"

#include "base/atomic.h"
#include "core/trace/report.h"
#include "os/clock.h"
#include "route/load.h"
#include "route/pool.h"
#include "route/router.h"
#include "subprocess/function_table.h"
#include "subprocess/subprocess.h"

#include <errno.h>
#include <sley/error.h>
#include <string.h>

/* So what follows is aligned for any type, as memory of malloc() is. */
_Static_assert(sizeof(struct isolated_head) == CALL_HEAD_MAX, "head");
_Static_assert(sizeof(struct isolated_birth) % 16 == 0, "birth");

/* The subprocess has this time to end what was given up. */
#define FREE_NS 1000000000ull
/* A flush waits so long for an answer before it looks again. */
#define WORK_NS 10000000ull

/* Of a pool. */
struct isolation {
	const struct sley_module *real; /* the module that the user named    */
	bool is_file;
	uint32_t max_restarts;
	uint64_t limit_ns;
	struct sley_module stand_in;
	struct sley_method methods[]; /* of the stand-in                     */
};

/* A stand-in: the state of a container of an isolated pool. */
struct isolated {
	struct sley_container *container;
	struct sley_subprocess *subprocess;
	uint32_t told_down; /* that it is down, the user was told            */
	uint32_t birth_size;
	struct isolated_birth birth;
};

static const struct sley_module *real_of(const struct isolated *isolated)
{
	return isolated->container->pool->isolation->real;
}

/* ---- calls ------------------------------------------------------------------------- */

static int call(const struct isolated *isolated,
		const struct isolated_head *head, const void *arg,
		size_t arg_size, struct sley_subprocess_result *result)
{
	const struct call_spec spec = {
		.fn = FUNCTION_TABLE_REQUEST,
		.head = head,
		.head_size = sizeof(*head),
		.arg = arg,
		.arg_size = arg_size,
		.room = head->room,
		.deadline_ns = head->deadline_ns ? head->deadline_ns
						 : SLEY_FOREVER,
	};

	return subprocess_call(isolated->subprocess, &spec, result);
}

/* The subprocess has died of a request.  That it is down is told once. */
static void tell_death(struct isolated *isolated,
		       const struct sley_request *request,
		       const struct sley_subprocess_result *result)
{
	const struct sley_container *container = isolated->container;
	bool down = subprocess_is_down(isolated->subprocess);

	/* relaxed: a number of lines, nothing is published. */
	if (down && xchg_relaxed(&isolated->told_down, 1))
		return;
	report(container->pool->router->rt,
	       "request \"%s\" to container %u of \"%s\" failed: %s; %s",
	       request->does->name, container->id, container->pool->name,
	       result->text,
	       down ? "the container stays down until the pool is destroyed "
		      "and opened again"
		    : "a new one is started");
}

static int run(void *self, struct sley_request *request)
{
	struct isolated *isolated = self;
	const struct isolated_head head = {
		.kind = ISOLATED_RUN,
		.method = request->method,
		.deadline_ns = request->deadline_ns,
		.room = request->out ? request->out_size : 0,
	};
	struct sley_subprocess_result result = { .data = request->out,
						 .size = request->out_size };
	int code =
		call(isolated, &head, request->in, request->in_size, &result);

	if (result.outcome == SLEY_OUTCOME_ENDPOINT)
		tell_death(isolated, request, &result);
	/* An answer that does not fit has failed above, and stays empty. */
	(void)!sley_request_answer(request, request->out, result.size);
	return code;
}

/* ---- other functions of a module ---------------------------------------------------- */

static struct sley_query schedule(void *self,
				  const struct sley_request *request)
{
	return real_of(self)->schedule(NULL, request);
}

static uint64_t io_size(void *self, const struct sley_request *request)
{
	return real_of(self)->methods[request->method].io_size(NULL, request);
}

/* A subprocess that does not answer has work; one that died has none left. */
static uint64_t work_remaining(void *self)
{
	const struct isolated_head head = {
		.kind = ISOLATED_WORK_REMAINING,
		.deadline_ns = os_now() + WORK_NS,
	};
	uint64_t work = 0;
	struct sley_subprocess_result result = { .data = &work,
						 .size = sizeof(work) };
	int err = call(self, &head, NULL, 0, &result);

	if (err == -ETIMEDOUT || err == -ECANCELED)
		return 1;
	return err ? 0 : work;
}

static int monitor(void *self, const char *query, char *text, size_t size)
{
	const struct isolated_head head = {
		.kind = ISOLATED_MONITOR,
		.room = text ? size : 0,
	};
	struct sley_subprocess_result result = { .data = text, .size = size };

	return call(self, &head, query, strlen(query) + 1, &result);
}

/* Without a cancel: the end of a pool is not cancelled, either. */
static int call_at_end(const struct isolated *isolated, enum isolated_kind kind,
		       uint64_t deadline_ns)
{
	const struct isolated_head head = { .kind = kind };
	const struct call_spec spec = {
		.fn = FUNCTION_TABLE_REQUEST,
		.head = &head,
		.head_size = sizeof(head),
		.deadline_ns = deadline_ns,
		.flags = WAIT_SHIELDED,
	};
	struct sley_subprocess_result result = { .data = NULL };

	return subprocess_call(isolated->subprocess, &spec, &result);
}

static void isolated_free(struct isolated *isolated)
{
	mem_free(&isolated->container->pool->router->rt->mem, isolated,
		 offsetof(struct isolated, birth) + isolated->birth_size);
}

static void destroy(void *self)
{
	struct isolated *isolated = self;
	const struct sley_container *container = isolated->container;

	/* A new life would have a state that is not destroyed. */
	subprocess_restart_no_more(isolated->subprocess);
	if (call_at_end(isolated, ISOLATED_IS_FREE, os_now() + FREE_NS) ==
	    -ETIMEDOUT)
		report(container->pool->router->rt,
		       "container %u of \"%s\" is killed without "
		       "destroy(): it still runs a request that was given up",
		       container->id, container->pool->name);
	else
		(void)!call_at_end(isolated, ISOLATED_END, SLEY_FOREVER);
	sley_subprocess_destroy(isolated->subprocess);
	isolated_free(isolated);
}

/* ---- the start ---------------------------------------------------------------------- */

static int refuse(const struct sley_container *container, const char *why)
{
	report(container->pool->router->rt,
	       "the pool \"%s\" cannot be isolated: %s", container->pool->name,
	       why);
	return -EOPNOTSUPP;
}

/* For a module that is a file: where to look for it; or NULL. */
static const char *directories_for(const struct sley_pool *pool)
{
	return pool->isolation->is_file ? pool->router->directories : NULL;
}

static size_t directories_size(const struct sley_pool *pool)
{
	const char *directories = directories_for(pool);

	return directories ? strlen(directories) + 1 : 0;
}

static void fill_birth(struct isolated *isolated,
		       const struct sley_container_info *info)
{
	const struct sley_pool *pool = isolated->container->pool;
	const struct isolation *isolation = pool->isolation;
	const struct sley_module *real = isolation->real;
	size_t size = directories_size(pool);
	char *more = (char *)(&isolated->birth + 1);

	isolated->birth = (struct isolated_birth){
		.table = isolation->is_file ? NULL : real,
		.version = real->version,
		.nr_methods = real->nr_methods,
		.id = info->id,
		.nr = info->nr,
		.params_size = (uint32_t)info->params_size,
		.directories_size = (uint32_t)size,
	};
	memcpy(isolated->birth.module, real->name, strlen(real->name));
	memcpy(isolated->birth.pool, pool->name, strlen(pool->name));
	if (info->params_size)
		memcpy(more, info->params, info->params_size);
	if (size)
		memcpy(more + info->params_size, directories_for(pool), size);
}

/* The stand-in of @container, or NULL. */
static struct isolated *isolated_alloc(struct sley_container *container,
				       const struct sley_container_info *info)
{
	size_t birth_size = sizeof(struct isolated_birth) + info->params_size +
			    directories_size(container->pool);
	struct isolated *isolated =
		mem_alloc(&container->pool->router->rt->mem,
			  offsetof(struct isolated, birth) + birth_size);

	if (!isolated)
		return NULL;
	isolated->container = container;
	isolated->birth_size = (uint32_t)birth_size;
	fill_birth(isolated, info);
	return isolated;
}

static int start_subprocess(struct isolated *isolated)
{
	const struct sley_container *container = isolated->container;
	const struct isolation *isolation = container->pool->isolation;
	int err = subprocess_create(
		&isolated->subprocess,
		SLEY_SUBPROCESS_OPTIONS(.name = container->pool->name,
					.max_restarts = isolation->max_restarts,
					.call_ns = isolation->limit_ns,
					.on_start = isolated_serve_start,
					.start_arg = &isolated->birth,
					.start_size = isolated->birth_size),
		true);

	if (err == -ENOENT)
		return refuse(container, "there is no fork server: call "
					 "sley_subprocesses_init() first in "
					 "main()");
	if (err == -ELIBACC)
		return refuse(container,
			      "its module was not in the program when "
			      "sley_subprocesses_init() was called: make its "
			      "table static, or make the module a file in "
			      ".directories");
	return err;
}

int isolated_start(struct sley_container *container,
		   const struct sley_container_info *info)
{
	const struct sley_module *real = container->pool->isolation->real;
	struct isolated *isolated;
	int err;

	if (real->schedule && !(real->flags & SLEY_MODULE_STATELESS))
		return refuse(
			container,
			"schedule() of its module may use the state of a "
			"container, which is elsewhere then: change that, "
			"and set SLEY_MODULE_STATELESS");
	if (info->params_size > SLEY_SUBPROCESS_DATA_MAX)
		return -EMSGSIZE;
	isolated = isolated_alloc(container, info);
	if (!isolated)
		return -ENOMEM;
	err = start_subprocess(isolated);
	if (err)
		isolated_free(isolated);
	else
		container->self = isolated;
	return err;
}

bool isolated_is_down(const struct sley_container *container)
{
	const struct isolated *isolated = container->self;

	return container->pool->isolation &&
	       subprocess_is_down(isolated->subprocess);
}

int isolated_pid(const struct sley_container *container)
{
	const struct isolated *isolated = container->self;

	return container->pool->isolation
		       ? sley_subprocess_pid(isolated->subprocess)
		       : 0;
}

/* ---- of a pool ---------------------------------------------------------------------- */

static size_t isolation_size(const struct sley_module *module)
{
	return sizeof(struct isolation) +
	       module->nr_methods * sizeof(struct sley_method);
}

/* A method that waits for another process is not short. */
static void make_methods(struct isolation *isolation)
{
	const struct sley_module *real = isolation->real;
	bool stateless = real->flags & SLEY_MODULE_STATELESS;

	for (uint32_t i = 0; i < real->nr_methods; i++) {
		const struct sley_method *from = &real->methods[i];

		if (!from->run)
			continue;
		isolation->methods[i] = (struct sley_method){
			.name = from->name,
			.run = run,
			.io_size = stateless && from->io_size ? io_size : NULL,
			.combine = from->combine,
		};
	}
}

static void make_stand_in(struct isolation *isolation)
{
	const struct sley_module *real = isolation->real;

	make_methods(isolation);
	isolation->stand_in = (struct sley_module){
		.abi = SLEY_MODULE_ABI,
		.size = sizeof(struct sley_module),
		.name = real->name,
		.version = real->version,
		.nr_methods = real->nr_methods,
		.methods = isolation->methods,
		.destroy = destroy,
		.schedule = real->schedule ? schedule : NULL,
		.work_remaining = real->work_remaining ? work_remaining : NULL,
		.monitor = real->monitor ? monitor : NULL,
	};
}

int isolation_make(struct sley_pool *pool,
		   const struct sley_pool_options *options)
{
	const struct sley_module *real = pool->module;
	struct isolation *isolation =
		mem_alloc(&pool->router->rt->mem, isolation_size(real));

	if (!isolation)
		return -ENOMEM;
	isolation->real = real;
	isolation->is_file = load_has(pool->router, real);
	isolation->max_restarts = options->max_restarts;
	isolation->limit_ns = options->limit_ns;
	make_stand_in(isolation);
	pool->isolation = isolation;
	pool->module = &isolation->stand_in;
	for (uint32_t i = 0; i < pool->nr_containers; i++)
		pool->container[i].module = pool->module;
	return 0;
}

void isolation_free(struct sley_pool *pool)
{
	if (pool->isolation)
		mem_free(&pool->router->rt->mem, pool->isolation,
			 isolation_size(pool->isolation->real));
}
