/* SPDX-License-Identifier: MIT */
/*
 * server_hostile.c - clients that say and write what no client library does: they are
 * refused or ejected with a reason, and other clients do not notice.
 */
#include "conformance/ipc/peer.h"

#include "os/eventfd.h"
#include "os/shared_memory.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>

/* A server, and an honest client that must be served all the time. */
struct siege {
	struct serving s;
	struct peer honest;
	struct wire_head echo;
};

static struct siege siege_begin(const struct sley_server_options *options)
{
	struct siege siege = { .s = serving_start("none", options),
			       .echo = { .method = PROBE_ECHO,
					 .out_room = 64 } };

	peer_join(&siege.honest, siege.s.path);
	CHECK_EQ(peer_open(&siege.honest, "p", "", &siege.echo.pool), 0);
	return siege;
}

/* All hostile clients are gone. */
static void siege_end(struct siege *siege)
{
	EVENTUALLY(serving_stats(&siege->s).nr_clients == 1);
	CHECK_EQ(serving_stats(&siege->s).nr_in_flight, 0);
	CHECK_EQ(peer_call(&siege->honest, &siege->echo, "still", 5).code, 0);
	peer_leave(&siege->honest);
	serving_stop(&siege->s);
}

/* The server says so, and hangs up. */
static void expect_end(struct peer *peer, enum wire_kind kind, int code)
{
	struct wire_packet packet;

	CHECK_EQ(peer_recv(peer, &packet, NULL, 0), 1);
	CHECK_EQ(packet_check(&packet, PACKET_FROM_DAEMON, 0, false), 0);
	CHECK_EQ(packet.kind, kind);
	CHECK_EQ(packet.code, code);
	CHECK(packet.text[0]);
	while (peer_recv(peer, &packet, NULL, 0) == 1)
		;
	os_close(peer->socket);
}

/* ---- packets ------------------------------------------------------------------------- */

TEST_WORKERS(packets_that_are_none_end_the_handshake)
{
	struct siege siege = siege_begin(NULL);
	struct wire_packet packet;
	struct peer peer;

	for (int i = 0; i < 20; i++) {
		unsigned char *bytes = (unsigned char *)&packet;

		for (size_t k = 0; k < sizeof(packet); k++)
			bytes[k] = (unsigned char)test_random(256);
		if (i % 2)
			packet.magic = WIRE_MAGIC;
		if (i % 4 == 3)
			packet.major = WIRE_MAJOR;
		packet.kind |= 8;
		peer = (struct peer){ .socket = peer_connect(siege.s.path) };
		peer_send(&peer, &packet, NULL, 0);
		expect_end(&peer, WIRE_REFUSED,
			   i % 4 == 1 ? -EPROTONOSUPPORT : -EPROTO);
	}
	siege_end(&siege);
}

TEST_WORKERS(packets_of_another_size_end_the_handshake)
{
	struct siege siege = siege_begin(NULL);
	char bytes[400] = { 0 };
	static const size_t sizes[] = { 1, 199, 201, 400 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct peer peer = { .socket = peer_connect(siege.s.path) };

		CHECK_EQ(os_seqpacket_send(peer.socket, bytes, sizes[i], NULL,
					   0),
			 0);
		expect_end(&peer, WIRE_REFUSED, -EPROTO);
	}
	siege_end(&siege);
}

/* Lines about refused clients: those that were said, and those that were left out. */
static atomic_uint nr_lines;

static void count_lines(void *self, const char *line)
{
	const char *left = strstr(line, " left ");
	unsigned int nr = 1;

	(void)self;
	if (left)
		CHECK_EQ(sscanf(left, " left %u lines out", &nr), 1);
	atomic_fetch_add(&nr_lines, nr);
}

/* Also when the server ends before the next line. */
TEST_WORKERS(each_refusal_is_in_the_log_or_counted_there)
{
	struct sley_config config = *test_config();
	struct routing r = { .rt = NULL };
	struct serving s;

	atomic_store(&nr_lines, 0);
	config.report = count_lines;
	r.rt = start_with(&config);
	r.router = router_with(r.rt, "none");
	r.pool = probe_pool(r.router, "p", 1);
	s = serving_of(r, NULL);
	for (int i = 0; i < 20; i++) {
		struct peer peer = { .socket = peer_connect(s.path) };

		CHECK_EQ(os_seqpacket_send(peer.socket, "?", 1, NULL, 0), 0);
		expect_end(&peer, WIRE_REFUSED, -EPROTO);
	}
	serving_stop(&s);
	CHECK_EQ(atomic_load(&nr_lines), 20);
}

TEST_WORKERS(a_ready_before_the_hello_is_refused)
{
	struct siege siege = siege_begin(NULL);
	struct peer peer = { .socket = peer_connect(siege.s.path) };
	struct wire_packet packet;

	packet_ready(&packet, 1);
	peer_send(&peer, &packet, NULL, 0);
	expect_end(&peer, WIRE_REFUSED, -EPROTO);
	siege_end(&siege);
}

