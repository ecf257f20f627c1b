/* SPDX-License-Identifier: MIT */
/*
 * http_client.h - one request at a time, for the rows `http-...`: shows that a server
 * answers as all servers of the row must.
 */
#ifndef BENCH_PROBLEMS_HTTP_CLIENT_H
#define BENCH_PROBLEMS_HTTP_CLIENT_H

#include "http_server.h"

#include <ctype.h>

#define HTTP_HEAD_SIZE 4096

struct http_reply {
	char head[HTTP_HEAD_SIZE + 1];
	size_t body_size;
};

static inline void http_send(const struct http_server *server, int fd,
			     const char *path)
{
	char request[256];
	int size = snprintf(request, sizeof(request),
			    "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path);

	MEASURE_CHECK(server->m,
		      send(fd, request, (size_t)size, MSG_NOSIGNAL) == size);
}

/* Reads the answer to the one request that is under way on @fd. */
static inline void http_receive(const struct http_server *server, int fd,
				struct http_reply *reply)
{
	static char data[65536];
	size_t size = 0, left;
	const char *length, *end = NULL;

	while (!end) {
		ssize_t n =
			recv(fd, reply->head + size, HTTP_HEAD_SIZE - size, 0);

		MEASURE_CHECK(server->m, n > 0);
		size += (size_t)n;
		reply->head[size] = '\0';
		end = strstr(reply->head, "\r\n\r\n");
	}
	length = strcasestr(reply->head, "\r\ncontent-length:");
	MEASURE_CHECK(server->m, length && length < end);
	reply->body_size = strtoull(length + 17, NULL, 10);
	left = reply->body_size - (size - (size_t)(end + 4 - reply->head));
	while (left) {
		ssize_t n = recv(fd, data,
				 left < sizeof(data) ? left : sizeof(data), 0);

		MEASURE_CHECK(server->m, n > 0);
		left -= (size_t)n;
	}
	reply->head[end + 2 - reply->head] = '\0';
}

/* How many fields the head has. */
static inline int http_nr_fields(const struct http_reply *reply)
{
	int nr = -1; /* the first line is none */

	for (const char *at = reply->head; (at = strchr(at, '\n')); at++)
		nr++;
	return nr;
}

static inline bool http_has_field(const struct http_reply *reply,
				  const char *name)
{
	char line[64];

	snprintf(line, sizeof(line), "\r\n%s:", name);
	return strcasestr(reply->head, line) != NULL;
}

/*
 * The answer to @path must be a success with a body of @size bytes, and have the
 * fields @names, ended by NULL, and no others.
 */
static inline void http_check_answer(const struct http_server *server,
				     const char *path, size_t size,
				     const char *const *names)
{
	struct http_reply reply;
	int fd = http_connect(server), nr = 0;

	MEASURE_CHECK(server->m, fd >= 0);
	http_send(server, fd, path);
	http_receive(server, fd, &reply);
	close(fd);
	MEASURE_CHECK(server->m, strncmp(reply.head, "HTTP/1.1 200 ", 13) == 0);
	MEASURE_CHECK(server->m, reply.body_size == size);
	for (; names[nr]; nr++) {
		if (!http_has_field(&reply, names[nr])) {
			fprintf(stderr, "no field %s in:\n%s", names[nr],
				reply.head);
			_exit(1);
		}
	}
	if (http_nr_fields(&reply) != nr) {
		fprintf(stderr, "not %d fields:\n%s", nr, reply.head);
		_exit(1);
	}
}

#endif
