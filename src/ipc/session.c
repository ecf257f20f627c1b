/* SPDX-License-Identifier: MIT */
/*
 * session.c - see session.h.
 */
#include "ipc/session.h"

#include <errno.h>
#include <string.h>

#define DEPTH_DEFAULT 256u
#define SLOT_DEFAULT 1024u
#define SLOT_MIN 256u /* a head and a struct wire_open */

void session_init(struct session *session, const struct session_limits *limits)
{
	memset(session, 0, sizeof(*session));
	session->limits = *limits;
}

void session_free(struct session *session, struct mem *mem)
{
	if (session->slots)
		mem_free(mem, session->slots,
			 session->depth * sizeof(*session->slots));
	session->slots = NULL;
}

void session_end(struct session *session, int32_t code, const char *reason)
{
	session->state = SESSION_ENDING;
	session->code = code;
	session->reason = reason;
	/* Of a client that lives: what did not begin is for the next daemon. */
	if (code)
		session->server.stopping = true;
}

/* ---- the handshake ---------------------------------------------------------------------- */

static uint32_t next_power(uint32_t nr)
{
	uint32_t power = 1;

	while (power < nr)
		power *= 2;
	return power;
}

static uint32_t between(uint32_t low, uint32_t wish, uint32_t high)
{
	return wish < low ? low : wish > high ? high : wish;
}

/* The sizes of the ring: rounded up, or cut to the limits. */
static void choose_sizes(struct session *session,
			 const struct wire_packet *hello)
{
	const struct session_limits *limits = &session->limits;
	uint32_t depth = hello->depth ? hello->depth : DEPTH_DEFAULT;
	uint32_t size = hello->slot_size ? hello->slot_size : SLOT_DEFAULT;

	size = between(SLOT_MIN, size, limits->max_slot_size);
	session->depth = next_power(between(1, depth, limits->max_depth));
	session->slot_size = size / CACHE_LINE * CACHE_LINE;
	if (session->slot_size < size)
		session->slot_size += CACHE_LINE;
}

/* A new life of the ring.  The header is read here, and then never again. */
static int begin(struct session *session, const struct wire_packet *ready)
{
	struct request_ring ring = session->server.ring;

	request_ring_read_life(&ring);
	if (ring.life != ready->life)
		return -EPROTO;
	request_server_init(&session->server, &ring);
	session->state = SESSION_LIVE;
	return SESSION_BEGIN;
}

static int refuse(struct wire_packet *answer, const char *reason)
{
	packet_refused(answer, -EPROTO, "%s", reason);
	return -EPROTO;
}

int session_packet(struct session *session, struct wire_packet *packet,
		   uint32_t nr_fds, struct wire_packet *answer)
{
	int err = packet_check(packet, PACKET_FROM_CLIENT, nr_fds, false);

	if (err == -EPROTONOSUPPORT)
		packet_refuse_version(answer, packet);
	else if (err)
		return refuse(answer, "a packet that is none");
	if (err)
		return err;
	if (session->state == SESSION_GREETING && packet->kind == WIRE_HELLO) {
		memcpy(session->name, packet->text, sizeof(session->name));
		session->adopts = packet->flags & WIRE_ADOPT;
		choose_sizes(session, packet);
		return session->adopts ? SESSION_ADOPT_RING : SESSION_MAKE_RING;
	}
	if (session->state == SESSION_WELCOMED && packet->kind == WIRE_READY) {
		err = begin(session, packet);
		return err < 0 ? refuse(answer, "the ring has another life")
			       : err;
	}
	return refuse(answer, "a packet that is not due");
}

int session_welcome(struct session *session, struct mem *mem,
		    const struct request_ring *ring,
		    const struct packet_offer *offer,
		    struct wire_packet *answer)
{
	struct packet_offer whole = *offer;

	if (ring->depth > next_power(session->limits.max_depth) ||
	    ring->slot_size > session->limits.max_slot_size ||
	    ring->slot_size < SLOT_MIN)
		return -E2BIG;
	session->slots = mem_alloc(mem, ring->depth * sizeof(*session->slots));
	if (!session->slots)
		return -ENOMEM;
	session->depth = whole.depth = ring->depth;
	session->slot_size = whole.slot_size = ring->slot_size;
	request_server_init(&session->server, ring);
	session->state = SESSION_WELCOMED;
	packet_welcome(answer, &whole);
	return 0;
}