TEST_WORKERS(another_version_is_refused_with_both_named)
{
	struct siege siege = siege_begin(NULL);
	struct peer peer = { .socket = peer_connect(siege.s.path) };
	struct wire_packet packet;

	packet_hello(&packet, "future", 0, 0, false);
	packet.major = 9;
	packet.minor = 4;
	peer_send(&peer, &packet, NULL, 0);
	CHECK_EQ(peer_recv(&peer, &packet, NULL, 0), 1);
	CHECK_EQ(packet.code, -EPROTONOSUPPORT);
	CHECK(strstr(packet.text, "9.4") && strstr(packet.text, "1.0"));
	os_close(peer.socket);
	siege_end(&siege);
}

TEST_WORKERS(descriptors_that_are_not_due_are_refused)
{
	struct siege siege = siege_begin(NULL);
	struct wire_packet packet;
	int fds[4] = { 0, 1, 2, 0 };

	for (uint32_t nr = 1; nr <= 4; nr++) {
		struct peer peer = { .socket = peer_connect(siege.s.path) };

		packet_hello(&packet, "x", 0, 0, false);
		peer_send(&peer, &packet, fds, nr);
		expect_end(&peer, WIRE_REFUSED, -EPROTO);
	}
	siege_end(&siege);
}

/* ---- rings that are brought ---------------------------------------------------------- */

static void bring(struct siege *siege, int fd, int code)
{
	struct peer peer = { .socket = peer_connect(siege->s.path) };
	struct wire_packet packet;

	packet_hello(&packet, "x", 0, 0, true);
	peer_send(&peer, &packet, &fd, 1);
	os_close(fd);
	expect_end(&peer, WIRE_REFUSED, code);
}

