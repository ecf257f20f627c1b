/* SPDX-License-Identifier: MIT */
/*
 * submit.c - <sley/request.h>: checks what the user gave, and sends it on its way.
 */
#include "base/options.h"
#include "core/life/after_fork.h"
#include "route/neighbour.h"
#include "route/parts.h"
#include "route/pool.h"
#include "route/remote.h"
#include "route/request.h"
#include "route/resolve.h"
#include "route/series.h"

#include <errno.h>
#include <sley/error.h>
#include <string.h>

/* The spec as this library knows it: @given itself, or *@copy. */
static int take_spec(const struct sley_request_spec *given,
		     struct sley_request_spec *copy,
		     const struct sley_request_spec **spec)
{
	*spec = given;
	if (unlikely(!given || given->size != sizeof(*given) ||
		     !options_are_clear(given->reserved))) {
		int err = options_take(copy, given);

		if (err)
			return err;
		*spec = copy;
	}
	if (unlikely((*spec)->priority < SLEY_PRIORITY_MIN ||
		     (*spec)->priority > SLEY_PRIORITY_MAX))
		return SLEY_EPRIORITY;
	return 0;
}

static bool has_method(const struct sley_module *module, uint32_t method)
{
	return method < module->nr_methods && module->methods[method].run;
}

/*
 * The request is filled from @spec.  0: it was accepted, and perhaps is complete by now.
 */
static int send(struct sley_pool *pool, struct sley_request *request,
		const struct sley_request_spec *spec)
{
	struct sley_router *router = pool->router;
	struct targets targets;
	int err;

	if (unlikely(runtime_is_lost(router->rt)))
		return SLEY_EFORKED;
	err = likely(has_method(pool->module, request->method))
		      ? resolve(pool, request, spec->parent, &targets)
		      : -ENOSYS;
	if (unlikely(!err && spec->period_ns && targets.nr > 1))
		err = -EINVAL;
	if (unlikely(err))
		return request_refuse(router, request, err);
	if (unlikely(targets.nr > 1))
		return parts_send(router, pool, request, targets.first,
				  targets.nr);
	request->container = &pool->container[targets.first];
	if (unlikely(router->neighbour) && neighbour_wants(request))
		return spec->period_ns
			       ? request_refuse(router, request, -EOPNOTSUPP)
			       : request_send_elsewhere(router, request);
	if (unlikely(spec->period_ns))
		return series_send(router, request, spec->period_ns);
	return request_send(router, request);
}

/* The same to a pool of a daemon. */
static noinline int send_away(struct sley_pool *pool,
			      struct sley_request *const *requests,
			      const struct sley_request_spec *const *specs,
			      size_t nr)
{
	ssize_t sent = pool->remote->submit(pool, requests, specs, nr);

	return sent < 0 ? (int)sent : 0;
}

int sley_submit(struct sley_pool *pool, struct sley_request *request,
		const struct sley_request_spec *given)
{
	const struct sley_request_spec *spec;
	struct sley_request_spec copy;
	int err = take_spec(given, &copy, &spec);

	if (unlikely(err))
		return err;
	request_fill(request, spec, 0);
	if (unlikely(pool->remote))
		return send_away(pool, &request, &spec, 1);
	return send(pool, request, spec);
}

int request_serve(struct sley_pool *pool, struct served_request *served,
		  const struct sley_request_spec *spec)
{
	if (unlikely(spec->priority < SLEY_PRIORITY_MIN ||
		     spec->priority > SLEY_PRIORITY_MAX))
		return SLEY_EPRIORITY;
	request_fill(&served->request, spec, REQUEST_SERVED);
	return send(pool, &served->request, spec);
}

/* How many of @specs, from the first on, need no copy. */
static size_t nr_whole(const struct sley_request_spec *const *specs, size_t nr)
{
	const struct sley_request_spec *spec;
	struct sley_request_spec copy;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (take_spec(specs[i], &copy, &spec) || spec == &copy)
			break;
	}
	return i;
}

/* To a daemon: in one piece, but for specs that need a copy. */
static ssize_t submit_away(struct sley_pool *pool,
			   struct sley_request *const *requests,
			   const struct sley_request_spec *const *specs,
			   size_t nr)
{
	size_t whole = nr_whole(specs, nr);
	int err;

	if (!whole) {
		err = sley_submit(pool, requests[0], specs[0]);
		return err ? err : 1;
	}
	for (size_t i = 0; i < whole; i++)
		request_fill(requests[i], specs[i], 0);
	return pool->remote->submit(pool, requests, specs, whole);
}

