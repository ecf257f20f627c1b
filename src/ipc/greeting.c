/* SPDX-License-Identifier: MIT */
/*
 * greeting.c - see greeting.h.
 */
#include "ipc/greeting.h"

#include "core/life/runtime.h"
#include "core/sched/source.h"
#include "core/task/countdown.h"
#include "core/trace/report.h"
#include "ipc/doorkeeper.h"
#include "os/clock.h"
#include "os/eventfd.h"
#include "os/seqpacket.h"
#include "os/shared_memory.h"
#include "os/socket.h"

#include <errno.h>
#include <poll.h>
#include <sley/error.h>
#include <sley/task.h>
#include <sley/time.h>
#include <stdio.h>
#include <string.h>

#define ACCEPTS_AT_ONCE 16
#define PACKETS_AT_ONCE 4
#define PAUSE_NS 50000000u

/* ---- refusing ---------------------------------------------------------------------------- */

/* Says why to the process and to the log, and hangs up. */
static void refuse(struct sley_server *server, int socket,
		   const struct os_peer *peer, int code, const char *reason,
		   const char *advice)
{
	struct wire_packet packet;

	packet_refused(&packet, code, "%s: %s", reason, advice);
	/* A process that does not read its refusal sees the end. */
	if (os_seqpacket_send(socket, &packet, sizeof(packet), NULL, 0) == 0 &&
	    doorkeeper_may_say(server))
		report(server_runtime(server),
		       "the server at %s refused pid %d of uid %u: %s: %s",
		       server->listener.path, peer->pid, peer->uid, reason,
		       advice);
	os_seqpacket_hang_up(socket);
	spin_lock(&server->lock);
	server->counts.refused++;
	spin_unlock(&server->lock);
}

/* ---- accepting --------------------------------------------------------------------------- */

/* Handshakes that stopped long ago go.  True: one at least. */
static bool sweep(struct sley_server *server)
{
	/* relaxed: a time, which a test has changed. */
	uint64_t patience_ns = load_relaxed(&server->greeting_ns);
	uint64_t now = os_now();
	bool some = false;

	for (uint32_t i = 0; i < server->options.max_clients; i++) {
		struct connection *connection = server->table[i];

		if (!connection || connection->ingress || connection->leaving ||
		    now - connection->connected_ns < patience_ns)
			continue;
		doorkeeper_end(connection, -ETIMEDOUT,
			       "a handshake without an end");
		some = true;
	}
	return some;
}

/*
 * The descriptor by which the end of the process is heard; -1: the end of the connection
 * has to do.  False: the process is gone.
 */
static bool watch_process(int socket, const struct os_peer *peer, int *pidfd)
{
	*pidfd = os_local_peer_pidfd(socket, peer);
	if (*pidfd >= 0 && !(os_fd_poll(socket, 0) & (POLLHUP | POLLERR)))
		return true;
	if (*pidfd >= 0)
		os_close(*pidfd);
	else if (*pidfd != -ESRCH) {
		*pidfd = -1;
		return true;
	}
	return false;
}

/* In the table, under a number of its own. */
static void enter(struct sley_server *server, struct connection *connection)
{
	uint32_t index = 0;

	while (server->table[index])
		index++;
	connection->index = index;
	connection->number = ++server->next_number;
	spin_lock(&server->lock);
	server->table[index] = connection;
	server->counts.accepted++;
	spin_unlock(&server->lock);
	countdown_add(&server->nr_connections, 1);
}

/* Both are watched from now on: 0 or -errno. */
static int add_to_epoll(struct sley_server *server,
			const struct connection *connection)
{
	uint32_t index = connection->index;
	int err = os_epoll_add(server->epoll, connection->socket,
			       DOORKEEPER_SOCKET(index));

	if (!err && connection->pidfd >= 0)
		err = os_epoll_add(server->epoll, connection->pidfd,
				   DOORKEEPER_PROCESS(index));
	return err;
}

static void admit(struct sley_server *server, int socket,
		  const struct os_peer *peer, int pidfd,
		  struct quota_user *user)
{
	struct connection *connection = connection_create(server, socket, peer);
	int err;

	if (!connection) {
		quota_leave(&server->quota, user);
		os_close(pidfd);
		refuse(server, socket, peer, -ENOMEM, "there is no memory",
		       "try again later");
		return;
	}
	connection->pidfd = pidfd;
	connection->user = user;
	enter(server, connection);
	err = add_to_epoll(server, connection);
	if (err)
		doorkeeper_end(connection, err, "the kernel cannot watch it");
}

