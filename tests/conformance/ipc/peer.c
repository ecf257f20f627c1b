/* SPDX-License-Identifier: MIT */
/*
 * peer.c - see peer.h.
 */
#include "conformance/ipc/peer.h"

#include "os/eventfd.h"
#include "os/map.h"
#include "os/shared_memory.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a server with a folder of its own ------------------------------------------------ */

struct serving serving_of(struct routing r,
			  const struct sley_server_options *given)
{
	struct sley_server_options options =
		given ? *given
		      : (struct sley_server_options){ .size = sizeof(options) };
	struct serving serving = { .r = r };

	(void)snprintf(serving.folder, sizeof(serving.folder),
		       "/tmp/sley-ipc-XXXXXX");
	CHECK(mkdtemp(serving.folder));
	(void)snprintf(serving.path, sizeof(serving.path), "%s/sock",
		       serving.folder);
	options.socket = serving.path;
	CHECK_EQ(sley_server_create(r.router, &serving.server, &options), 0);
	return serving;
}

struct serving serving_start(const char *policy,
			     const struct sley_server_options *options)
{
	return serving_of(routing_start(2, policy), options);
}

void serving_stop(struct serving *serving)
{
	sley_server_destroy(serving->server);
	CHECK_EQ(rmdir(serving->folder), 0);
	routing_stop(&serving->r);
}

struct sley_server_stats serving_stats(const struct serving *serving)
{
	struct sley_server_stats stats = { .size = sizeof(stats) };

	CHECK_EQ(sley_server_inspect(serving->server, &stats), 0);
	return stats;
}

/* ---- the handshake ---------------------------------------------------------------------- */

int peer_connect(const char *path)
{
	int fd;

	EVENTUALLY((fd = os_local_connect(path)) != -EAGAIN);
	CHECK_GE(fd, 0);
	return fd;
}

void peer_send(const struct peer *peer, const struct wire_packet *packet,
	       const int *fds, uint32_t nr)
{
	CHECK_EQ(os_seqpacket_send(peer->socket, packet, sizeof(*packet), fds,
				   nr),
		 0);
}

int peer_recv(struct peer *peer, struct wire_packet *packet, int *fds,
	      uint32_t max)
{
	int result;

	EVENTUALLY((result = os_seqpacket_recv(peer->socket, packet,
					       sizeof(*packet), fds, max,
					       false)) != -EAGAIN);
	return result;
}

void peer_greet(struct peer *peer, const char *path, uint32_t depth,
		uint32_t slot_size)
{
	struct wire_packet packet;

	*peer = (struct peer){ .socket = peer_connect(path) };
	packet_hello(&packet, "peer", depth, slot_size, false);
	peer_send(peer, &packet, NULL, 0);
	CHECK_EQ(peer_recv(peer, &peer->welcome, peer->fds, WIRE_FDS_MAX), 1);
	CHECK_EQ(packet_check(&peer->welcome, PACKET_FROM_DAEMON, WIRE_FDS_MAX,
			      false),
		 0);
	CHECK_EQ(peer->welcome.kind, WIRE_WELCOME);
	CHECK_EQ(request_ring_attach(&peer->ring, peer->fds[WIRE_FD_RING]), 0);
	CHECK_EQ(peer->ring.depth, peer->welcome.depth);
	CHECK_EQ(peer->ring.slot_size, peer->welcome.slot_size);
}

void peer_begin(struct peer *peer)
{
	struct wire_packet packet;

	peer->submitter = malloc(request_submitter_size(peer->ring.depth));
	request_submitter_init(peer->submitter, &peer->ring);
	packet_ready(&packet, peer->ring.life);
	peer_send(peer, &packet, NULL, 0);
}

void peer_join(struct peer *peer, const char *path)
{
	peer_greet(peer, path, 64, 1024);
	peer_begin(peer);
}

void peer_forget(struct peer *peer)
{
	for (int i = 0; i < WIRE_FDS_MAX; i++)
		os_close(peer->fds[i]);
	free(peer->submitter);
	request_ring_detach(&peer->ring);
}

void peer_leave(struct peer *peer)
{
	peer_forget(peer);
	os_close(peer->socket);
}

/* ---- requests --------------------------------------------------------------------------- */

