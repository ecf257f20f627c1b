/* SPDX-License-Identifier: MIT */
/*
 * serving.h - a server in a task, and a peer that speaks bytes, not HTTP.
 *
 * The peer knows nothing of the library's parser: it looks for the empty line and for
 * Content-Length by itself.
 */
#ifndef SLEY_TESTS_CONFORMANCE_HTTP_SERVING_H
#define SLEY_TESTS_CONFORMANCE_HTTP_SERVING_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sley/http.h>
#include <stdio.h>
#include <sys/socket.h>

#include "conformance/bound.h"

/* ---- the server ------------------------------------------------------------------------ */

struct serving {
	struct sley_http_server server;
	struct sley_group group;
	struct sley_task task;
	int result;
	int port;
	char address[64];
};

static inline void serving_task(void *arg)
{
	struct serving *serving = arg;

	serving->result = sley_http_server_run(&serving->server);
}

static inline void serving_start(struct serving *serving,
				 sley_http_handler *handler, void *arg,
				 const struct sley_http_options *options)
{
	serving->group = (struct sley_group)SLEY_GROUP_INIT;
	serving->result = 1;
	CHECK_EQ(sley_http_server_open(&serving->server, "127.0.0.1:0", handler,
				       arg, options),
		 0);
	CHECK_GT(sley_http_server_address(&serving->server, serving->address,
					  sizeof(serving->address)),
		 0);
	serving->port = atoi(strrchr(serving->address, ':') + 1);
	sley_spawn(&serving->group, &serving->task, serving_task, serving);
}

static inline void serving_stop(struct serving *serving)
{
	CHECK_EQ(sley_http_server_stop_until(&serving->server, in_ms(20000)),
		 0);
	sley_join(&serving->group);
	CHECK_EQ(serving->result, 0);
}

/* ---- the peer -------------------------------------------------------------------------- */

struct peer {
	int fd;
	size_t size; /* bytes that came and are not taken */
	char data[200000];
};

/* An answer: the head with its empty line, and the body, each with a NUL behind. */
struct reply {
	int status;
	size_t size; /* of the body */
	char head[4096];
	char body[140000];
};

static inline struct peer *peer_connect(const struct serving *serving)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)serving->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct peer *peer = malloc(sizeof(*peer));
	int one = 1;

	CHECK(peer != NULL);
	peer->size = 0;
	peer->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(peer->fd >= 0);
	CHECK_EQ(sley_io_connect(peer->fd, (struct sockaddr *)&address,
				 sizeof(address)),
		 0);
	CHECK_EQ(setsockopt(peer->fd, IPPROTO_TCP, TCP_NODELAY, &one,
			    sizeof(one)),
		 0);
	return peer;
}

static inline void peer_close(struct peer *peer)
{
	CHECK_EQ(sley_io_close(peer->fd), 0);
	free(peer);
}

static inline void peer_send_bytes(struct peer *peer, const void *data,
				   size_t size)
{
	CHECK_EQ(sley_io_write(peer->fd, data, size), size);
}

static inline void peer_send(struct peer *peer, const char *text)
{
	peer_send_bytes(peer, text, strlen(text));
}

/* Some more bytes; 0 at the end, -ECONNRESET.  Ten seconds are too long. */
static inline ssize_t peer_receive(struct peer *peer)
{
	ssize_t n = sley_io_read_until(peer->fd, peer->data + peer->size,
				       sizeof(peer->data) - peer->size - 1,
				       in_ms(10000));

	CHECK_NE(n, -ETIMEDOUT);
	if (n > 0)
		peer->size += (size_t)n;
	peer->data[peer->size] = '\0';
	return n;
}

static inline void peer_take(struct peer *peer, void *to, size_t size)
{
	memcpy(to, peer->data, size);
	peer->size -= size;
	memmove(peer->data, peer->data + size, peer->size);
	peer->data[peer->size] = '\0';
}

