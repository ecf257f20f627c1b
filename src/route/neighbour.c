/* SPDX-License-Identifier: MIT */
/*
 * neighbour.c - see neighbour.h.
 */
#include "route/neighbour.h"

#include "core/life/after_fork.h"
#include "mem/array.h"
#include "os/clock.h"
#include "route/pool.h"
#include "route/request.h"
#include "sync/event.h"

#include <errno.h>
#include <sley/error.h>
#include <sley/time.h>

enum place_phase {
	PLACE_FREE,
	PLACE_IDLE,  /* its task is about to begin                            */
	PLACE_OUT,   /* the ticket is good                                    */
	PLACE_WAITS, /* for a change of the neighbour                         */
	PLACE_OVER,  /* there is a code                                       */
};

/* A request that is out, or about to be.  Never freed before its router. */
struct place {
	struct sley_mutex lock;
	struct sley_event told; /* over, or changed                           */
	struct sley_request *request; /* NULL: free (lock)                    */
	uint64_t generation;          /* (lock)                               */
	uint32_t index;               /* constant                             */
	uint32_t phase;               /* enum place_phase (lock)              */
	int32_t code;                 /* once over (lock)                     */
	bool changed;                 /* since the last begin (lock)          */
	struct place *next_free;      /* (lock of the table)                  */
};

/* The lock of the table comes before that of a place. */
struct neighbour {
	const struct neighbour_ops *ops;
	void *self;
	struct sley_mutex lock; /* of the table                               */
	struct place **place;   /* (lock)                                     */
	uint32_t nr, max;       /* (lock)                                     */
	struct place *free;     /* (lock)                                     */
	uint64_t nr_strays;
};

static struct sley_pool *pool_of(const struct sley_request *request)
{
	return request->container->pool;
}

/* ---- the table of places --------------------------------------------------------- */

/* A new place; NULL: no memory.  With the lock of the table. */
static struct place *add_place(struct neighbour *neighbour, struct mem *mem)
{
	struct place **places = array_reserve(mem, neighbour->place,
					      &neighbour->max, neighbour->nr,
					      (uint64_t)neighbour->nr + 1,
					      sizeof(*places));
	struct place *place;

	if (!places)
		return NULL;
	neighbour->place = places;
	place = mem_alloc(mem, sizeof(*place));
	if (!place)
		return NULL;
	place->index = neighbour->nr;
	places[neighbour->nr++] = place;
	return place;
}

/* With the lock of the table. */
static int take_locked(struct neighbour *neighbour,
		       struct sley_request *request, struct place **out)
{
	struct place *place = neighbour->free;

	if (container_is_gone(request->container))
		return -ENOENT;
	if (place)
		neighbour->free = place->next_free;
	else
		place = add_place(neighbour,
				  &pool_of(request)->router->rt->mem);
	if (!place)
		return -ENOMEM;
	sley_mutex_lock(&place->lock);
	place->request = request;
	place->phase = PLACE_IDLE;
	sley_mutex_unlock(&place->lock);
	*out = place;
	return 0;
}

/* 0, -ENOMEM, or -ENOENT: the pool is at its end. */
static int place_take(struct neighbour *neighbour, struct sley_request *request,
		      struct place **place)
{
	int err;

	sley_mutex_lock(&neighbour->lock);
	err = take_locked(neighbour, request, place);
	sley_mutex_unlock(&neighbour->lock);
	return err;
}

/* From now on nothing of the request is touched. */
static void place_put(struct neighbour *neighbour, struct place *place)
{
	sley_mutex_lock(&place->lock);
	place->request = NULL;
	place->phase = PLACE_FREE;
	sley_mutex_unlock(&place->lock);
	sley_mutex_lock(&neighbour->lock);
	place->next_free = neighbour->free;
	neighbour->free = place;
	sley_mutex_unlock(&neighbour->lock);
}

/* NULL: there was never such a place. */
static struct place *place_find(struct neighbour *neighbour, uint32_t index)
{
	struct place *place;

	sley_mutex_lock(&neighbour->lock);
	place = index < neighbour->nr ? neighbour->place[index] : NULL;
	sley_mutex_unlock(&neighbour->lock);
	return place;
}

/* ---- the life of a place ---------------------------------------------------------- */

/* With the lock of the place. */
static void make_over(struct place *place, int code)
{
	place->phase = PLACE_OVER;
	place->code = code;
	sley_event_set(&place->told);
}

/* A ticket that is good.  0, or the code of the request, which is over. */
static int begin(struct place *place, struct ticket *ticket)
{
	int code = 0;

	sley_mutex_lock(&place->lock);
	if (place->phase == PLACE_OVER) {
		code = place->code;
	} else {
		sley_event_clear(&place->told);
		place->changed = false;
		place->phase = PLACE_OUT;
		*ticket = (struct ticket){ place->index, ++place->generation };
	}
	sley_mutex_unlock(&place->lock);
	return code;
}

