/* SPDX-License-Identifier: MIT */
/*
 * link.c - see link.h.
 */
#include "ipc/link.h"

#include <errno.h>
#include <sley/error.h>

/* In .flags of a request, beside LINK_*: */
#define CANCEL_WANTED 0x100u
#define CANCEL_SENT 0x200u
#define HOMELESS 0x400u /* its segment is gone with its daemon */

#define POOLS_FEW 8u

/* ---- beginning and end --------------------------------------------------------------- */

void link_init(struct link *link, struct mem *mem, uint64_t patience_ns)
{
	*link = (struct link){ .mem = mem, .patience_ns = patience_ns };
}

static size_t requests_size(uint32_t depth)
{
	return depth * sizeof(struct link_request);
}

void link_fini(struct link *link)
{
	uint32_t depth;

	mem_free(link->mem, link->pools,
		 link->nr_pools * sizeof(struct link_pool));
	if (!link->submitter)
		return;
	depth = link->submitter->ring.depth;
	mem_free(link->mem, link->requests, requests_size(depth));
	mem_free(link->mem, link->submitter, request_submitter_size(depth));
}

static uint32_t depth_of(const struct link *link)
{
	return link->submitter ? link->submitter->ring.depth : 0;
}

static int make_tables(struct link *link, const struct request_ring *ring)
{
	link->submitter =
		mem_alloc(link->mem, request_submitter_size(ring->depth));
	link->requests = mem_alloc(link->mem, requests_size(ring->depth));
	if (!link->submitter || !link->requests) {
		mem_free(link->mem, link->requests, requests_size(ring->depth));
		mem_free(link->mem, link->submitter,
			 request_submitter_size(ring->depth));
		link->submitter = NULL;
		link->requests = NULL;
		return -ENOMEM;
	}
	request_submitter_init(link->submitter, ring);
	link->nr_reserve = ring->depth >= 8 ? 2 : ring->depth > 1;
	return 0;
}

/* ---- slots --------------------------------------------------------------------------- */

static void free_request(struct link *link, uint32_t slot)
{
	link->requests[slot].owner = NULL;
	link->requests[slot].phase = LINK_SLOT_FREE;
	link->nr_used--;
}

/* The request has a slot and no entry; link_collect() tells its owner. */
static void end_held(struct link *link, uint32_t slot, int code)
{
	struct link_request *request = &link->requests[slot];

	if (request->flags & HOMELESS)
		link->nr_homeless--;
	request->phase = LINK_SLOT_ENDED;
	request->code = code;
	request->size = 0;
	link->nr_ended++;
}

/* Writes the request into its slot. */
static void fill_slot(struct link *link, uint32_t slot)
{
	struct link_request *request = &link->requests[slot];
	unsigned char foreign *to =
		request_ring_slot(&link->submitter->ring, slot);

	if (request->flags & LINK_BULK || !request->in_size)
		return;
	foreign_write(to + sizeof(struct wire_head), request->in,
		      request->in_size);
}

/* The head, which depends on the session, and the entry. */
static void send(struct link *link, uint32_t slot)
{
	struct link_request *request = &link->requests[slot];
	unsigned char foreign *to =
		request_ring_slot(&link->submitter->ring, slot);
	uint32_t size = sizeof(struct wire_head) + request->in_size;

	request->head.pool = link->pools && request->pool
				     ? link->pools[request->pool].number
				     : 0;
	wire_head_copy((struct wire_head *)to, &request->head);
	if (request->flags & LINK_BULK) {
		struct wire_bulk bulk = { .segment = request->segment_number,
					  .in_size = request->in_size };

		foreign_write(to + sizeof(struct wire_head), &bulk,
			      sizeof(bulk));
		size = sizeof(struct wire_head) + sizeof(bulk);
	}
	request->phase = LINK_SLOT_SENT;
	(void)request_put_slot(link->submitter, slot, 0, size, request);
}

static bool pool_is_open(const struct link *link, uint32_t pool)
{
	return !pool || link->pools[pool].state == LINK_POOL_OPEN;
}

/* May a held request be sent now? */
static bool is_sendable(const struct link *link,
			const struct link_request *request)
{
	return link->state == LINK_LIVE &&
	       !link->submitter->completions.stopped &&
	       pool_is_open(link, request->pool) &&
	       !(request->flags & HOMELESS);
}

/* ---- order --------------------------------------------------------------------------- */

static bool is_before(const struct link *link, uint32_t a, uint32_t b)
{
	return link->requests[a].order < link->requests[b].order;
}

