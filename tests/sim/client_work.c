/* SPDX-License-Identifier: MIT */
/*
 * client_work.c - what a simulated client submits, cancels and opens, by chance.
 */
#include "sides.h"

#include "ledger.h"

#include <errno.h>
#include <sley/error.h>

unsigned char pattern(uint32_t serial, uint32_t at)
{
	return (unsigned char)(serial * 31 + at * 7 + (at >> 5));
}

/* The answer to a request differs from the request. */
static void check_answer(const struct item *item, const unsigned char *out,
			 uint32_t size)
{
	const struct ledger_entry *entry = ledger_at(item->serial);

	HOLDS(size == entry->out_size, "request %u: %u bytes in place of %u",
	      item->serial, size, entry->out_size);
	for (uint32_t i = 0; i < size; i++)
		HOLDS(out[i] == pattern(~item->serial, i),
		      "request %u: byte %u of the answer is wrong",
		      item->serial, i);
}

/* ---- what has ended ---------------------------------------------------------------------- */

static struct client_segment *segment_of(struct client *client, void *handle)
{
	for (uint32_t i = 0; handle && i < SEGMENTS_MAX; i++) {
		if (client->segments[i].memory &&
		    client->segments[i].handle == (uintptr_t)handle)
			return &client->segments[i];
	}
	return NULL;
}

static void complete_item(struct client *client, struct item *item,
			  const struct link_done *done)
{
	struct client_segment *segment = segment_of(client, done->segment);

	HOLDS(item->owner.busy, "an end of a request that is over");
	if (done->code == 0 && !client->hostile)
		check_answer(item, segment ? segment->memory->bytes : item->out,
			     done->size);
	ledger_ended(item->serial, done->code);
	if (segment)
		segment->used = false;
	item->owner.busy = false;
}

static struct client_pool *pool_of(struct client *client,
				   const struct owner *owner)
{
	uint32_t i = 0;

	while (&client->pools[i].open != owner &&
	       &client->pools[i].close != owner)
		i++;
	return &client->pools[i];
}

static void complete_open(struct client *client, struct client_pool *pool,
			  int32_t code)
{
	pool->open.busy = false;
	if (code == 0) {
		trace("pool %u has the number %u", pool->place,
		      pool->opened.pool);
		link_pool_open(&client->link, pool->place, pool->opened.pool);
		return;
	}
	if (code != -ESTALE)
		link_pool_fail(&client->link, pool->place,
			       code == -ENOENT ? code : -EACCES);
	pool->retry_ns = world.now_ns + 100 * US;
}

/* The segment has come before the answer that names it. */
static void complete_segment(struct client *client, int32_t code)
{
	client->segment_owner.busy = false;
	(void)client_take_packets(client);
	for (uint32_t i = 0; code == 0 && i < SEGMENTS_MAX; i++) {
		struct client_segment *segment = &client->segments[i];

		if (segment->memory && !segment->stale &&
		    segment->number == client->segment_number.number) {
			segment->used = false;
			return;
		}
	}
	HOLDS(code || client->hostile, "a segment that has not come");
	if (code && code != -ESTALE && client->link.nr_homeless) {
		uint32_t slot = link_take_homeless(&client->link);

		if (slot != REQUEST_NO_SLOT)
			link_leave_homeless(&client->link, slot, -EMSGSIZE);
	}
}

void client_complete(struct client *client, const struct link_done *done)
{
	struct owner *owner = done->owner;

	if (!owner) {
		if (done->pool != LINK_DAEMON)
			ledger_forgotten_ended(client->id, done->code);
		return;
	}
	switch (owner->kind) {
	case OWNER_ITEM:
		complete_item(client, (struct item *)owner, done);
		break;
	case OWNER_OPEN:
		complete_open(client, pool_of(client, owner), done->code);
		break;
	case OWNER_CLOSE:
		owner->busy = false;
		break;
	case OWNER_SEGMENT:
		complete_segment(client, done->code);
		break;
	}
}

void client_drop_stale(struct client *client)
{
	for (uint32_t i = 0; i < SEGMENTS_MAX; i++) {
		struct client_segment *segment = &client->segments[i];

		if (segment->memory && segment->stale) {
			shared_unmap(segment->memory);
			*segment = (struct client_segment){ .memory = NULL };
		}
		segment->stale = false;
	}
}

bool client_is_idle(const struct client *client)
{
	for (uint32_t i = 0; i < ITEMS_MAX; i++) {
		if (client->items[i].owner.busy)
			return false;
	}
	for (uint32_t i = 0; i < NR_POOLS; i++) {
		if (client->pools[i].open.busy || client->pools[i].close.busy ||
		    client->pools[i].must_close)
			return false;
	}
	return !client->segment_owner.busy && !client->link.nr_used;
}

/* ---- requests for the daemon ------------------------------------------------------------- */