/* The ticket is void.  True: the request is over, with place->code. */
static bool withdraw(struct place *place)
{
	bool is_over;

	sley_mutex_lock(&place->lock);
	is_over = place->phase == PLACE_OVER;
	if (!is_over)
		place->phase = PLACE_IDLE;
	sley_mutex_unlock(&place->lock);
	return is_over;
}

/* False: the ticket is not good. */
static bool accept(struct place *place, uint64_t generation, int code,
		   const void *answer, size_t size)
{
	bool is_good;

	sley_mutex_lock(&place->lock);
	is_good = place->phase == PLACE_OUT && place->generation == generation;
	if (is_good) {
		int err = sley_request_answer(place->request, answer, size);

		make_over(place, err ? err : code);
	}
	sley_mutex_unlock(&place->lock);
	return is_good;
}

/* True: the place waits for a change; false: there was one, or the request is over. */
static bool begin_wait(struct place *place)
{
	bool waits;

	sley_mutex_lock(&place->lock);
	waits = place->phase != PLACE_OVER && !place->changed;
	if (waits) {
		sley_event_clear(&place->told);
		place->phase = PLACE_WAITS;
	}
	sley_mutex_unlock(&place->lock);
	return waits;
}

/* ---- the task of a request -------------------------------------------------------- */

static uint64_t deadline_of(const struct sley_request *request)
{
	return request->deadline_ns ? request->deadline_ns : SLEY_FOREVER;
}

/* The machine that the request goes to, now. */
static uint64_t machine_of(const struct neighbour *neighbour,
			   const struct sley_request *request)
{
	const struct sley_query *query = &request->query;

	if (query->kind == SLEY_QUERY_PHYSICAL)
		return query->first;
	return neighbour->ops->owner(neighbour->self, pool_of(request)->name,
				     (uint32_t)query->first);
}

/* Why the request does not leave. */
static int refuse(const struct sley_request *request)
{
	if (task_is_cancelled(&request->task) ||
	    runtime_is_cancelled(pool_of(request)->router->rt))
		return -ECANCELED;
	return os_now() >= deadline_of(request) ? -ETIMEDOUT : 0;
}

static int send(const struct neighbour *neighbour,
		const struct sley_request *request, uint64_t machine,
		struct ticket ticket)
{
	struct sley_request_spec spec = request_spec(request);
	struct parcel parcel = {
		.ticket = ticket,
		.machine = machine,
		.pool = pool_of(request)->name,
		.query = spec.query,
		.in = spec.in,
		.in_size = spec.in_size,
		.out_size = spec.out_size,
		.method = spec.method,
		.priority = spec.priority,
		.deadline_ns = spec.deadline_ns,
		.group = spec.group,
		.io_size = spec.io_size,
	};

	if (parcel.query.kind == SLEY_QUERY_PHYSICAL)
		parcel.query.first = 0; /* there it is this machine */
	return neighbour->ops->send(neighbour->self, &parcel);
}

/* The container has come here meanwhile. */
static int run_here(struct sley_request *request)
{
	struct sley_request_spec spec = request_spec(request);

	return sley_pool_call(pool_of(request), &spec, &request->answer_size);
}

static int await_answer(const struct neighbour *neighbour, struct place *place,
			struct ticket ticket)
{
	int err = sley_event_wait_until(&place->told,
					deadline_of(place->request));

	if (withdraw(place))
		return place->code;
	if (neighbour->ops->drop)
		neighbour->ops->drop(neighbour->self, ticket);
	return err;
}

/* The machine cannot be reached.  0: try again. */
static int await_change(struct place *place, uint64_t until_ns)
{
	int err = begin_wait(place)
			  ? sley_event_wait_until(&place->told, until_ns)
			  : 0;

	if (withdraw(place))
		return place->code;
	if (err != -ETIMEDOUT || os_now() >= deadline_of(place->request))
		return err;
	return -EHOSTUNREACH; /* the time-out of the query */
}

/* One try.  Returns the code of the request, unless *@again. */
static int carry(const struct neighbour *neighbour, struct place *place,
		 uint64_t until_ns, bool *again)
{
	struct sley_request *request = place->request;
	struct ticket ticket;
	uint64_t machine;
	int err = refuse(request);

	*again = false;
	if (!err)
		err = begin(place, &ticket);
	if (err)
		return err;
	machine = machine_of(neighbour, request);
	if (!machine)
		return withdraw(place) ? place->code : run_here(request);
	err = send(neighbour, request, machine, ticket);
	if (!err)
		return await_answer(neighbour, place, ticket);
	if (withdraw(place))
		return place->code;
	if (err != -EHOSTUNREACH)
		return err;
	err = await_change(place, until_ns);
	*again = !err;
	return err;
}

