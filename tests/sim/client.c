/* SPDX-License-Identifier: MIT */
/*
 * client.c - a simulated client process: its connection.
 */
#include "sides.h"

#include "ledger.h"

#include <errno.h>
#include <sley/error.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the end of a connection ----------------------------------------------------------- */

static void collect(struct client *client)
{
	struct link_done done[4];
	int nr;

	if (!client->link.submitter)
		return;
	do {
		nr = link_collect(&client->link, done, 1 + draw(4));
		for (int i = 0; i < nr; i++)
			client_complete(client, &done[i]);
	} while (nr > 0);
}

/* There is no connection any more. */
static void lose(struct client *client)
{
	struct connection *connection = client->connection;

	trace("has lost its daemon");
	client->connection = NULL;
	connection_close(connection, SIDE_CLIENT);
	link_lost(&client->link, world.now_ns);
	for (uint32_t i = 0; i < SEGMENTS_MAX; i++)
		client->segments[i].stale = true;
	collect(client);
	client_drop_stale(client);
	client->retry_ns = world.now_ns + draw(100 * US);
}

static void killed(void *self)
{
	struct client *client = self;

	if (client->connection)
		connection_close(client->connection, SIDE_CLIENT);
	client->connection = NULL;
	client->ring = NULL;
	for (uint32_t i = 0; i < SEGMENTS_MAX; i++)
		client->segments[i].memory = NULL;
	ledger_client_died(client->id);
	ledger_counts.kills++;
}

/* ---- the handshake ----------------------------------------------------------------------- */

static void greet(struct client *client)
{
	bool adopts = client->link.submitter;
	struct wire_packet hello;

	if (!listening || world.now_ns < client->retry_ns)
		return;
	link_greet(&client->link, world.now_ns);
	client->connection =
		connection_create(&client->process, client->number);
	client->connection->ends[SIDE_DAEMON] = &listening->process;
	client->connection->next = listening->backlog;
	listening->backlog = client->connection;
	packet_hello(&hello, "simulated", client->depth, SLOT_SIZE, adopts);
	(void)connection_send(client->connection, SIDE_CLIENT, &hello,
			      adopts ? client->ring : NULL, adopts);
	trace("greets%s", adopts ? " with its ring" : "");
}

static void view_ring(struct request_ring *out, struct shared *memory,
		      const struct wire_packet *welcome)
{
	*out = (struct request_ring){ .memory = (void *)memory->bytes,
				      .size = memory->size,
				      .depth = welcome->depth,
				      .slot_size = welcome->slot_size,
				      .life = 1,
				      .version = REQUEST_RING_VERSION };
	HOLDS(request_ring_size(out->depth, out->slot_size) == out->size,
	      "the ring has another size");
}

/* 0; or an error: there is no connection. */
static int welcome(struct client *client, struct parcel *parcel)
{
	bool first = !client->link.submitter;
	struct request_ring ring;
	struct wire_packet ready;
	uint32_t life;
	int err;

	if (first)
		view_ring(&ring, parcel->memory, &parcel->packet);
	err = link_begin(&client->link, first ? &ring : NULL, &life);
	if (err) {
		if (parcel->memory)
			shared_unmap(parcel->memory);
		return err;
	}
	ledger_counts.lives++;
	client->session = (uint32_t)parcel->packet.session;
	if (first) {
		client->ring = parcel->memory;
		if (!client->hostile)
			ledger_watch((void *)client->ring->bytes, ring.depth,
				     ring.slot_size);
	}
	trace("is welcome, life %u", life);
	packet_ready(&ready, life);
	(void)connection_send(client->connection, SIDE_CLIENT, &ready, NULL, 0);
	return 0;
}

static void take_segment(struct client *client, const struct parcel *parcel)
{
	for (uint32_t i = 0; i < SEGMENTS_MAX; i++) {
		struct client_segment *segment = &client->segments[i];

		if (segment->memory)
			continue;
		*segment = (struct client_segment){
			.memory = parcel->memory,
			.number = parcel->packet.segment,
			.handle = ++client->nr_segments,
			.used = true
		};
		return;
	}
	fail("a segment that nobody wants");
}

/* False: the connection is of no use. */
static bool take_packet(struct client *client, struct parcel *parcel)
{
	bool adopted = client->link.submitter;
	int err = packet_check(&parcel->packet, PACKET_FROM_DAEMON,
			       parcel->nr_fds, adopted);

	HOLDS(!err, "the daemon has sent a packet that is none");
	switch (parcel->packet.kind) {
	case WIRE_WELCOME:
		HOLDS(client->link.state == LINK_GREETING, "two welcomes");
		return welcome(client, parcel) == 0;
	case WIRE_REFUSED:
		trace("is refused: %s", parcel->packet.text);
		if (client->hostile && world.quiet)
			client->must_be_ejected = true; /* as good as that */
		return false;
	case WIRE_SEGMENT:
		take_segment(client, parcel);
		return true;
	default:
		trace("goodbye: %s", parcel->packet.text);
		HOLDS(client->hostile || parcel->packet.code == -EACCES,
		      "an honest client is thrown out: %s",
		      parcel->packet.text);
		link_dismiss(&client->link, parcel->packet.code);
		return true; /* the end of the connection follows */
	}
}

