/* SPDX-License-Identifier: MIT */
/*
 * sley/server.h - serve other processes: they submit to the pools of this program.
 *
 * A server listens at a Unix socket.  Other processes connect to it
 * (<sley/client.h>), open the pools of a router by name, and submit requests through
 * memory that they share with this program, without a system call while both sides
 * are awake:
 *
 *     err = sley_server_create(router, &server,
 *                              SLEY_SERVER_OPTIONS(.socket = "/run/me/sley.sock"));
 *     ...
 *     err = sley_server_stop_until(server, sley_after(5 * SLEY_SEC));
 *     sley_server_destroy(server);
 *
 * A request of a client is a request as any other (<sley/request.h>): the policy of the
 * router chooses its worker (client_map() in <sley/policy.h>), and a short method runs
 * at once, on the worker that took the request.
 *
 * Trust.  The server believes nothing that a client writes.  It copies, checks, and then
 * uses the copy, so a method reads bytes that no client can change any more.  It takes
 * no lock that a client can hold, and waits for no client.  A client that writes
 * nonsense is ejected, with a line in .report of the runtime; other clients do not
 * notice.  The kernel says who a client is: its uid, gid and pid.
 *
 * Rights.  By default root and the user of this program may do all, and other users
 * nothing.  The callbacks of struct sley_server_options decide otherwise.  They are
 * called on a worker, one at a time, and must not block.
 *
 * Priorities.  By default a request runs at the priority that its client gave it.
 * .most_urgent says for each client the most urgent priority that counts.
 *
 * Limits.  A user may have so many clients, so many bytes of segments for large
 * payloads, and so many requests that run: above these, requests stay in the ring of
 * the client, whose next sley_submit() finds no room and says so.
 *
 * The end of a client, by a kill for example, is heard from the kernel.  Requests that
 * the client waited for are cancelled; requests that it submitted and forgot run, also
 * those that were still in its ring.  Then its memory is given back.
 *
 * The end of a server has phases: no new client is accepted; no request is taken from a
 * ring any more, and clients are told so; requests that have begun are answered.  A
 * client submits the others to the next server at the same socket.
 */
#ifndef SLEY_SERVER_H
#define SLEY_SERVER_H

#include <sley/compiler.h>
#include <sley/pool.h>

SLEY_BEGIN_DECLS

struct sley_server;

/* All methods of a pool, as an answer of may_use(). */
#define SLEY_METHODS_ALL UINT64_MAX

/* Room for the name of a client's program, with the 0 at its end. */
#define SLEY_CLIENT_NAME 64

/* The other process, for a callback; borrowed for the call. */
struct sley_server_peer {
	uint32_t uid;
	uint32_t gid;
	int32_t pid; /* 0: not known, as of another container               */
	uint32_t reserved;
	uint64_t session; /* its number; no two clients of a server have the same */
	const char
		*name; /* what the client says of itself: do not believe it   */
};

/* Zero means the default in every field. */
struct sley_server_options {
	uint32_t size; /* of this struct; SLEY_SERVER_OPTIONS sets it       */
	uint32_t mode; /* rights of the socket's file; default: 0600        */
	/*
	 * The path of the socket.  Nobody but root and the user of this program may
	 * own its folder or write to it.  The socket of a program that has died is
	 * replaced.  PATH.lock is used, too.  Both are removed at the end.
	 */
	const char *socket;
	/* A SEQPACKET socket that listens already, in place of .socket; 0: none. */
	int32_t listen_fd;
	uint32_t max_clients;          /* default: 256                        */
	uint32_t max_clients_per_user; /* default: 64                         */
	uint32_t max_depth;            /* requests in a ring; default: 4096   */
	uint32_t max_slot_size;        /* bytes of a request; default: 64 KiB */
	/* Requests of one user that run; default: 65536. */
	uint32_t max_requests_per_user;
	uint64_t max_segment_bytes; /* of a client; default: 64 MiB          */
	void *self;                 /* for the callbacks                     */
	/* May this process be a client? */
	bool (*may_connect)(void *self, const struct sley_server_peer *peer);
	/* May it make this pool?  Asked if the pool is not there. */
	bool (*may_make)(void *self, const struct sley_server_peer *peer,
			 const char *pool, const char *module);
	/*
	 * Which methods of this pool may it use?  Bit n is for method n, bit 63 for
	 * method 63 and all above; 0: the pool cannot be opened.
	 */
	uint64_t (*may_use)(void *self, const struct sley_server_peer *peer,
			    const char *pool, const char *module);
	/*
	 * The most urgent priority of its requests, SLEY_PRIORITY_MIN to
	 * SLEY_PRIORITY_MAX: one that is more urgent runs at this, and is not refused.
	 * A value that is out of range counts as the nearest one that is in range.
	 * Asked when the client has connected, and by sley_server_refresh().
	 * Default: SLEY_PRIORITY_MIN, all count.
	 */
	int32_t (*most_urgent)(void *self, const struct sley_server_peer *peer);
	uint64_t reserved[3];
};

