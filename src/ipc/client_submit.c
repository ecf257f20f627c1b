/* SPDX-License-Identifier: MIT */
/*
 * client_submit.c - see client_submit.h.
 */
#include "ipc/client_submit.h"

#include "ipc/client_control.h"
#include "ipc/client_pool.h"
#include "ipc/client_wait.h"
#include "ipc/client_connection.h"

#include <errno.h>
#include <sley/error.h>
#include <string.h>

/* A daemon that is awake begins with so many while the next are put. */
#define PUT_AT_ONCE 16

/* ---- from a spec to a submission ----------------------------------------------------- */

static int check(const struct client_pool *pool,
		 const struct sley_request_spec *spec)
{
	if (unlikely(client_is_lost(pool->client)))
		return SLEY_EFORKED;
	if (unlikely(spec->parent || spec->period_ns))
		return -EOPNOTSUPP;
	if (unlikely(spec->in_size > WIRE_BULK_MAX ||
		     spec->out_size > WIRE_BULK_MAX))
		return -EMSGSIZE;
	return 0;
}

/* In its place, and not as a value: a copy of it would wait, see wire_head_copy(). */
static void set_head(struct wire_head *head,
		     const struct sley_request_spec *spec)
{
	head->pool = 0;
	head->method = spec->method;
	head->query_kind = spec->query.kind;
	head->query_timeout = spec->query.timeout;
	head->query_first = spec->query.first;
	head->query_count = spec->query.count;
	head->deadline_ns = spec->deadline_ns;
	head->group = spec->group;
	head->io_size = spec->io_size < UINT32_MAX ? (uint32_t)spec->io_size
						   : UINT32_MAX;
	head->out_room = (uint32_t)spec->out_size;
	head->priority = (int16_t)spec->priority;
	head->flags = spec->enqueue ? WIRE_ENQUEUE : 0;
	head->reserved = 0;
}

static void set_submission(struct link_submission *what,
			   const struct client_pool *pool,
			   struct sley_request *request,
			   const struct sley_request_spec *spec)
{
	set_head(&what->head, spec);
	what->pool = pool->place;
	what->flags = spec->idempotent ? LINK_IDEMPOTENT : 0;
	what->in = spec->in;
	what->in_size = (uint32_t)spec->in_size;
	what->segment_number = 0;
	what->segment = NULL;
	what->out = spec->out;
	what->owner = request;
}

/* The request knows its pool, for waits and cancels. */
static void address(struct sley_request *request, struct client_pool *pool)
{
	request->series = &pool->pool;
	request->remote = 1;
}

/* With the lock.  Its slot, or an error. */
static int64_t put(struct client_pool *pool, struct sley_request *request,
		   const struct link_submission *what)
{
	int64_t slot = link_submit(&pool->client->link, what);

	if (likely(slot >= 0 && request))
		request->worker = (uint32_t)slot;
	return slot;
}

/* ---- segments ------------------------------------------------------------------------ */

static void put_segment(struct sley_client *client, struct segment *segment)
{
	bool stale;

	client_lock(client);
	stale = segment_cache_put(&client->segments, segment);
	client_unlock(client);
	if (stale)
		segment_unmap(client->mem, segment);
}

/*
 * The daemon has answered: the memory came before, and is in the socket at the latest.
 * -ESTALE: the daemon has ended meanwhile.  -ENOMEM: the memory could not be mapped.
 */
static int await_memory(struct sley_client *client, uint32_t number,
			uint32_t epoch, struct segment **out)
{
	for (;;) {
		/* Another driver may have the packet in its hands. */
		bool drove = connection_drive_now(client);
		bool stale;

		client_lock(client);
		/* The next daemon has given this number to another request. */
		stale = client->segments.epoch != epoch;
		if (!stale)
			*out = segment_cache_claim(&client->segments, number);
		client_unlock(client);
		if (stale)
			return -ESTALE;
		if (*out || drove)
			return *out ? 0 : -ENOMEM;
		(void)!client_wait_live(client, WAIT_SHIELDED);
	}
}

/* The daemon has no room for it now, or never. */
static int refusal(int code)
{
	return code == -EDQUOT || code == -EMFILE ? -EAGAIN : code;
}

/* A question for a segment, which is counted as soon as it is asked for. */
struct question {
	uint64_t size;
	uint32_t epoch;
	struct wire_number wanted, number;
	struct sley_request request;
};

