/* SPDX-License-Identifier: MIT */
/*
 * serve_request.c - see serve_request.h.
 */
#include "ipc/serve_request.h"

#include "core/sched/worker.h"
#include "ipc/serve_control.h"
#include "ipc/server.h"
#include "route/pool.h"

#include <errno.h>
#include <string.h>

/* Private memory of a slot that is larger is not kept. */
#define KEPT_MAX 4096u
#define ROOM_MIN 256u

/* ---- private memory --------------------------------------------------------------------- */

static uint64_t rounded(uint64_t size)
{
	return (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static void free_serve(struct connection *connection, struct serve *serve)
{
	if (serve)
		mem_free(server_mem(connection->server), serve,
			 sizeof(*serve) + serve->room);
}

/* Cancellers look at the memory of slots, with the lock. */
static void set_owner(struct connection *connection, uint32_t number,
		      struct serve *serve)
{
	spin_lock(&connection->lock);
	connection->session.slots[number].owner = serve;
	spin_unlock(&connection->lock);
}

/* The memory of the slot, with room for @size bytes; NULL: there is none. */
static struct serve *serve_of_slot(struct connection *connection,
				   uint32_t number, uint64_t size)
{
	struct serve *serve = connection->session.slots[number].owner;
	uint32_t room = size > ROOM_MIN ? (uint32_t)rounded(size) : ROOM_MIN;

	if (likely(serve && serve->room >= size))
		return serve;
	if (serve) {
		set_owner(connection, number, NULL);
		free_serve(connection, serve);
	}
	serve = mem_alloc(server_mem(connection->server),
			  sizeof(*serve) + room);
	if (!serve)
		return NULL;
	serve->room = room;
	serve->slot = number;
	serve->connection = connection;
	set_owner(connection, number, serve);
	return serve;
}

/* The same of a segment. */
static void *copies_of_segment(struct connection *connection, uint32_t number,
			       uint64_t size)
{
	struct session_segment *segment = &connection->session.segments[number];
	struct mem *mem = server_mem(connection->server);

	if (segment->private_size < size) {
		mem_free(mem, segment->private, segment->private_size);
		segment->private_size = 0;
		segment->private = mem_alloc(mem, size);
		if (segment->private)
			segment->private_size = size;
	}
	return segment->private;
}

/*
 * Private memory for @call, with the IN part in it: the only read of these bytes.  NULL: no
 * memory.
 */
static struct serve *copy_in(struct connection *connection,
			     const struct session_call *call)
{
	uint64_t in_room = rounded(call->in_size);
	uint64_t size = in_room + call->out_room;
	struct serve *serve =
		serve_of_slot(connection, call->slot, call->segment ? 0 : size);
	unsigned char *memory = NULL;

	if (!serve)
		return NULL;
	memory = call->segment && size
			 ? copies_of_segment(connection, call->segment, size)
			 : serve->payload;
	if (!memory)
		return NULL;
	if (call->in_size)
		foreign_read(memory, call->in, call->in_size);
	serve->in = memory;
	serve->in_size = call->in_size;
	serve->out = memory + in_room;
	serve->out_room = call->out_room;
	serve->code = 0;
	serve->answer_size = 0;
	return serve;
}

void serve_free(struct connection *connection)
{
	struct session *session = &connection->session;

	for (uint32_t i = 0; session->slots && i < session->depth; i++)
		free_serve(connection, session->slots[i].owner);
}

/* ---- answering -------------------------------------------------------------------------- */

/* With the lock: a pool that was to be closed has no requests any more. */
static bool close_later(struct connection *connection, void *pool)
{
	if (likely(!pool))
		return false;
	connection->to_close[connection->nr_to_close++] = pool;
	return true;
}

/* With the lock: the request is not in flight any more.  True: there is a pool to close. */
static bool answer(struct connection *connection, uint32_t number, int32_t code,
		   uint32_t size)
{
	struct session *session = &connection->session;

	return close_later(connection,
			   session_answer(session, number, code, size));
}

/* Without the lock; the caller's references go. */
static void let_go(struct connection *connection, uint32_t nr, bool has_chore)
{
	struct sley_server *server = connection->server;
	struct quota_user *user = connection->user;

	if (unlikely(has_chore))
		server_add_chore(server, connection);
	if (unlikely(quota_give(user, nr)))
		server_recheck(server);
	connection_put(connection, nr);
}

/* The answer goes to its place, where only this request may write. */
static void copy_out(struct serve *serve)
{
	const struct session *session = &serve->connection->session;

	if (serve->answer_size > serve->out_room)
		serve->answer_size = serve->out_room;
	if (serve->answer_size)
		foreign_write(session_answer_place(session, serve->slot),
			      serve->out, serve->answer_size);
}

/* Answers a single request, unless a canceller holds it: then the canceller does. */
static void answer_alone(struct serve *serve)
{
	struct connection *connection = serve->connection;
	struct session_slot *slot = &connection->session.slots[serve->slot];
	bool large = serve->room > KEPT_MAX, has_chore;
	int bits;

	copy_out(serve);
	spin_lock(&connection->lock);
	if (unlikely(slot->nr_holds)) {
		slot->ended = true;
		spin_unlock(&connection->lock);
		return;
	}
	if (unlikely(large))
		slot->owner = NULL;
	has_chore = answer(connection, serve->slot, serve->code,
			   serve->answer_size);
	bits = session_publish(&connection->session);
	spin_unlock(&connection->lock);
	if (unlikely(large))
		free_serve(connection, serve);
	connection_tell(connection, bits);
	let_go(connection, 1, has_chore);
}

void serve_end(struct serve *serve, int32_t code, uint32_t answer_size)
{
	serve->code = code;
	serve->answer_size = answer_size;
	answer_alone(serve);
}

static void take_result(struct serve *serve)
{
	const struct sley_request *request = &serve->served.request;

	serve->code = request->code;
	serve->answer_size = (uint32_t)request->answer_size;
}

/* By the worker that has completed the request: must not wait. */
static void complete(struct served_request *served)
{
	struct serve *serve = container_of(served, struct serve, served);

	if (!handover_done(&serve->handover))
		return;
	take_result(serve);
	answer_alone(serve);
}

/* ---- a batch ----------------------------------------------------------------------------- */

static void add_answer(struct serve_batch *batch, uint32_t slot, int32_t code,
		       uint32_t size)
{
	batch->answers[batch->nr_answers++] = (struct serve_answer){
		.slot = slot,
		.code = code,
		.size = size,
	};
}

/*
 * With the lock: one publish for all.  A request that a canceller holds is left to the
 * canceller.  Returns the bits for connection_tell().
 */
static int put_answers(struct connection *connection, struct serve_batch *batch,
		       uint32_t *nr_put, bool *has_chore)
{
	struct session *session = &connection->session;

	*nr_put = 0;
	for (uint32_t i = 0; i < batch->nr_answers; i++) {
		const struct serve_answer *one = &batch->answers[i];
		struct session_slot *slot = &session->slots[one->slot];

		if (unlikely(slot->nr_holds)) {
			slot->ended = true;
			continue;
		}
		if (answer(connection, one->slot, one->code, one->size))
			*has_chore = true;
		++*nr_put;
	}
	return session_publish(session);
}

static void end_batch(struct connection *connection, struct serve_batch *batch)
{
	bool has_chore = false, ended;
	uint32_t nr_put;
	int bits;

	spin_lock(&connection->lock);
	bits = put_answers(connection, batch, &nr_put, &has_chore);
	ended = connection->session.state == SESSION_ENDING ||
		connection->cancels;
	spin_unlock(&connection->lock);
	connection_tell(connection, bits);
	/* The canceller has passed requests by that were being submitted. */
	if (unlikely(ended))
		serve_cancel_all(connection);
	let_go(connection, nr_put, has_chore);
}

/* ---- submitting -------------------------------------------------------------------------- */

static struct sley_request_spec spec_of(const struct serve *serve,
					const struct wire_head *head)
{
	return (struct sley_request_spec){
		.size = sizeof(struct sley_request_spec),
		.method = head->method,
		.query = { .kind = head->query_kind,
			   .timeout = head->query_timeout,
			   .first = head->query_first,
			   .count = head->query_count },
		.in = serve->in_size ? serve->in : NULL,
		.in_size = serve->in_size,
		.out = serve->out_room ? serve->out : NULL,
		.out_size = serve->out_room,
		.priority =
			connection_priority(serve->connection, head->priority),
		.enqueue = head->flags & WIRE_ENQUEUE,
		.deadline_ns = head->deadline_ns,
		.group = head->group,
		.io_size = head->io_size,
	};
}

/* True: it is complete, and the taker answers. */
static bool submit(struct serve *serve, const struct session_call *call)
{
	struct sley_request_spec spec = spec_of(serve, &call->head);
	int err;

	serve->served.complete = complete;
	serve->served.process = serve->connection->peer.pid;
	handover_begin(&serve->handover);
	err = request_serve(call->pool, &serve->served, &spec);
	if (unlikely(err)) {
		serve->code = err;
		return true;
	}
	if (!handover_submitted(&serve->handover))
		return false;
	take_result(serve);
	return true;
}

/* True: it is complete, and the taker answers. */
static bool obey(struct serve *serve, const struct session_call *call)
{
	int code;

	code = serve_control(serve, call->head.method);
	if (code == SERVE_LATER)
		return false;
	serve->code = code;
	return true;
}

/* After the end of a client only what it has forgotten is run. */
static bool is_wanted(const struct serve_batch *batch,
		      const struct session_call *call)
{
	return !batch->ended ||
	       (call->head.flags & WIRE_FORGOTTEN && call->pool);
}

/* The request is complete: no canceller comes any more. */
static void answer_with_batch(struct serve *serve, struct serve_batch *batch)
{
	copy_out(serve);
	add_answer(batch, serve->slot, serve->code, serve->answer_size);
	if (unlikely(serve->room > KEPT_MAX)) {
		set_owner(serve->connection, serve->slot, NULL);
		free_serve(serve->connection, serve);
	}
}

static void begin(struct connection *connection, struct serve_batch *batch,
		  uint32_t nr)
{
	const struct session_call *call = &batch->calls[nr];
	struct serve *serve = NULL;
	int err = batch->errors[nr];

	if (unlikely(!err && !is_wanted(batch, call)))
		err = -ECANCELED;
	if (likely(!err)) {
		serve = copy_in(connection, call);
		err = serve ? 0 : -ENOMEM;
	}
	if (unlikely(err)) {
		add_answer(batch, call->slot, err, 0);
		return;
	}
	if (call->pool ? submit(serve, call) : obey(serve, call))
		answer_with_batch(serve, batch);
}

/* With the lock: as many as the quota allows, and their heads. */
static int take(struct connection *connection, struct serve_batch *batch,
		uint32_t max)
{
	struct session *session = &connection->session;
	int nr = session_take(session, batch->slots, max);

	for (int i = 0; i < nr; i++)
		batch->errors[i] = session_check(session, batch->slots[i],
						 &batch->calls[i]);
	if (nr > 0)
		connection_get(connection, (uint32_t)nr);
	return nr;
}

/* What the taker has found, with @nr of session_take(). */
static enum ring_found found(struct connection *connection, int nr, bool ended)
{
	if (nr > 0)
		return RING_FOUND_SOME;
	if (nr < 0)
		server_add_chore(connection->server, connection);
	return nr < 0 || ended ? RING_FOUND_END : RING_FOUND_NONE;
}

enum ring_found serve_turn(struct connection *connection,
			   struct serve_batch *batch, uint32_t *seen)
{
	uint32_t granted = quota_take(connection->user, SERVE_BATCH), unused;
	int nr;

	spin_lock(&connection->lock);
	nr = granted ? take(connection, batch, granted) : 0;
	batch->ended = connection->session.state == SESSION_ENDING;
	*seen = connection_seen(connection);
	spin_unlock(&connection->lock);
	unused = granted - (nr > 0 ? (uint32_t)nr : 0);
	if (unlikely(quota_give(connection->user, unused)))
		server_recheck(connection->server);
	if (unlikely(!granted))
		return RING_FOUND_NO_QUOTA;
	if (nr > 0) {
		batch->nr_answers = 0;
		for (int i = 0; i < nr; i++)
			begin(connection, batch, (uint32_t)i);
		end_batch(connection, batch);
	}
	return found(connection, nr, batch->ended);
}

/* ---- cancelling -------------------------------------------------------------------------- */

/* With the lock: the request of the slot, if it can be cancelled; it is held then. */
static struct serve *hold(struct connection *connection, uint32_t number)
{
	struct session_slot *slot = &connection->session.slots[number];
	struct serve *serve = slot->owner;

	if (!slot->taken.id || !serve || !handover_may_cancel(&serve->handover))
		return NULL;
	slot->nr_holds++;
	return serve;
}

/* The last canceller answers a request that has completed meanwhile. */
static void release(struct serve *serve)
{
	struct connection *connection = serve->connection;
	struct session_slot *slot = &connection->session.slots[serve->slot];
	bool last;

	spin_lock(&connection->lock);
	last = --slot->nr_holds == 0 && slot->ended;
	slot->ended = slot->ended && !last;
	spin_unlock(&connection->lock);
	if (last)
		answer_alone(serve);
}

int serve_cancel(struct connection *connection, uint64_t id)
{
	struct serve *serve = NULL;
	uint32_t number;

	spin_lock(&connection->lock);
	number = session_find(&connection->session, id);
	if (number != SESSION_NO_SLOT)
		serve = hold(connection, number);
	spin_unlock(&connection->lock);
	if (!serve)
		return -ENOENT;
	sley_request_cancel(&serve->served.request);
	release(serve);
	return 0;
}

void serve_cancel_all(struct connection *connection)
{
	const struct session *session = &connection->session;

	for (uint32_t i = 0; session->slots && i < session->depth; i++) {
		struct serve *serve = NULL;

		spin_lock(&connection->lock);
		if (!(session->slots[i].flags & WIRE_FORGOTTEN))
			serve = hold(connection, i);
		spin_unlock(&connection->lock);
		if (!serve)
			continue;
		sley_request_cancel(&serve->served.request);
		release(serve);
	}
}
