/* SPDX-License-Identifier: MIT */
/*
 * connection.c - see connection.h.
 */
#include "ipc/connection.h"

#include "core/sched/worker.h"
#include "ipc/serve_request.h"
#include "ipc/server.h"
#include "os/clock.h"
#include "os/map.h"
#include "os/seqpacket.h"
#include "os/shared_memory.h"

#include <sley/pool.h>
#include <stdio.h>

struct connection *connection_create(struct sley_server *server, int socket,
				     const struct os_peer *peer)
{
	struct connection *connection =
		mem_alloc(server_mem(server), sizeof(*connection));

	if (!connection)
		return NULL;
	connection->server = server;
	connection->socket = socket;
	connection->peer = *peer;
	connection->pidfd = connection->server_bell = -1;
	connection->client_bell = -1;
	connection->connected_ns = os_now();
	connection->nr_references = 1;
	list_init(&connection->chore);
	session_init(&connection->session, &server->limits);
	return connection;
}

static void free_segments(struct connection *connection)
{
	struct session *session = &connection->session;

	for (uint32_t i = 1; i <= SESSION_SEGMENTS_MAX; i++) {
		struct session_segment *segment = &session->segments[i];

		if (segment->memory)
			os_unmap((void *)segment->memory, segment->size);
		mem_free(server_mem(connection->server), segment->private,
			 segment->private_size);
	}
}

static void close_pools(struct connection *connection)
{
	struct session *session = &connection->session;

	for (uint32_t i = 0; i < connection->nr_to_close; i++)
		sley_pool_close(connection->to_close[i]);
	for (uint32_t i = 1; i <= SESSION_POOLS_MAX; i++)
		sley_pool_close(session->pools[i].pool);
}

void connection_free(struct connection *connection)
{
	struct mem *mem = server_mem(connection->server);

	serve_free(connection);
	close_pools(connection);
	free_segments(connection);
	session_free(&connection->session, mem);
	request_ring_detach(&connection->ring);
	os_seqpacket_hang_up(connection->socket);
	os_close(connection->pidfd);
	os_close(connection->server_bell);
	os_close(connection->client_bell);
	mem_free(mem, connection, sizeof(*connection));
}

void connection_put(struct connection *connection, uint32_t nr)
{
	struct sley_server *server = connection->server;

	if (nr && sub_acq_rel(&connection->nr_references, nr) == nr) /* CO1 */
		server_add_last_chore(server, connection);
}

uint32_t connection_seen(const struct connection *connection)
{
	const struct entry_reader *reader =
		&connection->session.server.submissions;
	uint32_t word = count_word_load(reader->word);

	if (count_word_distance((uint32_t)reader->nr, count_word_count(word)))
		return entry_ring_seen(reader);
	return word;
}

struct sley_server_peer connection_peer(const struct connection *connection)
{
	return (struct sley_server_peer){
		.uid = connection->peer.uid,
		.gid = connection->peer.gid,
		.pid = connection->peer.pid,
		.session = connection->number,
		.name = connection->session.name,
	};
}

void connection_title(const struct connection *connection, char *out,
		      size_t size)
{
	(void)snprintf(out, size, "client %llu (pid %d, uid %u, \"%.64s\")",
		       (unsigned long long)connection->number,
		       connection->peer.pid, connection->peer.uid,
		       connection->session.name);
}

int connection_send(struct connection *connection,
		    const struct wire_packet *packet, const int *fds,
		    uint32_t nr_fds)
{
	return os_seqpacket_send(connection->socket, packet, sizeof(*packet),
				 fds, nr_fds);
}
