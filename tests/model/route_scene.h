/* SPDX-License-Identifier: MIT */
/*
 * route_scene.h - for models of pools: a router with one pool, the very sources of
 * src/route, and the parts of a runtime that these sources need.
 *
 * A request that is queued is in `route_queue`, by the number of its container, and a
 * model thread runs it with route_run(), as a worker does.  There is no search, see
 * core_search.c.  The methods write plain memory, and so do their containers.
 *
 * Include this file in one source of a model, and link ${route_waiting}.
 */
#ifndef SLEY_TESTS_MODEL_ROUTE_SCENE_H
#define SLEY_TESTS_MODEL_ROUTE_SCENE_H

#include "inline_paths.h"
#include "model_mem.h"
#include "tasks_only.h"

#include "holders.h"

#include "core/life/after_fork.h"
#include "core/life/drain.h"
#include "core/task/spawn.h"
#include "core/trace/report.h"
#include "core/wait/alarm.h"
#include "route/isolated.h"
#include "route/load.h"
#include "route/parts.h"
#include "route/policy.h"
#include "route/pool.h"
#include "route/request.h"

#include <sley/scope.h>
#include <sley/time.h>

#define ROUTE_CONTAINERS 2

static struct sley_router *router;
static struct sley_pool *pool;
static struct sley_task *route_queue[ROUTE_CONTAINERS];
static uint32_t route_task_flags; /* of each request                       */
static uint32_t route_to;         /* the worker that the policy chooses     */
static int route_state[ROUTE_CONTAINERS]; /* of a container; by its keeper   */
static struct route_ledger {
	int inside[ROUTE_CONTAINERS]; /* methods */
	int ran;
} route_ledger;

/* No request goes to a daemon. */
bool sley_request_look(const struct sley_request *request)
{
	(void)request;
	MODEL_CHECK(!"a pool of another process");
	return false;
}

/* Lines for the user are not looked at. */
void report(const struct sley *of, const char *format, ...)
{
	(void)of;
	(void)format;
}

/* ---- the module ---------------------------------------------------------------- */

/* Answers with the number of the container, plus 1. */
static int route_method(void *self, struct sley_request *request)
{
	uint32_t id = sley_container_id(sley_request_container(request));
	uint32_t answer = id + 1;

	route_ledger.inside[id]++;
	model_access(self);
	MODEL_CHECK(*(int *)self >= 0);
	route_ledger.inside[id]--;
	route_ledger.ran++;
	return request->out_size
		       ? sley_request_answer(request, &answer, sizeof(answer))
		       : 0;
}

static int route_combine(void *into, size_t room, size_t *size,
			 const void *from, size_t from_size)
{
	MODEL_CHECK(room == sizeof(uint32_t) && *size == sizeof(uint32_t));
	MODEL_CHECK(from_size == sizeof(uint32_t));
	*(uint32_t *)into = 10 * *(uint32_t *)into + *(const uint32_t *)from;
	return 0;
}

static int route_create(void **self, const struct sley_container_info *info)
{
	*self = &route_state[info->id];
	return 0;
}

/* The keeper is alone in the container. */
static void route_change(void *self)
{
	int *state = self;

	MODEL_CHECK(!route_ledger.inside[state - route_state]);
	model_access(state);
	++*state;
	MODEL_CHECK(!route_ledger.inside[state - route_state]);
}

static const struct sley_method route_methods[] = {
	{ .name = "method", .run = route_method, .combine = route_combine },
};

static const struct sley_module route_module = {
	SLEY_MODULE_HEAD("module"), .version = 1,
	.methods = route_methods,   .nr_methods = 1,
	.create = route_create,     .destroy = route_change,
};

static const struct sley_policy route_policy; /* asked by policy_map() below */

/* ---- the scene ------------------------------------------------------------------- */

static void route_name(struct sley_container *container)
{
	model_lock_word(&container->door.empty.q.word);
	model_lock_word(&container->opened.q.word);
	model_lock_word(&container->groups.lock.word);
	model_name(&container->door.word, "door%u", container->id);
	model_name(&container->door.empty.q.word, "empty%u", container->id);
	model_name(&container->opened.q.word, "opened%u", container->id);
	model_name(&container->phase, "phase%u", container->id);
}

static void route_start_pool(uint32_t nr)
{
	pool = model_alloc(sizeof(*pool));
	pool->container = model_alloc(nr * sizeof(*pool->container));
	pool->router = router;
	pool->module = &route_module;
	pool->nr_containers = nr;
	pool->costs = model_alloc(nr * sizeof(*pool->costs));
	list_init(&pool->series.list);
	model_lock_word(&pool->series.lock.word);
	model_lock_word(&pool->series.door.empty.q.word);
	model_lock_word(&pool->waiting.empty.q.word);
	model_name(&pool->series.door.word, "series");
	model_name(&pool->waiting.word, "waiting");
	model_name(&pool->lock.q.word, "lock");
	for (uint32_t i = 0; i < nr; i++) {
		struct sley_container *container = &pool->container[i];

		container_init(container, pool, i);
		MODEL_CHECK(container_start(container, NULL, 0) == 0);
		route_name(container);
	}
}