/* Two lists in order become one. */
static uint32_t merge(struct link *link, uint32_t a, uint32_t b)
{
	uint32_t first = REQUEST_NO_SLOT, *last = &first;

	while (a != REQUEST_NO_SLOT && b != REQUEST_NO_SLOT) {
		uint32_t *from = is_before(link, a, b) ? &a : &b;

		*last = *from;
		last = &link->requests[*from].next;
		*from = *last;
	}
	*last = a != REQUEST_NO_SLOT ? a : b;
	return first;
}

/* Slots with held requests that can be sent, in the order of submission. */
static uint32_t sendable_in_order(struct link *link)
{
	uint32_t run[32], list = REQUEST_NO_SLOT;
	unsigned int nr_runs = 0;

	/* Bottom up: run[i] is a list of 2^i slots, or empty. */
	for (uint32_t slot = 0; slot < depth_of(link); slot++) {
		struct link_request *request = &link->requests[slot];
		unsigned int i = 0;

		if (request->phase != LINK_SLOT_HELD ||
		    !is_sendable(link, request))
			continue;
		request->next = REQUEST_NO_SLOT;
		list = slot;
		for (; i < nr_runs && run[i] != REQUEST_NO_SLOT; i++) {
			list = merge(link, run[i], list);
			run[i] = REQUEST_NO_SLOT;
		}
		if (i == nr_runs)
			nr_runs++;
		run[i] = list;
	}
	list = REQUEST_NO_SLOT;
	for (unsigned int i = 0; i < nr_runs; i++)
		list = merge(link, run[i], list);
	return list;
}

/* A reason why requests were held is gone. */
static void send_held(struct link *link)
{
	uint32_t slot = sendable_in_order(link);

	while (slot != REQUEST_NO_SLOT) {
		uint32_t next = link->requests[slot].next;

		send(link, slot);
		slot = next;
	}
}

/* ---- answers ------------------------------------------------------------------------- */

/*
 * Takes an answer of the daemon: 1, 0 or -EPROTO.  An answer in a slot is copied to its
 * owner.  The slot is free then; nobody takes it before the lock is given back.
 */
static int take_answer(struct link *link, uint32_t *slot, int32_t *code,
		       uint32_t *size)
{
	struct request_answer answer;
	const struct link_request *request;
	int nr = request_collect(link->submitter, &answer, NULL);
	bool bulk;

	if (nr <= 0)
		return nr;
	request = answer.owner;
	bulk = request->flags & LINK_BULK;
	*slot = (uint32_t)(request - link->requests);
	*code = wire_answer_code(answer.value);
	*size = wire_answer_size(answer.value);
	if ((request->flags & (CANCEL_WANTED | CANCEL_SENT)) == CANCEL_WANTED)
		link->nr_cancels--;
	if (*size > request->head.out_room || (!bulk && *size != answer.size)) {
		/* It was begun, and ends, as the daemon does. */
		link->submitter->broken = true;
		link->counts.unknown++;
		*code = SLEY_EUNKNOWN;
		*size = 0;
	}
	if (!bulk && *size)
		foreign_read(request->out,
			     request_ring_slot(&link->submitter->ring, *slot),
			     *size);
	return 1;
}

/*
 * The daemon is gone: the answers that the daemon has left wait for link_collect().
 * Numbers of pools and segments are stale.
 */
static void settle_answers(struct link *link)
{
	uint32_t slot, size;
	int32_t code;

	while (take_answer(link, &slot, &code, &size) > 0) {
		/* The slot that was freed last is the first that is free. */
		uint32_t same = request_hold_slot(link->submitter);

		sley_assert(same == slot);
		if (link->requests[slot].pool == LINK_DAEMON) {
			code = -ESTALE;
			size = 0;
		}
		end_held(link, same, code);
		link->requests[slot].size = size;
	}
}

/* ---- the daemon ---------------------------------------------------------------------- */

void link_greet(struct link *link, uint64_t now_ns)
{
	sley_assert(link->state == LINK_DOWN || link->state == LINK_LOST);
	if (link->state == LINK_DOWN)
		link->give_up_ns = now_ns + link->patience_ns < now_ns
					   ? UINT64_MAX
					   : now_ns + link->patience_ns;
	link->dismissed = 0;
	link->state = LINK_GREETING;
}

int link_begin(struct link *link, const struct request_ring *ring,
	       uint32_t *life)
{
	int err = link->submitter ? 0 : make_tables(link, ring);

	if (err)
		return err;
	*life = link->submitter->ring.life + 1;
	*life += !*life; /* 0 is no life */
	request_submitter_begin(link->submitter, *life);
	link->state = LINK_LIVE;
	link->counts.connects++;
	return 0;
}

