/* SPDX-License-Identifier: MIT */
/*
 * server.h - a server of other processes: a listening socket, connections, ingresses.
 *
 * The server has a source of its own for what is rare.  Its taker alone accepts clients,
 * receives packets, hears of the ends of clients, ends sessions and frees connections
 * (ipc/doorkeeper.h).  Other threads ask for that:
 *
 *   a chore    a connection that the taker has to look at: nonsense was found in its ring,
 *              it is to be ejected, pools are to be closed, or no reference is left
 *   a refresh  limits of clients are to be asked for again
 *   a phase    the server stops: the caller of sley_server_stop_until() says what it
 *              wants, and the taker does it
 *
 *      SERVING ──► STOPPING ──► CANCELLING ──► CLOSING
 *                  no clients,   requests are   sessions end
 *                  no requests   cancelled
 *
 * The lock of the server is over the table of connections and the list of chores.  A thread
 * may hold it and take the lock of a set (ipc/ring_set.h) or of a connection; not the other
 * way round.
 *
 * Edges:
 *
 *   SV1  a phase is wanted -> the taker finds it; the phase is reached -> the caller
 *        finds it
 *   SV2  a refresh is wanted -> the taker asks the callback : what the program has changed
 */
#ifndef SLEY_IPC_SERVER_H
#define SLEY_IPC_SERVER_H

#include "base/list.h"
#include "core/sched/worker.h"
#include "ipc/connection.h"
#include "ipc/ingress.h"
#include "ipc/quota.h"
#include "os/local_socket.h"
#include "route/router.h"

#include <sley/server.h>
#include <sley/sync.h>

#define SERVER_INGRESSES_MAX 4

/*
 * While there are clients, a worker looks so long for work before it sleeps: a client that
 * has its answer needs some microseconds for its next request, and a wake-up takes longer
 * than that on both sides.
 */
#define SERVER_SPIN_NS 20000u

enum server_phase {
	SERVER_SERVING,
	SERVER_STOPPING,
	SERVER_CANCELLING,
	SERVER_CLOSING,
};

/* Of the taker, read by inspectors. */
struct server_counts {
	uint64_t accepted;
	uint64_t refused;
	uint64_t ejected;
	uint64_t requests; /* of connections that are gone */
};

struct sley_server {
	struct sley_router *router;
	struct sley_server_options options;
	struct session_limits limits;
	struct quota quota;
	struct sley_source *source;
	struct ingress *ingresses[SERVER_INGRESSES_MAX];
	uint32_t nr_ingresses;
	int epoll;
	int page_fd;
	struct wire_page *page;
	uint64_t generation;
	struct sley_mutex rights; /* over the callbacks               */

	/* Of the taker. */
	struct os_local_listener listener; /* .fd -1: does not listen */
	int spare; /* a descriptor to accept with, if there are no others */
	uint64_t next_number;
	uint64_t greeting_ns; /* GREETING_NS, but in tests          */
	uint64_t warn_again_ns;
	uint32_t nr_unsaid; /* lines of the log that were too many */

	cache_aligned struct spinlock lock;
	struct connection **table;        /* .max_clients of them (lock)      */
	struct list chores;               /* (lock)                           */
	struct server_counts counts;      /* (lock)                         */
	struct sley_waitq nr_connections; /* a countdown               */
	uint32_t paused;    /* 1: does not listen; 2: may listen again */
	uint64_t looked_ns; /* the kernel was asked             */
	uint32_t wanted;    /* enum server_phase                */
	uint32_t phase;     /* that is reached                  */
	uint32_t refresh;   /* 1: limits are to be asked for    */
};

static inline struct sley *server_runtime(const struct sley_server *server)
{
	return server->router->rt;
}

static inline struct mem *server_mem(const struct sley_server *server)
{
	return &server->router->rt->mem;
}

/* The taker of the server shall look at @connection.  Any thread; does not wait. */
void server_add_chore(struct sley_server *server,
		      struct connection *connection);

/* The same: no reference is left, so @connection may be gone afterwards. */
void server_add_last_chore(struct sley_server *server,
			   struct connection *connection);

/* Requests of a user have ended: rings that are held may go on. */
void server_recheck(struct sley_server *server);
void server_recheck_rings(struct sley_server *server, struct ingress *ingress);

/* The bell of connection @index, of @ingress, has rung. */
void server_heard(struct sley_server *server, struct ingress *ingress,
		  uint32_t index);

/* ---- rights ------------------------------------------------------------------------------ */

must_check bool server_may_connect(struct sley_server *server,
				   const struct sley_server_peer *peer);
must_check bool server_may_make(struct sley_server *server,
				const struct sley_server_peer *peer,
				const char *pool, const char *module);
must_check uint64_t server_may_use(struct sley_server *server,
				   const struct sley_server_peer *peer,
				   const char *pool, const char *module);
/* SLEY_PRIORITY_MIN to SLEY_PRIORITY_MAX. */
must_check int32_t server_most_urgent(struct sley_server *server,
				      const struct sley_server_peer *peer);

#endif