/* ---- requests ------------------------------------------------------------------------- */

static int nonsense(struct session *session, const char *reason)
{
	session->server.broken = true;
	if (!session->reason)
		session->reason = reason;
	return -EPROTO;
}

/* One request: 1, 0, or -EPROTO. */
static int take_one(struct session *session, uint32_t *out)
{
	struct session_slot *slot;
	struct request request;
	int result = request_take(&session->server, &request, NULL);

	if (result < 0)
		return nonsense(session,
				"a request out of order, or too large");
	if (!result)
		return 0;
	slot = &session->slots[request.slot];
	if (slot->taken.id) {
		/* A request without a slot is not in flight. */
		session->server.submissions.nr--;
		return nonsense(session, "a slot that is in use");
	}
	/* Field by field: a load of all that was just stored would wait for it. */
	slot->taken.id = request.id;
	slot->taken.value = request.value;
	slot->taken.slot = request.slot;
	slot->taken.size = request.size;
	session->nr_requests++;
	*out = request.slot;
	return 1;
}

/* Requests before the nonsense are in flight: the next call tells of the nonsense. */
int session_take(struct session *session, uint32_t *slots, uint32_t max)
{
	uint32_t nr = 0;
	int result = 1;

	while (nr < max && result > 0) {
		result = take_one(session, &slots[nr]);
		if (result > 0)
			nr++;
	}
	return nr || !max ? (int)nr : result;
}

static bool may_use(const struct session_pool *pool, uint32_t method)
{
	return pool->methods >> (method < 63 ? method : 63) & 1;
}

static int check_pool(struct session *session, struct session_slot *slot,
		      struct session_call *call)
{
	uint32_t number = call->head.pool;
	struct session_pool *pool;

	if (!number)
		return 0;
	pool = number <= SESSION_POOLS_MAX ? &session->pools[number] : NULL;
	if (!pool || !pool->pool || pool->closing)
		return -EBADF;
	if (!may_use(pool, call->head.method))
		return -EACCES;
	pool->nr_used++;
	slot->pool = number;
	call->pool = pool->pool;
	return 0;
}

/* The request uses a segment of the session, and no byte beside the segment. */
static int check_bulk(struct session *session, struct session_slot *slot,
		      struct session_call *call)
{
	struct session_segment *segment;
	struct wire_bulk bulk;

	if (call->in_size != sizeof(bulk))
		return -EBADMSG;
	foreign_read(&bulk, call->in, sizeof(bulk));
	call->in_size = 0;
	if (!bulk.segment || bulk.segment > SESSION_SEGMENTS_MAX)
		return -EFAULT;
	segment = &session->segments[bulk.segment];
	if (!segment->memory || bulk.in_size > segment->size ||
	    call->head.out_room > segment->size)
		return -EFAULT;
	if (segment->used)
		return -EBUSY;
	segment->used = true;
	slot->segment = call->segment = bulk.segment;
	call->in = segment->memory;
	call->in_size = bulk.in_size;
	return 0;
}

static int check_head(struct session *session, struct session_slot *slot,
		      struct session_call *call)
{
	const struct wire_head *head = &call->head;
	int err = 0;

	if (head->flags & ~WIRE_FLAGS)
		return -EBADMSG;
	slot->flags = head->flags;
	if (head->flags & WIRE_BULK)
		err = check_bulk(session, slot, call);
	else if (head->out_room > session->slot_size)
		err = -EMSGSIZE;
	if (err)
		return err;
	if (!(head->flags & WIRE_FORGOTTEN))
		slot->out_room = call->out_room = head->out_room;
	return check_pool(session, slot, call);
}

int session_check(struct session *session, uint32_t number,
		  struct session_call *call)
{
	struct session_slot *slot = &session->slots[number];
	const unsigned char foreign *from =
		request_ring_slot(&session->server.ring, number);

