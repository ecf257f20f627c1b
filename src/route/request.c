/* SPDX-License-Identifier: MIT */
/*
 * request.c - see request.h.
 */
#include "route/request.h"

#include "core/life/drain.h"
#include "core/sched/place.h"
#include "core/task/spawn.h"
#include "core/task/turn.h"
#include "os/clock.h"
#include "route/container.h"
#include "route/cost.h"
#include "route/neighbour.h"
#include "route/parts.h"
#include "route/policy.h"
#include "route/pool.h"
#include "route/rebalance.h"
#include "route/remote.h"
#include "route/series.h"
#include "route/serving.h"

#include <errno.h>
#include <sley/scope.h>
#include <sley/time.h>

static struct sley_request *request_of_task(struct sley_task *task)
{
	return container_of(task, struct sley_request, task);
}

/* ---- filling ----------------------------------------------------------------------- */

void request_fill(struct sley_request *request,
		  const struct sley_request_spec *spec, uint32_t flags)
{
	unsigned int level = (unsigned int)(spec->priority + LEVEL_DEFAULT);

	request->done = (struct sley_future)SLEY_FUTURE_INIT;
	/* For a cancel that finds no task: in no queue, and not BLOCKED. */
	task_build(&request->task, level, TASK_TURNS);
	request->in = spec->in;
	request->in_size = spec->in_size;
	request->out = spec->out;
	request->out_size = spec->out_size;
	request->answer_size = 0;
	/* Field by field: one load of a spec that was just made would wait for it. */
	request->query.kind = spec->query.kind;
	request->query.timeout = spec->query.timeout;
	request->query.first = spec->query.first;
	request->query.count = spec->query.count;
	request->deadline_ns = spec->deadline_ns;
	request->group = spec->group;
	request->io_size = spec->io_size;
	request->method = spec->method;
	request->flags = flags | (spec->enqueue ? REQUEST_ENQUEUED : 0);
	request->container = NULL;
	request->parts = NULL;
	request->cost_ns = 0;
	request->series = NULL;
	request->lock = 0;
	request->remote = 0;
}

struct sley_request_spec request_spec(const struct sley_request *request)
{
	return (struct sley_request_spec){
		.size = sizeof(struct sley_request_spec),
		.method = request->method,
		.query = request->query,
		.in = request->in,
		.in_size = request->in_size,
		.out = request->out,
		.out_size = request->out_size,
		.priority = (int)task_level(&request->task) - LEVEL_DEFAULT,
		.enqueue = request->flags & REQUEST_ENQUEUED,
		.deadline_ns = request->deadline_ns,
		.group = request->group,
		.io_size = request->io_size,
	};
}

/* ---- running ----------------------------------------------------------------------- */

uint64_t request_patience(const struct sley_request *request)
{
	uint64_t deadline_ns = request->deadline_ns ? request->deadline_ns
						    : SLEY_FOREVER;
	uint32_t timeout = request->query.timeout;
	uint64_t until_ns;

	if (!timeout)
		return deadline_ns;
	until_ns = os_now() + (timeout - 1) * SLEY_MSEC;
	return until_ns < deadline_ns ? until_ns : deadline_ns;
}

void request_entered(struct sley_request *request)
{
	request->flags |= REQUEST_ENTERED;
	request->does = &request->container->module->methods[request->method];
}

/* The container opens its door, or the request does not run. */
static int enter(struct sley_request *request)
{
	struct sley_container *container = request->container;
	int err = container_enter_until(container, request_patience(request));

	if (!err)
		request_entered(request);
	return err;
}

static int run_method(struct sley_request *request)
{
	struct serving here;
	int code;

	serving_begin(&here, request->container);
	if (unlikely(request->flags & REQUEST_MEASURED))
		code = cost_run(request);
	else
		code = request->does->run(request->container->self, request);
	serving_end(&here);
	return code;
}

/* The method is a scope: at the deadline its waits end, and those of its members. */
static int run_until(struct sley_request *request)
{
	struct sley_scope scope;
	int code, err;

	if (os_now() >= request->deadline_ns)
		return -ETIMEDOUT;
	sley_scope_open_until(&scope, request->deadline_ns);
	code = run_method(request);
	err = sley_scope_close(&scope);
	return code == -ECANCELED && err == -ETIMEDOUT ? err : code;
}

int request_run(struct sley_request *request)
{
	return unlikely(request->deadline_ns) ? run_until(request)
					      : run_method(request);
}

/* ---- completing -------------------------------------------------------------------- */

void request_leave_container(struct sley_request *request)
{
	struct sley_container *container = request->container;

	if (unlikely(request->cost_ns))
		cost_take_back(container->pool->router, request);
	if (unlikely(request->flags & REQUEST_GROUPED))
		group_map_leave(&container->groups, request->group);
	if (likely(request->flags & REQUEST_ENTERED))
		door_leave(&container->door);
}

