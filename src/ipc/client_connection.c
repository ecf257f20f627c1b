/* SPDX-License-Identifier: MIT */
/*
 * client_connection.c - see client_connection.h.
 */
#include "ipc/client_connection.h"

#include "core/sched/source.h"
#include "ipc/client_pool.h"
#include "ipc/client_source.h"
#include "ipc/packet.h"
#include "os/clock.h"
#include "os/map.h"
#include "os/seqpacket.h"
#include "os/shared_memory.h"

#include <errno.h>
#include <sley/error.h>
#include <stdio.h>
#include <string.h>

#define PAUSE_MAX_NS 100000000ull

_Static_assert((int)SLEY_CLIENT_DOWN == LINK_DOWN &&
		       (int)SLEY_CLIENT_GREETING == LINK_GREETING &&
		       (int)SLEY_CLIENT_LIVE == LINK_LIVE &&
		       (int)SLEY_CLIENT_LOST == LINK_LOST,
	       "the same for the user");

static enum link_state state_of(struct sley_client *client)
{
	enum link_state state;

	spin_lock(&client->lock);
	state = client->link.state;
	spin_unlock(&client->lock);
	return state;
}

static const char *path_of(const struct sley_client *client)
{
	return client->path[client->which];
}

/* Why the last attempt to connect has failed; 0: it has not. */
static void set_refused(struct sley_client *client, int code)
{
	spin_lock(&client->lock);
	client->refused = code;
	client->refusal[0] = 0;
	spin_unlock(&client->lock);
}

/* ---- closing descriptors ------------------------------------------------------------- */

static void close_watched(struct sley_client *client, int fd)
{
	client_source_ignore(client, fd);
	os_close(fd);
}

/* No submitter has begun to ring after this driver had the lock. */
static void close_bell(struct sley_client *client, int bell)
{
	uint32_t nr_looks = 0;

	while (load_acquire(&client->nr_ringing)) { /* CL1 */
		spin_hint(&client->nr_ringing);
		spin_wait(&client->nr_ringing, spin_is_held, nr_looks++);
	}
	os_close(bell);
}

/* ---- large requests that move to the next daemon --------------------------------------- */

/* What a large request that is held needs. */
static uint64_t need_of(const struct link_request *request)
{
	uint32_t in = request->in_size, out = request->head.out_room;

	return segment_size(in > out ? in : out);
}

/* With the lock: asks for a segment for the request that moves; 0, or why not. */
static int ask(struct sley_client *client, uint64_t size, struct list *gone)
{
	int err = segment_cache_ask(&client->segments, size, gone);

	if (err)
		return err;
	client->wanted.number = size;
	client->asked_epoch = client->segments.epoch;
	client->answered = false;
	err = client_control_locked(client, &client->ask, WIRE_CONTROL_SEGMENT,
				    &client->wanted, &client->asked,
				    REQUEST_FOR_SEGMENT);
	if (err)
		segment_cache_refused(&client->segments, size,
				      client->asked_epoch);
	return err;
}

/* With the lock: the next request that moves.  Its segment, if there is one by now. */
static struct segment *begin_to_move(struct sley_client *client,
				     struct list *gone)
{
	struct link *link = &client->link;
	uint32_t slot = client->moving ? REQUEST_NO_SLOT
				       : link_take_homeless(link);
	struct segment *segment;
	uint64_t size;
	int err = 0;

	if (slot == REQUEST_NO_SLOT)
		return NULL;
	size = need_of(&link->requests[slot]);
	segment = segment_cache_take(&client->segments, size);
	if (!segment)
		err = ask(client, size, gone);
	client->moving = !err;
	client->moving_slot = slot;
	if (err)
		link_leave_homeless(link, slot, err == -EMSGSIZE ? err : 0);
	return segment;
}

