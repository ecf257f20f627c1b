/* SPDX-License-Identifier: MIT */
/*
 * daemon.c - a simulated daemon: its sessions.
 *
 * A session whose client is gone writes nothing to the ring any more.  A client that was
 * thrown out hears the end of the connection after the last answer: it may begin the next
 * life of the ring then.
 */
#include "sides.h"

#include "ledger.h"

#include <errno.h>
#include <stdio.h>

#define DEPTH_MAX 64u

struct daemon *listening;

static const struct session_limits limits = {
	.max_depth = DEPTH_MAX,
	.max_slot_size = 4096,
	.max_segment_bytes = 2 * SEGMENT_SIZE,
};

/* ---- beginning --------------------------------------------------------------------------- */

static void killed(void *self)
{
	struct daemon *daemon = self;

	ledger_counts.kills++;
	for (uint32_t id = 0; id < 64; id++)
		ledger_session_over(id, daemon->generation);
	for (struct served *served = daemon->served; served;
	     served = served->next) {
		if (served->connection)
			connection_close(served->connection, SIDE_DAEMON);
	}
	if (daemon->accepting)
		connection_close(daemon->accepting, SIDE_DAEMON);
	while (daemon->backlog) {
		struct connection *connection = daemon->backlog;

		daemon->backlog = connection->next;
		connection_close(connection, SIDE_DAEMON);
	}
	if (listening == daemon)
		listening = NULL;
}

static void refuse(struct connection *connection, int32_t code,
		   const char *reason)
{
	struct wire_packet packet;

	trace("refuses a client: %s", reason);
	packet_refused(&packet, code, "%s", reason);
	(void)connection_send(connection, SIDE_DAEMON, &packet, NULL, 0);
	connection_close(connection, SIDE_DAEMON);
}

static void accept_one(struct daemon *daemon, struct connection *connection)
{
	struct served *served =
		mem_alloc(&daemon->process.mem, sizeof(*served));
	struct client *client = (void *)connection->ends[SIDE_CLIENT];
	int err = -ENOMEM;

	if (served)
		err = quota_enter(&daemon->quota, connection->client % 2,
				  &served->user);
	if (err) {
		mem_free(&daemon->process.mem, served, sizeof(*served));
		refuse(connection, err, "no room");
		return;
	}
	session_init(&served->session, &limits);
	served->connection = connection;
	served->client_id = client ? client->id : 0;
	served->hostile = !client || client->hostile;
	served->client = client;
	served->number = ++world.nr_sessions;
	served->next = daemon->served;
	daemon->served = served;
	daemon->accepting = NULL;
	trace("accepts client %u", served->client_id);
}

static void accept_all(struct daemon *daemon)
{
	while (daemon->backlog) {
		struct connection *connection = daemon->backlog;

		daemon->backlog = connection->next;
		connection->next = NULL;
		daemon->accepting = connection;
		accept_one(daemon, connection);
		daemon->accepting = NULL;
	}
}

/* ---- the handshake ----------------------------------------------------------------------- */

/* As request_ring_attach() does. */
static int view_ring(struct request_ring *out, struct shared *memory)
{
	const struct request_header *header;

	if (memory->size < sizeof(struct request_memory))
		return -EINVAL;
	*out = (struct request_ring){ .memory = (void *)memory->bytes,
				      .size = memory->size,
				      .version = REQUEST_RING_VERSION };
	header = &out->memory->header;
	out->depth = header->depth;
	out->slot_size = header->slot_size;
	out->life = header->life;
	out->first = header->first;
	if (header->magic != REQUEST_RING_MAGIC || !out->life ||
	    header->size != memory->size ||
	    request_ring_size(out->depth, out->slot_size) != memory->size)
		return -EINVAL;
	return 0;
}

static struct shared *make_ring(const struct session *session,
				struct request_ring *out)
{
	uint32_t size =
		(uint32_t)request_ring_size(session->depth, session->slot_size);
	struct shared *memory = shared_create(size);

	*out = (struct request_ring){ .memory = (void *)memory->bytes,
				      .size = size,
				      .depth = session->depth,
				      .slot_size = session->slot_size,
				      .version = REQUEST_RING_VERSION };
	request_ring_begin_life(out, 1, draw(2) ? 0 : COUNT_WORD_MASK);
	return memory;
}

static int welcome(struct daemon *daemon, struct served *served,
		   struct shared *given)
{
	struct packet_offer offer = { .session = served->number,
				      .generation = daemon->generation,
				      .segment_bytes =
					      limits.max_segment_bytes };
	struct wire_packet packet;
	struct request_ring ring;
	int err = 0;

	if (given)
		err = view_ring(&ring, given);
	served->ring = given ? given : make_ring(&served->session, &ring);
	if (!err)
		err = session_welcome(&served->session, &daemon->process.mem,
				      &ring, &offer, &packet);
	if (err)
		return err;
	(void)connection_send(served->connection, SIDE_DAEMON, &packet,
			      given ? NULL : served->ring,
			      given ? WIRE_FDS_MAX - 1 : WIRE_FDS_MAX);
	return 0;
}

