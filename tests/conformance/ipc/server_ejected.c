/* SPDX-License-Identifier: MIT */
/*
 * server_ejected.c - a client that is thrown out, and lives: the ring is its own again when
 * it hears the end of the connection.  It may begin the next life of the ring then, and the
 * daemon must neither write to the ring nor take from it.
 */
#include "conformance/ipc/peer.h"

#include <poll.h>

#define NO_END_MS 100 /* in which the end must not come */

/*
 * Nothing writes to it before the method does: the ring has two addresses in this process,
 * and ThreadSanitizer sees no order through it.
 */
static struct gate gate;

struct scene {
	struct serving s;
	struct peer peer;
	uint32_t pool;
};

static struct scene begin(void)
{
	struct scene scene = { .s = serving_of(routing_of(2, "none"), NULL) };

	peer_join(&scene.peer, scene.s.path);
	CHECK_EQ(peer_open(&scene.peer, "p", "", &scene.pool), 0);
	return scene;
}

static void put(struct scene *scene, uint32_t method, uint16_t flags,
		const void *in, uint32_t in_size)
{
	struct wire_head head = { .pool = scene->pool,
				  .method = method,
				  .flags = flags };

	peer_put(&scene->peer, &head, in, in_size);
	peer_publish(&scene->peer);
}

static void eject(struct scene *scene)
{
	struct wire_packet packet;

	CHECK_EQ(sley_server_eject(scene->s.server, scene->peer.welcome.session,
				   "the test wants it so"),
		 0);
	CHECK_EQ(peer_recv(&scene->peer, &packet, NULL, 0), 1);
	CHECK_EQ(packet.kind, WIRE_GOODBYE);
}

static void end(struct scene *scene)
{
	struct wire_packet packet;

	CHECK_EQ(peer_recv(&scene->peer, &packet, NULL, 0), 0);
	CHECK_EQ(serving_stats(&scene->s).nr_in_flight, 0);
	peer_leave(&scene->peer);
	serving_stop(&scene->s);
}

/* A method that runs writes its answer when it ends. */
TEST(the_end_comes_after_the_last_answer)
{
	struct scene scene = begin();
	struct pollfd socket = { .fd = scene.peer.socket, .events = POLLIN };
	struct gate *in = &gate;
	struct wire_packet packet;
	struct reply reply;

	put(&scene, PROBE_HOLD, 0, &in, sizeof(in));
	EVENTUALLY(atomic_load(&gate.held));
	eject(&scene);
	CHECK_EQ(poll(&socket, 1, NO_END_MS), 0);
	gate_open(&gate);
	CHECK_EQ(peer_recv(&scene.peer, &packet, NULL, 0), 0);
	CHECK(peer_has_answer(&scene.peer, &reply));
	CHECK_EQ(reply.code, 0);
	end(&scene);
}

/* What the client submits from now on is for the next life of the ring. */
TEST(nothing_is_taken_from_a_client_that_was_thrown_out)
{
	struct scene scene = begin();
	struct gate *in = &gate;
	int before;

	put(&scene, PROBE_HOLD, 0, &in, sizeof(in));
	EVENTUALLY(atomic_load(&gate.held));
	eject(&scene);
	before = atomic_load(&probe_counts.begun);
	put(&scene, PROBE_COUNT, WIRE_FORGOTTEN, NULL, 0);
	gate_open(&gate);
	end(&scene);
	CHECK_EQ(atomic_load(&probe_counts.begun), before);
}
