/* SPDX-License-Identifier: MIT */
/*
 * connection.c - see connection.h.
 */
#include "http/server/connection.h"

#include "base/atomic.h"
#include "http/message/target.h"
#include "http/server/server.h"
#include "http/server/system.h"

#include <errno.h>
#include <string.h>

/* After the last answer, for a client that has not read it and still sends. */
#define LINGER_MS 2000
#define LINGER_MAX (256u << 10)

/* Deadlines from here on may be a second late. */
#define COARSE_MS 2000

/* How a round ends. */
enum round {
	ROUND_NEXT,   /* there may be another request               */
	ROUND_CLOSE,  /* nothing is under way: close                */
	ROUND_LINGER, /* the client may send: let it read the answer */
	ROUND_ABORT
};

/* ---- time ------------------------------------------------------------------------------ */

void connection_look_at_clock(struct connection *connection)
{
	time_t second = system_seconds();

	if (likely(second == connection->second))
		return;
	connection->second = second;
	connection->now_ns = sley_now();
	if (!http_date_write(connection->date, second))
		(void)!http_date_write(connection->date, 0);
}

uint64_t connection_deadline(struct connection *connection, uint32_t ms)
{
	if (ms == SLEY_HTTP_NO_LIMIT)
		return SLEY_FOREVER;
	if (ms < COARSE_MS)
		return sley_after(ms * SLEY_MSEC);
	connection_look_at_clock(connection);
	return connection->now_ns + (ms + 1000ull) * SLEY_MSEC;
}

/* ---- input ------------------------------------------------------------------------------ */

int connection_flush(struct connection *connection)
{
	if (likely(!connection->corked))
		return 0;
	connection->corked = false;
	return sley_stream_uncork_until(
		connection->stream,
		connection_deadline(connection, connection->options->write_ms));
}

/* Wait for the first byte of a request: how many there are, 0, or -errno. */
static ssize_t wait_for_request(struct connection *connection)
{
	uint64_t deadline_ns =
		connection_deadline(connection, connection->options->idle_ms);
	ssize_t n = connection_flush(connection);

	if (unlikely(n))
		return n;
	/* relaxed: both sides change this one word, and publish nothing else. */
	if (or_relaxed(&connection->word, CONNECTION_IDLE) & CONNECTION_STOPS)
		return 0;
	n = sley_stream_peek_until(connection->stream, &connection->in, 1,
				   deadline_ns);
	/* relaxed: as above. */
	(void)and_relaxed(&connection->word, ~CONNECTION_IDLE);
	return n;
}

void connection_stop(struct connection *connection)
{
	/* relaxed: as in wait_for_request(), which changes the same word. */
	if (or_relaxed(&connection->word, CONNECTION_STOPS) & CONNECTION_IDLE)
		system_end_reading(sley_stream_fd(connection->stream));
}

bool connection_stops(const struct connection *connection)
{
	/* relaxed: an answer that is begun at the same time may promise more. */
	return load_relaxed(&connection->word) & CONNECTION_STOPS;
}

/* More of a head that has begun: how many bytes there are, or -errno. */
static ssize_t wait_for_more(struct connection *connection,
			     uint64_t *deadline_ns)
{
	ssize_t n = connection_flush(connection);

	if (n)
		return n;
	if (!*deadline_ns)
		*deadline_ns = connection_deadline(
			connection, connection->options->head_ms);
	n = sley_stream_peek_until(connection->stream, &connection->in,
				   connection->in_size + 1, *deadline_ns);
	if (n >= 0 && (size_t)n <= connection->in_size)
		return -ENODATA;
	return n;
}

/* ---- the end of a round -------------------------------------------------------------------- */

/* The request is refused, and what follows it cannot be trusted. */
static cold enum round refuse(struct connection *connection, int status,
			      const char *why)
{
	connection->keeps = false;
	if (connection->state == ANSWER_NONE &&
	    response_of_server(connection, status, why))
		return ROUND_ABORT;
	return connection->state == ANSWER_DONE ? ROUND_LINGER : ROUND_ABORT;
}

/* The input has ended early, with @err. */
static cold enum round give_up(struct connection *connection, ssize_t err)
{
	if (err == -ETIMEDOUT)
		return refuse(connection, 408, "The request came too slowly");
	return err == -ENODATA ? ROUND_CLOSE : ROUND_ABORT;
}