/* False: later. */
static bool ask_daemon(struct client *client, struct owner *owner,
		       struct link_submission *what)
{
	what->owner = owner;
	if (client->link.state != LINK_LIVE ||
	    link_submit(&client->link, what) < 0)
		return false;
	owner->busy = true;
	return true;
}

static void open_pool(struct client *client, struct client_pool *pool)
{
	struct link_submission what = {
		.head = { .method = WIRE_CONTROL_OPEN,
			  .out_room = sizeof(pool->opened) },
		.in = &pool->wish,
		.in_size = sizeof(pool->wish),
		.out = &pool->opened,
	};

	pool->wish = (struct wire_open){
		.pool = { 'p', (char)('0' + (pool - client->pools)) }
	};
	(void)ask_daemon(client, &pool->open, &what);
}

static void close_pool(struct client *client, struct client_pool *pool)
{
	struct link_submission what = {
		.head = { .method = WIRE_CONTROL_CLOSE },
		.in = &pool->number,
		.in_size = sizeof(pool->number),
	};

	if (client->link.state != LINK_LIVE) {
		pool->must_close = false; /* its number went with the daemon */
		return;
	}
	if (ask_daemon(client, &pool->close, &what))
		pool->must_close = false;
}

void client_open_pools(struct client *client)
{
	for (uint32_t i = 0; i < NR_POOLS; i++) {
		struct client_pool *pool = &client->pools[i];

		if (pool->must_close && !pool->close.busy)
			close_pool(client, pool);
		if (pool->place && !pool->open.busy &&
		    client->link.pools[pool->place].state == LINK_POOL_SHUT &&
		    client->link.state == LINK_LIVE &&
		    world.now_ns >= pool->retry_ns &&
		    (!world.quiet || !client_is_idle(client)))
			open_pool(client, pool);
	}
}

static void want_segment(struct client *client)
{
	struct link_submission what = {
		.head = { .method = WIRE_CONTROL_SEGMENT,
			  .out_room = sizeof(client->segment_number) },
		.in = &client->segment_wish,
		.in_size = sizeof(client->segment_wish),
		.out = &client->segment_number,
	};
	uint32_t nr = 0;

	for (uint32_t i = 0; i < SEGMENTS_MAX; i++)
		nr += client->segments[i].memory != NULL;
	if (client->segment_owner.busy || nr == SEGMENTS_MAX)
		return;
	client->segment_wish.number = SEGMENT_SIZE;
	(void)ask_daemon(client, &client->segment_owner, &what);
}

static struct client_segment *free_segment(struct client *client)
{
	for (uint32_t i = 0; i < SEGMENTS_MAX; i++) {
		struct client_segment *segment = &client->segments[i];

		if (segment->memory && !segment->used)
			return segment;
	}
	want_segment(client);
	return NULL;
}

void client_house_all(struct client *client)
{
	struct client_segment *segment;
	uint32_t slot;

	while (client->link.nr_homeless && client->link.state == LINK_LIVE &&
	       (segment = free_segment(client)) != NULL) {
		const struct link_request *request;

		slot = link_take_homeless(&client->link);
		if (slot == REQUEST_NO_SLOT)
			return;
		request = &client->link.requests[slot];
		segment->used = true;
		memcpy(segment->memory->bytes, request->in, request->in_size);
		link_house(&client->link, slot, segment->number,
			   (void *)segment->handle);
	}
}

/* ---- requests ---------------------------------------------------------------------------- */

static struct item *free_item(struct client *client)
{
	for (uint32_t i = 0; i < ITEMS_MAX; i++) {
		if (!client->items[i].owner.busy && !client->items[i].fresh)
			return &client->items[i];
	}
	return NULL;
}

/* The entry of a request that is drawn. */
static struct ledger_entry draw_request(const struct client *client, bool bulk)
{
	struct ledger_entry entry = {
		.client = client->id,
		.hostile = client->hostile,
		.idempotent = one_in(3),
		.forgotten = !bulk && one_in(5),
		.deadline_ns = one_in(6) ? world.now_ns + draw(2 * MS) : 0,
	};

	entry.in_size = draw(bulk ? SEGMENT_SIZE
				  : SLOT_SIZE - sizeof(struct wire_head));
	entry.out_size =
		entry.forgotten ? 0 : draw(bulk ? SEGMENT_SIZE : SLOT_SIZE);
	return entry;
}

static void fill(struct item *item, const struct ledger_entry *entry)
{
	item->owner.kind = OWNER_ITEM;
	item->in_size = entry->in_size;
	for (uint32_t i = 0; i < item->in_size; i++)
		item->in[i] = pattern(item->serial, i);
}

static void describe(struct link_submission *what, struct item *item,
		     const struct ledger_entry *entry)
{
	*what = (struct link_submission){
		.head = { .group = item->serial,
			  .method = 1,
			  .deadline_ns = entry->deadline_ns,
			  .out_room = entry->out_size },
		.flags = (entry->idempotent ? LINK_IDEMPOTENT : 0) |
			 (entry->forgotten ? LINK_FORGOTTEN : 0),
		.in = item->in,
		.in_size = item->in_size,
		.out = item->out,
		.owner = entry->forgotten ? NULL : item,
	};
}