void link_dismiss(struct link *link, int code)
{
	link->dismissed = code;
}

/* A held request: its segment is gone with the daemon. */
static void lose_segment(struct link *link, struct link_request *request)
{
	if (!(request->flags & LINK_BULK) || request->flags & HOMELESS)
		return;
	request->flags |= HOMELESS;
	link->nr_homeless++;
}

/* What becomes of a sent request whose daemon is gone. */
static void take_back(struct link *link, uint32_t slot, bool begun)
{
	struct link_request *request = &link->requests[slot];
	uint32_t cancel = request->flags & (CANCEL_WANTED | CANCEL_SENT);

	request_take_slot_back(link->submitter, slot);
	request->phase = LINK_SLOT_HELD;
	if (cancel == CANCEL_WANTED)
		link->nr_cancels--;
	lose_segment(link, request);
	if (request->pool == LINK_DAEMON) {
		end_held(link, slot, -ESTALE);
	} else if (begun && !(request->flags & LINK_IDEMPOTENT)) {
		link->counts.unknown++;
		end_held(link, slot, SLEY_EUNKNOWN);
	} else if (cancel) {
		end_held(link, slot, -ECANCELED);
	} else if (link->dismissed) {
		end_held(link, slot, link->dismissed);
	} else {
		link->counts.again++;
		if (begun && !(request->flags & LINK_FORGOTTEN))
			fill_slot(link, slot);
	}
}

/* What becomes of a request that the daemon has not seen. */
static void keep_held(struct link *link, uint32_t slot)
{
	struct link_request *request = &link->requests[slot];

	lose_segment(link, request);
	if (request->pool == LINK_DAEMON)
		end_held(link, slot, -ESTALE);
}

static void end_all_held(struct link *link, int code)
{
	for (uint32_t slot = 0; slot < depth_of(link); slot++) {
		if (link->requests[slot].phase == LINK_SLOT_HELD)
			end_held(link, slot, code);
	}
}

static void retreat(struct link *link)
{
	struct request_retreat retreat;

	request_retreat_init(&retreat, link->submitter, true);
	for (uint32_t slot = 0; slot < depth_of(link); slot++) {
		struct link_request *request = &link->requests[slot];

		if (request->phase == LINK_SLOT_SENT)
			take_back(link, slot,
				  request_is_begun(link->submitter, &retreat,
						   slot));
		else if (request->phase == LINK_SLOT_HELD)
			keep_held(link, slot);
	}
	for (uint32_t i = 1; i < link->nr_pools; i++) {
		if (link->pools[i].state != LINK_POOL_FREE)
			link->pools[i].state = LINK_POOL_SHUT;
	}
}

void link_lost(struct link *link, uint64_t now_ns)
{
	bool was_live = link->state == LINK_LIVE;

	if (was_live) {
		settle_answers(link);
		retreat(link);
		link->give_up_ns = now_ns + link->patience_ns < now_ns
					   ? UINT64_MAX
					   : now_ns + link->patience_ns;
	}
	if (link->dismissed)
		end_all_held(link, link->dismissed);
	link->state = link->dismissed ? LINK_DOWN : LINK_LOST;
}

void link_expire(struct link *link, uint64_t now_ns)
{
	if (link->state == LINK_LOST && now_ns >= link->give_up_ns) {
		end_all_held(link, -EHOSTDOWN);
		link->state = LINK_DOWN;
		return;
	}
	for (uint32_t slot = 0; slot < depth_of(link); slot++) {
		const struct link_request *request = &link->requests[slot];

		if (request->phase == LINK_SLOT_HELD &&
		    request->head.deadline_ns &&
		    request->head.deadline_ns <= now_ns)
			end_held(link, slot, -ETIMEDOUT);
	}
}

void link_end_all(struct link *link, int code)
{
	for (uint32_t slot = 0; slot < depth_of(link); slot++) {
		if (link->requests[slot].phase == LINK_SLOT_SENT) {
			request_take_slot_back(link->submitter, slot);
			link->requests[slot].phase = LINK_SLOT_HELD;
		}
		if (link->requests[slot].phase == LINK_SLOT_HELD)
			end_held(link, slot, code);
	}
	link->nr_cancels = 0;
	link->state = LINK_DOWN;
}