/* A copy of the IN part, without the lock; the request does not end meanwhile. */
static void move(struct sley_client *client, struct segment *segment)
{
	struct link_request *request =
		&client->link.requests[client->moving_slot];
	struct segment *last = request->segment;
	bool stale = false;

	if (request->in_size)
		memcpy(segment->memory, request->in, request->in_size);
	client_lock(client);
	client->moving = false;
	if (segment->epoch == client->segments.epoch) {
		link_house(&client->link, client->moving_slot, segment->number,
			   segment);
	} else {
		link_leave_homeless(&client->link, client->moving_slot, 0);
		last = segment;
	}
	stale = segment_cache_put(&client->segments, last);
	client_unlock(client);
	if (stale)
		segment_unmap(client->mem, last);
}

/* Pools are opened again, and large requests get segments again. */
static void restore(struct sley_client *client)
{
	struct segment *segment;
	struct list gone;

	do {
		list_init(&gone);
		client_lock(client);
		client_pools_restore(client);
		segment = begin_to_move(client, &gone);
		client_release_segments(client, &gone);
		client_unlock(client);
		segments_unmap(client->mem, &gone);
		if (segment)
			move(client, segment);
	} while (segment);
}

void connection_has_asked(struct sley_client *client)
{
	spin_lock(&client->lock);
	client->answered = true;
	spin_unlock(&client->lock);
	/* relaxed: KN1. */
	store_relaxed(&client->urgent, 1);
}

/* With the lock.  The daemon's answer: 1 and perhaps the segment, or a code; 0: none yet. */
static int take_asked(struct sley_client *client, struct segment **segment)
{
	int code;

	if (!client->moving || !client->answered)
		return 0;
	client->answered = false;
	/* The collector wrote it, and then had the lock. */
	code = client->ask.code;
	if (code >= 0 && client->asked_epoch == client->segments.epoch)
		*segment = segment_cache_claim(&client->segments,
					       (uint32_t)client->asked.number);
	if (*segment)
		return 1;
	/* The memory comes before the answer: it could not be mapped, or is gone. */
	if (code >= 0)
		code = client->asked_epoch == client->segments.epoch ? -ENOMEM
								     : -ESTALE;
	client->moving = false;
	segment_cache_refused(&client->segments, client->wanted.number,
			      client->asked_epoch);
	link_leave_homeless(&client->link, client->moving_slot,
			    code == -ESTALE ? 0 : code);
	return code;
}

/* The driver has read the socket: goes on with the request that moves. */
static void go_on_moving(struct sley_client *client)
{
	struct segment *segment = NULL;
	int code;

	spin_lock(&client->lock);
	code = take_asked(client, &segment);
	spin_unlock(&client->lock);
	if (segment)
		move(client, segment);
	if (code < 0 && code != -ESTALE)
		client_report(client,
			      "no segment of %s for a large request (%s): it "
			      "fails",
			      path_of(client), sley_strerror(code));
	if (code < 0)
		(void)client_collect(client);
}

/* ---- the end of a daemon ------------------------------------------------------------- */

static void pause_longer(struct sley_client *client)
{
	/* relaxed: see connection_next(). */
	store_relaxed(&client->try_ns, os_now() + client->pause_ns);
	client->pause_ns *= 2;
	if (client->pause_ns > PAUSE_MAX_NS)
		client->pause_ns = PAUSE_MAX_NS;
}

static void look_later(struct sley_client *client)
{
	/* relaxed: see connection_next(). */
	store_relaxed(&client->look_ns, os_now() + CLIENT_LOOK_NS);
}

