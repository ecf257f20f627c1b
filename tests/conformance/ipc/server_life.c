/* SPDX-License-Identifier: MIT */
/*
 * server_life.c - servers begin and end: R-C13, R-C14; rights, limits, inspection.
 */
#include "conformance/ipc/peer.h"

#include "ipc/server.h"
#include "os/shared_memory.h"

#include <stdio.h>
#include <sys/stat.h>

/* ---- beginning ------------------------------------------------------------------------- */

TEST_WORKERS(a_server_leaves_nothing_behind)
{
	struct serving s = serving_start("none", NULL);
	struct stat status;

	CHECK_EQ(stat(s.path, &status), 0);
	CHECK_EQ(status.st_mode & 0777, 0600);
	serving_stop(&s);
}

TEST_WORKERS(rc13_a_second_server_at_the_same_socket_is_refused)
{
	struct serving s = serving_start("none", NULL);
	struct sley_server *second;
	struct peer peer;
	uint32_t pool;

	CHECK_EQ(sley_server_create(s.r.router, &second,
				    SLEY_SERVER_OPTIONS(.socket = s.path)),
		 -EADDRINUSE);
	peer_join(&peer, s.path);
	CHECK_EQ(peer_open(&peer, "p", "", &pool), 0);
	peer_leave(&peer);
	serving_stop(&s);
}

TEST_WORKERS(rc13_two_servers_of_one_user_do_not_meet)
{
	struct serving first = serving_start("none", NULL);
	struct serving second = serving_of(first.r, NULL);
	struct peer a, b;
	uint32_t pool;

	peer_join(&a, first.path);
	peer_join(&b, second.path);
	CHECK_NE(a.welcome.generation, b.welcome.generation);
	sley_server_destroy(second.server);
	CHECK_EQ(rmdir(second.folder), 0);
	CHECK_EQ(peer_open(&a, "p", "", &pool), 0);
	peer_leave(&a);
	peer_leave(&b);
	serving_stop(&first);
}

TEST(options_that_are_wrong_are_refused)
{
	struct routing r = routing_start(1, "none");
	struct sley_server *server;

	CHECK_EQ(sley_server_create(r.router, &server, NULL), -EINVAL);
	CHECK_EQ(sley_server_create(r.router, &server,
				    SLEY_SERVER_OPTIONS(.socket = "")),
		 -ENAMETOOLONG);
	CHECK_EQ(sley_server_create(
			 r.router, &server,
			 SLEY_SERVER_OPTIONS(.socket = "/no/such/folder/x")),
		 -ENOENT);
	CHECK_EQ(sley_server_create(r.router, &server,
				    SLEY_SERVER_OPTIONS(.socket = "/tmp/x")),
		 -EPERM);
	CHECK_EQ(sley_server_create(r.router, &server,
				    SLEY_SERVER_OPTIONS(.socket = "x",
							.max_depth = 1 << 20)),
		 -E2BIG);
	CHECK_EQ(sley_server_create(r.router, &server,
				    SLEY_SERVER_OPTIONS(.listen_fd = 99999)),
		 -EBADF);
	sley_server_destroy(NULL);
	routing_stop(&r);
}

TEST_WORKERS(a_socket_that_listens_already_is_served)
{
	struct routing r = routing_start(1, "none");
	struct serving s = { .r = r };
	struct os_local_listener listener;
	struct peer peer;

	(void)snprintf(s.folder, sizeof(s.folder), "/tmp/sley-ipc-XXXXXX");
	CHECK(mkdtemp(s.folder));
	(void)snprintf(s.path, sizeof(s.path), "%s/sock", s.folder);
	CHECK_EQ(os_local_listen(&listener, s.path, 0600), 0);
	/* The descriptor of a server that was not made is still the caller's. */
	test_fail_allocation_after(3);
	CHECK_EQ(sley_server_create(r.router, &s.server,
				    SLEY_SERVER_OPTIONS(.listen_fd =
								listener.fd)),
		 -ENOMEM);
	test_fail_allocation_after(-1);
	CHECK_EQ(sley_server_create(r.router, &s.server,
				    SLEY_SERVER_OPTIONS(.listen_fd =
								listener.fd)),
		 0);
	peer_join(&peer, s.path);
	peer_leave(&peer);
	sley_server_destroy(s.server);
	/* The socket was not the server's: it is still there. */
	listener.fd = -1;
	os_local_unlisten(&listener);
	CHECK_EQ(rmdir(s.folder), 0);
	routing_stop(&r);
}

/* ---- rights ---------------------------------------------------------------------------- */