ssize_t sley_submit_many(struct sley_pool *pool,
			 struct sley_request *const *requests,
			 const struct sley_request_spec *const *specs,
			 size_t nr)
{
	size_t nr_sent = 0;
	ssize_t sent = 0;

	while (nr_sent < nr) {
		if (pool->remote) {
			sent = submit_away(pool, requests + nr_sent,
					   specs + nr_sent, nr - nr_sent);
		} else {
			sent = sley_submit(pool, requests[nr_sent],
					   specs[nr_sent]);
			sent = sent ? sent : 1;
		}
		if (sent < 0)
			break;
		nr_sent += (size_t)sent;
	}
	return nr_sent || !nr ? (ssize_t)nr_sent : sent;
}

int sley_submit_and_forget(struct sley_pool *pool,
			   const struct sley_request_spec *given)
{
	const struct sley_request_spec *spec;
	struct sley_request_spec copy;
	struct sley_request *request;
	struct mem *mem;
	int err = take_spec(given, &copy, &spec);

	if (err)
		return err;
	if (spec->out || spec->out_size)
		return -EINVAL;
	if (pool->remote)
		return pool->remote->forget(pool, spec);
	mem = &pool->router->rt->mem;
	request = mem_alloc(mem, sizeof(*request) + spec->in_size);
	if (!request)
		return -ENOMEM;
	request_fill(request, spec, REQUEST_FREED);
	if (spec->in_size)
		request->in = memcpy(request + 1, spec->in, spec->in_size);
	err = send(pool, request, spec);
	if (err)
		mem_free(mem, request, request_forgotten_size(request));
	return err;
}

/* A cancel of the caller cancels the request, and the wait goes on. */
static void await(struct sley_request *request)
{
	if (likely(!sley_request_wait(request)))
		return;
	sley_request_cancel(request);
	(void)!event_wait(&request->done.done, SLEY_FOREVER, WAIT_SHIELDED);
}

static noinline int call_away(struct sley_pool *pool,
			      const struct sley_request_spec *spec,
			      size_t *out_size)
{
	struct sley_request request;
	int err;

	request_fill(&request, spec, REQUEST_CALLED);
	err = pool->remote->call(pool, &request, spec);
	if (err)
		return err;
	if (out_size)
		*out_size = request.answer_size;
	return request.code;
}

int sley_pool_call(struct sley_pool *pool,
		   const struct sley_request_spec *given, size_t *out_size)
{
	const struct sley_request_spec *spec;
	struct sley_request_spec copy;
	struct sley_request request;
	int err = take_spec(given, &copy, &spec);

	if (unlikely(err))
		return err;
	if (unlikely(spec->period_ns))
		return -EINVAL;
	if (unlikely(pool->remote))
		return call_away(pool, spec, out_size);
	request_fill(&request, spec, REQUEST_CALLED);
	err = send(pool, &request, spec);
	if (unlikely(err))
		return err;
	await(&request);
	if (out_size)
		*out_size = request.answer_size;
	return request.code;
}

/* ---- waiting ----------------------------------------------------------------------- */

bool sley_request_look(const struct sley_request *request)
{
	return remote_pool(request)->remote->look(request);
}

int sley_request_wait_until(struct sley_request *request, uint64_t deadline_ns)
{
	int result;

	if (likely(!request->remote) || sley_future_is_done(&request->done))
		return sley_future_wait_until(&request->done, deadline_ns);
	result = remote_pool(request)->remote->wait_any(&request, 1,
							deadline_ns);
	return result < 0 ? result : 0;
}

int sley_request_wait_any_until(struct sley_request *const *requests, size_t nr,
				uint64_t deadline_ns)
{
	struct sley_future *futures[SLEY_REQUEST_ANY_MAX];

	if (nr == 0 || nr > SLEY_REQUEST_ANY_MAX)
		return -EINVAL;
	for (size_t i = 0; i < nr; i++) {
		if (requests[i]->remote)
			return remote_pool(requests[i])
				->remote->wait_any(requests, nr, deadline_ns);
		futures[i] = &requests[i]->done;
	}
	return sley_future_wait_any_until(futures, nr, deadline_ns);
}
