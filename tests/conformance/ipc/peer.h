/* SPDX-License-Identifier: MIT */
/*
 * peer.h - a client that speaks the protocol by hand, so that it can also speak it wrongly.
 */
#ifndef SLEY_TESTS_CONFORMANCE_IPC_PEER_H
#define SLEY_TESTS_CONFORMANCE_IPC_PEER_H

#include "conformance/eventually.h"
#include "conformance/route/routing.h"

#include "ipc/packet.h"
#include "os/local_socket.h"
#include "os/seqpacket.h"
#include "shm/request_submitter.h"

#include <sley/server.h>

struct peer {
	int socket;
	int fds[WIRE_FDS_MAX];
	struct wire_packet welcome;
	struct request_ring ring;
	struct request_submitter *submitter;
};

/* An answer, with its data. */
struct reply {
	uint64_t id;
	int32_t code;
	uint32_t size;
	void *owner;
	unsigned char data[1024];
};

/* ---- a server with a folder of its own ------------------------------------------------ */

struct serving {
	struct routing r;
	struct sley_server *server;
	char folder[64];
	char path[80];
};

/* A router with the pool "p", and a server with @options, whose socket is filled in. */
struct serving serving_start(const char *policy,
			     const struct sley_server_options *options);
/* The same with a routing of the test. */
struct serving serving_of(struct routing r,
			  const struct sley_server_options *options);
/* Nothing is left behind. */
void serving_stop(struct serving *serving);

struct sley_server_stats serving_stats(const struct serving *serving);

/* ---- the handshake ---------------------------------------------------------------------- */

int peer_connect(const char *path);
void peer_send(const struct peer *peer, const struct wire_packet *packet,
	       const int *fds, uint32_t nr);
/* 1 or 0, as os_seqpacket_recv(). */
int peer_recv(struct peer *peer, struct wire_packet *packet, int *fds,
	      uint32_t max);
/* Connects, and goes through the handshake up to the WELCOME. */
void peer_greet(struct peer *peer, const char *path, uint32_t depth,
		uint32_t slot_size);
void peer_begin(struct peer *peer);
/* All of it. */
void peer_join(struct peer *peer, const char *path);
void peer_leave(struct peer *peer);
/* The process would end: nothing is said. */
void peer_forget(struct peer *peer);

/* ---- requests --------------------------------------------------------------------------- */

/* Puts a request; the server gets it with the next publish. */
uint64_t peer_put(struct peer *peer, const struct wire_head *head,
		  const void *in, uint32_t in_size);
void peer_publish(struct peer *peer);
/* The next answer; waits for it. */
struct reply peer_collect(struct peer *peer);
bool peer_has_answer(struct peer *peer, struct reply *reply);
/* All three for a single request. */
struct reply peer_call(struct peer *peer, const struct wire_head *head,
		       const void *in, uint32_t in_size);
struct reply peer_control(struct peer *peer, uint32_t method, uint64_t number);
/* The code of OPEN; *@number gets the pool. */
int peer_open(struct peer *peer, const char *pool, const char *module,
	      uint32_t *number);
/* A segment: its number, and its memory. */
uint32_t peer_segment(struct peer *peer, uint64_t bytes, void **memory,
		      uint64_t *size);

#endif
