/* SPDX-License-Identifier: MIT */
/*
 * server_hostile.c - a live server, honest clients, and hostile processes that scribble over
 * their rings, forge entries, die at any time, and come again: the server serves the honest
 * ones, every answer is right, and nothing is left at the end.
 *
 * The hostile processes are forked before there is a runtime.  One kind writes random bytes;
 * most of these are nonsense, and it is ejected.  Another kind writes heads that are right
 * but for some fields, which comes further.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stress/stress.h"

#include "conformance/ipc/peer.h"
#include "os/eventfd.h"
#include "os/shared_memory.h"

#define NR_HOSTILE 3

static char path[80];

/* ---- the hostile processes ------------------------------------------------------------ */

/* Joins, or waits for the server; false: it is gone. */
static bool join(struct peer *peer)
{
	struct wire_packet packet;
	int tries = 0;

	*peer = (struct peer){ .fds = { -1, -1, -1, -1 } };
	while ((peer->socket = os_local_connect(path)) < 0) {
		if (++tries > 20000 || getppid() == 1)
			return false;
		usleep(1000);
	}
	packet_hello(&packet, "hostile", 16, 256, false);
	(void)!os_seqpacket_send(peer->socket, &packet, sizeof(packet), NULL,
				 0);
	while (os_seqpacket_recv(peer->socket, &peer->welcome,
				 sizeof(peer->welcome), peer->fds, WIRE_FDS_MAX,
				 false) == -EAGAIN)
		usleep(100);
	if (peer->welcome.kind != WIRE_WELCOME ||
	    request_ring_attach(&peer->ring, peer->fds[WIRE_FD_RING]) != 0) {
		os_close(peer->socket);
		return true;
	}
	peer->submitter = malloc(request_submitter_size(peer->ring.depth));
	request_submitter_init(peer->submitter, &peer->ring);
	packet_ready(&packet, peer->ring.life);
	(void)!os_seqpacket_send(peer->socket, &packet, sizeof(packet), NULL,
				 0);
	return true;
}

static bool is_over(const struct peer *peer)
{
	return os_fd_is_readable(peer->socket);
}

static void scribble(struct peer *peer)
{
	unsigned char *memory = (unsigned char *)peer->ring.memory;
	uint64_t end = one_in(2) ? 256 : peer->ring.size;

	for (int i = 0; i < 64; i++)
		__atomic_fetch_xor(&memory[test_random(end)],
				   (unsigned char)(1u << test_random(8)),
				   __ATOMIC_RELAXED);
	os_eventfd_signal(peer->fds[WIRE_FD_SERVER_BELL]);
}

/* Right but for some fields. */
static void forge(struct peer *peer)
{
	struct wire_head head = {
		.pool = (uint32_t)test_random(3),
		.method = (uint32_t)test_random(one_in(8) ? UINT32_MAX : 6),
		.query_kind = (uint32_t)test_random(9),
		.query_first = test_random(one_in(2) ? 3 : UINT64_MAX),
		.query_count = test_random(4),
		.out_room = (uint32_t)test_random(one_in(8) ? UINT32_MAX : 256),
		.priority = (int16_t)(test_random(80) - 40),
		.flags = (uint16_t)test_random(9),
		.deadline_ns = one_in(4) ? test_random(UINT64_MAX) : 0,
	};
	unsigned char data[256];
	struct request_submission what = { .data = data };
	struct request_answer answer;
	uint64_t id;
	int bits;

	/* No pointer of this process means anything there. */
	memset(data, 0, sizeof(data));
	memcpy(data, &head, sizeof(head));
	if (!head.pool && head.method == WIRE_CONTROL_OPEN)
		memcpy(data + sizeof(head), "p", 2);
	what.size = (uint32_t)(one_in(4) ? test_random(257) : 216);
	while (request_collect(peer->submitter, &answer, NULL) == 1)
		;
	if (request_submit(peer->submitter, &what, &id) != 0)
		return;
	bits = request_publish(peer->submitter);
	if (bits >= 0 && entry_ring_tell(&peer->ring.memory->submitted, bits))
		os_eventfd_signal(peer->fds[WIRE_FD_SERVER_BELL]);
}

static void be_hostile(int kind)
{
	struct peer peer;

	while (join(&peer)) {
		for (int i = 0; peer.submitter && !is_over(&peer); i++) {
			if (kind == 0)
				scribble(&peer);
			else
				forge(&peer);
			if (i % 64 == 63)
				usleep(200);
			/* Dies without a word, and comes again. */
			if (kind == 2 && test_random(2000) == 0)
				break;
		}
		peer_leave(&peer);
	}
	_exit(0);
}

/* ---- the honest client ------------------------------------------------------------------ */

static void call_often(struct peer *peer, const struct wire_head *head)
{
	for (uint32_t i = 0; i < 64; i++) {
		uint32_t in[4] = { i, i + 1, i + 2, ~i };
		struct reply reply = peer_call(peer, head, in, sizeof(in));

		CHECK_EQ(reply.code, 0);
		CHECK_EQ(reply.size, sizeof(in));
		CHECK_EQ(memcmp(reply.data, in, sizeof(in)), 0);
	}
	test_count(64);
}

/* Methods that hang, take pointers or check their room are not for strangers. */
static uint64_t some_methods(void *self, const struct sley_server_peer *peer,
			     const char *pool, const char *module)
{
	(void)self;
	(void)peer;
	(void)pool;
	(void)module;
	return 1u << PROBE_ECHO | 1u << PROBE_WHERE | 1u << PROBE_SHORT;
}

static void say_nothing(void *self, const char *line)
{
	(void)self;
	(void)line;
}

TEST(hostile_processes_do_no_harm)
{
	struct sley_config config = stress_config();
	struct sley_server_options options = {
		.size = sizeof(options),
		.may_use = some_methods,
		.max_clients_per_user = 16,
	};
	struct wire_head head = { .method = PROBE_ECHO, .out_room = 64 };
	struct routing r = { .rt = NULL };
	pid_t hostile[NR_HOSTILE];
	struct serving s;
	struct peer peer;
	uint64_t end = stress_end();
	char folder[64];

	/* The path is known before the server is. */
	(void)snprintf(folder, sizeof(folder), "/tmp/sley-hostile-XXXXXX");
	CHECK(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/sock", folder);
	for (int i = 0; i < NR_HOSTILE; i++) {
		hostile[i] = fork();
		if (hostile[i] == 0)
			be_hostile(i);
	}
	config.report = say_nothing;
	r.rt = start_with(&config);
	r.router = router_with(r.rt, "none");
	r.pool = probe_pool(r.router, "p", 2);
	options.socket = path;
	CHECK_EQ(sley_server_create(r.router, &s.server, &options), 0);
	peer_join(&peer, path);
	CHECK_EQ(peer_open(&peer, "p", "", &head.pool), 0);
	do {
		call_often(&peer, &head);
		/* On a busy machine the hostile processes may come late. */
	} while (test_now_ns() < end || !serving_stats(&s).nr_ejected);
	for (int i = 0; i < NR_HOSTILE; i++) {
		kill(hostile[i], SIGKILL);
		CHECK_EQ(waitpid(hostile[i], NULL, 0), hostile[i]);
	}
	EVENTUALLY(serving_stats(&s).nr_clients == 1);
	CHECK_EQ(serving_stats(&s).nr_in_flight, 0);
	call_often(&peer, &head);
	peer_leave(&peer);
	sley_server_destroy(s.server);
	CHECK_EQ(rmdir(folder), 0);
	routing_stop(&r);
}