static void take_packet(struct daemon *daemon, struct served *served,
			struct parcel *parcel)
{
	struct wire_packet answer;
	int result = session_packet(&served->session, &parcel->packet,
				    parcel->nr_fds, &answer);

	if (result == SESSION_MAKE_RING || result == SESSION_ADOPT_RING) {
		bool adopts = result == SESSION_ADOPT_RING;

		result = adopts && !parcel->memory
				 ? -EPROTO
				 : welcome(daemon, served,
					   adopts ? parcel->memory : NULL);
		if (adopts && served->ring)
			parcel->memory = NULL; /* it is kept */
	}
	if (parcel->memory)
		shared_unmap(parcel->memory);
	if (result == SESSION_BEGIN)
		trace("serves client %u, life %u", served->client_id,
		      served->session.server.ring.life);
	if (result < 0) {
		HOLDS(served->hostile || result == -ENOMEM,
		      "an honest handshake fails: %d", result);
		daemon_eject(daemon, served, result, "handshake");
	}
}

/* ---- the end of a session ---------------------------------------------------------------- */

static void drop(struct daemon *daemon, struct served *served)
{
	struct mem *mem = &daemon->process.mem;

	trace("drops client %u", served->client_id);
	if (served->gone && !served->leaving && !daemon->stopping &&
	    served->session.state == SESSION_LIVE)
		ledger_emptied(served->number);
	if (served->connection)
		connection_close(served->connection, SIDE_DAEMON);
	for (uint32_t i = 1; i <= SESSION_SEGMENTS_MAX; i++) {
		if (served->segments[i])
			shared_unmap(served->segments[i]);
	}
	session_free(&served->session, mem);
	if (served->ring)
		shared_unmap(served->ring);
	quota_leave(&daemon->quota, served->user);
	mem_free(mem, served, sizeof(*served));
}

static void cancel_jobs(struct daemon *daemon, const struct served *served)
{
	for (uint32_t i = 0; i < JOBS_MAX; i++) {
		if (daemon->jobs[i].served == served &&
		    !daemon->jobs[i].forgotten)
			daemon->jobs[i].cancelled = true;
	}
}

/* The client has left: what nobody waits for is run, all else is cancelled. */
static void part(struct daemon *daemon, struct served *served)
{
	trace("client %u is gone", served->client_id);
	connection_close(served->connection, SIDE_DAEMON);
	served->connection = NULL;
	served->cut = served->gone = true;
	served->held = false;
	cancel_jobs(daemon, served);
}

/* The client hears the end when the last answer is there: it may use its ring again. */

void daemon_eject(struct daemon *daemon, struct served *served, int32_t code,
		  const char *reason)
{
	struct wire_packet packet;

	trace("throws client %u out: %d, %s", served->client_id, code, reason);
	ledger_counts.ejected++;
	HOLDS(served->hostile || code == -EACCES || code == -ENOMEM,
	      "client %u is thrown out: %s", served->client_id, reason);
	if (served->session.state == SESSION_LIVE)
		packet_goodbye(&packet, code, "%s", reason);
	else
		packet_refused(&packet, code, "%s", reason);
	(void)connection_send(served->connection, SIDE_DAEMON, &packet, NULL,
			      0);
	session_end(&served->session, code, reason);
	served->leaving = true;
	served->held = false;
	cancel_jobs(daemon, served);
}

/* ---- requests ---------------------------------------------------------------------------- */

static bool is_served(const struct served *served)
{
	return served->session.state == SESSION_LIVE &&
	       (!served->cut || served->gone);
}

/* Quota of @nr requests is given back: rings that are held may be looked at. */
void daemon_give(struct daemon *daemon, struct served *served, uint32_t nr)
{
	if (!quota_give(served->user, nr))
		return;
	for (struct served *each = daemon->served; each; each = each->next)
		each->held = false;
}

/* True: there may be more. */
static bool take(struct daemon *daemon, struct served *served)
{
	uint32_t slots[ROUND_MAX], allowed;
	int nr;

	if (!is_served(served) || served->held || daemon->stopping)
		return false;
	allowed = quota_take(served->user, 1 + draw(ROUND_MAX));
	if (!allowed) {
		trace("holds client %u", served->client_id);
		served->held = true;
		return false;
	}
	nr = session_take(&served->session, slots, allowed);
	daemon_give(daemon, served, allowed - (nr > 0 ? (uint32_t)nr : 0));
	if (nr < 0 && !served->cut)
		daemon_eject(daemon, served, nr, served->session.reason);
	else if (nr < 0)
		served->gone = false;
	for (int i = 0; i < nr; i++)
		daemon_serve(daemon, served, slots[i]);
	return nr > 0;
}

