/* SPDX-License-Identifier: MIT */
/*
 * sley/client.h - clients: requests to the pools of a daemon, through shared memory.
 *
 * A daemon (<sley/server.h>, the program sleyd) has a router with pools.  A client is
 * the way there from another process.  The pools that it opens are used as the pools of
 * this process are:
 *
 *     err = sley_client_open(&client, NULL);
 *     err = sley_client_pool_open(client, &pool, "store", NULL);
 *     err = sley_submit(pool, &request, SLEY_REQUEST(.method = KV_GET, ...));
 *     ...
 *     err = sley_request_wait(&request);
 *     ...
 *     sley_pool_close(pool);
 *     err = sley_client_close(client);
 *
 * A client starts no thread.  A plain thread that waits for a request looks for answers
 * itself, for all threads of the process; it spins for a short time, then it sleeps.  With
 * a runtime (.rt) the workers look for answers, and tasks wait as for any future.
 *
 * Acknowledged.  Once sley_submit() has returned 0 for a pool of a daemon, the request is
 * *acknowledged*: it completes exactly once while this process lives and the client is
 * open, whatever happens to the daemon.  It completes as <sley/request.h> says, or with
 *
 *   SLEY_EUNKNOWN  the daemon ended, or threw the client out, while the request may have
 *                  been running: it ran as a whole, in part, or not at all.  Requests
 *                  that are marked .idempotent are sent again instead.
 *   -EHOSTDOWN     the request has not begun, and no daemon came within .reconnect_ns
 *   -EACCES        the user of this process may not call this method
 *   -ENOMEM        the daemon has no memory for it
 *   -EMSGSIZE      there is no memory for payloads as large as these
 *
 * A request that the daemon has not begun is sent again to the next daemon, as if
 * nothing had happened; so is one that it has begun if it is marked .idempotent.  The
 * library notices the end of a daemon within 50 ms while a thread waits, and at once with
 * a runtime.  Then it looks for the next daemon, at the same address, first after 1 ms,
 * then less often, up to every 100 ms.  Pools are opened again by their names; if there is
 * no such pool any more, their requests complete with -ENOENT.
 *
 * Back-pressure.  A client has .depth slots.  While all of them are taken, sley_submit()
 * returns -EAGAIN: wait for any request (sley_request_wait_any_until()), then submit
 * again.  sley_pool_call() waits for a free slot by itself.
 *
 * Large payloads.  A request whose IN part, with a head of 64 bytes, and whose OUT part
 * fit a slot (.slot_size) is copied there.  Others use a *segment*: shared memory that the
 * daemon makes for the client, and that the client keeps for later requests.  To get a
 * segment sley_submit() waits for the daemon: the fiber waits, a plain thread sleeps.  The
 * daemon limits the bytes of all segments of a client: -EAGAIN if other requests use them
 * now, -EMSGSIZE if the request can never fit.
 *
 * Requests.  .parent must be NULL and .period_ns 0 (-EOPNOTSUPP).  .priority, .group,
 * .io_size, .enqueue, the query and the deadline are those of <sley/request.h>.  The daemon
 * may have a limit for the user of this process: a request that is more urgent runs at the
 * limit, and is not refused.  All clocks of a machine are the same, so deadlines are, too.
 *
 * Of <sley/pool.h>, a pool of a client knows sley_pool_close(), sley_pool_name() and
 * sley_pool_nr_containers().  sley_pool_router() is NULL, and all others return
 * -EOPNOTSUPP: use requests to the admin pool of the daemon (<sley/admin.h>).
 *
 * Threads.  All calls may be made by several threads at once; only
 * sley_client_close() must be the last.
 *
 * fork().  A client stays with the process that opened it.  In a child all calls return
 * SLEY_EFORKED or do nothing; the child may open a client of its own.
 */
#ifndef SLEY_CLIENT_H
#define SLEY_CLIENT_H

#include <sley/compiler.h>
#include <sley/pool.h>
#include <sley/request.h>
#include <sley/runtime.h>
#include <sley/time.h>

SLEY_BEGIN_DECLS

struct sley_client;

/* For .spin_us: a thread that waits sleeps at once. */
#define SLEY_CLIENT_NO_SPIN UINT32_MAX

/* For .reconnect_ns: a request fails as soon as its daemon has ended. */
#define SLEY_CLIENT_NO_RECONNECT 1

/* Zero means the default in every field. */
struct sley_client_options {
	uint32_t size; /* of this struct; SLEY_CLIENT_OPTIONS sets it       */
	/*
	 * Requests under way at a time, with some of the library's own: rounded up
	 * to a power of two, and at least 2.  The daemon may allow fewer.  Default:
	 * 256.
	 */
	uint32_t depth;
	/*
	 * Bytes of a slot: 64, and the larger of the IN part and the OUT part of
	 * most requests.  Rounded up to a multiple of 64.  Default: 1024.
	 */
	uint32_t slot_size;
	/* How long a thread that waits looks before it sleeps.  Default: 20. */
	uint32_t spin_us;
	/*
	 * The path of the daemon's socket.  Default: $SLEY_SOCKET; else
	 * $XDG_RUNTIME_DIR/sley/sleyd.sock if there is such a file; else
	 * /run/sley/sleyd.sock.
	 */
	const char *socket;
	/* The name of this program in lists of clients.  Default: its own. */
	const char *name;
	/*
	 * The runtime whose workers look for answers.  It ends after the client.
	 * Default: the runtime of the calling task, or none.
	 */
	struct sley *rt;
	/* How long sley_client_open() waits for a daemon; default: not at all. */
	uint64_t connect_ns;
	/*
	 * How long requests wait for the next daemon: default 60 s; or
	 * SLEY_FOREVER, or SLEY_CLIENT_NO_RECONNECT.
	 */
	uint64_t reconnect_ns;
	/*
	 * Gets lines about connections: lost, found, refused.  Called on any
	 * thread, so it must not wait for tasks, nor use the client.  Default: that
	 * of .rt, or stderr.
	 */
	void (*report)(void *self, const char *line);
	void *report_self;
	uint64_t reserved[4];
};