bool client_take_packets(struct client *client)
{
	struct parcel parcel;
	bool good = true;

	while (client->connection && good &&
	       connection_receive(client->connection, SIDE_CLIENT, &parcel))
		good = take_packet(client, &parcel);
	return good;
}

static void receive(struct client *client)
{
	bool good = client_take_packets(client);

	if (client->connection &&
	    (!good || connection_is_cut(client->connection, SIDE_CLIENT)))
		lose(client);
	if (!client->connection && !client->must_be_ejected)
		greet(client);
}

/* ---- the loop ---------------------------------------------------------------------------- */

static void tell(struct client *client, int bits)
{
	if (entry_ring_tell(link_submitted_word(&client->link), bits) &&
	    client->connection)
		process_signal(client->connection->ends[SIDE_DAEMON]);
}

/* All that was submitted is acknowledged. */
static void publish(struct client *client)
{
	bool was_live = client->link.state == LINK_LIVE;
	int bits = link_publish(&client->link);

	for (uint32_t i = 0; i < ITEMS_MAX; i++) {
		struct item *item = &client->items[i];

		if (item->fresh)
			ledger_acked(item->serial, item->sent && was_live
							   ? client->session
							   : 0);
		item->fresh = false;
	}
	if (client->link.submitter)
		tell(client, bits);
}

static bool is_live(const struct client *client)
{
	return client->link.state == LINK_LIVE;
}

static void rest(struct client *client)
{
	uint64_t until = client->next_op_ns;

	if (!client->nr_ops)
		until = UINT64_MAX;
	if (client->link.submitter &&
	    client->link.nr_used > client->link.submitter->nr_pending)
		until = world.now_ns + 200 * US;
	if (is_live(client) &&
	    entry_ring_watch(link_completed_word(&client->link),
			     link_seen(&client->link)))
		return;
	if (!client->connection)
		until = world.now_ns + (20 + draw(100)) * US;
	if (client->connection || until > world.now_ns)
		process_sleep(until);
}

static void end(struct client *client)
{
	if (client->abrupt && !client_is_idle(client))
		trace("closes, with requests");
	HOLDS(client->abrupt || client->hostile || !client->link.nr_used,
	      "%u slots are used at the end", client->link.nr_used);
	for (uint32_t i = 0; i < ITEMS_MAX; i++) {
		if (client->items[i].owner.busy)
			ledger_at(client->items[i].serial)->hostile = true;
	}
	link_end_all(&client->link, SLEY_EUNKNOWN);
	collect(client);
	HOLDS(!client->link.nr_used, "slots are used after the end");
	for (uint32_t i = 0; i < SEGMENTS_MAX; i++)
		client->segments[i].stale = true;
	client_drop_stale(client);
	link_fini(&client->link);
	ledger_client_done(client->id);
	if (client->connection)
		connection_close(client->connection, SIDE_CLIENT);
	client->connection = NULL;
	if (client->ring)
		shared_unmap(client->ring);
	client->ring = NULL;
}

/* What no client library does: the daemon must notice. */
static void overrun(struct client *client)
{
	if (!is_live(client) || client->must_be_ejected)
		return;
	trace("overruns its ring");
	*link_submitted_word(&client->link) +=
		(client->link.submitter->ring.depth + 1) * COUNT_WORD_ONE;
	client->must_be_ejected = true;
	process_signal(client->connection->ends[SIDE_DAEMON]);
}

static bool is_finished(struct client *client)
{
	if (client->nr_ops && !world.quiet)
		return false;
	client->nr_ops = 0;
	if (client->hostile) {
		overrun(client);
		return client->must_be_ejected && !client->connection;
	}
	return client_is_idle(client) || client->abrupt;
}

static void main_of_client(void *self)
{
	struct client *client = self;

	link_init(&client->link, &client->process.mem,
		  one_in(2) ? 3 * MS : UINT64_MAX);
	for (;;) {
		receive(client);
		collect(client);
		if (is_live(client) && (link_is_broken(&client->link) ||
					link_is_drained(&client->link)))
			lose(client);
		client_operate(client);
		client_open_pools(client);
		client_house_all(client);
		publish(client);
		link_expire(&client->link, world.now_ns);
		collect(client);
		publish(client);
		if (client->hostile)
			client_scribble(client);
		if (is_finished(client))
			break;
		rest(client);
	}
	end(client);
}

void client_start(struct client *client, uint32_t number, uint32_t id)
{
	char name[16];

	client->number = number;
	client->id = id;
	client->hostile = number == 0 && world.faults[FAULT_HOSTILE];
	client->abrupt = !client->hostile && one_in(8);
	client->depth = 2u << draw(4);
	client->nr_ops = 10 + draw(80);
	for (uint32_t i = 0; i < NR_POOLS; i++) {
		client->pools[i].open.kind = OWNER_OPEN;
		client->pools[i].close.kind = OWNER_CLOSE;
	}
	client->segment_owner.kind = OWNER_SEGMENT;
	client->process.killed = killed;
	(void)snprintf(name, sizeof(name), "%s %u",
		       client->hostile ? "hostile" : "client", id);
	process_start(&client->process, name, main_of_client, client);
}
