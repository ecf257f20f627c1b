/* SPDX-License-Identifier: MIT */
/*
 * kv_server.h - the servers among the peers of the rows `kv-local` and `kv`: start and end
 * of a server, and a client with its protocol on a Unix socket, one request at a time.
 *
 * Requests and answers have fixed sizes.  A request is one send(), an answer most often one
 * recv().
 */
#ifndef BENCH_PEERS_KV_SERVER_H
#define BENCH_PEERS_KV_SERVER_H

#include "../problems/kv_clients.h"

#include <sys/socket.h>
#include <sys/un.h>

#define KV_TEXT 256 /* bytes of any request or answer, at most */
#define KV_FILL_AT_A_TIME 500

static struct kv_server {
	pid_t pid;
	char dir[64];
	char path[96]; /* of the socket */
} kv_server;

/* Writes the requests; knows the answers. */
struct kv_protocol {
	size_t (*get)(char *text, const uint64_t *key);
	size_t (*set)(char *text, const uint64_t *key, const void *value);
	size_t got;         /* bytes of the answer to get()                */
	size_t value_at;    /* where the value begins in it                */
	const char *found;  /* how it begins                               */
	const char *stored; /* the answer to set()                         */
};

/* ---- start and end ---------------------------------------------------------------------- */

/* Starts @argv, in which "SOCKET" and "FOLDER" are replaced. */
static inline void kv_server_start(const struct measure *m, const char **argv)
{
	snprintf(kv_server.dir, sizeof(kv_server.dir),
		 "/tmp/sley-bench.XXXXXX");
	MEASURE_CHECK(m, mkdtemp(kv_server.dir) != NULL);
	snprintf(kv_server.path, sizeof(kv_server.path), "%s/socket",
		 kv_server.dir);
	kv_server.pid = crowd_fork(m);
	if (kv_server.pid != 0)
		return;
	for (int i = 0; argv[i] != NULL; i++) {
		if (strcmp(argv[i], "SOCKET") == 0)
			argv[i] = kv_server.path;
		if (strcmp(argv[i], "FOLDER") == 0)
			argv[i] = kv_server.dir;
	}
	if (freopen("/dev/null", "w", stdout))
		execv(argv[0], (char **)(uintptr_t)argv);
	_exit(1);
}

static inline void kv_server_stop(void)
{
	kill(kv_server.pid, SIGKILL);
	waitpid(kv_server.pid, NULL, 0);
	unlink(kv_server.path);
	rmdir(kv_server.dir);
}

/* A connection to the server, as soon as it answers. */
static inline int kv_server_connect(const struct measure *m)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	uint64_t start_ns = measure_now();

	memcpy(address.sun_path, kv_server.path, sizeof(kv_server.path));
	for (;;) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		MEASURE_CHECK(m, fd >= 0);
		if (connect(fd, (struct sockaddr *)&address, sizeof(address)) ==
		    0)
			return fd;
		close(fd);
		MEASURE_CHECK(m, measure_now() - start_ns < 10000000000u);
		usleep(1000);
	}
}

/* ---- a client ------------------------------------------------------------------------ */

struct kv_connection {
	const struct measure *m;
	const struct kv_protocol *protocol;
	int fd;
};

/* Reads @size bytes that begin with @first. */
static inline void kv_receive(const struct kv_connection *connection,
			      char *text, size_t size, const char *first)
{
	size_t used = 0;

	while (used < size) {
		ssize_t got = recv(connection->fd, text + used, size - used, 0);

		MEASURE_CHECK(connection->m, got > 0);
		used += (size_t)got;
		MEASURE_CHECK(connection->m, *text == *first);
	}
	MEASURE_CHECK(connection->m, memcmp(text, first, strlen(first)) == 0);
}

static inline void kv_send(const struct kv_connection *connection,
			   const char *text, size_t size)
{
	while (size > 0) {
		ssize_t sent = send(connection->fd, text, size, MSG_NOSIGNAL);

		MEASURE_CHECK(connection->m, sent > 0);
		text += sent;
		size -= (size_t)sent;
	}
}

static inline int kv_server_get(void *self, const void *key, void *value,
				size_t room)
{
	const struct kv_connection *connection = self;
	const struct kv_protocol *protocol = connection->protocol;
	char text[KV_TEXT];

	kv_send(connection, text, protocol->get(text, key));
	kv_receive(connection, text, protocol->got, protocol->found);
	memcpy(value, text + protocol->value_at,
	       room < KV_VALUE_SIZE ? room : KV_VALUE_SIZE);
	return 0;
}

static inline int kv_server_set(void *self, const void *key, const void *value)
{
	const struct kv_connection *connection = self;
	const char *stored = connection->protocol->stored;
	char text[KV_TEXT];

	kv_send(connection, text, connection->protocol->set(text, key, value));
	kv_receive(connection, text, strlen(stored), stored);
	return 0;
}

static inline void kv_server_open(const struct kv_clients *clients,
				  struct kv_side *side)
{
	static struct kv_connection connection;

	connection = (struct kv_connection){ clients->m, clients->arg,
					     kv_server_connect(clients->m) };
	*side = (struct kv_side){ kv_server_get, kv_server_set, &connection };
}

/* ---- the row ------------------------------------------------------------------------- */

/* All keys, many at a time. */
static inline void kv_server_fill(const struct measure *m,
				  const struct kv_protocol *protocol)
{
	static char text[KV_FILL_AT_A_TIME * KV_TEXT];
	const struct kv_connection connection = { m, protocol,
						  kv_server_connect(m) };
	uint32_t nr = kv_nr_keys(m), nr_open = 0;
	size_t used = 0;

	for (uint32_t i = 0; i < nr; i++) {
		uint64_t key[2], value[(KV_VALUE_SIZE + 7) / 8] = { i };

		kv_key(key, i);
		used += protocol->set(text + used, key, value);
		if (++nr_open < KV_FILL_AT_A_TIME && i + 1 < nr)
			continue;
		kv_send(&connection, text, used);
		kv_receive(&connection, text,
			   nr_open * strlen(protocol->stored),
			   protocol->stored);
		used = nr_open = 0;
	}
	close(connection.fd);
}

/* Both sides sleep while they wait, so there is one figure. */
static inline void kv_server_run(const struct measure *m, const char **argv,
				 struct kv_protocol *protocol)
{
	static const char *const names[2] = { "", "parked_" };
	struct kv_clients clients = { .m = m,
				      .open = kv_server_open,
				      .arg = protocol };

	kv_server_start(m, argv);
	kv_server_fill(m, protocol);
	kv_clients_run(&clients, names);
	kv_server_stop();
}

#endif