/* 0, or why not. */
static int enter_quota(struct sley_server *server, uint32_t uid,
		       struct quota_user **user)
{
	int err = quota_enter(&server->quota, uid, user);

	if (err && sweep(server)) {
		doorkeeper_do_chores(server); /* their places are free now */
		err = quota_enter(&server->quota, uid, user);
	}
	return err;
}

static void greet(struct sley_server *server, int socket)
{
	struct sley_server_peer who = { .name = "" };
	struct os_peer peer = { .pid = 0 };
	struct quota_user *user;
	int pidfd, err = os_local_peer(socket, &peer);

	if (err || !watch_process(socket, &peer, &pidfd)) {
		os_close(socket);
		return;
	}
	who.uid = peer.uid;
	who.gid = peer.gid;
	who.pid = peer.pid;
	who.session = server->next_number + 1;
	err = server_may_connect(server, &who)
		      ? enter_quota(server, peer.uid, &user)
		      : -EACCES;
	if (!err) {
		admit(server, socket, &peer, pidfd, user);
		return;
	}
	os_close(pidfd);
	refuse(server, socket, &peer, err,
	       err == -EACCES   ? "this user may not connect"
	       : err == -EDQUOT ? "this user has too many clients "
				  "(max_clients_per_user)"
				: "there are too many clients (max_clients)",
	       err == -EACCES ? "ask the owner of the daemon"
			      : "close some, or raise the limit");
}

/* No descriptor is left: the process that connects is sent away, or it would wait. */
static bool send_away(struct sley_server *server)
{
	int socket;

	os_close(server->spare);
	socket = os_accept(server->listener.fd, NULL, NULL);
	os_close(socket);
	server->spare = os_eventfd_create();
	return socket >= 0;
}

int greeting_listen(struct sley_server *server)
{
	return os_epoll_add(server->epoll, server->listener.fd,
			    DOORKEEPER_LISTENER);
}

static void listen_again(void *arg)
{
	struct sley_server *server = arg;

	(void)!sley_sleep(PAUSE_NS);
	/* relaxed: the notification orders it. */
	store_relaxed(&server->paused, 2);
	source_notify(server->source);
	(void)countdown_done(&server->nr_connections);
}

/* A process that waits would be reported again and again: listens no more for a time. */
static void pause_listening(struct sley_server *server)
{
	countdown_add(&server->nr_connections, 1);
	if (sley_schedule_on(server_runtime(server), listen_again, server,
			     NULL) != 0) {
		(void)countdown_done(&server->nr_connections);
		return;
	}
	os_epoll_remove(server->epoll, server->listener.fd);
	/* relaxed: only the taker, the caller, and later the task. */
	store_relaxed(&server->paused, 1);
}

void greeting_resume(struct sley_server *server)
{
	/* relaxed: the notification orders it. */
	if (likely(load_relaxed(&server->paused) != 2))
		return;
	/* relaxed: as above. */
	store_relaxed(&server->paused, 0);
	if (server->listener.fd >= 0 && greeting_listen(server) != 0)
		pause_listening(server);
}

/* True: there may be more. */
static bool cannot_accept(struct sley_server *server, int err)
{
	bool lacks_descriptor = err == -EMFILE || err == -ENFILE;

	if (doorkeeper_may_say(server))
		report(server_runtime(server),
		       "the server at %s cannot accept a client: %s%s",
		       server->listener.path, sley_strerror(err),
		       lacks_descriptor ? ": raise the limit (ulimit -n)" : "");
	if (lacks_descriptor && server->spare >= 0 && send_away(server))
		return true;
	pause_listening(server);
	return false;
}

bool greeting_accept(struct sley_server *server)
{
	for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		int socket;

		if (server->listener.fd < 0)
			return false;
		socket = os_accept(server->listener.fd, NULL, NULL);
		if (socket >= 0)
			greet(server, socket);
		else if (socket == -EAGAIN)
			return false;
		else if (socket != -ECONNABORTED)
			return cannot_accept(server, socket);
	}
	return true;
}

/* ---- the ring ---------------------------------------------------------------------------- */

/* The memory that the client brings, if its size is allowed. */
static int adopt_ring(struct connection *connection, int fd)
{
	const struct session_limits *limits = &connection->session.limits;
	uint64_t most =
		request_ring_size(limits->max_depth, limits->max_slot_size);
	int64_t size = os_shared_memory_size(fd);

	if (size < 0)
		return (int)size;
	if ((uint64_t)size > most)
		return -E2BIG;
	return request_ring_attach(&connection->ring, fd);
}

