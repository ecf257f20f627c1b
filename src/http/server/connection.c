/* SPDX-License-Identifier: MIT */
/*
 * connection.c - see connection.h.
 */
#include "http/server/connection.h"

#include "base/atomic.h"
#include "http/message/target.h"
#include "http/server/exchange.h"
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

uint64_t connection_deadline_from_look(const struct connection *connection,
				       uint32_t ms)
{
	if (ms == SLEY_HTTP_NO_LIMIT)
		return SLEY_FOREVER;
	if (ms < COARSE_MS)
		return sley_after(ms * SLEY_MSEC);
	return connection->now_ns + (ms + 1000ull) * SLEY_MSEC;
}

uint64_t connection_deadline(struct connection *connection, uint32_t ms)
{
	connection_look_at_clock(connection);
	return connection_deadline_from_look(connection, ms);
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
static ssize_t wait_for_request(struct connection *connection, const char **in)
{
	uint64_t deadline_ns =
		connection_deadline(connection, connection->options->idle_ms);
	ssize_t n = connection_flush(connection);

	if (unlikely(n))
		return n;
	/* relaxed: both sides change this one word, and publish nothing else. */
	if (or_relaxed(&connection->word, CONNECTION_IDLE) & CONNECTION_STOPS)
		return 0;
	n = sley_stream_peek_until(connection->stream, in, 1, deadline_ns);
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
static ssize_t wait_for_more(struct exchange *exchange, uint64_t *deadline_ns)
{
	struct connection *connection = exchange->connection;
	ssize_t n = connection_flush(connection);

	if (n)
		return n;
	if (!*deadline_ns)
		*deadline_ns = connection_deadline(
			connection, connection->options->head_ms);
	n = sley_stream_peek_until(connection->stream, &exchange->in,
				   connection->in_size + 1, *deadline_ns);
	if (n >= 0 && (size_t)n <= connection->in_size)
		return -ENODATA;
	return n;
}

/* ---- the end of a round -------------------------------------------------------------------- */

/* The request is refused, and what follows it cannot be trusted. */
static cold enum round refuse(struct exchange *exchange, int status,
			      const char *why)
{
	exchange->keeps = false;
	if (exchange->state == ANSWER_NONE &&
	    response_of_server(exchange, status, why))
		return ROUND_ABORT;
	return exchange->state == ANSWER_DONE ? ROUND_LINGER : ROUND_ABORT;
}

/* The input has ended early, with @err. */
static cold enum round give_up(struct exchange *exchange, ssize_t err)
{
	if (err == -ETIMEDOUT)
		return refuse(exchange, 408, "The request came too slowly");
	return err == -ENODATA ? ROUND_CLOSE : ROUND_ABORT;
}

/* The status for a handler that has not answered, and has returned @err. */
static int status_of(const struct exchange *exchange, int err)
{
	if (exchange->refusal)
		return exchange->refusal;
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
static int finish_answer(struct exchange *exchange, int err)
{
	if (exchange->state == ANSWER_NONE) {
		if (exchange->refusal || err == -ECANCELED)
			exchange->keeps = false;
		return response_of_server(exchange, status_of(exchange, err),
					  NULL);
	}
	if (exchange->state == ANSWER_BEGUN)
		return err < 0 ? err : response_end(exchange);
	return exchange->state == ANSWER_DONE ? 0 : -EPIPE;
}

/* Take what is left of the request out of the stream. */
static enum round finish_request(struct exchange *exchange, size_t size)
{
	struct connection *connection = exchange->connection;

	if (likely(!exchange->copied)) {
		sley_stream_consume(connection->stream, size);
		connection->in_size -= size;
		if (likely(exchange->keeps))
			return ROUND_NEXT;
		return connection->in_size || exchange->head.keep_alive
			       ? ROUND_LINGER
			       : ROUND_CLOSE;
	}
	if (!exchange->keeps || !request_pass_over_body(exchange))
		return ROUND_LINGER;
	connection->in_size = (size_t)sley_stream_peek_until(
		connection->stream, &exchange->in, 0, 0);
	return ROUND_NEXT;
}

/* ---- a request ------------------------------------------------------------------------------- */

static struct sley_http_text text_at(const char *at, struct http_slice slice)
{
	return (struct sley_http_text){ at + slice.at, slice.size };
}

static enum http_error fill_in_request(struct exchange *exchange)
{
	struct sley_http_request *request = &exchange->request;
	const struct http_slice target = exchange->head.target;
	const struct http_slice method = exchange->head.method;
	const char *text = exchange->in + target.at;
	struct http_target parts;
	enum http_error error = http_target_split(text, target.size, &parts);

	if (unlikely(error))
		return error;
	request->method = text_at(exchange->in, method);
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

static enum round run_handler(struct exchange *exchange, size_t size)
{
	const struct sley_http_server *server = exchange->connection->server;
	enum http_error error = fill_in_request(exchange);
	int err;

	if (unlikely(error))
		return refuse(exchange, http_error_status(error),
			      http_error_text(error));
	err = server->handler(&exchange->request, &exchange->response,
			      server->arg);
	if (unlikely(exchange->state != ANSWER_DONE || err < 0)) {
		err = finish_answer(exchange, err);
		if (err < 0)
			return ROUND_ABORT;
	}
	return finish_request(exchange, size);
}

/*
 * The body is not in the buffer as a whole.  The head moves to a buffer of its own, for
 * the handler that reads the body and then looks at a field.
 */
static enum round run_copied(struct exchange *exchange)
{
	size_t size = exchange->head.size;
	char *head = sley_stream_borrow();
	enum round round;

	if (unlikely(!head))
		return refuse(exchange, 503, "The server has no memory");
	memcpy(head, exchange->in, size);
	sley_stream_consume(exchange->stream, size);
	exchange->in = head;
	exchange->copied = true;
	round = run_handler(exchange, 0);
	sley_stream_give_back(head);
	return round;
}

/* A head is there, and is good. */
static enum round run_request(struct exchange *exchange)
{
	struct connection *connection = exchange->connection;
	const struct http_head *head = &exchange->head;
	enum http_framing framing = http_request_framing(head);
	size_t size = head->size;

	if (unlikely(++connection->nr_requests ==
			     connection->options->requests_max ||
		     !head->keep_alive))
		exchange->keeps = false;
	exchange->request.has_body = framing != HTTP_NO_BODY;
	if (likely(framing == HTTP_NO_BODY)) {
		exchange->body_ended = true;
		exchange->gathers = connection->in_size > size;
		return run_handler(exchange, size);
	}
	if (framing == HTTP_LENGTH &&
	    head->length > connection->options->body_max)
		return refuse(exchange, 413,
			      http_error_text(HTTP_BODY_TOO_LARGE));
	request_begin_body(exchange, framing);
	if (framing == HTTP_CHUNKED ||
	    head->length > connection->in_size - size)
		return run_copied(exchange);
	exchange->gathers = connection->in_size > size + head->length;
	return run_handler(exchange, size + (size_t)head->length);
}

static enum round serve_request(struct exchange *exchange)
{
	struct connection *connection = exchange->connection;
	uint64_t deadline_ns = 0;
	enum http_result result;

	while (unlikely((result = http_head_parse(&exchange->head, exchange->in,
						  connection->in_size)) ==
			HTTP_MORE)) {
		ssize_t n = wait_for_more(exchange, &deadline_ns);

		if (n < 0)
			return give_up(exchange, n);
		connection->in_size = (size_t)n;
	}
	if (unlikely(result == HTTP_FAILED))
		return refuse(exchange, http_error_status(exchange->head.error),
			      http_error_text(exchange->head.error));
	return run_request(exchange);
}

/* ---- exchanges --------------------------------------------------------------------------------- */

/* What a request begins with. */
static void begin(struct exchange *exchange)
{
	http_request_init(&exchange->head, exchange->fields, MAX_FIELDS,
			  &exchange->connection->head_limits);
	exchange->keeps = true;
	exchange->copied = false;
	exchange->gathers = false;
	exchange->body_ended = false;
	exchange->waits_for_continue = false;
	exchange->body_error = 0;
	exchange->refusal = 0;
	exchange->request.is_head = false;
	exchange->response.status = 0;
	exchange->state = ANSWER_NONE;
	exchange->extra_size = 0;
}

static bool borrow_exchange(struct connection *connection)
{
	struct exchange *exchange = sley_stream_borrow();

	connection->exchange = exchange;
	if (unlikely(!exchange))
		return false;
	exchange->connection = connection;
	exchange->stream = connection->stream;
	exchange->request.exchange = exchange;
	exchange->response.exchange = exchange;
	return true;
}

static void give_exchange_back(struct connection *connection)
{
	if (unlikely(!connection->exchange))
		return;
	sley_stream_give_back(connection->exchange);
	connection->exchange = NULL;
}

/* One round: the next request, if there is one. */
static enum round serve_next(struct connection *connection)
{
	const char *in;
	ssize_t n;

	if (likely(!connection->in_size)) {
		give_exchange_back(connection);
		n = wait_for_request(connection, &in);
		if (unlikely(n <= 0))
			return !n || n == -ETIMEDOUT ? ROUND_CLOSE
						     : ROUND_ABORT;
		if (unlikely(!borrow_exchange(connection)))
			return ROUND_ABORT;
	} else {
		n = sley_stream_peek_until(connection->stream, &in, 0, 0);
	}
	connection->in_size = (size_t)n;
	connection->exchange->in = in;
	begin(connection->exchange);
	return serve_request(connection->exchange);
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
	connection->exchange = NULL;
	connection_look_at_clock(connection);
}

int connection_serve(struct sley_stream *stream, void *server)
{
	struct connection connection;
	enum round round;

	init(&connection, stream, server);
	server_add(server, &connection);
	do {
		round = serve_next(&connection);
	} while (likely(round == ROUND_NEXT));
	give_exchange_back(&connection);
	if (round != ROUND_ABORT && connection_flush(&connection))
		round = ROUND_ABORT;
	if (round == ROUND_LINGER)
		linger(&connection);
	server_remove(server, &connection);
	return round == ROUND_ABORT ? -ECONNABORTED : 0;
}