static bool nobody(void *self, const struct sley_server_peer *peer)
{
	int *nr_asked = self;

	CHECK_EQ(peer->uid, getuid());
	CHECK_EQ(peer->gid, getgid());
	CHECK_EQ(peer->pid, getpid());
	++*nr_asked;
	return false;
}

TEST_WORKERS(a_process_that_may_not_connect_is_told)
{
	int nr_asked = 0;
	struct serving s = serving_start(
		"none",
		SLEY_SERVER_OPTIONS(.self = &nr_asked, .may_connect = nobody));
	struct wire_packet packet;
	struct peer peer = { .socket = peer_connect(s.path) };

	CHECK_EQ(peer_recv(&peer, &packet, NULL, 0), 1);
	CHECK_EQ(packet.kind, WIRE_REFUSED);
	CHECK_EQ(packet.code, -EACCES);
	CHECK_EQ(peer_recv(&peer, &packet, NULL, 0), 0);
	CHECK_EQ(nr_asked, 1);
	EVENTUALLY(serving_stats(&s).nr_refused == 1);
	os_close(peer.socket);
	serving_stop(&s);
}

static bool make_nothing(void *self, const struct sley_server_peer *peer,
			 const char *pool, const char *module)
{
	(void)self;
	CHECK_EQ(peer->uid, getuid());
	CHECK_STR(pool, "new");
	CHECK_STR(module, "probe");
	CHECK_STR(peer->name, "peer");
	return false;
}

static uint64_t echo_only(void *self, const struct sley_server_peer *peer,
			  const char *pool, const char *module)
{
	(void)self;
	(void)peer;
	CHECK_STR(module, "probe");
	return strcmp(pool, "p") == 0 ? 1ull << PROBE_ECHO : 0;
}

TEST_WORKERS(pools_and_methods_are_allowed_one_by_one)
{
	struct serving s = serving_start(
		"none", SLEY_SERVER_OPTIONS(.may_make = make_nothing,
					    .may_use = echo_only));
	struct sley_pool *secret = probe_pool(s.r.router, "secret", 1);
	struct wire_head head = { .out_room = 64 };
	struct peer peer;

	peer_join(&peer, s.path);
	CHECK_EQ(peer_open(&peer, "new", "probe", &head.pool), -EACCES);
	CHECK_EQ(peer_open(&peer, "secret", "", &head.pool), -EACCES);
	CHECK_EQ(peer_open(&peer, "p", "", &head.pool), 0);
	head.method = PROBE_ECHO;
	CHECK_EQ(peer_call(&peer, &head, "x", 1).code, 0);
	head.method = PROBE_WHERE;
	CHECK_EQ(peer_call(&peer, &head, "x", 1).code, -EACCES);
	peer_leave(&peer);
	sley_pool_close(secret);
	serving_stop(&s);
}

/* ---- limits ---------------------------------------------------------------------------- */

TEST_WORKERS(clients_above_the_limit_are_told)
{
	struct serving s = serving_start(
		"none", SLEY_SERVER_OPTIONS(.max_clients_per_user = 2));
	struct peer a, b, c = { .socket = -1 };
	struct wire_packet packet;

	peer_join(&a, s.path);
	peer_join(&b, s.path);
	c.socket = peer_connect(s.path);
	CHECK_EQ(peer_recv(&c, &packet, NULL, 0), 1);
	CHECK_EQ(packet.kind, WIRE_REFUSED);
	CHECK_EQ(packet.code, -EDQUOT);
	os_close(c.socket);
	peer_leave(&a);
	EVENTUALLY(serving_stats(&s).nr_clients == 1);
	peer_join(&c, s.path);
	peer_leave(&b);
	peer_leave(&c);
	serving_stop(&s);
}

/*
 * A handshake that stops in the middle keeps its place for a time, and loses it to a client
 * that needs one.
 */
TEST_WORKERS(a_half_handshake_is_dropped_after_its_time)
{
	struct serving s = serving_start(
		"none", SLEY_SERVER_OPTIONS(.max_clients_per_user = 2));
	struct peer silent = { .socket = peer_connect(s.path) };
	struct wire_packet packet;
	struct peer welcomed, late;

	peer_greet(&welcomed, s.path, 64, 1024);
	late.socket = peer_connect(s.path);
	CHECK_EQ(peer_recv(&late, &packet, NULL, 0), 1);
	CHECK_EQ(packet.code, -EDQUOT);
	os_close(late.socket);
	/* From now on their time is over. */
	store_relaxed(&s.server->greeting_ns, 0); /* relaxed: a time. */
	peer_join(&late, s.path);
	CHECK_EQ(peer_recv(&silent, &packet, NULL, 0), 1);
	CHECK_EQ(packet.kind, WIRE_REFUSED);
	CHECK_EQ(packet.code, -ETIMEDOUT);
	CHECK_EQ(peer_recv(&silent, &packet, NULL, 0), 0);
	CHECK_EQ(peer_recv(&welcomed, &packet, NULL, 0), 1);
	CHECK_EQ(packet.kind, WIRE_REFUSED);
	CHECK_EQ(packet.code, -ETIMEDOUT);
	CHECK_EQ(peer_recv(&welcomed, &packet, NULL, 0), 0);
	os_close(silent.socket);
	peer_leave(&welcomed);
	peer_leave(&late);
	serving_stop(&s);
}

