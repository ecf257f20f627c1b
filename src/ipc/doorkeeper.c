/* SPDX-License-Identifier: MIT */
/*
 * doorkeeper.c - see doorkeeper.h.
 *
 * Edges:
 *
 *   SV1  see ipc/server.h
 *   SV2  see ipc/server.h
 */
#include "ipc/doorkeeper.h"

#include "core/life/runtime.h"
#include "core/sched/source.h"
#include "core/task/countdown.h"
#include "core/trace/report.h"
#include "ipc/greeting.h"
#include "os/clock.h"
#include "os/eventfd.h"
#include "os/seqpacket.h"
#include "os/shared_memory.h"

#include <errno.h>
#include <sley/error.h>
#include <stdio.h>
#include <string.h>

#define TAGS_MAX 16
#define LOOK_NS 200000u   /* between two questions to the kernel */
#define SAY_NS 100000000u /* between two lines of the log        */

/* ---- the log ----------------------------------------------------------------------------- */

static void say_how_many(struct sley_server *server)
{
	if (server->nr_unsaid)
		report(server_runtime(server),
		       "the server at %s left %u lines out, since there "
		       "were so many",
		       server->listener.path, server->nr_unsaid);
	server->nr_unsaid = 0;
}

bool doorkeeper_may_say(struct sley_server *server)
{
	uint64_t now = os_now();

	if (now < server->warn_again_ns) {
		server->nr_unsaid++;
		return false;
	}
	server->warn_again_ns = now + SAY_NS;
	say_how_many(server);
	return true;
}

static void say_end(struct connection *connection, int32_t code,
		    const char *reason, bool begun)
{
	struct sley_server *server = connection->server;
	char title[CONNECTION_TITLE], more[64] = "";
	/* Operators look for these lines: none is left out. */
	bool wanted = code == -ECONNABORTED;

	if (!wanted && !doorkeeper_may_say(server))
		return;
	if (!wanted)
		(void)snprintf(more, sizeof(more), " (%s)",
			       sley_strerror(code));
	connection_title(connection, title, sizeof(title));
	report(server_runtime(server), "the server at %s %s %s: %s%s%s",
	       server->listener.path, begun ? "ejected" : "refused", title,
	       reason, more,
	       begun ? "; its requests are cancelled, and it may connect again"
		     : "");
}

/* ---- the end of a session ----------------------------------------------------------------- */

/*
 * A GOODBYE fails the requests of the client.  A session that has not begun has none, and
 * what the client kept of the last daemon may wait for the next: REFUSED.
 */
static void tell_end(struct connection *connection, int32_t code,
		     const char *reason)
{
	struct sley_server *server = connection->server;
	bool begun = connection->ingress;
	struct wire_packet packet;

	if (begun)
		packet_goodbye(&packet, code, "%s", reason);
	else
		packet_refused(&packet, code, "%s", reason);
	(void)!connection_send(connection, &packet, NULL, 0);
	say_end(connection, code, reason, begun);
	spin_lock(&server->lock);
	if (begun)
		server->counts.ejected++;
	else
		server->counts.refused++;
	spin_unlock(&server->lock);
}

/*
 * A client that lives hears the end when the socket is closed, with the last reference:
 * no request of the session writes to the ring afterwards, and the client may begin the next
 * life of the ring.
 */
void doorkeeper_end(struct connection *connection, int32_t code,
		    const char *reason)
{
	struct sley_server *server = connection->server;

	if (connection->leaving)
		return;
	connection->leaving = true;
	spin_lock(&connection->lock);
	session_end(&connection->session, code, NULL);
	spin_unlock(&connection->lock);
	if (reason)
		tell_end(connection, code, reason);
	os_epoll_remove(server->epoll, connection->socket);
	if (connection->pidfd >= 0)
		os_epoll_remove(server->epoll, connection->pidfd);
	serve_cancel_all(connection);
	if (connection->ingress)
		ingress_look(connection->ingress, connection);
	connection_put(connection, 1);
}

/* No reference is left. */
static void free_connection(struct connection *connection)
{
	struct sley_server *server = connection->server;
	struct quota_user *user = connection->user;

	spin_lock(&server->lock);
	server->table[connection->index] = NULL;
	server->counts.requests += connection->session.nr_requests;
	spin_unlock(&server->lock);
	connection_free(connection);
	quota_leave(&server->quota, user);
	if (quota_is_empty(&server->quota))
		runtime_set_spin_floor(server_runtime(server), 0);
	(void)countdown_done(&server->nr_connections);
}

/* ---- chores ------------------------------------------------------------------------------ */

static void close_pools(struct connection *connection)
{
	void *pools[SESSION_POOLS_MAX];
	uint32_t nr;

	spin_lock(&connection->lock);
	nr = connection->nr_to_close;
	memcpy(pools, connection->to_close, nr * sizeof(*pools));
	connection->nr_to_close = 0;
	spin_unlock(&connection->lock);
	for (uint32_t i = 0; i < nr; i++)
		sley_pool_close(pools[i]);
}

static void do_chore(struct connection *connection)
{
	struct sley_server *server = connection->server;
	char text[CONNECTION_REASON];
	const char *reason = NULL;
	int32_t code;

	close_pools(connection);
	spin_lock(&server->lock);
	code = connection->eject_code;
	memcpy(text, connection->eject_reason, sizeof(text));
	spin_unlock(&server->lock);
	spin_lock(&connection->lock);
	if (connection->session.server.broken)
		reason = connection->session.reason;
	spin_unlock(&connection->lock);
	if (reason)
		doorkeeper_end(connection, -EPROTO, reason);
	else if (code)
		doorkeeper_end(connection, code, text);
}

