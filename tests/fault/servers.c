/* SPDX-License-Identifier: MIT */
/*
 * servers.c - a server of other processes, and a client of it, where calls of the server
 * fail: the client is refused, or its request fails, with the error that happened.
 *
 * The client is in the same process, and makes its system calls itself: only the server's
 * calls fail.
 */
#include "fault/sweep.h"

#include "ipc/packet.h"
#include "shm/request_submitter.h"

#include <errno.h>
#include <poll.h>
#include <sley/server.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[64], path[80];

static int echo(void *self, struct sley_request *request)
{
	size_t size;
	const void *in = sley_request_in(request, &size);

	(void)self;
	return sley_request_answer(request, in, size);
}

static const struct sley_method methods[] = { { .name = "echo", .run = echo } };

static const struct sley_module module = {
	SLEY_MODULE_HEAD("echo"),
	.methods = methods,
	.nr_methods = 1,
};

/* ---- a client ------------------------------------------------------------------------ */

struct visitor {
	int socket;
	int fds[WIRE_FDS_MAX];
	struct request_ring ring;
	struct request_submitter *submitter;
};

/* A packet: 0; or why there will be none. */
static int receive(struct visitor *v, struct wire_packet *packet, int *nr_fds)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(WIRE_FDS_MAX * sizeof(int))];
	} control;
	struct iovec bytes = { packet, sizeof(*packet) };
	struct msghdr message = { .msg_iov = &bytes,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *header;
	ssize_t nr = recvmsg(v->socket, &message, MSG_CMSG_CLOEXEC);

	if (nr != sizeof(*packet))
		return -EPIPE;
	header = CMSG_FIRSTHDR(&message);
	*nr_fds = 0;
	if (header) {
		size_t size = header->cmsg_len - CMSG_LEN(0);

		memcpy(v->fds, CMSG_DATA(header), size);
		*nr_fds = (int)(size / sizeof(int));
	}
	return packet->code < 0 ? packet->code : 0;
}

static int say(const struct visitor *v, const struct wire_packet *packet)
{
	return send(v->socket, packet, sizeof(*packet), MSG_NOSIGNAL) < 0
		       ? -EPIPE
		       : 0;
}

/* The server has no descriptor for it, which its log says. */
#define NOT_ACCEPTED 1

/*
 * Until the server has answered, or hung up.  False: it never will, since it said that it
 * cannot accept clients, and that does not change.  A client that gives up on a slow machine
 * would be a handshake that the server ends, and reports, where no call has failed.
 */
static bool await_server(int socket)
{
	struct pollfd ends = { .fd = socket, .events = POLLIN };

	while (poll(&ends, 1, 20) == 0) {
		if (trial_may_give_up() && trial_was_told())
			return false;
	}
	return true;
}

static int greet(struct visitor *v)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	struct wire_packet packet;
	int nr_fds = 0, err;

	v->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	CHECK_GE(v->socket, 0);
	memcpy(name.sun_path, path, sizeof(path));
	CHECK_EQ(connect(v->socket, (struct sockaddr *)&name, sizeof(name)), 0);
	packet_hello(&packet, "visitor", 4, 256, false);
	/* The server may have refused before it read: its reason is there. */
	(void)!say(v, &packet);
	if (!await_server(v->socket))
		return NOT_ACCEPTED;
	err = receive(v, &packet, &nr_fds);
	if (err)
		return err == -EPIPE ? NOT_ACCEPTED : err;
	CHECK_EQ(nr_fds, WIRE_FDS_MAX);
	v->ring = (struct request_ring){
		.size = request_ring_size(packet.depth, packet.slot_size),
		.depth = packet.depth,
		.slot_size = packet.slot_size,
	};
	v->ring.memory = mmap(NULL, v->ring.size, PROT_READ | PROT_WRITE,
			      MAP_SHARED, v->fds[WIRE_FD_RING], 0);
	CHECK(v->ring.memory != MAP_FAILED);
	request_ring_begin_life(&v->ring, 1, 0);
	v->submitter = malloc(request_submitter_size(packet.depth));
	request_submitter_init(v->submitter, &v->ring);
	packet_ready(&packet, 1);
	return say(v, &packet);
}

/* The code of the answer, or why there is none. */
static int await(struct visitor *v, void *data)
{
	struct pollfd ends = { .fd = v->socket, .events = POLLIN };
	struct request_answer answer;
	struct wire_packet packet;
	int bell = v->fds[0], nr_fds, err;

	for (;;) {
		if (request_collect(v->submitter, &answer, data) == 1)
			return wire_answer_code(answer.value);
		if (poll(&ends, 1, 0) > 0) {
			nr_fds = 0;
			err = receive(v, &packet, &nr_fds);
			if (nr_fds) {
				close(v->fds[0]); /* of a segment */
				v->fds[0] = bell;
			}
			if (err)
				return err;
		}
		usleep(100);
	}
}