/* The requests are in the link, which decides what becomes of them. */
static void lose(struct sley_client *client)
{
	const struct wire_page *page;
	struct list gone;
	bool was_live;
	int bell, heard;

	list_init(&gone);
	spin_lock(&client->lock);
	was_live = client->link.state == LINK_LIVE;
	link_lost(&client->link, os_now());
	segment_cache_drop(&client->segments, &gone);
	bell = client->server_bell;
	heard = client->bell;
	page = client->page;
	client->server_bell = client->bell = -1;
	client->page = NULL;
	/* relaxed: a hint. */
	store_relaxed(&client->is_live, 0);
	spin_unlock(&client->lock);
	close_watched(client, client->socket);
	close_watched(client, heard);
	client->socket = -1;
	close_bell(client, bell);
	if (page)
		os_unmap((void *)(uintptr_t)page, sizeof(*page));
	segments_unmap(client->mem, &gone);
	if (was_live) {
		client->pause_ns = CLIENT_PAUSE_NS;
		/* Threads that sleep for an answer wake up. */
		(void)!entry_ring_end(link_completed_word(&client->link));
	}
	pause_longer(client);
	(void)client_collect(client);
	go_on_moving(client);
	client_changed(client);
	client_source_kick(client);
}

/* A daemon that has thrown the client out has said why. */
static void lose_daemon(struct sley_client *client, const char *why)
{
	bool dismissed;

	spin_lock(&client->lock);
	dismissed = client->link.dismissed;
	spin_unlock(&client->lock);
	if (!dismissed)
		client_report(client,
			      "the daemon at %s %s: requests wait for the next "
			      "one",
			      path_of(client), why);
	lose(client);
}

/* ---- the handshake ------------------------------------------------------------------- */

static void say_hello(struct sley_client *client)
{
	bool adopt = client->ring_fd >= 0;
	struct wire_packet packet;
	int err;

	packet_hello(&packet, client->name, client->depth, client->slot_size,
		     adopt);
	err = os_seqpacket_send(client->socket, &packet, sizeof(packet),
				&client->ring_fd, adopt);
	/* A daemon that wants no hello has refused, and hear() finds its reason. */
	if (err == -EPIPE)
		err = 0;
	if (!err)
		err = client_source_watch(client, client->socket, false);
	if (!err)
		return;
	set_refused(client, err);
	lose(client);
}

static void try_to_connect(struct sley_client *client)
{
	int fd = os_local_connect(client->path[client->which]);
	struct os_peer peer;

	if (fd == -ENOENT && client->ring_fd < 0 && client->path[1][0]) {
		client->which = !client->which;
		fd = os_local_connect(client->path[client->which]);
	}
	if (fd < 0) {
		set_refused(client, fd);
		pause_longer(client);
		return;
	}
	client->socket = fd;
	client->daemon_pid = os_local_peer(fd, &peer) ? 0 : peer.pid;
	client->greeted_ns = os_now();
	spin_lock(&client->lock);
	client->refused = 0;
	link_greet(&client->link, client->greeted_ns);
	spin_unlock(&client->lock);
	client_changed(client);
	say_hello(client);
	/* The daemon may never answer, and the request that looks for it waits. */
	client_source_kick(client);
}

/* The first daemon's: attaches to its ring, which must be what it says. */
static int take_ring(struct sley_client *client,
		     const struct wire_packet *packet, int fd)
{
	int err = request_ring_attach(&client->ring, fd);

	if (err)
		return err == -ENOMEM || err == -EPROTONOSUPPORT ? err
								 : -EPROTO;
	if (client->ring.depth == packet->depth &&
	    client->ring.slot_size == packet->slot_size &&
	    client->ring.depth >= 2) {
		client->ring_fd = fd;
		return 0;
	}
	request_ring_detach(&client->ring);
	return -EPROTO;
}

static int map_page(int fd, const struct wire_page **page)
{
	if (os_shared_memory_size(fd) < (int64_t)sizeof(struct wire_page))
		return -EPROTO;
	*page = os_shared_memory_map_to_read(fd, sizeof(struct wire_page));
	return *page ? 0 : -ENOMEM;
}