/* With the lock: 0, or why not. */
static int ask(struct sley_client *client, struct question *question,
	       struct list *gone)
{
	int err;

	if (client->link.state != LINK_LIVE)
		return client->link.state == LINK_DOWN ? -EHOSTDOWN : -ESTALE;
	err = segment_cache_ask(&client->segments, question->size, gone);
	if (err)
		return err;
	client_release_segments(client, gone);
	question->epoch = client->segments.epoch;
	question->wanted.number = question->size;
	err = client_control_locked(client, &question->request,
				    WIRE_CONTROL_SEGMENT, &question->wanted,
				    &question->number, 0);
	if (err)
		segment_cache_refused(&client->segments, question->size,
				      question->epoch);
	return err;
}

static int await_answer(struct sley_client *client, struct question *question,
			struct segment **out)
{
	int code;

	(void)!client_wait(client, &question->request, WAIT_SHIELDED);
	code = question->request.code;
	if (code >= 0)
		code = await_memory(client, (uint32_t)question->number.number,
				    question->epoch, out);
	if (code < 0) {
		client_lock(client);
		segment_cache_refused(&client->segments, question->size,
				      question->epoch);
		client_unlock(client);
	}
	return refusal(code);
}

/* A segment of at least @bytes, that is kept or new. */
static int get_segment(struct sley_client *client, uint64_t bytes,
		       struct segment **out)
{
	struct question question = { .size = segment_size(bytes) };
	struct list gone;
	int err = 0;

	list_init(&gone);
	client_lock(client);
	*out = segment_cache_take(&client->segments, bytes);
	if (!*out)
		err = ask(client, &question, &gone);
	client_unlock(client);
	segments_unmap(client->mem, &gone);
	return err || *out ? err : await_answer(client, &question, out);
}

/* IN is copied without the lock. */
static int put_bulk(struct client_pool *pool, struct sley_request *request,
		    struct link_submission *what)
{
	struct sley_client *client = pool->client;
	uint64_t out_room = what->head.out_room;
	struct segment *segment = NULL;
	int64_t slot;
	int err = get_segment(
		client, what->in_size > out_room ? what->in_size : out_room,
		&segment);

	if (err)
		return err;
	if (what->in_size)
		memcpy(segment->memory, what->in, what->in_size);
	what->flags |= LINK_BULK;
	what->segment = segment;
	what->segment_number = segment->number;
	client_lock(client);
	slot = segment->epoch == client->segments.epoch
		       ? put(pool, request, what)
		       : -ESTALE;
	client_unlock(client);
	if (slot < 0)
		put_segment(client, segment);
	return slot < 0 ? (int)slot : 0;
}

static int submit_bulk(struct client_pool *pool, struct sley_request *request,
		       struct link_submission *what)
{
	int err = put_bulk(pool, request, what);

	if (err == -EHOSTDOWN) { /* looks for a daemon, once */
		connection_look(pool->client);
		err = put_bulk(pool, request, what);
	}
	for (; err == -ESTALE; err = put_bulk(pool, request, what)) {
		err = client_wait_live(pool->client, 0);
		if (err)
			return err;
	}
	return err;
}

/* ---- submitting ---------------------------------------------------------------------- */

/* With the lock: as many as can be put, from the first on; *@err is why no more. */
static size_t put_some(struct client_pool *pool,
		       struct sley_request *const *requests,
		       const struct sley_request_spec *const *specs, size_t nr,
		       int *err)
{
	const struct link *link = &pool->client->link;
	size_t i;

	*err = 0;
	for (i = 0; i < nr; i++) {
		struct link_submission what;
		int64_t slot;

		*err = check(pool, specs[i]);
		if (!*err &&
		    !link_fits(link, specs[i]->in_size, specs[i]->out_size))
			*err = -EMSGSIZE;
		if (*err)
			break;
		set_submission(&what, pool, requests[i], specs[i]);
		address(requests[i], pool);
		slot = put(pool, requests[i], &what);
		if (slot < 0) {
			*err = (int)slot;
			break;
		}
	}
	return i;
}

static void look(struct sley_client *client, int why)
{
	if (why == -EHOSTDOWN)
		connection_look(client);
	else
		client_poll(client);
}

