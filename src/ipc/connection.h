/* SPDX-License-Identifier: MIT */
/*
 * connection.h - a client of a server: its session (ipc/session.h) with the descriptors and
 * the memory of the operating system, and the lock that the threads of the server need.
 *
 * Two takers look after a connection.  The taker of the server's own source (ipc/server.h)
 * does what is rare: the handshake, and the end.  The taker of an ingress (ipc/ingress.h)
 * takes requests.  Workers answer.  The lock is over the session; it is held for some
 * dozens of instructions and over no system call.
 *
 * References.  The server has one until the end of the session is complete, the ingress
 * one while the ring is in its set, each request in flight one.  When none is left, the
 * connection is a *chore* of the server: its source frees it.  Workers that complete
 * requests are in the middle of a step of the scheduler, and must not wait.
 *
 * Edges:
 *
 *   CO1  a reference is given back -> the last one : what its holder did
 */
#ifndef SLEY_IPC_CONNECTION_H
#define SLEY_IPC_CONNECTION_H

#include "base/list.h"
#include "ipc/quota.h"
#include "ipc/ring_set.h"
#include "ipc/session.h"
#include "lf/spin.h"
#include "os/local_socket.h"

#include <sley/server.h>
#include <sley/task.h>

#define CONNECTION_REASON 128

struct connection {
	struct sley_server *server;
	struct ingress *ingress; /* NULL: not LIVE so far (lock of the server) */
	struct quota_user *user;
	struct ring_member member; /* of the ingress                       */
	struct os_peer peer;
	int32_t most_urgent; /* priority of its requests                    */
	uint64_t number;
	uint64_t connected_ns;
	uint32_t index; /* in the table of the server                      */
	int socket;
	int pidfd;       /* -1: none                                        */
	int server_bell; /* -1: none                                        */
	int client_bell;
	bool leaving; /* of the server's taker: the end has begun           */
	struct request_ring ring;

	cache_aligned struct spinlock lock;
	bool cancels; /* the server does, and the session goes on (lock)    */
	uint32_t nr_to_close; /* pools, by the server's taker (lock)        */
	void *to_close[SESSION_POOLS_MAX];
	struct session session; /* (lock)                                  */

	cache_aligned uint32_t nr_references;
	struct list chore;  /* of the server (lock of the server)           */
	bool is_last;       /* the same: no reference is left               */
	int32_t eject_code; /* not 0: to be ejected (lock of the server)   */
	char eject_reason[CONNECTION_REASON];
};

/* A client that has connected, with one reference; NULL: no memory. */
must_check struct connection *connection_create(struct sley_server *server,
						int socket,
						const struct os_peer *peer);

/* No reference is left.  By the taker of the server. */
void connection_free(struct connection *connection);

static inline void connection_get(struct connection *connection, uint32_t nr)
{
	/* relaxed: the caller has one already. */
	(void)add_relaxed(&connection->nr_references, nr);
}

/* The connection may be gone afterwards. */
void connection_put(struct connection *connection, uint32_t nr);

/* After session_publish() or session_stop(), without the lock. */
static inline void connection_tell(struct connection *connection, int bits)
{
	if (likely(!bits))
		return;
	if (entry_ring_tell(&connection->ring.memory->completed, bits))
		os_bell_ring(connection->client_bell);
}

/* With the lock: the word of the submissions, as it was found last. */
uint32_t connection_seen(const struct connection *connection);

/* By the taker of the server: no request is more urgent from now on. */
static inline void connection_limit(struct connection *connection,
				    int32_t most_urgent)
{
	/* relaxed: a number, and nothing behind it. */
	store_relaxed(&connection->most_urgent, most_urgent);
}

/*
 * The priority at which a request for @priority runs.  A number that is no priority is
 * left as it is, to be refused.
 */
static inline int32_t connection_priority(const struct connection *connection,
					  int32_t priority)
{
	/* relaxed: a number; the next request may be the first that finds it. */
	int32_t most_urgent = load_relaxed(&connection->most_urgent);

	return priority >= SLEY_PRIORITY_MIN && priority < most_urgent
		       ? most_urgent
		       : priority;
}

/* What callbacks are told of the client; borrowed from @connection. */
struct sley_server_peer connection_peer(const struct connection *connection);

/* How the log calls it: "client 7 (pid 4242, uid 1000, NAME)". */
#define CONNECTION_TITLE 192
void connection_title(const struct connection *connection, char *out,
		      size_t size);

/* A packet to the client: 0; -EPIPE: it is gone; -EAGAIN: it does not read; -errno. */
must_check int connection_send(struct connection *connection,
			       const struct wire_packet *packet, const int *fds,
			       uint32_t nr_fds);

#endif