/* Takes over the descriptors that are needed; the others are closed by the caller. */
static int take_welcome(struct sley_client *client,
			const struct wire_packet *packet, int *fds)
{
	bool adopted = client->ring_fd >= 0;
	const struct wire_page *page = NULL;
	struct wire_packet ready;
	uint32_t life;
	int err = map_page(fds[WIRE_FD_PAGE], &page);

	if (err)
		return err;
	err = adopted ? 0 : take_ring(client, packet, fds[WIRE_FD_RING]);
	if (!err && !adopted)
		fds[WIRE_FD_RING] = -1;
	if (!err)
		err = client_source_watch(client, fds[WIRE_FD_CLIENT_BELL],
					  true);
	if (!err) {
		spin_lock(&client->lock);
		err = link_begin(&client->link, &client->ring, &life);
		if (!err) {
			client->bell = fds[WIRE_FD_CLIENT_BELL];
			fds[WIRE_FD_CLIENT_BELL] = -1;
			client->server_bell = fds[WIRE_FD_SERVER_BELL];
			fds[WIRE_FD_SERVER_BELL] = -1;
			client->page = page;
			client->session = packet->session;
			client->daemon_generation = packet->generation;
			client->segments.limit = packet->bytes;
			/* relaxed: a hint. */
			store_relaxed(&client->seen, link_seen(&client->link));
			store_release(&client->is_live, 1); /* CL2 */
			client_pools_shut(client);
		}
		spin_unlock(&client->lock);
	}
	if (err) {
		os_unmap((void *)(uintptr_t)page, sizeof(*page));
		return err;
	}
	/* Nothing is published before: the daemon looks at the ring from here on. */
	packet_ready(&ready, life);
	return os_seqpacket_send(client->socket, &ready, sizeof(ready), NULL,
				 0);
}

static void be_refused(struct sley_client *client, int code, const char *why)
{
	bool again;

	spin_lock(&client->lock);
	again = strcmp(client->refusal, why) == 0;
	client->refused = code;
	(void)snprintf(client->refusal, sizeof(client->refusal), "%s", why);
	spin_unlock(&client->lock);
	if (!again && client->ring_fd >= 0)
		client_report(client, "the daemon at %s refuses: %s",
			      path_of(client), why);
	lose(client);
}

/* The layout of its ring, which changes with the major version, is not ours. */
static void refuse_ring(struct sley_client *client)
{
	char text[WIRE_TEXT];

	(void)snprintf(text, sizeof(text),
		       "its ring has the layout %u, this program knows %u: "
		       "update the older of the two",
		       client->ring.version, REQUEST_RING_VERSION);
	be_refused(client, -EPROTONOSUPPORT, text);
}

static void be_welcome(struct sley_client *client,
		       const struct wire_packet *packet, int *fds)
{
	int err = take_welcome(client, packet, fds);

	if (err == -EPROTONOSUPPORT) {
		refuse_ring(client);
		return;
	}
	set_refused(client, err);
	if (err) {
		lose(client);
		return;
	}
	if (client->link.counts.connects > 1)
		client_report(client, "a daemon is at %s again",
			      path_of(client));
	client->pause_ns = CLIENT_PAUSE_NS;
	look_later(client);
	restore(client);
	client_changed(client);
	client_source_kick(client);
}

/* ---- packets ------------------------------------------------------------------------- */

static void take_segment(struct sley_client *client,
			 const struct wire_packet *packet, int fd)
{
	struct segment *segment =
		segment_map(client->mem, fd, packet->bytes, packet->segment);

	if (!segment)
		return; /* its request is told: see client_segment_get() */
	spin_lock(&client->lock);
	segment_cache_arrive(&client->segments, segment);
	spin_unlock(&client->lock);
}

static void dismiss(struct sley_client *client,
		    const struct wire_packet *packet)
{
	if (packet->code == -ESHUTDOWN)
		return; /* the end follows, and then the next daemon */
	client_report(client, "the daemon at %s ends the session: %s",
		      path_of(client), packet->text);
	spin_lock(&client->lock);
	link_dismiss(&client->link, packet->code);
	spin_unlock(&client->lock);
}