/* Requests above the limit stay in the ring, and are taken when others have ended. */
TEST_WORKERS(requests_above_the_limit_of_a_user_wait_in_the_ring)
{
	struct serving s = serving_start(
		"none", SLEY_SERVER_OPTIONS(.max_requests_per_user = 3));
	struct sley_event held, *event = &held;
	struct wire_head head = { .method = PROBE_WAIT };
	int before = atomic_load(&probe_counts.begun);
	struct peer a, b;
	uint32_t pool_a, pool_b;

	sley_event_init(&held, false, false);
	peer_join(&a, s.path);
	peer_join(&b, s.path);
	CHECK_EQ(peer_open(&a, "p", "", &pool_a), 0);
	CHECK_EQ(peer_open(&b, "p", "", &pool_b), 0);
	head.pool = pool_a;
	for (int i = 0; i < 5; i++)
		peer_put(&a, &head, &event, sizeof(event));
	peer_publish(&a);
	EVENTUALLY(atomic_load(&probe_counts.begun) - before == 3);
	head.pool = pool_b;
	peer_put(&b, &head, &event, sizeof(event));
	peer_publish(&b);
	for (int i = 0; i < 20; i++) {
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
		CHECK_EQ(atomic_load(&probe_counts.begun) - before, 3);
	}
	CHECK_EQ(serving_stats(&s).nr_in_flight, 3);
	sley_event_set(&held);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(peer_collect(&a).code, 0);
	CHECK_EQ(peer_collect(&b).code, 0);
	peer_leave(&a);
	peer_leave(&b);
	serving_stop(&s);
}

/* ---- inspection ------------------------------------------------------------------------ */

TEST_WORKERS(clients_are_listed_and_ejected)
{
	struct serving s = serving_start("none", NULL);
	struct sley_server_client clients[4];
	struct wire_packet packet;
	struct peer a, b;
	uint32_t pool;

	CHECK_EQ(sley_server_clients(s.server, NULL, 0), 0);
	peer_join(&a, s.path);
	peer_join(&b, s.path);
	CHECK_EQ(peer_open(&a, "p", "", &pool), 0);
	CHECK_EQ(peer_open(&b, "p", "", &pool), 0);
	CHECK_EQ(sley_server_clients(s.server, clients, 1), 2);
	CHECK_EQ(sley_server_clients(s.server, clients, 4), 2);
	CHECK_EQ(clients[0].session, a.welcome.session);
	CHECK_EQ(clients[0].pid, getpid());
	CHECK_EQ(clients[0].uid, getuid());
	CHECK_EQ(clients[0].nr_pools, 1);
	CHECK_EQ(clients[0].nr_requests, 1);
	CHECK_EQ(clients[0].depth, 64);
	CHECK_STR(clients[0].name, "peer");
	CHECK_EQ(sley_server_eject(s.server, a.welcome.session, "enough"), 0);
	CHECK_EQ(peer_recv(&a, &packet, NULL, 0), 1);
	CHECK_EQ(packet.kind, WIRE_GOODBYE);
	CHECK_EQ(packet.code, -ECONNABORTED);
	CHECK_STR(packet.text, "enough");
	CHECK_EQ(peer_recv(&a, &packet, NULL, 0), 0);
	EVENTUALLY(serving_stats(&s).nr_clients == 1);
	CHECK_EQ(sley_server_eject(s.server, a.welcome.session, "enough"),
		 -ENOENT);
	CHECK_EQ(serving_stats(&s).nr_ejected, 1);
	CHECK_EQ(serving_stats(&s).nr_accepted, 2);
	CHECK_EQ(peer_open(&b, "p", "", &pool), 0);
	peer_leave(&a);
	peer_leave(&b);
	serving_stop(&s);
}

/* ---- R-C14: the end -------------------------------------------------------------------- */