/* The descriptors of a WELCOME.  Those that only the client needs are closed afterwards. */
static int open_bells(struct connection *connection, int *fds)
{
	int bell[2], err = os_bell_create(bell);

	if (err)
		return err;
	connection->client_bell = bell[0];
	fds[WIRE_FD_CLIENT_BELL] = bell[1];
	connection->server_bell = os_eventfd_create();
	fds[WIRE_FD_SERVER_BELL] = connection->server_bell;
	fds[WIRE_FD_PAGE] = connection->server->page_fd;
	return connection->server_bell < 0 ? connection->server_bell : 0;
}

static int send_welcome(struct connection *connection, int *fds)
{
	struct sley_server *server = connection->server;
	struct session *session = &connection->session;
	const struct packet_offer offer = {
		.session = connection->number,
		.generation = server->generation,
		.segment_bytes = server->limits.max_segment_bytes,
	};
	struct wire_packet packet;
	int err = session_welcome(session, server_mem(server),
				  &connection->ring, &offer, &packet);

	if (err)
		return err;
	(void)snprintf(packet.text, sizeof(packet.text), "%s",
		       server->page->version);
	return connection_send(connection, &packet, fds,
			       packet_nr_fds(&packet, session->adopts));
}

/* A ring, made or adopted (@given): 0 or an error. */
static int welcome(struct connection *connection, int given)
{
	const struct session *session = &connection->session;
	int fds[WIRE_FDS_MAX] = { -1, -1, -1, -1 }, err;

	if (session->adopts) {
		err = adopt_ring(connection, given);
	} else {
		fds[WIRE_FD_RING] =
			request_ring_create(&connection->ring, "sley ring",
					    session->depth, session->slot_size);
		err = fds[WIRE_FD_RING] < 0 ? fds[WIRE_FD_RING] : 0;
	}
	if (!err)
		err = open_bells(connection, fds);
	if (!err)
		err = send_welcome(connection, fds);
	os_close(fds[WIRE_FD_CLIENT_BELL]);
	os_close(fds[WIRE_FD_RING]);
	return err;
}

static const char *why_no_ring(int err)
{
	switch (err) {
	case -EPERM:
	case -EBADMSG:
	case -EINVAL:
		return "the ring that it brought is none";
	case -E2BIG:
		return "the ring that it brought is too large or too small";
	default:
		return "there are no resources for its ring";
	}
}

/* There is no ring for the client. */
static void end_without_ring(struct connection *connection, int err)
{
	char text[WIRE_TEXT];

	if (err == -EPROTONOSUPPORT)
		(void)snprintf(text, sizeof(text),
			       "the ring that it brought has the layout %u, "
			       "the daemon knows %u: start the program again",
			       connection->ring.version, REQUEST_RING_VERSION);
	else
		(void)snprintf(text, sizeof(text), "%s", why_no_ring(err));
	doorkeeper_end(connection, err, text);
}

/* The client with the fewest others beside it. */
static int begin(struct connection *connection)
{
	struct sley_server *server = connection->server;
	uint64_t turn = connection->number % server->nr_ingresses;

	doorkeeper_limit(connection);
	runtime_set_spin_floor(server_runtime(server), SERVER_SPIN_NS);
	return ingress_add(server->ingresses[turn], connection);
}

/* ---- packets ----------------------------------------------------------------------------- */

static void obey(struct connection *connection, struct wire_packet *packet,
		 int fd)
{
	struct wire_packet answer;
	int wants, err = 0;

	spin_lock(&connection->lock);
	wants = session_packet(&connection->session, packet, fd >= 0, &answer);
	spin_unlock(&connection->lock);
	if (wants < 0) {
		doorkeeper_end(connection, wants, answer.text);
		return;
	}
	if (wants == SESSION_BEGIN) {
		err = begin(connection);
		if (err)
			doorkeeper_end(connection, err,
				       "there is no room for it");
		return;
	}
	err = welcome(connection, fd);
	if (err == -EPIPE)
		doorkeeper_end(connection, 0, NULL); /* it is gone */
	else if (err)
		end_without_ring(connection, err);
}

void greeting_hear(struct connection *connection)
{
	struct wire_packet packet;

	for (int i = 0; i < PACKETS_AT_ONCE && !connection->leaving; i++) {
		int fd = -1;
		int result = os_seqpacket_recv(connection->socket, &packet,
					       sizeof(packet), &fd, 1, false);

		if (result == -EAGAIN)
			return;
		if (result == 1)
			obey(connection, &packet, fd);
		else if (result == -EPROTO)
			doorkeeper_end(connection, result,
				       "a packet that is none");
		else
			doorkeeper_end(connection, 0, NULL);
		os_close(fd);
	}
}