static struct connection *next_chore(struct sley_server *server, bool *is_last)
{
	struct connection *connection = NULL;
	struct list *chore;

	spin_lock(&server->lock);
	chore = list_take_first(&server->chores);
	if (chore) {
		connection = container_of(chore, struct connection, chore);
		*is_last = connection->is_last;
	}
	spin_unlock(&server->lock);
	return connection;
}

void doorkeeper_do_chores(struct sley_server *server)
{
	struct connection *connection;
	bool is_last;

	while ((connection = next_chore(server, &is_last))) {
		if (is_last)
			free_connection(connection);
		else
			do_chore(connection);
	}
}

/* ---- limits ------------------------------------------------------------------------------ */

void doorkeeper_limit(struct connection *connection)
{
	const struct sley_server_peer peer = connection_peer(connection);

	connection_limit(connection,
			 server_most_urgent(connection->server, &peer));
}

/* Clients whose handshake has not ended are asked for at its end. */
static void follow_refresh(struct sley_server *server)
{
	if (likely(!xchg_acquire(&server->refresh, 0))) /* SV2 */
		return;
	for (uint32_t i = 0; i < server->options.max_clients; i++) {
		struct connection *connection = server->table[i];

		if (connection && connection->ingress)
			doorkeeper_limit(connection);
	}
}

/* ---- phases ------------------------------------------------------------------------------ */

static void stop_one(struct connection *connection)
{
	int bits;

	if (!connection->ingress) {
		doorkeeper_end(connection, -ESHUTDOWN, "the daemon stops");
		return;
	}
	spin_lock(&connection->lock);
	bits = session_stop(&connection->session);
	spin_unlock(&connection->lock);
	connection_tell(connection, bits);
}

static void cancel_one(struct connection *connection)
{
	spin_lock(&connection->lock);
	connection->cancels = true;
	spin_unlock(&connection->lock);
	serve_cancel_all(connection);
}

static void close_one(struct connection *connection)
{
	doorkeeper_end(connection, -ESHUTDOWN, NULL);
}

/* Clients of the page see it at once; the socket goes, so that the next can come. */
static void stop_listening(struct sley_server *server)
{
	if (server->listener.fd < 0)
		return;
	/* relaxed: clients look when they are told. */
	store_relaxed(&server->page->state, WIRE_STOPPING);
	os_epoll_remove(server->epoll, server->listener.fd);
	os_local_unlisten(&server->listener);
}

static void reach(struct sley_server *server, enum server_phase phase)
{
	static void (*const fn[])(struct connection * connection) = {
		[SERVER_STOPPING] = stop_one,
		[SERVER_CANCELLING] = cancel_one,
		[SERVER_CLOSING] = close_one,
	};

	if (phase == SERVER_STOPPING)
		stop_listening(server);
	for (uint32_t i = 0; i < server->options.max_clients; i++) {
		struct connection *connection = server->table[i];

		if (connection && !connection->leaving)
			fn[phase](connection);
	}
	store_release(&server->phase, phase); /* SV1 */
}

static void follow_phase(struct sley_server *server)
{
	uint32_t wanted = load_acquire(&server->wanted); /* SV1 */

	/* relaxed: only the taker, the caller, writes it. */
	for (uint32_t i = load_relaxed(&server->phase); i < wanted; i++)
		reach(server, i + 1);
}

/* ---- the source --------------------------------------------------------------------------- */

static bool has(void *arg)
{
	struct sley_server *server = arg;
	uint64_t now = os_now();

	/* relaxed: a time; two that ask at once do no harm. */
	if (now - load_relaxed(&server->looked_ns) < LOOK_NS)
		return false;
	/* relaxed: as above. */
	store_relaxed(&server->looked_ns, now);
	return os_fd_is_readable(server->epoll);
}

static void hear(struct sley_server *server, uint32_t tag)
{
	struct connection *connection = server->table[tag / 2];

	/* It may be another one by now: so look. */
	if (!connection || connection->leaving)
		return;
	if (tag == DOORKEEPER_SOCKET(connection->index))
		greeting_hear(connection);
	else if (os_fd_is_readable(connection->pidfd))
		doorkeeper_end(connection, 0, NULL);
}

static bool take(void *arg)
{
	struct sley_server *server = arg;
	uint32_t tags[TAGS_MAX];
	int nr = os_epoll_wait(server->epoll, tags, TAGS_MAX, 0);
	bool more = nr == TAGS_MAX;

	for (int i = 0; i < nr; i++) {
		if (tags[i] == DOORKEEPER_LISTENER)
			more = greeting_accept(server) || more;
		else
			hear(server, tags[i]);
	}
	greeting_resume(server);
	follow_refresh(server);
	follow_phase(server);
	doorkeeper_do_chores(server);
	return more;
}

int doorkeeper_open(struct sley_server *server)
{
	struct source_ops ops = { .has = has, .take = take };
	int err;

	server->spare = os_eventfd_create();
	server->epoll = os_epoll_create();
	err = server->epoll < 0 ? server->epoll : greeting_listen(server);
	ops.fd = server->epoll;
	if (!err)
		err = source_add(server_runtime(server), &server->source, &ops,
				 server, false);
	if (!err)
		return 0;
	os_close(server->epoll);
	os_close(server->spare);
	return err;
}

void doorkeeper_close(struct sley_server *server)
{
	source_remove(server->source);
	say_how_many(server);
	os_close(server->epoll);
	os_close(server->spare);
}