bool link_is_drained(struct link *link)
{
	const struct request_submitter *submitter = link->submitter;
	uint64_t nr_unbegun;

	if (link->state != LINK_LIVE || !submitter->completions.stopped)
		return false;
	nr_unbegun = submitter->submissions.nr_published -
		     request_ring_begun(&submitter->ring);
	return nr_unbegun >= submitter->nr_pending;
}

/* ---- pools --------------------------------------------------------------------------- */

static int grow_pools(struct link *link)
{
	uint32_t nr = link->nr_pools ? 2 * link->nr_pools : POOLS_FEW;
	struct link_pool *pools =
		mem_alloc(link->mem, nr * sizeof(struct link_pool));

	if (!pools)
		return -ENOMEM;
	if (link->nr_pools)
		memcpy(pools, link->pools,
		       link->nr_pools * sizeof(struct link_pool));
	mem_free(link->mem, link->pools,
		 link->nr_pools * sizeof(struct link_pool));
	link->pools = pools;
	link->nr_pools = nr;
	return 0;
}

uint32_t link_pool_add(struct link *link)
{
	uint32_t pool = 1;

	while (pool < link->nr_pools && link->pools[pool].state)
		pool++;
	if (pool >= link->nr_pools && grow_pools(link))
		return 0;
	link->pools[pool] = (struct link_pool){ .state = LINK_POOL_SHUT };
	return pool;
}

uint32_t link_pool_remove(struct link *link, uint32_t pool)
{
	struct link_pool was = link->pools[pool];

	link->pools[pool] = (struct link_pool){ .state = LINK_POOL_FREE };
	return was.state == LINK_POOL_OPEN ? was.number : 0;
}

void link_pool_open(struct link *link, uint32_t pool, uint32_t number)
{
	link->pools[pool] =
		(struct link_pool){ .state = LINK_POOL_OPEN, .number = number };
	send_held(link);
}

void link_pool_fail(struct link *link, uint32_t pool, int code)
{
	link->pools[pool] =
		(struct link_pool){ .state = LINK_POOL_GONE, .code = code };
	for (uint32_t slot = 0; slot < depth_of(link); slot++) {
		const struct link_request *request = &link->requests[slot];

		if (request->phase == LINK_SLOT_HELD && request->pool == pool)
			end_held(link, slot, code);
	}
}

/* ---- requests ------------------------------------------------------------------------ */

static void set_request(struct link *link, uint32_t slot,
			const struct link_submission *what)
{
	struct link_request *request = &link->requests[slot];

	wire_head_copy(&request->head, &what->head);
	request->in = what->in;
	request->out = what->out;
	request->owner = what->owner;
	request->segment = what->segment;
	request->order = link->order++;
	request->phase = LINK_SLOT_HELD;
	request->flags = what->flags;
	request->pool = what->pool;
	request->in_size = what->in_size;
	request->segment_number = what->segment_number;
	if (what->flags & LINK_FORGOTTEN)
		request->head.flags |= WIRE_FORGOTTEN;
	if (what->flags & LINK_BULK)
		request->head.flags |= WIRE_BULK;
	link->nr_used++;
	link->counts.submitted += what->pool != LINK_DAEMON;
	fill_slot(link, slot);
}

int64_t link_submit(struct link *link, const struct link_submission *what)
{
	bool aside = what->pool == LINK_DAEMON;
	uint32_t slot;

	if (unlikely(link->state == LINK_DOWN || !link->submitter))
		return -EHOSTDOWN;
	if (unlikely(link->state != LINK_LIVE &&
		     (aside || what->flags & LINK_BULK)))
		return -ESTALE;
	if (unlikely(!aside && !link_has_room(link)))
		return -EAGAIN;
	slot = request_hold_slot(link->submitter);
	if (unlikely(slot == REQUEST_NO_SLOT))
		return -EAGAIN;
	set_request(link, slot, what);
	if (likely(is_sendable(link, &link->requests[slot])))
		send(link, slot);
	else if (!aside && link->pools[what->pool].state == LINK_POOL_GONE)
		end_held(link, slot, link->pools[what->pool].code);
	return slot;
}

/* ---- cancels ------------------------------------------------------------------------- */

/* True: the daemon is asked, or cannot be asked any more. */
static bool send_cancel(struct link *link, uint32_t slot)
{
	struct wire_number number = {
		.number = link->submitter->pending[slot].id
	};
	struct link_submission what = {
		.head = { .method = WIRE_CONTROL_CANCEL },
		.in = &number,
		.in_size = sizeof(number),
	};

	if (link_submit(link, &what) < 0)
		return false;
	link->requests[slot].flags |= CANCEL_SENT;
	link->nr_cancels--;
	return true;
}