static int memory_of(size_t size, int seals)
{
	int fd = memfd_create("brought", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CHECK_GE(fd, 0);
	CHECK_EQ(ftruncate(fd, (off_t)size), 0);
	CHECK_EQ(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

TEST_WORKERS(rings_that_are_brought_are_checked)
{
	struct siege siege = siege_begin(
		SLEY_SERVER_OPTIONS(.max_depth = 64, .max_slot_size = 4096));
	struct request_ring ring;
	int pipes[2];

	CHECK_EQ(pipe2(pipes, O_CLOEXEC), 0);
	bring(&siege, pipes[0], -EPERM);
	os_close(pipes[1]);
	bring(&siege, memory_of(65536, 0), -EPERM);
	bring(&siege, memory_of(65536, F_SEAL_SHRINK), -EBADMSG);
	bring(&siege, memory_of(10, F_SEAL_SHRINK), -EINVAL);
	bring(&siege, memory_of(0, F_SEAL_SHRINK), -EINVAL);
	bring(&siege, memory_of(1ull << 40, F_SEAL_SHRINK), -E2BIG);
	bring(&siege, request_ring_create(&ring, "x", 128, 256), -E2BIG);
	request_ring_detach(&ring);
	siege_end(&siege);
}

TEST_WORKERS(a_ring_that_was_served_is_adopted)
{
	struct siege siege = siege_begin(NULL);
	struct wire_packet packet;
	struct peer peer, again;
	struct wire_head head = siege.echo;
	int fds[3];

	peer_join(&peer, siege.s.path);
	CHECK_EQ(peer_open(&peer, "p", "", &head.pool), 0);
	again = (struct peer){ .socket = peer_connect(siege.s.path) };
	packet_hello(&packet, "again", 0, 0, true);
	peer_send(&again, &packet, &peer.fds[WIRE_FD_RING], 1);
	CHECK_EQ(peer_recv(&again, &again.welcome, fds, 3), 1);
	CHECK_EQ(packet_check(&again.welcome, PACKET_FROM_DAEMON, 3, true), 0);
	memcpy(again.fds, fds, sizeof(fds));
	again.fds[WIRE_FD_RING] = -1;
	os_close(peer.socket);
	EVENTUALLY(serving_stats(&siege.s).nr_clients == 1);
	again.ring = peer.ring;
	request_ring_begin_life(&again.ring, 2, 1000);
	peer_begin(&again);
	CHECK_EQ(peer_open(&again, "p", "", &head.pool), 0);
	CHECK_EQ(peer_call(&again, &head, "x", 1).code, 0);
	peer.ring.memory = NULL;
	peer_forget(&peer);
	peer_leave(&again);
	siege_end(&siege);
}

/* ---- rings that are scribbled on ------------------------------------------------------ */

static void scribble(struct peer *peer, int how)
{
	struct request_memory *memory = peer->ring.memory;
	struct ring_entry *entries = request_ring_submissions(&peer->ring);
	struct wire_head head = { .method = 1 };

	switch (how) {
	case 0: /* more requests than slots */
		(void)!count_word_add(&memory->submitted, 65);
		break;
	case 1: /* the count runs backward */
		(void)!count_word_add(&memory->submitted, UINT32_MAX / 8);
		break;
	case 2: /* one slot twice */
		peer_put(peer, &head, NULL, 0);
		peer_put(peer, &head, NULL, 0);
		entries[1].slot = entries[0].slot;
		(void)!request_publish(peer->submitter);
		break;
	case 3: /* a slot that is none */
		peer_put(peer, &head, NULL, 0);
		entries[0].slot = 1u << 20;
		(void)!request_publish(peer->submitter);
		break;
	case 4: /* an id of another life */
		peer_put(peer, &head, NULL, 0);
		entries[0].id ^= 1ull << 33;
		(void)!request_publish(peer->submitter);
		break;
	case 5: /* a size beyond the slot */
		peer_put(peer, &head, NULL, 0);
		entries[0].size = 1025;
		(void)!request_publish(peer->submitter);
		break;
	default: /* the count of answers, which is the server's */
		(void)!count_word_add(&memory->completed, 3);
		peer_put(peer, &head, NULL, 0);
		(void)!request_publish(peer->submitter);
		break;
	}
	os_eventfd_signal(peer->fds[WIRE_FD_SERVER_BELL]);
}

TEST_WORKERS(nonsense_in_a_ring_ejects_its_client_alone)
{
	struct siege siege = siege_begin(NULL);

	for (int how = 0; how <= 6; how++) {
		struct peer peer;

		peer_join(&peer, siege.s.path);
		EVENTUALLY(serving_stats(&siege.s).nr_clients == 2);
		scribble(&peer, how);
		/* The count of answers is found wrong when the next is taken. */
		if (how == 6) {
			EVENTUALLY(serving_stats(&siege.s).nr_requests > 1);
			(void)!count_word_add(&peer.ring.memory->submitted, 0);
			scribble(&peer, 0);
		}
		expect_end(&peer, WIRE_GOODBYE, -EPROTO);
		peer_forget(&peer);
		CHECK_EQ(peer_call(&siege.honest, &siege.echo, "x", 1).code, 0);
		EVENTUALLY(serving_stats(&siege.s).nr_clients == 1);
	}
	CHECK_EQ(serving_stats(&siege.s).nr_ejected, 7);
	siege_end(&siege);
}

/* Bits and bells without requests are heard, and that is all. */
TEST_WORKERS(noise_is_no_request)
{
	struct siege siege = siege_begin(NULL);
	struct peer peer;

	peer_join(&peer, siege.s.path);
	for (int i = 0; i < 200; i++) {
		uint32_t *word = &peer.ring.memory->submitted;

		(void)!count_word_stop(word);
		os_eventfd_signal(peer.fds[WIRE_FD_SERVER_BELL]);
		count_word_clear(word, COUNT_WORD_STOP);
		os_eventfd_signal(peer.fds[WIRE_FD_SERVER_BELL]);
	}
	CHECK_EQ(peer_call(&siege.honest, &siege.echo, "x", 1).code, 0);
	/* The peer may have rung before the server has heard that it is ready. */
	EVENTUALLY(serving_stats(&siege.s).nr_clients == 2);
	CHECK_EQ(serving_stats(&siege.s).nr_ejected, 0);
	peer_leave(&peer);
	siege_end(&siege);
}

/* The server rings, and never waits: the client does not hear, and its bell is full. */
TEST_WORKERS(a_client_that_does_not_listen_stops_nobody)
{
	struct siege siege = siege_begin(NULL);
	struct wire_head head = siege.echo;
	struct peer peer;

	peer_join(&peer, siege.s.path);
	CHECK_EQ(peer_open(&peer, "p", "", &head.pool), 0);
	CHECK_EQ(fcntl(peer.fds[WIRE_FD_CLIENT_BELL], F_SETFL, 0), 0);
	for (int i = 0; i < test_scale(2000); i++) {
		(void)count_word_ask(&peer.ring.memory->completed,
				     COUNT_WORD_WATCHED | COUNT_WORD_SLEEPS);
		CHECK_EQ(peer_call(&peer, &head, "x", 1).code, 0);
	}
	peer_leave(&peer);
	siege_end(&siege);
}

/* It asks for segments and does not receive them. */
TEST_WORKERS(a_client_that_does_not_receive_stops_nobody)
{
	struct siege siege = siege_begin(NULL);
	struct reply reply;
	struct peer peer;
	int nr = 0;

	peer_join(&peer, siege.s.path);
	do {
		reply = peer_control(&peer, WIRE_CONTROL_SEGMENT, 4096);
		nr++;
	} while (!reply.code && nr < 100);
	CHECK_LE(nr, 65);
	CHECK(reply.code == -EMFILE || reply.code == -EAGAIN);
	peer_leave(&peer);
	siege_end(&siege);
}

TEST_WORKERS(a_flood_of_connections_is_survived)
{
	struct siege siege =
		siege_begin(SLEY_SERVER_OPTIONS(.max_clients_per_user = 8));
	int sockets[40];

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(sockets); i++)
			sockets[i] = peer_connect(siege.s.path);
		CHECK_EQ(peer_call(&siege.honest, &siege.echo, "x", 1).code, 0);
		for (size_t i = 0; i < ARRAY_SIZE(sockets); i++)
			os_close(sockets[i]);
	}
	EVENTUALLY(serving_stats(&siege.s).nr_refused +
			   serving_stats(&siege.s).nr_accepted >=
		   1);
	siege_end(&siege);
}