/* The status for a handler that has not answered, and has returned @err. */
static int status_of(const struct connection *connection, int err)
{
	if (connection->refusal)
		return connection->refusal;
	switch (err) {
	case -ENOENT:
		return 404;
	case -EACCES:
	case -EPERM:
		return 403;
	case -ECANCELED:
		return 503;
	default:
		return 500;
	}
}

/* The handler has returned @err: is there an answer now? */
static int finish_answer(struct connection *connection, int err)
{
	if (connection->state == ANSWER_NONE) {
		if (connection->refusal || err == -ECANCELED)
			connection->keeps = false;
		return response_of_server(connection,
					  status_of(connection, err), NULL);
	}
	if (connection->state == ANSWER_BEGUN)
		return err < 0 ? err : response_end(connection);
	return connection->state == ANSWER_DONE ? 0 : -EPIPE;
}

/* Take what is left of the request out of the stream. */
static enum round finish_request(struct connection *connection, size_t size)
{
	if (likely(!connection->copied)) {
		sley_stream_consume(connection->stream, size);
		connection->in_size -= size;
		if (likely(connection->keeps))
			return ROUND_NEXT;
		return connection->in_size || connection->head.keep_alive
			       ? ROUND_LINGER
			       : ROUND_CLOSE;
	}
	if (!connection->keeps || !request_pass_over_body(connection))
		return ROUND_LINGER;
	connection->in_size = (size_t)sley_stream_peek_until(
		connection->stream, &connection->in, 0, 0);
	return ROUND_NEXT;
}

/* ---- a request ------------------------------------------------------------------------------- */

static struct sley_http_text text_at(const char *at, struct http_slice slice)
{
	return (struct sley_http_text){ at + slice.at, slice.size };
}

static enum http_error fill_in_request(struct connection *connection)
{
	struct sley_http_request *request = &connection->request;
	const struct http_slice target = connection->head.target;
	const struct http_slice method = connection->head.method;
	const char *text = connection->in + target.at;
	struct http_target parts;
	enum http_error error = http_target_split(text, target.size, &parts);

	if (unlikely(error))
		return error;
	request->method = text_at(connection->in, method);
	request->path = text_at(text, parts.path);
	if (unlikely(!parts.path.size))
		request->path = parts.form == HTTP_FORM_SERVER
					? (struct sley_http_text){ "*", 1 }
					: (struct sley_http_text){ "/", 1 };
	request->query = (struct sley_http_text){ NULL, 0 };
	if (parts.has_query)
		request->query = text_at(text, parts.query);
	request->is_head = method.size == 4 &&
			   memcmp(request->method.data, "HEAD", 4) == 0;
	return HTTP_OK;
}

static enum round run_handler(struct connection *connection, size_t size)
{
	enum http_error error = fill_in_request(connection);
	int err;

	if (unlikely(error))
		return refuse(connection, http_error_status(error),
			      http_error_text(error));
	err = connection->server->handler(&connection->request,
					  &connection->response,
					  connection->server->arg);
	if (unlikely(connection->state != ANSWER_DONE || err < 0)) {
		err = finish_answer(connection, err);
		if (err < 0)
			return ROUND_ABORT;
	}
	return finish_request(connection, size);
}

/*
 * The body is not in the buffer as a whole.  The head moves to the stack, for the
 * handler that reads the body and then looks at a field.
 */
static noinline enum round run_copied(struct connection *connection)
{
	char head[SLEY_HTTP_HEAD_MAX];
	size_t size = connection->head.size;

	memcpy(head, connection->in, size);
	sley_stream_consume(connection->stream, size);
	connection->in = head;
	connection->copied = true;
	return run_handler(connection, 0);
}

/* A head is there, and is good. */
static enum round run_request(struct connection *connection)
{
	const struct http_head *head = &connection->head;
	enum http_framing framing = http_request_framing(head);
	size_t size = head->size;