#define SLEY_SERVER_OPTIONS(...)                                               \
	SLEY_LITERAL(struct sley_server_options, __VA_ARGS__)

/*
 * sley_server_create - let other processes submit to the pools of @router.
 *
 * .report of the runtime gets a line for each failure, with what to do.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the caller ends the server with sley_server_destroy(), before the router;
 *           @options is copied, .self is borrowed until then; .listen_fd is taken over,
 *           unless the call fails.
 * Errors:   -EADDRINUSE    another program listens at the socket
 *           -EPERM         other users may write to the folder of the socket
 *           -EEXIST        there is a file of that name which is no socket
 *           -ENAMETOOLONG  the path has more than 107 bytes, or none
 *           -ENOENT, -ENOTDIR, -EACCES  of the folder
 *           -EINVAL        options->size is zero, or .socket and .listen_fd are, or
 *                          .listen_fd does not listen
 *           -E2BIG         a newer field is set, or a limit is too large
 *           -ENOSPC        the runtime has too many sources (<sley/source.h>)
 *           -EMFILE, -ENFILE, -ENOMEM
 *           -ESHUTDOWN     the runtime ends
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_server_create(struct sley_router *router, struct sley_server **server,
		   const struct sley_server_options *options);

/*
 * sley_server_stop_until - take no more clients and requests; answer those that began.
 *
 * Clients are told at once.  At the deadline, requests that are not complete are
 * cancelled, and the call returns.  May be called again, also by several callers, to wait
 * longer.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT  the rest was cancelled; sley_server_destroy() waits for it
 *           -ECANCELED  the caller was cancelled
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_server_stop_until(struct sley_server *server, uint64_t deadline_ns);

/*
 * sley_server_destroy - end a server.
 *
 * A server that was not stopped is stopped, and its requests are cancelled.  Waits until
 * no request of a client runs.  Does nothing with NULL.
 *
 * Context:  any thread, but no method that serves a client of this server
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_server_destroy(struct sley_server *server);

/*
 * sley_server_refresh - ask .most_urgent again for each client that is there.
 *
 * What it says counts soon, for requests that are taken from then on.  Requests that
 * were taken before keep their priorities.
 *
 * Context:  any thread
 * Blocks:   never: a worker asks
 * Order:    everything before the call happens before the calls of .most_urgent.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_server_refresh(struct sley_server *server);

/* ---- looking ------------------------------------------------------------------------- */

/* What a server has done so far. */
struct sley_server_stats {
	uint32_t size; /* of this struct; set it before the call            */
	uint32_t nr_clients;
	uint32_t stopping; /* 1: sley_server_stop_until() was called         */
	uint32_t reserved_flags;
	uint64_t generation;    /* differs from that of each other server  */
	uint64_t nr_accepted;   /* clients, all of them                    */
	uint64_t nr_refused;    /* that were no clients                    */
	uint64_t nr_ejected;    /* for nonsense, or by sley_server_eject() */
	uint64_t nr_requests;   /* that were taken                         */
	uint64_t nr_in_flight;  /* of these, not answered yet              */
	uint64_t segment_bytes; /* of all clients                          */
	uint64_t reserved[8];
};

/*
 * sley_server_inspect - the counters of a server.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the caller sets out->size to sizeof(*out).
 * Errors:   -EINVAL  out->size is zero
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_server_inspect(struct sley_server *server, struct sley_server_stats *out);

/* A client, as a server sees it. */
struct sley_server_client {
	uint64_t session;
	uint32_t uid;
	uint32_t gid;
	int32_t pid;
	uint32_t depth; /* requests that fit into its ring                   */
	uint32_t nr_pools;
	uint32_t nr_segments;
	uint64_t segment_bytes;
	uint64_t nr_requests;  /* that were taken                            */
	uint64_t nr_in_flight; /* of these, not answered yet                 */
	uint64_t connected_ns; /* when: of sley_now()                        */
	char name[SLEY_CLIENT_NAME];
	uint64_t reserved[4];
};

/*
 * sley_server_clients - the clients of a server.
 *
 * Writes at most @room of them to @clients.  Returns how many there are.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @clients may be NULL if @room is 0.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS uint32_t
sley_server_clients(struct sley_server *server,
		    struct sley_server_client *clients, uint32_t room);

/*
 * sley_server_eject - end the session of a client.
 *
 * As at the end of the client, see above; the client gets @reason, and so does .report of
 * the runtime.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @reason is borrowed for the call.
 * Errors:   -ENOENT  there is no such session, or no longer
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_server_eject(struct sley_server *server, uint64_t session,
		  const char *reason);

SLEY_END_DECLS
#endif