static int call(struct visitor *v, const struct wire_head *head, const void *in,
		uint32_t in_size, void *out)
{
	unsigned char data[256];
	struct request_submission what = {
		.data = data, .size = (uint32_t)sizeof(*head) + in_size
	};
	uint64_t id, one = 1;
	int bits;

	memcpy(data, head, sizeof(*head));
	if (in_size)
		memcpy(data + sizeof(*head), in, in_size);
	CHECK_EQ(request_submit(v->submitter, &what, &id), 0);
	bits = request_publish(v->submitter);
	CHECK_GE(bits, 0);
	if (entry_ring_tell(&v->ring.memory->submitted, bits))
		CHECK_EQ(write(v->fds[WIRE_FD_SERVER_BELL], &one, 8), 8);
	return await(v, out);
}

static int use(struct visitor *v)
{
	struct wire_head head = { .method = WIRE_CONTROL_OPEN, .out_room = 64 };
	struct wire_open open = { .pool = "p", .module = "echo" };
	struct wire_number number = { 8192 };
	struct wire_bulk bulk = { .in_size = 8192 };
	struct wire_opened opened;
	unsigned char data[256];
	int err;

	err = call(v, &head, &open, sizeof(open), data);
	if (err)
		return err;
	memcpy(&opened, data, sizeof(opened));
	head.pool = opened.pool;
	head.method = 0;
	err = call(v, &head, "x", 1, data);
	if (err)
		return err;
	head = (struct wire_head){ .method = WIRE_CONTROL_SEGMENT,
				   .out_room = 8 };
	err = call(v, &head, &number, sizeof(number), data);
	if (err)
		return err;
	/* The memory of the segment is not needed for that. */
	memcpy(&bulk.segment, data, sizeof(bulk.segment));
	head = (struct wire_head){ .pool = opened.pool,
				   .flags = WIRE_BULK,
				   .out_room = 8192 };
	return call(v, &head, &bulk, sizeof(bulk), data);
}

static int visit(void)
{
	struct visitor v = { .fds = { -1, -1, -1, -1 } };
	int err = greet(&v);

	if (!err)
		err = use(&v);
	close(v.socket);
	for (int i = 0; i < WIRE_FDS_MAX; i++) {
		if (v.fds[i] >= 0)
			close(v.fds[i]);
	}
	free(v.submitter);
	if (v.ring.memory)
		munmap(v.ring.memory, v.ring.size);
	return err;
}

/* The server lets nobody in: the refusal has the reason, or there is none. */
static int visit_in_vain(void)
{
	int err = visit();

	return err == -EACCES ? 0 : err;
}

/* ---- the server ---------------------------------------------------------------------- */

static bool is_shut;

static bool may_connect(void *self, const struct sley_server_peer *peer)
{
	(void)self;
	(void)peer;
	return !is_shut;
}

static void with_server(struct sley_router *router)
{
	struct sley_server *server;

	is_shut = false;

	if (!TRY(sley_server_create(
			 router, &server,
			 SLEY_SERVER_OPTIONS(.socket = path, .max_clients = 4,
					     .may_connect = may_connect)),
		 -ENOMEM, -EMFILE, -ENFILE, -ENOBUFS, -ENOSPC, -EACCES, -EPERM,
		 -EADDRINUSE))
		return;
	(void)TRY(visit(), -ENOMEM, -EMFILE, -ENOSPC, -EPERM, -EPIPE, -ENOBUFS,
		  -ENFILE);
	is_shut = true;
	(void)TRY(visit_in_vain(), -ENOMEM, -EMFILE, -ENOSPC, -EPERM, -EPIPE,
		  -ENOBUFS, -ENFILE);
	sley_server_destroy(server);
}

SCENARIO(clients_of_a_server)
{
	struct sley *rt = trial_start(2);
	struct sley_router *router;

	if (!rt)
		return;
	trial_mark();
	/* The spare, by which a server refuses clients when descriptors are short. */
	trial_may_absorb("eventfd");
	(void)snprintf(folder, sizeof(folder), "/tmp/sley-fault-XXXXXX");
	CHECK(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/sock", folder);
	if (TRY(sley_router_create(rt, &router, SLEY_ROUTER_OPTIONS()),
		-ENOMEM)) {
		if (TRY(sley_router_add(router, &module), -ENOMEM))
			with_server(router);
		CHECK_EQ(sley_router_destroy(router), 0);
	}
	CHECK_EQ(rmdir(folder), 0);
	trial_stop(rt);
}