uint64_t peer_put(struct peer *peer, const struct wire_head *head,
		  const void *in, uint32_t in_size)
{
	unsigned char data[1024];
	struct request_submission what = {
		.data = data, .size = (uint32_t)sizeof(*head) + in_size
	};
	uint64_t id = 0;

	CHECK_LE(what.size, sizeof(data));
	memcpy(data, head, sizeof(*head));
	if (in_size)
		memcpy(data + sizeof(*head), in, in_size);
	CHECK_EQ(request_submit(peer->submitter, &what, &id), 0);
	return id;
}

/*
 * Client and server are one process here, and some requests carry a pointer.  The thread
 * sanitizer does not know that two mappings are the same memory: methods change these
 * counters, too.
 */
static void pass_on(void)
{
	atomic_fetch_add(&probe_counts.begun, 0);
	atomic_fetch_add(&probe_counts.running, 0);
}

void peer_publish(struct peer *peer)
{
	int bits;

	pass_on();
	bits = request_publish(peer->submitter);
	CHECK_GE(bits, 0);
	if (entry_ring_tell(&peer->ring.memory->submitted, bits))
		os_eventfd_signal(peer->fds[WIRE_FD_SERVER_BELL]);
}

bool peer_has_answer(struct peer *peer, struct reply *reply)
{
	struct request_answer answer = { .id = 0 };
	int result = request_collect(peer->submitter, &answer, reply->data);

	CHECK_GE(result, 0);
	if (!result)
		return false;
	pass_on();
	reply->id = answer.id;
	reply->owner = answer.owner;
	reply->code = wire_answer_code(answer.value);
	reply->size = wire_answer_size(answer.value);
	return true;
}

struct reply peer_collect(struct peer *peer)
{
	struct reply reply = { .id = 0 };

	EVENTUALLY(peer_has_answer(peer, &reply));
	return reply;
}

struct reply peer_call(struct peer *peer, const struct wire_head *head,
		       const void *in, uint32_t in_size)
{
	struct reply reply;
	uint64_t id = peer_put(peer, head, in, in_size);

	peer_publish(peer);
	reply = peer_collect(peer);
	CHECK_EQ(reply.id, id);
	return reply;
}

struct reply peer_control(struct peer *peer, uint32_t method, uint64_t number)
{
	struct wire_head head = { .method = method,
				  .out_room = sizeof(struct wire_number) };
	struct wire_number in = { number };

	return peer_call(peer, &head, &in, sizeof(in));
}

int peer_open(struct peer *peer, const char *pool, const char *module,
	      uint32_t *number)
{
	struct wire_head head = { .method = WIRE_CONTROL_OPEN,
				  .out_room = sizeof(struct wire_opened) };
	struct wire_open open = { .flags = 0 };
	struct wire_opened opened;
	struct reply reply;

	(void)snprintf(open.pool, sizeof(open.pool), "%s", pool);
	(void)snprintf(open.module, sizeof(open.module), "%s", module);
	reply = peer_call(peer, &head, &open, sizeof(open));
	if (reply.code)
		return reply.code;
	CHECK_EQ(reply.size, sizeof(opened));
	memcpy(&opened, reply.data, sizeof(opened));
	*number = opened.pool;
	return 0;
}

uint32_t peer_segment(struct peer *peer, uint64_t bytes, void **memory,
		      uint64_t *size)
{
	struct reply reply = peer_control(peer, WIRE_CONTROL_SEGMENT, bytes);
	struct wire_packet packet;
	struct wire_number number;
	int fd;

	CHECK_EQ(reply.code, 0);
	CHECK_EQ(reply.size, sizeof(number));
	memcpy(&number, reply.data, sizeof(number));
	/* It has come before the answer. */
	CHECK_EQ(os_seqpacket_recv(peer->socket, &packet, sizeof(packet), &fd,
				   1, false),
		 1);
	CHECK_EQ(packet_check(&packet, PACKET_FROM_DAEMON, 1, false), 0);
	CHECK_EQ(packet.kind, WIRE_SEGMENT);
	CHECK_EQ(packet.segment, number.number);
	CHECK_GE(packet.bytes, bytes);
	*size = packet.bytes;
	*memory = os_shared_memory_map(fd, *size);
	CHECK(*memory);
	os_close(fd);
	return packet.segment;
}