int neighbour_run(struct sley_request *request)
{
	struct neighbour *neighbour = pool_of(request)->router->neighbour;
	uint64_t until_ns = request_patience(request);
	struct place *place;
	bool again = true;
	int code = place_take(neighbour, request, &place);

	if (code)
		return code;
	while (again)
		code = carry(neighbour, place, until_ns, &again);
	place_put(neighbour, place);
	return code;
}

/* ---- where a request goes --------------------------------------------------------- */

bool neighbour_has(const struct sley_pool *pool, uint32_t id)
{
	const struct neighbour *neighbour = pool->router->neighbour;

	return neighbour->ops->owner(neighbour->self, pool->name, id) != 0;
}

bool neighbour_wants(struct sley_request *request)
{
	struct sley_query *query = &request->query;
	uint32_t timeout = query->timeout;

	if (query->kind == SLEY_QUERY_LOCAL)
		return false;
	if (query->kind == SLEY_QUERY_PHYSICAL)
		return query->first != 0;
	if (!neighbour_has(pool_of(request), request->container->id))
		return false;
	*query = sley_query_id(request->container->id);
	query->timeout = timeout;
	return true;
}

/* ---- the neighbour's side --------------------------------------------------------- */

int neighbour_answer(struct sley_router *router, struct ticket ticket, int code,
		     const void *answer, size_t size)
{
	struct neighbour *neighbour = router->neighbour;
	struct place *place;

	if (runtime_is_lost(router->rt))
		return SLEY_EFORKED;
	place = place_find(neighbour, ticket.place);
	if (place && accept(place, ticket.generation, code, answer, size))
		return 0;
	/* relaxed: statistics. */
	(void)add_relaxed(&neighbour->nr_strays, 1);
	return -ESTALE;
}

static void tell_of_change(struct place *place)
{
	sley_mutex_lock(&place->lock);
	place->changed = true;
	if (place->phase == PLACE_WAITS)
		sley_event_set(&place->told);
	sley_mutex_unlock(&place->lock);
}

void neighbour_changed(struct sley_router *router)
{
	struct neighbour *neighbour = router->neighbour;
	struct place *place;

	if (runtime_is_lost(router->rt))
		return;
	/* A place that is taken meanwhile asks the neighbour as it is now. */
	for (uint32_t i = 0; (place = place_find(neighbour, i)); i++)
		tell_of_change(place);
}

uint64_t neighbour_nr_strays(const struct sley_router *router)
{
	/* relaxed: statistics. */
	return load_relaxed(&router->neighbour->nr_strays);
}

/* ---- the end ---------------------------------------------------------------------- */

static void end_place(struct place *place, const struct sley_pool *pool)
{
	sley_mutex_lock(&place->lock);
	if (place->request && pool_of(place->request) == pool &&
	    place->phase != PLACE_OVER)
		make_over(place, -ENOENT);
	sley_mutex_unlock(&place->lock);
}

void neighbour_end_pool(const struct sley_pool *pool)
{
	struct neighbour *neighbour = pool->router->neighbour;
	struct place *place;

	for (uint32_t i = 0; (place = place_find(neighbour, i)); i++)
		end_place(place, pool);
}

int neighbour_start(struct sley_router *router, const struct neighbour_ops *ops,
		    void *self)
{
	struct mem *mem = &router->rt->mem;
	struct neighbour *neighbour = mem_alloc(mem, sizeof(*neighbour));
	int err = 0;

	if (!neighbour)
		return -ENOMEM;
	neighbour->ops = ops;
	neighbour->self = self;
	sley_mutex_lock(&router->lock);
	if (router->neighbour)
		err = -EEXIST;
	else if (router->nr_pools)
		err = -EBUSY;
	else
		router->neighbour = neighbour;
	sley_mutex_unlock(&router->lock);
	if (err)
		mem_free(mem, neighbour, sizeof(*neighbour));
	return err;
}

void neighbour_end(struct sley_router *router)
{
	struct neighbour *neighbour = router->neighbour;
	struct mem *mem = &router->rt->mem;

	if (likely(!neighbour))
		return;
	if (neighbour->ops->stop)
		neighbour->ops->stop(neighbour->self);
	for (uint32_t i = 0; i < neighbour->nr; i++)
		mem_free(mem, neighbour->place[i], sizeof(struct place));
	mem_free(mem, neighbour->place,
		 neighbour->max * sizeof(*neighbour->place));
	mem_free(mem, neighbour, sizeof(*neighbour));
}