	*call = (struct session_call){ .slot = number };
	slot->pool = slot->segment = slot->out_room = slot->flags = 0;
	if (slot->taken.size < sizeof(call->head))
		return -EBADMSG;
	foreign_read(&call->head, from, sizeof(call->head));
	compiler_barrier();
	call->in = from + sizeof(call->head);
	call->in_size = slot->taken.size - (uint32_t)sizeof(call->head);
	return check_head(session, slot, call);
}

void foreign *session_answer_place(const struct session *session,
				   uint32_t number)
{
	const struct session_slot *slot = &session->slots[number];

	return slot->segment ? session->segments[slot->segment].memory
			     : request_ring_slot(&session->server.ring, number);
}

/* A request has left its pool. */
static void *leave_pool(struct session *session, uint32_t number)
{
	struct session_pool *entry = &session->pools[number];
	void *pool = NULL;

	if (number && --entry->nr_used == 0 && entry->closing) {
		pool = entry->pool;
		*entry = (struct session_pool){ .pool = NULL };
		session->nr_pools--;
	}
	return pool;
}

void *session_answer(struct session *session, uint32_t number, int32_t code,
		     uint32_t size)
{
	struct session_slot *slot = &session->slots[number];
	struct request taken = slot->taken;

	sley_assert(taken.id && size <= slot->out_room);
	slot->taken.id = 0;
	slot->ended = false;
	if (slot->segment)
		session->segments[slot->segment].used = false;
	request_put_written(&session->server, &taken, wire_answer(code, size),
			    slot->segment ? 0 : size);
	return leave_pool(session, slot->pool);
}

int session_publish(struct session *session)
{
	int bits = request_publish_answers(&session->server);

	if (bits >= 0)
		return bits;
	(void)nonsense(session, "the count of answers, which is not its own");
	return 0;
}

int session_stop(struct session *session)
{
	return session->state == SESSION_LIVE
		       ? request_server_stop(&session->server)
		       : 0;
}

uint32_t session_find(const struct session *session, uint64_t id)
{
	for (uint32_t i = 0; id && i < session->depth; i++) {
		if (session->slots[i].taken.id == id)
			return i;
	}
	return SESSION_NO_SLOT;
}

/* ---- numbers --------------------------------------------------------------------------- */

int session_add_pool(struct session *session, void *pool, uint64_t methods)
{
	for (uint32_t i = 1; i <= SESSION_POOLS_MAX; i++) {
		if (session->pools[i].pool)
			continue;
		session->pools[i] = (struct session_pool){ .pool = pool,
							   .methods = methods };
		session->nr_pools++;
		return (int)i;
	}
	return -EMFILE;
}

int session_close_pool(struct session *session, uint64_t number, void **pool)
{
	struct session_pool *entry;

	*pool = NULL;
	if (!number || number > SESSION_POOLS_MAX)
		return -EBADF;
	entry = &session->pools[number];
	if (!entry->pool || entry->closing)
		return -EBADF;
	entry->closing = true;
	entry->nr_used++;
	*pool = leave_pool(session, (uint32_t)number);
	return 0;
}

int session_reserve_segment(struct session *session, uint64_t size)
{
	if (!size || size > WIRE_BULK_MAX)
		return -EINVAL;
	if (size > session->limits.max_segment_bytes - session->segment_bytes)
		return -EDQUOT;
	for (uint32_t i = 1; i <= SESSION_SEGMENTS_MAX; i++) {
		if (!session->segments[i].memory)
			return (int)i;
	}
	return -EMFILE;
}

void session_set_segment(struct session *session, uint32_t number,
			 void foreign *memory, uint64_t size)
{
	session->segments[number] =
		(struct session_segment){ .memory = memory, .size = size };
	session->segment_bytes += size;
	session->nr_segments++;
}

int session_release_segment(struct session *session, uint64_t number,
			    struct session_segment *out)
{
	struct session_segment *segment;

	if (!number || number > SESSION_SEGMENTS_MAX)
		return -EBADF;
	segment = &session->segments[number];
	if (!segment->memory)
		return -EBADF;
	if (segment->used)
		return -EBUSY;
	*out = *segment;
	*segment = (struct session_segment){ .memory = NULL };
	session->segment_bytes -= out->size;
	session->nr_segments--;
	return 0;
}