/* In setup: a pool of @nr containers, which are open. */
static void route_setup(uint32_t nr, enum tasks_flags flags)
{
	tasks_setup(flags);
	holders_setup(false);
	for (uint32_t i = 0; i < TASKS_MAX; i++)
		task_threads[i].worker.index = i;
	memset(route_queue, 0, sizeof(route_queue));
	route_task_flags = 0;
	route_to = TASKS_MAX - 1; /* never the worker of a submitter */
	memset(route_state, 0, sizeof(route_state));
	route_ledger = (struct route_ledger){ 0 };
	model_ledger(&route_ledger, sizeof(route_ledger));
	router = model_alloc(sizeof(*router));
	router->rt = &task_runtime;
	router->policy = &route_policy;
	router->nr_workers = TASKS_MAX;
	router->counts = model_alloc((TASKS_MAX + 1) * sizeof(*router->counts));
	route_start_pool(nr);
}

/* As the last step of sley_router_destroy(), after pool_end(). */
static void route_free(void)
{
	model_free(pool->container);
	model_free(pool->costs);
	model_free(pool);
	model_free(router->counts);
	model_free(router);
	pool = NULL;
	router = NULL;
}

__attribute__((unused)) static uint64_t route_count(enum route_count what)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i <= TASKS_MAX; i++)
		sum += router->counts[i].of[what];
	return sum;
}

/* ---- a worker ------------------------------------------------------------------ */

/* Waits until the request for the container @id is queued, and runs it. */
__attribute__((unused)) static void route_run(int thread, uint32_t id)
{
	struct worker *worker = &task_threads[thread].worker;
	struct worker *before = sley__self.worker;
	struct sley_task *task;

	while (!(task = load_acquire(&route_queue[id])))
		spin_hint(&route_queue[id]);
	sley__self.worker = worker;
	task->fn(task);
	sley__self.worker = before;
	MODEL_CHECK(!turns_of(task)->after(worker, task));
}

int spawn_into_as(struct sley *rt, struct sley_group *group,
		  struct sley_task *task, const struct sley_options *options,
		  uint32_t flags)
{
	struct sley_request *request =
		container_of(task, struct sley_request, task);

	MODEL_CHECK(rt == &task_runtime);
	task->group = group;
	task_build(task, (unsigned int)(options->priority + LEVEL_DEFAULT),
		   flags | route_task_flags | TASK_NO_BARRIER);
	store_release(&route_queue[request->container->id], task);
	return 0;
}

uint32_t policy_map(struct sley_router *with, const struct worker *here,
		    struct sley_request *request)
{
	(void)with;
	(void)here;
	(void)request;
	return route_to;
}

uint64_t policy_wait(struct sley_router *with, const struct worker *here,
		     const struct sley_request *request,
		     const struct sley_polling *polling)
{
	(void)with;
	(void)here;
	(void)request;
	return polling->wait_ns;
}

/* The threads of a model that fire timers do so when they like. */
void alarm_announce(struct worker *worker)
{
	(void)worker;
}

/* ---- what no model of pools has --------------------------------------------------- */

void drain_end_unbind(struct worker *worker)
{
	(void)worker;
	never();
}

void sley_scope_open_until(struct sley_scope *scope, uint64_t deadline_ns)
{
	(void)scope;
	(void)deadline_ns;
	never();
}

int sley_scope_close(struct sley_scope *scope)
{
	(void)scope;
	never();
	return 0;
}

int sley_sleep_until(uint64_t deadline_ns)
{
	(void)deadline_ns;
	never();
	return 0;
}

int isolation_make(struct sley_pool *of,
		   const struct sley_pool_options *options)
{
	(void)of;
	(void)options;
	never();
	return -ENOMEM;
}

void isolation_free(struct sley_pool *of)
{
	(void)of;
	never();
}

int isolated_start(struct sley_container *container,
		   const struct sley_container_info *info)
{
	(void)container;
	(void)info;
	never();
	return -ENOMEM;
}

uint64_t sley_route_io_size(const struct sley_route *route)
{
	(void)route;
	never();
	return 0;
}

int sley_pool_call(struct sley_pool *with, const struct sley_request_spec *spec,
		   size_t *out_size)
{
	(void)with;
	(void)spec;
	(void)out_size;
	never();
	return -ENOSYS;
}

int load_module(struct sley_router *with, const char *name)
{
	(void)with;
	(void)name;
	never();
	return -ENOENT;
}

const struct sley_module *router_find_module(struct sley_router *with,
					     const char *name)
{
	(void)with;
	(void)name;
	never();
	return NULL;
}

#endif