static void send_cancels(struct link *link)
{
	for (uint32_t slot = 0; slot < depth_of(link) && link->nr_cancels;
	     slot++) {
		const struct link_request *request = &link->requests[slot];

		if (request->phase == LINK_SLOT_SENT &&
		    (request->flags & (CANCEL_WANTED | CANCEL_SENT)) ==
			    CANCEL_WANTED &&
		    !send_cancel(link, slot))
			return;
	}
}

void link_cancel(struct link *link, uint32_t slot, const void *owner)
{
	struct link_request *request;

	if (slot >= depth_of(link) || !link_has(link, slot, owner))
		return;
	request = &link->requests[slot];
	if (request->phase == LINK_SLOT_HELD)
		end_held(link, slot, -ECANCELED);
	if (request->phase == LINK_SLOT_MOVING)
		request->flags |= CANCEL_WANTED | CANCEL_SENT;
	if (request->phase != LINK_SLOT_SENT || request->flags & CANCEL_WANTED)
		return;
	request->flags |= CANCEL_WANTED;
	link->nr_cancels++;
	(void)send_cancel(link, slot);
}

/* ---- segments ------------------------------------------------------------------------ */

uint32_t link_take_homeless(struct link *link)
{
	uint32_t first = REQUEST_NO_SLOT;

	if (!link->nr_homeless || link->state != LINK_LIVE)
		return REQUEST_NO_SLOT;
	for (uint32_t slot = 0; slot < depth_of(link); slot++) {
		const struct link_request *request = &link->requests[slot];

		if (request->phase == LINK_SLOT_HELD &&
		    request->flags & HOMELESS &&
		    (first == REQUEST_NO_SLOT || is_before(link, slot, first)))
			first = slot;
	}
	if (first != REQUEST_NO_SLOT)
		link->requests[first].phase = LINK_SLOT_MOVING;
	return first;
}

void link_house(struct link *link, uint32_t slot, uint32_t segment_number,
		void *segment)
{
	struct link_request *request = &link->requests[slot];

	request->phase = LINK_SLOT_HELD;
	request->segment = segment;
	request->segment_number = segment_number;
	request->flags &= ~HOMELESS;
	link->nr_homeless--;
	if (request->flags & CANCEL_WANTED)
		end_held(link, slot, -ECANCELED);
	else if (is_sendable(link, request))
		send(link, slot);
}

void link_leave_homeless(struct link *link, uint32_t slot, int code)
{
	struct link_request *request = &link->requests[slot];

	request->phase = LINK_SLOT_HELD;
	if (request->flags & CANCEL_WANTED)
		code = -ECANCELED;
	else if (!code && link->state == LINK_DOWN)
		code = -EHOSTDOWN;
	if (code)
		end_held(link, slot, code);
}

/* ---- ends ---------------------------------------------------------------------------- */

/* The slot of @request is held by nobody any more. */
static void take_done(struct link *link, uint32_t slot, struct link_done *done,
		      int32_t code, uint32_t size)
{
	const struct link_request *request = &link->requests[slot];

	*done = (struct link_done){
		.owner = request->owner,
		.code = code,
		.size = size,
		.segment = request->segment,
		.pool = request->pool,
	};
	link->counts.completed += request->pool != LINK_DAEMON;
	free_request(link, slot);
}

static uint32_t collect_ended(struct link *link, struct link_done *done,
			      uint32_t max)
{
	uint32_t nr = 0;

	for (uint32_t slot = 0;
	     slot < depth_of(link) && link->nr_ended && nr < max; slot++) {
		const struct link_request *request = &link->requests[slot];

		if (request->phase != LINK_SLOT_ENDED)
			continue;
		request_release_slot(link->submitter, slot);
		take_done(link, slot, &done[nr++], request->code,
			  request->size);
		link->nr_ended--;
	}
	return nr;
}

int link_collect(struct link *link, struct link_done *done, uint32_t max)
{
	uint32_t nr = 0, slot, size;
	int one = 0;
	int32_t code;

	if (unlikely(link->nr_ended))
		nr = collect_ended(link, done, max);
	while (link->state == LINK_LIVE && nr < max) {
		one = take_answer(link, &slot, &code, &size);
		if (one <= 0)
			break;
		take_done(link, slot, &done[nr++], code, size);
	}
	if (unlikely(link->nr_cancels) && link->state == LINK_LIVE)
		send_cancels(link);
	return nr ? (int)nr : one;
}

int link_publish(struct link *link)
{
	if (!link->submitter || link->state != LINK_LIVE)
		return 0;
	return request_publish(link->submitter);
}