/* False: there is no room. */
static bool submit(struct client *client, uint32_t pool, bool bulk)
{
	struct client_segment *segment = bulk ? free_segment(client) : NULL;
	struct item *item = free_item(client);
	struct link_submission what;
	struct ledger_entry entry = draw_request(client, bulk);
	int64_t slot;

	if (!item || (bulk && !segment))
		return false;
	item->serial = ledger_new(&entry);
	if (!item->serial)
		return false;
	fill(item, &entry);
	describe(&what, item, &entry);
	what.pool = pool;
	if (bulk) {
		what.flags |= LINK_BULK;
		what.segment = (void *)segment->handle;
		what.segment_number = segment->number;
		memcpy(segment->memory->bytes, item->in, item->in_size);
	}
	slot = link_submit(&client->link, &what);
	trace("submits request %u to pool %u: %lld%s%s%s", item->serial, pool,
	      (long long)slot, bulk ? ", bulk" : "",
	      entry.idempotent ? ", idempotent" : "",
	      entry.forgotten ? ", forgotten" : "");
	if (slot < 0)
		return false;
	item->slot = (uint32_t)slot;
	item->owner.busy = !entry.forgotten;
	item->fresh = true;
	item->sent = client->link.requests[slot].phase == LINK_SLOT_SENT;
	if (segment)
		segment->used = true;
	return true;
}

static void cancel(struct client *client)
{
	struct item *item = &client->items[draw(ITEMS_MAX)];

	if (!item->owner.busy)
		return;
	trace("cancels request %u", item->serial);
	ledger_at(item->serial)->cancelled = true;
	link_cancel(&client->link, item->slot, &item->owner);
}

/* Has the pool requests under way? */
static bool is_used(const struct client *client, uint32_t place)
{
	for (uint32_t i = 0; i < client->link.submitter->ring.depth; i++) {
		const struct link_request *request = &client->link.requests[i];

		if (request->phase != LINK_SLOT_FREE && request->pool == place)
			return true;
	}
	return false;
}

/* Closes a pool that nobody uses, or adds one. */
static void change_pool(struct client *client, struct client_pool *pool)
{
	if (!pool->place) {
		if (!pool->must_close && !pool->close.busy)
			pool->place = link_pool_add(&client->link);
		return;
	}
	if (pool->open.busy || pool->must_close || pool->close.busy ||
	    (client->link.submitter && is_used(client, pool->place)))
		return;
	pool->number.number = link_pool_remove(&client->link, pool->place);
	trace("closes pool %u, number %llu", pool->place,
	      (unsigned long long)pool->number.number);
	pool->must_close = pool->number.number != 0;
	pool->place = 0;
}

void client_operate(struct client *client)
{
	struct client_pool *pool = &client->pools[draw(NR_POOLS)];
	uint32_t nr = one_in(3) ? 1 + draw(6) : 1;

	if (!client->nr_ops || world.now_ns < client->next_op_ns || world.quiet)
		return;
	client->nr_ops--;
	client->next_op_ns =
		world.now_ns + draw(one_in(5) ? 500 * US : 20 * US);
	if (!pool->place || one_in(16)) {
		change_pool(client, pool);
		return;
	}
	if (one_in(5)) {
		cancel(client);
		return;
	}
	while (nr-- && submit(client, pool->place, one_in(6)))
		;
}

/* ---- garbage ----------------------------------------------------------------------------- */

/* What no client library writes. */
void client_scribble(struct client *client)
{
	struct request_memory *memory;
	uint32_t nr = draw(3), at;

	if (!client->ring || world.quiet || !one_in(4))
		return;
	memory = (void *)client->ring->bytes;
	trace("scribbles");
	while (nr--) {
		switch (draw(6)) {
		case 0:
			memory->submitted += draw(64);
			break;
		case 1:
			memory->completed ^= 1u << draw(32);
			break;
		case 2:
			memory->begun += draw(3) - 1u;
			break;
		case 3:
			at = draw(2 * client->link.submitter->ring.depth);
			memory->entries[at].slot = draw(40);
			break;
		case 4:
			at = draw(2 * client->link.submitter->ring.depth);
			memory->entries[at].id ^= 1ull << draw(64);
			break;
		default:
			client->ring->bytes[draw(client->ring->size)] =
				(unsigned char)draw(256);
		}
	}
	if (client->connection && one_in(8)) {
		struct wire_packet packet;

		packet_ready(&packet, 1 + draw(3));
		((unsigned char *)&packet)[draw(sizeof(packet))] ^= 1;
		(void)connection_send(client->connection, SIDE_CLIENT, &packet,
				      NULL, draw(2));
	}
}