#define SLEY_CLIENT_OPTIONS(...)                                               \
	SLEY_LITERAL(struct sley_client_options, __VA_ARGS__)

/*
 * sley_client_open - connect to a daemon.
 *
 * Context:  any thread
 * Blocks:   the fiber, until the daemon has answered; a plain thread sleeps
 * Owner:    the caller ends the client with sley_client_close(); @options is copied, and
 *           so are its texts; .rt and .report_self are borrowed until then.
 * Errors:   .report gets a line that says what to do:
 *           -ENOENT, -ECONNREFUSED  there is no daemon at that path
 *           -EACCES          the daemon, or the permissions of the path, let this user
 *                            not in
 *           -EPROTONOSUPPORT the daemon speaks another version
 *           -EPROTO          the daemon answers nonsense
 *           -EDQUOT, -EUSERS  this user, or the daemon, has as many clients as it may
 *                            have
 *           -ETIMEDOUT       a daemon is there, and does not answer within 5 s
 *           -ENAMETOOLONG    the path does not fit the address of a socket
 *           or without a line:
 *           -EINVAL          options->size is zero; .depth is above 65536 or
 *                            .slot_size above 1 MiB
 *           -E2BIG           a newer field is set
 *           -ENOMEM, -EMFILE, -ENFILE
 *           -ENOSPC          .rt has too many sources (<sley/source.h>)
 *           -ESHUTDOWN       .rt is being destroyed
 *           -ECANCELED       the calling task was cancelled
 *           SLEY_EFORKED     .rt belongs to the parent of this process
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_client_open(struct sley_client **client,
		 const struct sley_client_options *options);

/*
 * sley_client_close - end a client.
 *
 * Requests under way complete with SLEY_EUNKNOWN before the call returns; the daemon
 * cancels them, except those of sley_submit_and_forget(), which it carries out if they
 * have reached it.  All pools of the client must have been closed.  Does nothing with
 * NULL.
 *
 * Context:  any thread; no other call may use the client, except waits for its requests
 * Blocks:   the fiber, for waits that return; a plain thread sleeps
 * Errors:   -EBUSY        pools are open: nothing was done
 *           SLEY_EFORKED  nothing was done
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_client_close(struct sley_client *client);

/*
 * sley_client_pool_open - get a pool of the daemon, or let the daemon make it.
 *
 * With NULL for @options the pool must be there.  Else as sley_pool_open(), by the daemon:
 * .params are copied there as they are, and must fit a slot of the client.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    the caller gives the reference back with sley_pool_close().
 * Errors:   as sley_pool_open(), and
 *           -EACCES    the user of this process may not use such a pool, or make it
 *           -EMSGSIZE  .params do not fit a slot
 *           -EOPNOTSUPP .permanent is set, or as sley_pool_open()
 *           -EHOSTDOWN there is no daemon, and none came within .reconnect_ns
 *           -ENOSPC    the client, or the daemon, has too many pools open
 *           -ECANCELED the calling task was cancelled
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_client_pool_open(struct sley_client *client, struct sley_pool **pool,
		      const char *name,
		      const struct sley_pool_options *options);

/* What a client does now: .state of struct sley_client_info. */
enum sley_client_state {
	SLEY_CLIENT_DOWN, /* there is no daemon; the next request looks for one  */
	SLEY_CLIENT_GREETING, /* a daemon is asked                                */
	SLEY_CLIENT_LIVE,
	SLEY_CLIENT_LOST, /* the daemon has ended; requests wait for the next     */
};

/* The state of a client; see sley_client_inspect(). */
struct sley_client_info {
	uint32_t size;  /* of this struct; set it before the call            */
	uint32_t state; /* enum sley_client_state                            */
	uint32_t depth; /* slots, with those that the library keeps for itself */
	uint32_t slot_size;
	uint64_t session;    /* the number of the client at the daemon       */
	uint64_t generation; /* of the daemon: another after a restart       */
	uint32_t daemon_pid;
	uint32_t nr_pools;
	uint32_t nr_in_flight; /* requests that have a slot now              */
	uint32_t nr_segments;
	uint64_t segment_bytes;
	uint64_t nr_submitted;
	uint64_t nr_completed;
	uint64_t nr_unknown;  /* completed with SLEY_EUNKNOWN                */
	uint64_t nr_again;    /* sent again, to another daemon               */
	uint64_t nr_connects; /* handshakes that succeeded                   */
	char version[32];     /* of the daemon                               */
	uint64_t reserved[4];
};

/*
 * sley_client_inspect - what a client does now, and how much it has done.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the caller sets info->size to sizeof(*info).
 * Errors:   -EINVAL       info->size is zero
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_client_inspect(struct sley_client *client, struct sley_client_info *info);

SLEY_END_DECLS
#endif
