/* SPDX-License-Identifier: MIT */
/*
 * socket.c - shared memory and sockets of the simulated machine; see world.h.
 */
#include "ledger.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>

/* ---- shared memory ------------------------------------------------------------------- */

struct shared *shared_create(uint32_t size)
{
	struct shared *shared = calloc(1, sizeof(*shared));
	void *bytes;

	if (!shared || posix_memalign(&bytes, CACHE_LINE, size))
		abort();
	shared->bytes = memset(bytes, 0, size);
	shared->size = size;
	world.nr_shared++;
	shared_map(shared);
	return shared;
}

void shared_put(struct shared *shared)
{
	if (--shared->nr_refs)
		return;
	world.nr_shared--;
	ledger_unwatch((void *)shared->bytes);
	free(shared->bytes);
	free(shared);
}

void shared_map(struct shared *shared)
{
	for (uint32_t i = 0; i < MAPS_MAX; i++) {
		if (!world.current->maps[i]) {
			world.current->maps[i] = shared;
			shared->nr_refs++;
			return;
		}
	}
	fail("too many maps");
}

void shared_unmap(struct shared *shared)
{
	for (uint32_t i = 0; i < MAPS_MAX; i++) {
		if (world.current->maps[i] == shared) {
			world.current->maps[i] = NULL;
			shared_put(shared);
			return;
		}
	}
	fail("unmaps what is not mapped");
}

/* ---- sockets ------------------------------------------------------------------------- */

struct connection *connection_create(struct process *client, uint32_t number)
{
	struct connection *connection = calloc(1, sizeof(*connection));

	if (!connection)
		abort();
	connection->ends[SIDE_CLIENT] = client;
	connection->client = number;
	world.nr_connections++;
	return connection;
}

bool connection_send(struct connection *connection, enum side from,
		     const struct wire_packet *packet, struct shared *memory,
		     uint32_t nr_fds)
{
	enum side to = from == SIDE_CLIENT ? SIDE_DAEMON : SIDE_CLIENT;
	uint32_t at =
		(connection->first[to] + connection->nr[to]) % PACKETS_MAX;

	if (connection->nr[to] == PACKETS_MAX || !connection->ends[to])
		return false;
	connection->queue[to][at] = (struct parcel){ .packet = *packet,
						     .memory = memory,
						     .nr_fds = nr_fds };
	connection->nr[to]++;
	if (memory)
		memory->nr_refs++;
	process_signal(connection->ends[to]);
	return true;
}

static bool take_parcel(struct connection *connection, enum side to,
			struct parcel *out)
{
	if (!connection->nr[to])
		return false;
	*out = connection->queue[to][connection->first[to]];
	connection->first[to] = (connection->first[to] + 1) % PACKETS_MAX;
	connection->nr[to]--;
	return true;
}

bool connection_receive(struct connection *connection, enum side to,
			struct parcel *out)
{
	if (!take_parcel(connection, to, out))
		return false;
	if (out->memory) {
		shared_map(out->memory);
		shared_put(out->memory);
	}
	return true;
}

/* What was sent before is received first. */
bool connection_is_cut(const struct connection *connection, enum side to)
{
	enum side peer = to == SIDE_CLIENT ? SIDE_DAEMON : SIDE_CLIENT;

	return !connection->ends[peer] && !connection->nr[to];
}

static void drop_packets(struct connection *connection, enum side to)
{
	struct parcel parcel;

	while (take_parcel(connection, to, &parcel)) {
		if (parcel.memory)
			shared_put(parcel.memory);
	}
}

void connection_close(struct connection *connection, enum side side)
{
	enum side peer = side == SIDE_CLIENT ? SIDE_DAEMON : SIDE_CLIENT;

	connection->ends[side] = NULL;
	drop_packets(connection, side);
	if (connection->ends[peer]) {
		process_signal(connection->ends[peer]);
		return;
	}
	drop_packets(connection, peer);
	world.nr_connections--;
	free(connection);
}