/* The first of them could not be put: a slot may be free, or a segment is needed. */
static int submit_first(struct client_pool *pool, struct sley_request *request,
			const struct sley_request_spec *spec, int why)
{
	struct link_submission what;

	if (why == -EMSGSIZE) {
		if (check(pool, spec))
			return why;
		set_submission(&what, pool, request, spec);
		address(request, pool);
		return submit_bulk(pool, request, &what);
	}
	if (why != -EAGAIN && why != -EHOSTDOWN)
		return why;
	/* Back-pressure, or no daemon: looks for answers, or for a daemon, once. */
	look(pool->client, why);
	client_lock(pool->client);
	(void)put_some(pool, &request, &spec, 1, &why);
	client_unlock(pool->client);
	return why;
}

ssize_t client_submit(struct sley_pool *to,
		      struct sley_request *const *requests,
		      const struct sley_request_spec *const *specs, size_t nr)
{
	struct client_pool *pool = client_pool_of(to);
	struct sley_client *client = pool->client;
	size_t nr_put = 0, end;
	int err;

	if (unlikely(client_is_lost(client)))
		return SLEY_EFORKED;
	client_enter(client);
	do {
		end = nr - nr_put > PUT_AT_ONCE ? nr_put + PUT_AT_ONCE : nr;
		client_lock(client);
		nr_put += put_some(pool, requests + nr_put, specs + nr_put,
				   end - nr_put, &err);
		client_unlock(client);
	} while (unlikely(nr_put == end && end < nr));
	if (unlikely(!nr_put)) {
		err = submit_first(pool, requests[0], specs[0], err);
		nr_put = !err;
	}
	client_leave(client);
	return nr_put ? (ssize_t)nr_put : err;
}

/* ---- calls --------------------------------------------------------------------------- */

int client_call(struct sley_pool *to, struct sley_request *request,
		const struct sley_request_spec *spec)
{
	struct client_pool *pool = client_pool_of(to);
	struct sley_client *client = pool->client;
	ssize_t sent;
	int err = 0;

	if (unlikely(client_is_lost(client)))
		return SLEY_EFORKED;
	client_enter(client);
	while ((sent = client_submit(to, &request, &spec, 1)) == -EAGAIN) {
		err = client_wait_room(client, 0);
		if (err)
			break;
	}
	if (sent >= 0 && client_wait(client, request, 0)) {
		sley_request_cancel(request);
		(void)!client_wait(client, request, WAIT_SHIELDED);
	}
	client_leave(client);
	return sent < 0 ? (err ? err : (int)sent) : 0;
}

/* ---- forgotten requests -------------------------------------------------------------- */

/* Its memory is the library's, until it has ended. */
static int forget_bulk(struct client_pool *pool,
		       const struct sley_request_spec *spec)
{
	struct sley_client *client = pool->client;
	size_t size = sizeof(struct sley_request) + spec->in_size;
	struct sley_request *request = mem_alloc(client->mem, size);
	struct link_submission what;
	int err;

	if (!request)
		return -ENOMEM;
	request_fill(request, spec, REQUEST_FREED);
	address(request, pool);
	request->in = memcpy(request + 1, spec->in, spec->in_size);
	set_submission(&what, pool, request, spec);
	what.in = request->in;
	what.flags |= LINK_FORGOTTEN;
	err = submit_bulk(pool, request, &what);
	if (err)
		mem_free(client->mem, request, size);
	return err;
}

/* With the lock: in a slot, which has the only copy. */
static int forget_small(struct client_pool *pool,
			const struct sley_request_spec *spec)
{
	struct link_submission what;
	int64_t slot;

	set_submission(&what, pool, NULL, spec);
	what.flags |= LINK_FORGOTTEN;
	client_lock(pool->client);
	slot = put(pool, NULL, &what);
	client_unlock(pool->client);
	return slot < 0 ? (int)slot : 0;
}

int client_forget(struct sley_pool *to, const struct sley_request_spec *spec)
{
	struct client_pool *pool = client_pool_of(to);
	struct sley_client *client = pool->client;
	int err = check(pool, spec);

	if (err)
		return err;
	client_enter(client);
	if (link_fits(&client->link, spec->in_size, 0)) {
		err = forget_small(pool, spec);
		if (err == -EAGAIN || err == -EHOSTDOWN) {
			look(client, err);
			err = forget_small(pool, spec);
		}
	} else {
		err = forget_bulk(pool, spec);
	}
	client_leave(client);
	return err;
}