/* ---- the loop ---------------------------------------------------------------------------- */

static bool look_after(struct daemon *daemon, struct served *served)
{
	struct parcel parcel;
	bool more = false;

	while (served->connection && !served->leaving &&
	       connection_receive(served->connection, SIDE_DAEMON, &parcel))
		take_packet(daemon, served, &parcel);
	if (served->connection && !served->leaving &&
	    connection_is_cut(served->connection, SIDE_DAEMON))
		part(daemon, served);
	if (daemon->eject == served->client && served->connection &&
	    !served->leaving && served->session.state == SESSION_LIVE) {
		daemon->eject = NULL;
		daemon_eject(daemon, served, -EACCES, "a person wants it so");
	}
	more = take(daemon, served);
	daemon_publish(served);
	return more;
}

/* Has the session nothing left to do? */
static bool is_done(struct daemon *daemon, struct served *served, bool all)
{
	if (!served->cut && !served->leaving && !all)
		return false;
	if (served->nr_jobs || take(daemon, served) || served->nr_jobs)
		return false;
	/* A ring that is held may have more. */
	return !served->held || !served->gone || daemon->stopping;
}

static void sweep(struct daemon *daemon, bool all)
{
	struct served **at = &daemon->served;

	while (*at) {
		struct served *served = *at;

		if (is_done(daemon, served, all)) {
			*at = served->next;
			drop(daemon, served);
		} else {
			at = &served->next;
		}
	}
}

static void begin_stop(struct daemon *daemon)
{
	trace("stops");
	daemon->stopping = true;
	if (listening == daemon)
		listening = NULL;
	for (struct served *served = daemon->served; served;
	     served = served->next) {
		if (served->connection)
			daemon_tell(served, session_stop(&served->session));
	}
}

/* Arms the bells.  True: there is news already. */
static bool watch(struct daemon *daemon)
{
	bool news = false;

	for (struct served *served = daemon->served; served;
	     served = served->next) {
		const struct entry_reader *reader =
			&served->session.server.submissions;

		if (is_served(served) && !served->held && !daemon->stopping &&
		    !served->cut)
			news |= entry_ring_watch(reader->word,
						 entry_ring_seen(reader));
	}
	return news;
}

static bool has_jobs(const struct daemon *daemon)
{
	for (uint32_t i = 0; i < JOBS_MAX; i++) {
		if (daemon->jobs[i].served)
			return true;
	}
	return false;
}

static bool is_over(const struct daemon *daemon)
{
	return daemon->stopping && !has_jobs(daemon);
}

static void turn(struct daemon *daemon)
{
	uint64_t next_ns = UINT64_MAX;
	bool more = false;

	if (!daemon->stopping)
		accept_all(daemon);
	if (daemon->wants_stop && !daemon->stopping)
		begin_stop(daemon);
	for (struct served *served = daemon->served; served;
	     served = served->next)
		more |= look_after(daemon, served);
	more |= daemon_work(daemon, &next_ns);
	for (struct served *served = daemon->served; served;
	     served = served->next)
		daemon_publish(served);
	sweep(daemon, false);
	if (!more && !is_over(daemon) && !watch(daemon))
		process_sleep(next_ns);
}

static void main_of_daemon(void *self)
{
	struct daemon *daemon = self;
	bool few = world.faults[FAULT_FEW];

	if (quota_init(&daemon->quota, &daemon->process.mem,
		       few ? 1 + draw(CLIENTS_MAX) : 64,
		       few ? 1 + draw(CLIENTS_MAX) : 64,
		       few ? 1 + draw(4) : 1000))
		return;
	daemon->has_quota = true;
	listening = daemon;
	while (!is_over(daemon))
		turn(daemon);
	while (daemon->backlog) {
		struct connection *connection = daemon->backlog;

		daemon->backlog = connection->next;
		connection_close(connection, SIDE_DAEMON);
	}
	sweep(daemon, true);
	HOLDS(!daemon->served, "a session is left");
	HOLDS(!daemon->quota.nr_clients, "%u clients count at the end",
	      daemon->quota.nr_clients);
	for (uint32_t i = 0; i < daemon->quota.max_clients; i++)
		HOLDS(!quota_requests(&daemon->quota.users[i]),
		      "%u requests of a user count at the end",
		      quota_requests(&daemon->quota.users[i]));
	quota_end(&daemon->quota, &daemon->process.mem);
}

void daemon_start(struct daemon *daemon, uint32_t generation)
{
	char name[16];

	daemon->generation = generation;
	daemon->lacks_pool = world.faults[FAULT_NO_POOL] && one_in(2);
	daemon->process.generation = generation;
	daemon->process.killed = killed;
	(void)snprintf(name, sizeof(name), "daemon %u", generation);
	process_start(&daemon->process, name, main_of_daemon, daemon);
}