static void refuse_version(struct sley_client *client,
			   const struct wire_packet *packet)
{
	char text[WIRE_TEXT];

	packet_explain_version(text, packet);
	be_refused(client, -EPROTONOSUPPORT, text);
}

static void handle(struct sley_client *client, struct wire_packet *packet,
		   int *fds, uint32_t nr_fds)
{
	bool greeting = client->server_bell < 0;
	int err = packet_check(packet, PACKET_FROM_DAEMON, nr_fds,
			       client->ring_fd >= 0);

	if (err == -EPROTONOSUPPORT && greeting)
		refuse_version(client, packet);
	else if (err)
		lose_daemon(client, "sends nonsense");
	else if (packet->kind == WIRE_REFUSED)
		be_refused(client, packet->code, packet->text);
	else if (packet->kind == WIRE_WELCOME && greeting)
		be_welcome(client, packet, fds);
	else if (packet->kind == WIRE_SEGMENT && !greeting)
		take_segment(client, packet, fds[0]);
	else if (packet->kind == WIRE_GOODBYE)
		dismiss(client, packet);
	else
		lose_daemon(client, "sends a packet that is not due");
}

static uint32_t count_fds(const int *fds)
{
	uint32_t nr = 0;

	while (nr < OS_SEQPACKET_FDS && fds[nr] >= 0)
		nr++;
	return nr;
}

/* True: there was a packet, or the end. */
static bool hear(struct sley_client *client)
{
	struct wire_packet packet;
	int fds[OS_SEQPACKET_FDS];
	int nr = os_seqpacket_recv(client->socket, &packet, sizeof(packet), fds,
				   OS_SEQPACKET_FDS, false);

	if (nr == -EAGAIN)
		return false;
	if (nr == 1) {
		handle(client, &packet, fds, count_fds(fds));
		for (int i = 0; i < OS_SEQPACKET_FDS; i++)
			os_close(fds[i]);
		return true;
	}
	if (client->server_bell < 0) {
		set_refused(client, nr ? nr : -ECONNRESET);
		lose(client);
	} else {
		lose_daemon(client, nr ? "sends nonsense" : "has ended");
	}
	return true;
}

/* ---- driving ------------------------------------------------------------------------- */

static void drive_live(struct sley_client *client)
{
	bool broken, drained;

	look_later(client);
	while (client->socket >= 0 && hear(client))
		;
	if (client->server_bell < 0)
		return;
	(void)client_collect(client);
	spin_lock(&client->lock);
	broken = link_is_broken(&client->link);
	drained = link_is_drained(&client->link);
	spin_unlock(&client->lock);
	if (broken)
		lose_daemon(client, "writes nonsense");
	else if (drained)
		lose_daemon(client, "has stopped");
	if (client->server_bell < 0)
		return;
	go_on_moving(client);
	restore(client);
}

static void expire(struct sley_client *client)
{
	bool was_lost, gives_up;
	uint32_t nr;

	spin_lock(&client->lock);
	was_lost = client->link.state == LINK_LOST && client->ring_fd >= 0;
	link_expire(&client->link, os_now());
	nr = client->link.nr_ended;
	gives_up = was_lost && client->link.state == LINK_DOWN;
	spin_unlock(&client->lock);
	if (gives_up)
		client_report(client,
			      "no daemon came to %s in time: requests fail",
			      path_of(client));
	if (!nr && !gives_up)
		return;
	(void)client_collect(client);
	client_changed(client);
}

/* The opener looks at the failure of the first attempt before there is a second. */
static bool may_try(struct sley_client *client)
{
	bool may;

	spin_lock(&client->lock);
	may = client->link.counts.connects || !client->refused;
	spin_unlock(&client->lock);
	return may;
}