/* The head of the next answer. */
static inline void peer_head(struct peer *peer, struct reply *reply)
{
	char *end;
	size_t size;

	peer->data[peer->size] = '\0';
	while (!(end = strstr(peer->data, "\r\n\r\n")))
		CHECK_GT(peer_receive(peer), 0);
	size = (size_t)(end + 4 - peer->data);
	CHECK_LT(size, sizeof(reply->head));
	peer_take(peer, reply->head, size);
	reply->head[size] = '\0';
	CHECK_EQ(memcmp(reply->head, "HTTP/1.1 ", 9), 0);
	reply->status = atoi(reply->head + 9);
	reply->size = 0;
	reply->body[0] = '\0';
}

static inline void peer_body(struct peer *peer, struct reply *reply,
			     size_t size)
{
	CHECK_LT(size, sizeof(reply->body));
	while (peer->size < size)
		CHECK_GT(peer_receive(peer), 0);
	peer_take(peer, reply->body, size);
	reply->body[size] = '\0';
	reply->size = size;
}

static inline bool reply_has(const struct reply *reply, const char *line)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "\r\n%s\r\n", line);
	return strstr(reply->head, whole) != NULL;
}

/* The next answer, with a body whose size is told. */
static inline void peer_reply(struct peer *peer, struct reply *reply)
{
	const char *length;

	peer_head(peer, reply);
	length = strstr(reply->head, "\r\nContent-Length: ");
	if (length)
		peer_body(peer, reply, (size_t)atol(length + 18));
}

/* The server closes, and sends nothing before. */
static inline void peer_check_end(struct peer *peer)
{
	CHECK_EQ(peer->size, 0);
	CHECK_EQ(peer_receive(peer), 0);
}

/* A request on a connection of its own; the server must close after the answer. */
static inline void ask_once(const struct serving *serving, const char *request,
			    struct reply *reply)
{
	struct peer *peer = peer_connect(serving);

	peer_send(peer, request);
	peer_reply(peer, reply);
	peer_check_end(peer);
	peer_close(peer);
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"

/* ---- handlers --------------------------------------------------------------------------- */

/* "METHOD path?query body". */
static inline int echo(struct sley_http_request *request,
		       struct sley_http_response *response, void *arg)
{
	char text[2000], *at = text;
	ssize_t n;

	(void)arg;
	at += snprintf(at, 1000, "%.*s %.*s", (int)request->method.size,
		       request->method.data, (int)request->path.size,
		       request->path.data);
	if (request->query.data)
		at += snprintf(at, 400, "?%.*s", (int)request->query.size,
			       request->query.data);
	*at++ = ' ';
	while ((n = sley_http_read(request, at,
				   (size_t)(text + sizeof(text) - at))) > 0)
		at += n;
	if (n < 0)
		return (int)n;
	return sley_http_respond(response, 200, "text/plain", text,
				 (size_t)(at - text));
}

/* "path size sum". */
static inline int count_bytes(struct sley_http_request *request,
			      struct sley_http_response *response, void *arg)
{
	size_t total = 0, sum = 0;
	unsigned char data[700];
	char text[100];
	ssize_t n;
	int size;

	(void)arg;
	while ((n = sley_http_read(request, data, sizeof(data))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			sum += data[i] * (total + (size_t)i + 1);
		total += (size_t)n;
	}
	if (n < 0)
		return (int)n;
	/* The texts of the request last, although the buffer was used again. */
	size = snprintf(text, sizeof(text), "%.*s %zu %zu",
			(int)request->path.size, request->path.data, total,
			sum);
	return sley_http_respond(response, 200, NULL, text, (size_t)size);
}

/* Answers, and does not read the body. */
static inline int ignore(struct sley_http_request *request,
			 struct sley_http_response *response, void *arg)
{
	(void)request;
	(void)arg;
	return sley_http_respond(response, 200, NULL, "no", 2);
}

#endif