TEST_WORKERS(rc14_a_server_that_stops_answers_what_began)
{
	struct serving s = serving_start("none", NULL);
	struct sley_event held, *event = &held;
	struct wire_head head = { .method = PROBE_WAIT };
	int before = atomic_load(&probe_counts.begun);
	struct request_retreat retreat;
	struct request_remnant remnant;
	struct wire_packet packet;
	struct peer peer;

	sley_event_init(&held, false, false);
	peer_join(&peer, s.path);
	CHECK_EQ(peer_open(&peer, "p", "", &head.pool), 0);
	peer_put(&peer, &head, &event, sizeof(event));
	peer_publish(&peer);
	EVENTUALLY(atomic_load(&probe_counts.begun) > before);
	/* Published only after the stop. */
	peer_put(&peer, &head, &event, sizeof(event));
	/* The deadline is over: it does not wait, and the request is cancelled. */
	CHECK_EQ(sley_server_stop_until(s.server, sley_now()), -ETIMEDOUT);
	CHECK_EQ(peer_collect(&peer).code, -ECANCELED);
	EVENTUALLY(count_word_load(&peer.ring.memory->completed) &
		   COUNT_WORD_STOP);
	CHECK_EQ(os_local_connect(s.path), -ENOENT);
	/* What comes after the stop is not taken. */
	(void)!request_publish(peer.submitter);
	CHECK_EQ(sley_server_stop_until(s.server, SLEY_FOREVER), 0);
	CHECK_EQ(sley_server_stop_until(s.server, SLEY_FOREVER), 0);
	CHECK_EQ(serving_stats(&s).stopping, 1);
	CHECK_EQ(peer_recv(&peer, &packet, NULL, 0), 0);
	CHECK_EQ(entry_ring_look(&peer.submitter->completions, 64), 0);
	request_retreat_init(&retreat, peer.submitter, true);
	CHECK(request_take_back(peer.submitter, &retreat, &remnant));
	CHECK(!remnant.begun);
	CHECK(!request_take_back(peer.submitter, &retreat, &remnant));
	peer_leave(&peer);
	serving_stop(&s);
}

TEST_WORKERS(rc14_a_server_stops_while_requests_run_and_waits_for_them)
{
	struct serving s = serving_start("none", NULL);
	struct wire_head head = { .method = PROBE_SPIN };
	uint64_t ns = 3 * SLEY_MSEC;
	struct peer peer;

	peer_join(&peer, s.path);
	CHECK_EQ(peer_open(&peer, "p", "", &head.pool), 0);
	for (int i = 0; i < 8; i++)
		peer_put(&peer, &head, &ns, sizeof(ns));
	peer_publish(&peer);
	EVENTUALLY(serving_stats(&s).nr_requests >= 2);
	CHECK_EQ(sley_server_stop_until(s.server, SLEY_FOREVER), 0);
	CHECK_EQ(serving_stats(&s).nr_in_flight, 0);
	/* Each that was taken has its answer. */
	for (uint64_t nr = serving_stats(&s).nr_requests; nr > 1; nr--) {
		struct reply reply;

		CHECK(peer_has_answer(&peer, &reply));
		CHECK_EQ(reply.code, 0);
	}
	peer_leave(&peer);
	serving_stop(&s);
}

TEST_WORKERS(rc14_a_server_ends_while_clients_are_in_the_middle)
{
	struct serving s = serving_start("none", NULL);
	struct sley_event never, *event = &never;
	struct wire_head head = { .method = PROBE_WAIT };
	struct peer busy, greeted;
	int silent = peer_connect(s.path);

	sley_event_init(&never, false, false);
	peer_greet(&greeted, s.path, 4, 256);
	peer_join(&busy, s.path);
	CHECK_EQ(peer_open(&busy, "p", "", &head.pool), 0);
	for (int i = 0; i < 40; i++)
		peer_put(&busy, &head, &event, sizeof(event));
	peer_publish(&busy);
	serving_stop(&s);
	peer_leave(&busy);
	peer_leave(&greeted);
	os_close(silent);
}

TEST(rc14_a_server_ends_with_dead_clients)
{
	struct serving s = serving_of(routing_of(2, "none"), NULL);
	struct sley_event never, *event = &never;
	struct wire_head head = { .method = PROBE_WAIT };
	struct peer peer;

	sley_event_init(&never, false, false);
	for (int i = 0; i < 5; i++) {
		peer_join(&peer, s.path);
		CHECK_EQ(peer_open(&peer, "p", "", &head.pool), 0);
		for (int k = 0; k < 40; k++)
			peer_put(&peer, &head, &event, sizeof(event));
		peer_publish(&peer);
		peer_leave(&peer);
	}
	serving_stop(&s);
}
