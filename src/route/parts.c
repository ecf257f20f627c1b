/* SPDX-License-Identifier: MIT */
/*
 * parts.c - see parts.h.
 */
#include "route/parts.h"

#include "base/chaos.h"
#include "core/task/task_state.h"
#include "route/container.h"
#include "route/neighbour.h"
#include "route/pool.h"
#include "route/request.h"
#include "route/split.h"

#include <errno.h>

/* ---- memory ------------------------------------------------------------------------ */

/* Room for @nr parts; their answers follow. */
static struct parts *parts_alloc(struct sley_router *router, uint32_t nr,
				 size_t out_size)
{
	size_t size, outs;
	struct parts *parts;

	if (__builtin_mul_overflow(nr, out_size, &outs) ||
	    __builtin_add_overflow(sizeof(*parts) + nr * sizeof(parts->part[0]),
				   outs, &size))
		return NULL;
	parts = mem_alloc(&router->rt->mem, size);
	if (!parts)
		return NULL;
	parts->router = router;
	parts->out = (char *)&parts->part[nr];
	parts->out_size = out_size;
	parts->size = size;
	return parts;
}

/* ---- the end ----------------------------------------------------------------------- */

static int first_code(const struct parts *parts)
{
	for (uint32_t i = 0; i < parts->nr; i++) {
		if (parts->part[i].code)
			return parts->part[i].code;
	}
	return 0;
}

/* The answer of the first container, and those of the others added to it. */
static int combine(struct parts *parts)
{
	struct sley_request *origin = parts->origin;
	const struct sley_method *does = parts->part[0].does;
	int err = sley_request_answer(origin, parts->part[0].out,
				      parts->part[0].answer_size);

	for (uint32_t i = 1; i < parts->nr && !err && does->combine; i++)
		err = does->combine(origin->out, origin->out_size,
				    &origin->answer_size, parts->part[i].out,
				    parts->part[i].answer_size);
	return err;
}

/* The last holder is gone. */
static void complete_origin(struct parts *parts)
{
	struct sley_request *origin = parts->origin;
	struct sley_router *router = parts->router;
	int code = origin->code;

	mem_free(&router->rt->mem, parts, parts->size);
	request_complete(router, origin, code);
}

static void let_go(struct parts *parts)
{
	if (sub_acq_rel(&parts->origin->holds, 1) == 1) /* PA2 */
		complete_origin(parts);
}

void parts_complete(struct parts *parts)
{
	int code;

	if (sub_acq_rel(&parts->nr_left, 1) != 1) /* PA1 */
		return;
	code = first_code(parts);
	if (!code && parts->origin->out_size)
		code = combine(parts);
	parts->origin->code = code;
	let_go(parts);
}

/* ---- the beginning ----------------------------------------------------------------- */

/* The next part, which goes to @container. */
static struct sley_request *add_part(struct parts *parts,
				     struct sley_container *container)
{
	struct sley_request_spec spec = request_spec(parts->origin);
	struct sley_request *part = &parts->part[parts->nr];

	spec.enqueue = true;
	spec.out = parts->out_size ? parts->out + parts->nr * parts->out_size
				   : NULL;
	request_fill(part, &spec, REQUEST_PART);
	part->parts = parts;
	part->container = container;
	parts->nr++;
	return part;
}

/* The same for the containers @span, which go to another machine. */
static void add_elsewhere(struct parts *parts, struct sley_pool *pool,
			  struct span span)
{
	struct sley_request *part =
		add_part(parts, &pool->container[span.first]);
	uint32_t timeout = part->query.timeout;

	part->query = span.count > 1 ? sley_query_range(span.first, span.count)
				     : sley_query_id(span.first);
	part->query.timeout = timeout;
	part->flags |= REQUEST_ELSEWHERE;
}

/* A sub-range goes to the machine of its first container.  This machine cuts again. */
static void add_span(struct parts *parts, struct sley_pool *pool,
		     struct span span)
{
	for (uint32_t i = 0; i < split_nr(span.count); i++) {
		struct span piece = split_at(span, i);

		if (neighbour_has(pool, piece.first))
			add_elsewhere(parts, pool, piece);
		else if (piece.count > 1)
			add_span(parts, pool, piece);
		else
			(void)add_part(parts, &pool->container[piece.first]);
	}
}

static int send_part(struct parts *parts, struct sley_request *part)
{
	return unlikely(part->flags & REQUEST_ELSEWHERE)
		       ? request_send_elsewhere(parts->router, part)
		       : request_send(parts->router, part);
}

/* All but the first, which was accepted: an error is the code of its part. */
static void send_rest(struct parts *parts)
{
	for (uint32_t i = 1; i < parts->nr; i++) {
		int err = send_part(parts, &parts->part[i]);

		if (err) {
			parts->part[i].code = err;
			parts_complete(parts);
		}
	}
}

/* The parts of @origin, which no other thread knows; NULL: no memory. */
static struct parts *parts_make(struct sley_pool *pool,
				struct sley_request *origin, uint32_t first,
				uint32_t nr)
{
	struct parts *parts = parts_alloc(pool->router, nr, origin->out_size);

	if (!parts)
		return NULL;
	parts->origin = origin;
	origin->holds = 1;
	if (unlikely(pool->router->neighbour))
		add_span(parts, pool, (struct span){ first, nr });
	else
		for (uint32_t i = 0; i < nr; i++)
			(void)add_part(parts, &pool->container[first + i]);
	parts->nr_left = parts->nr + 1;
	return parts;
}

int parts_send(struct sley_router *router, struct sley_pool *pool,
	       struct sley_request *origin, uint32_t first, uint32_t nr)
{
	struct parts *parts;
	int err;

	origin->container = &pool->container[first];
	if (!door_enter(&pool->waiting))
		return request_refuse(router, origin, -ENOENT);
	origin->flags |= REQUEST_WAITS;
	parts = parts_make(pool, origin, first, nr);
	if (!parts)
		return request_refuse(router, origin, -ENOMEM);
	err = send_part(parts, &parts->part[0]);
	if (err) {
		mem_free(&router->rt->mem, parts, parts->size);
		door_leave(&pool->waiting);
		return err;
	}
	router_count(router, router_worker(router), COUNT_SUBMITTED);
	send_rest(parts);
	store_release(&origin->parts, parts); /* PA3 */
	parts_complete(parts);
	return 0;
}

/* ---- cancelling -------------------------------------------------------------------- */

/* False: the parts are gone, or about to be. */
static bool hold(struct sley_request *origin)
{
	/* relaxed: the CAS checks it. */
	uint32_t holds = load_relaxed(&origin->holds);

	do {
		if (!holds)
			return false;
		/* relaxed: PA3 has come with the parts. */
	} while (chaos_says(CHAOS_LOSE) ||
		 !cas_relaxed(&origin->holds, &holds, holds + 1));
	return true;
}

bool parts_cancel(struct sley_request *origin)
{
	struct parts *parts = load_acquire(&origin->parts); /* PA3 */

	if (!parts || origin->flags & REQUEST_PART)
		return false;
	if (!hold(origin))
		return true;
	for (uint32_t i = 0; i < parts->nr; i++)
		request_cancel_task(&parts->part[i]);
	let_go(parts);
	return true;
}