static void drive(struct sley_client *client)
{
	switch (state_of(client)) {
	case LINK_LIVE:
		drive_live(client);
		break;
	case LINK_GREETING:
		while (client->socket >= 0 && hear(client))
			;
		if (state_of(client) == LINK_GREETING &&
		    os_now() - client->greeted_ns >= CONNECTION_GREET_NS) {
			set_refused(client, -ETIMEDOUT);
			lose(client);
		}
		/* A daemon that refuses, or is silent, keeps no request for ever. */
		if (state_of(client) != LINK_LIVE)
			expire(client);
		break;
	default:
		if (os_now() >= client->try_ns && may_try(client))
			try_to_connect(client);
		expire(client);
	}
}

uint64_t connection_next(struct sley_client *client)
{
	enum link_state state = state_of(client);
	uint64_t now_ns = os_now();

	/* relaxed: times, read by a thread that may come too early or late. */
	if (state == LINK_LIVE)
		return load_relaxed(&client->look_ns);
	if (state == LINK_GREETING)
		return now_ns + CLIENT_PAUSE_NS;
	/* relaxed: as above. */
	return load_relaxed(&client->try_ns);
}

static bool is_due(struct sley_client *client)
{
	/* relaxed: KN1. */
	return load_relaxed(&client->urgent) ||
	       state_of(client) == LINK_GREETING ||
	       os_now() >= connection_next(client);
}

/* False: there is another driver, which looks at urgent afterwards. */
static bool drive_once(struct sley_client *client)
{
	if (xchg_acq_rel(&client->driving, 1)) /* KN1 */
		return false;
	/* relaxed: KN1. */
	store_relaxed(&client->urgent, 0);
	drive(client);
	(void)xchg_acq_rel(&client->driving, 0); /* KN1 */
	return true;
}

void connection_drive(struct sley_client *client)
{
	if (likely(!is_due(client)))
		return;
	while (drive_once(client)) {
		/* relaxed: KN1. */
		if (!load_relaxed(&client->urgent))
			return;
	}
}

static bool is_closing(struct sley_client *client)
{
	bool closing;

	spin_lock(&client->lock);
	closing = client->closing;
	spin_unlock(&client->lock);
	return closing;
}

/*
 * The caller becomes the driver: another one is done in a moment.  False: the closer is
 * the driver, for good.
 */
static bool take_over(struct sley_client *client)
{
	uint32_t nr_looks = 0;

	while (xchg_acq_rel(&client->driving, 1)) { /* KN1 */
		if (is_closing(client))
			return false;
		spin_hint(&client->driving);
		spin_wait(&client->driving, spin_is_held, nr_looks++);
	}
	return true;
}

void connection_look(struct sley_client *client)
{
	if (!take_over(client))
		return;
	if (state_of(client) == LINK_DOWN) {
		/* relaxed: see connection_next(). */
		store_relaxed(&client->try_ns, 0);
		drive(client);
	}
	(void)xchg_acq_rel(&client->driving, 0); /* KN1 */
	connection_drive(client);
}

bool connection_drive_now(struct sley_client *client)
{
	bool drove;

	/* relaxed: KN1. */
	store_relaxed(&client->urgent, 1);
	drove = drive_once(client);
	connection_drive(client);
	return drove;
}

/* ---- the end of the client ------------------------------------------------------------ */

void connection_shut(struct sley_client *client)
{
	(void)take_over(client); /* there is one closer */
	spin_lock(&client->lock);
	client->closing = true;
	spin_unlock(&client->lock);
	if (client->socket >= 0)
		lose(client);
}

void connection_end(struct sley_client *client)
{
	struct list gone;

	list_init(&gone);
	segment_cache_drop(&client->segments, &gone);
	segments_unmap(client->mem, &gone);
	if (client->page)
		os_unmap((void *)(uintptr_t)client->page,
			 sizeof(*client->page));
	os_close(client->socket);
	os_close(client->bell);
	os_close(client->server_bell);
	os_close(client->ring_fd);
	request_ring_detach(&client->ring);
}