static void leave(struct sley_request *request)
{
	request_leave_container(request);
	if (unlikely(request->flags & REQUEST_WAITS))
		door_leave(&request->container->pool->waiting);
	if (unlikely(request->flags & REQUEST_REPEATS))
		series_leave(request);
}

/* No future is set. */
static noinline void complete_otherwise(struct sley *rt,
					struct sley_request *request)
{
	if (request->flags & REQUEST_PART) {
		parts_complete(request->parts);
	} else if (request->flags & REQUEST_FREED) {
		mem_free(&rt->mem, request, request_forgotten_size(request));
	} else {
		request_served(request)->complete(request_served(request));
	}
}

void request_complete(struct sley_router *router, struct sley_request *request,
		      int code)
{
	struct sley *rt = router->rt;

	request->code = code;
	router_count(router, router_worker(router), COUNT_COMPLETED);
	leave(request); /* the router may end from here on, if nothing waits */
	if (unlikely(request->flags &
		     (REQUEST_PART | REQUEST_FREED | REQUEST_SERVED)))
		complete_otherwise(rt, request);
	else if (likely(code >= 0))
		(void)sley_future_set(&request->done, request);
	else
		(void)sley_future_fail(&request->done, code);
}

int request_refuse(struct sley_router *router, struct sley_request *request,
		   int code)
{
	router_count(router, router_worker(router), COUNT_SUBMITTED);
	request_complete(router, request, code);
	return 0;
}

/* ---- as a task --------------------------------------------------------------------- */

/* Reports and the watchdog shall name the method, and not turn(). */
static void tell_function(const struct sley_request *request)
{
	/* relaxed: read by reports. */
	store_relaxed(&strand_current()->fiber.code,
		      (const void *)(uintptr_t)request->does->run);
}

static int run_as_task(struct sley_request *request)
{
	struct sley *rt = request->container->pool->router->rt;
	int err = 0;

	if (unlikely(request->flags & REQUEST_WAITS)) {
		if (request->flags & REQUEST_ELSEWHERE)
			return neighbour_run(request);
		err = enter(request);
	}
	if (err)
		return err;
	if (unlikely(task_is_cancelled(&request->task) ||
		     runtime_is_cancelled(rt)))
		return -ECANCELED;
	if (unlikely(request->flags & REQUEST_REPEATS) &&
	    !series_begin(request))
		return 0;
	tell_function(request);
	return request_run(request);
}

static void turn(void *task)
{
	struct sley_request *request = request_of_task(task);

	request->code = run_as_task(request);
}

static struct sley_task *after_turn(struct worker *worker,
				    struct sley_task *task)
{
	struct sley_request *request = request_of_task(task);
	struct sley_router *router = request->container->pool->router;

	if (unlikely(request->flags & REQUEST_REPEATS) &&
	    !series_is_over(worker, request))
		return NULL;
	task_turn_end(task);
	drain_count_finished(worker);
	if (unlikely(router->policy->rebalance))
		rebalance_after(router, worker);
	request_complete(router, request, request->code);
	return NULL;
}

/* A request waits for no inbox. */
static void poke(struct sley_task *task)
{
	(void)task;
}

static const struct turns turns = { after_turn, poke };

static struct sley_group *turns_group(void)
{
	return (struct sley_group *)(uintptr_t)&turns;
}

struct sley_request *request_queued(const struct sley_router *router,
				    const struct sley_task *task)
{
	struct sley_request *request;

	if (!(task_flags(task) & TASK_TURNS) || task->group != turns_group())
		return NULL;
	request = request_of_task((struct sley_task *)task);
	return request->container->pool->router == router && !task_strand(task)
		       ? request
		       : NULL;
}

/* In the usual case: by a worker, for itself, with the default priority. */
static void queue_here(struct worker *here, struct sley_task *task)
{
	task->group = turns_group();
	task->fiber = NULL;
	task_build(task, LEVEL_DEFAULT, here->task_flags | TASK_TURNS);
	drain_count_spawned(here);
	place_spawned(here, task);
}

/* The runs of a periodic request are moved, and a task that is pinned stays. */
static bool is_pinned(const struct sley_request *request)
{
	return (request->flags & (REQUEST_PINNED | REQUEST_REPEATS)) ==
	       REQUEST_PINNED;
}

int request_queue(struct sley_router *router, struct worker *here,
		  struct sley_request *request, uint32_t to)
{
	struct sley *rt = router->rt;
	unsigned int level = task_level(&request->task);
	bool pinned = is_pinned(request) || !rt->nr_workers;
	struct sley_options options = {
		.size = sizeof(options),
		.priority = (int)level - LEVEL_DEFAULT,
	};