	if (unlikely(++connection->nr_requests ==
			     connection->options->requests_max ||
		     !head->keep_alive))
		connection->keeps = false;
	connection->request.has_body = framing != HTTP_NO_BODY;
	if (likely(framing == HTTP_NO_BODY)) {
		connection->body_ended = true;
		connection->gathers = connection->in_size > size;
		return run_handler(connection, size);
	}
	if (framing == HTTP_LENGTH &&
	    head->length > connection->options->body_max)
		return refuse(connection, 413,
			      http_error_text(HTTP_BODY_TOO_LARGE));
	request_begin_body(connection, framing);
	if (framing == HTTP_CHUNKED ||
	    head->length > connection->in_size - size)
		return run_copied(connection);
	connection->gathers = connection->in_size > size + head->length;
	return run_handler(connection, size + (size_t)head->length);
}

static void begin_round(struct connection *connection)
{
	http_request_init(&connection->head, connection->fields, MAX_FIELDS,
			  &connection->head_limits);
	connection->keeps = true;
	connection->copied = false;
	connection->gathers = false;
	connection->body_ended = false;
	connection->waits_for_continue = false;
	connection->body_error = 0;
	connection->refusal = 0;
	connection->request.is_head = false;
	connection->response.status = 0;
	connection->state = ANSWER_NONE;
	connection->extra_size = 0;
}

static enum round serve_request(struct connection *connection)
{
	uint64_t deadline_ns = 0;
	enum http_result result;
	ssize_t n;

	begin_round(connection);
	if (likely(!connection->in_size)) {
		n = wait_for_request(connection);
		if (unlikely(n <= 0))
			return !n || n == -ETIMEDOUT ? ROUND_CLOSE
						     : ROUND_ABORT;
	} else {
		n = sley_stream_peek_until(connection->stream, &connection->in,
					   0, 0);
	}
	for (;;) {
		connection->in_size = (size_t)n;
		result = http_head_parse(&connection->head, connection->in,
					 connection->in_size);
		if (likely(result != HTTP_MORE))
			break;
		n = wait_for_more(connection, &deadline_ns);
		if (n < 0)
			return give_up(connection, n);
	}
	if (unlikely(result == HTTP_FAILED))
		return refuse(connection,
			      http_error_status(connection->head.error),
			      http_error_text(connection->head.error));
	return run_request(connection);
}

/* ---- a connection ------------------------------------------------------------------------------ */

/*
 * The peer may still send, and a close would make its system drop our answer.  So only
 * our direction is ended, and the peer's bytes are thrown away, for a while.
 */
static void linger(struct connection *connection)
{
	uint64_t deadline_ns = sley_after(LINGER_MS * SLEY_MSEC);
	size_t total = 0;
	const char *data;
	ssize_t n;

	if (sley_stream_shut_until(connection->stream, deadline_ns))
		return;
	while (total < LINGER_MAX) {
		n = sley_stream_peek_until(connection->stream, &data, 1,
					   deadline_ns);
		if (n <= 0)
			return;
		sley_stream_consume(connection->stream, (size_t)n);
		total += (size_t)n;
	}
}

static void init(struct connection *connection, struct sley_stream *stream,
		 struct sley_http_server *server)
{
	const struct sley_http_options *options = &server->options;

	connection->stream = stream;
	connection->server = server;
	connection->options = options;
	connection->word = 0;
	connection->nr_requests = 0;
	connection->second = (time_t)-1;
	connection->corked = false;
	connection->in_size = 0;
	connection->head_limits = (struct http_head_limits){
		options->head_max < 8192 ? options->head_max : 8192,
		options->head_max
	};
	connection->body_limits =
		(struct http_body_limits)HTTP_BODY_LIMITS_DEFAULT;
	connection->body_limits.size = options->body_max;
	connection->request.connection = connection;
	connection->response.connection = connection;
	connection_look_at_clock(connection);
}

int connection_serve(struct sley_stream *stream, void *server)
{
	struct connection connection;
	enum round round;

	init(&connection, stream, server);
	server_add(server, &connection);
	do {
		round = serve_request(&connection);
	} while (likely(round == ROUND_NEXT));
	if (round != ROUND_ABORT && connection_flush(&connection))
		round = ROUND_ABORT;
	if (round == ROUND_LINGER)
		linger(&connection);
	server_remove(server, &connection);
	return round == ROUND_ABORT ? -ECONNABORTED : 0;
}