	request->task.fn = turn;
	request->task.arg = NULL;
	request->task.name = request->does->name;
	if (likely(here && level == LEVEL_DEFAULT && !pinned &&
		   (to == here->index || to == SLEY_NO_WORKER))) {
		queue_here(here, &request->task);
		return 0;
	}
	if (to != SLEY_NO_WORKER)
		options.toward = SLEY_ON_WORKER(to);
	return spawn_into_as(rt, turns_group(), &request->task, &options,
			     TASK_TURNS | (pinned ? TASK_PINNED : 0));
}

/* ---- sending ----------------------------------------------------------------------- */

/* Does the request run on the stack of its submitter, the worker @here? */
static bool is_inline(const struct worker *here,
		      const struct sley_request *request, uint32_t to)
{
	return here && (to == here->index || to == SLEY_NO_WORKER) &&
	       !(request->flags & REQUEST_ENQUEUED) &&
	       (request->flags & REQUEST_CALLED ||
		request->does->flags & SLEY_METHOD_SHORT) &&
	       task_level(&request->task) == LEVEL_DEFAULT;
}

static void run_inline(struct sley_router *router, struct worker *here,
		       struct sley_request *request)
{
	int code;

	router_count(router, here, COUNT_INLINED);
	code = unlikely(runtime_is_cancelled(router->rt))
		       ? -ECANCELED
		       : request_run(request);
	request_complete(router, request, code);
}

/* The pool counts a request that is in no container.  False: the pool is gone. */
static bool enter_pool(struct sley_pool *pool, struct sley_request *request)
{
	if (!door_enter(&pool->waiting))
		return false;
	request->flags |= REQUEST_WAITS;
	request->does = &pool->module->methods[request->method];
	return true;
}

/* The request was counted as submitted; as complete, too, if that fails. */
static int queue(struct sley_router *router, struct worker *here,
		 struct sley_request *request, uint32_t to)
{
	int err;

	request->worker = to;
	err = request_queue(router, here, request, to);
	if (unlikely(err)) {
		router_count(router, here, COUNT_COMPLETED);
		leave(request);
	}
	return err;
}

/* The request goes to the queue of @to, or stays with the submitter, @here. */
static int send_to(struct sley_router *router, struct worker *here,
		   struct sley_request *request, uint32_t to)
{
	if (here && to != SLEY_NO_WORKER && to != here->index)
		router_count(router, here, COUNT_MOVED);
	request->worker = to;
	if (to == SLEY_NO_WORKER)
		request->flags &= ~(uint32_t)REQUEST_PINNED;
	else if (router->load)
		cost_add(router, request);
	return queue(router, here, request, to);
}

int request_send_elsewhere(struct sley_router *router,
			   struct sley_request *request)
{
	struct worker *here = router_worker(router);

	router_count(router, here, COUNT_SUBMITTED);
	request->flags |= REQUEST_ELSEWHERE;
	if (enter_pool(request->container->pool, request))
		return queue(router, here, request, router->network_worker);
	request_complete(router, request, -ENOENT);
	return 0;
}

int request_send(struct sley_router *router, struct sley_request *request)
{
	struct sley_container *container = request->container;
	struct worker *here = router_worker(router);
	uint32_t to = SLEY_NO_WORKER;

	router_count(router, here, COUNT_SUBMITTED);
	if (likely(door_enter(&container->door))) {
		request_entered(request);
		if (unlikely(router_samples(router, here)))
			request->flags |= REQUEST_MEASURED;
		to = policy_map(router, here, request);
	} else if (request->flags & REQUEST_REPEATS) {
		request->does =
			&container->pool->module->methods[request->method];
	} else if (!enter_pool(container->pool, request)) {
		request_complete(router, request, -ENOENT);
		return 0;
	}
	if (request->flags & REQUEST_ENTERED && is_inline(here, request, to)) {
		run_inline(router, here, request);
		return 0;
	}
	return send_to(router, here, request, to);
}

/* ---- the user's -------------------------------------------------------------------- */

int sley_request_code(const struct sley_request *request)
{
	return sley_request_is_done(request) ? request->code : -EINPROGRESS;
}

void request_cancel_task(struct sley_request *request)
{
	if (task_cancel(&request->task))
		task_enqueue(&request->task);
}

void sley_request_cancel(struct sley_request *request)
{
	if (unlikely(request->remote)) {
		remote_pool(request)->remote->cancel(request);
		return;
	}
	if (unlikely(parts_cancel(request)))
		return;
	series_cancel(request);
	request_cancel_task(request);
}

int sley_request_answer(struct sley_request *request, const void *from,
			size_t size)
{
	if (size > request->out_size)
		return -EMSGSIZE;
	if (from != request->out && size)
		memcpy(request->out, from, size);
	request->answer_size = size;
	return 0;
}

size_t sley_request_answer_size(const struct sley_request *request)
{
	return request->answer_size;
}
