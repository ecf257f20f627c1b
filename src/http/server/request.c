/* SPDX-License-Identifier: MIT */
/*
 * request.c - <sley/http.h>: the fields, the path and the body of a request.
 */
#include "http/message/target.h"
#include "http/server/exchange.h"

#include <errno.h>
#include <string.h>

/* A body that the handler has not read is passed over up to here. */
#define PASS_OVER_MAX (64u << 10)

static struct sley_http_text text_of(const struct exchange *exchange,
				     struct http_slice slice)
{
	return (struct sley_http_text){ exchange->in + slice.at, slice.size };
}

struct sley_http_text sley_http_find(const struct sley_http_request *request,
				     const char *lower)
{
	const struct exchange *exchange = request->exchange;
	const struct http_field *field =
		http_head_find(&exchange->head, exchange->in, lower, 0);

	return field ? text_of(exchange, field->value)
		     : (struct sley_http_text){ NULL, 0 };
}

int sley_http_field(const struct sley_http_request *request, size_t idx,
		    struct sley_http_text *name, struct sley_http_text *value)
{
	const struct exchange *exchange = request->exchange;

	if (idx >= exchange->head.nr_fields)
		return -ENOENT;
	*name = text_of(exchange, exchange->fields[idx].name);
	*value = text_of(exchange, exchange->fields[idx].value);
	return 0;
}

ssize_t sley_http_path(const struct sley_http_request *request, char *path,
		       size_t size)
{
	struct exchange *exchange = request->exchange;
	size_t length;
	enum http_error error = http_path_decode(request->path.data,
						 (uint32_t)request->path.size,
						 path, size, &length);

	if (!error)
		return (ssize_t)length;
	exchange->refusal = http_error_status(error);
	return error == HTTP_PATH_TOO_LONG ? -ENAMETOOLONG : -EINVAL;
}

/* ---- the body ----------------------------------------------------------------------------- */

void request_begin_body(struct exchange *exchange, enum http_framing framing)
{
	exchange->body_at = exchange->head.size;
	exchange->waits_for_continue = exchange->head.expects_continue;
	exchange->body_deadline_ns = connection_deadline(
		exchange->connection, exchange->connection->options->body_ms);
	http_body_init(&exchange->body, framing, exchange->head.length,
		       &exchange->connection->body_limits);
}

/* The error stays, and @status is the answer unless there is one. */
static ssize_t fail(struct exchange *exchange, ssize_t err, int status)
{
	exchange->body_error = (int)err;
	exchange->refusal = status;
	exchange->keeps = false;
	return err;
}

static ssize_t fail_as(struct exchange *exchange, enum http_error error)
{
	ssize_t err = error == HTTP_BODY_TOO_LARGE ? -EMSGSIZE
		      : error == HTTP_BODY_CUT     ? -ENODATA
						   : -EBADMSG;

	return fail(exchange, err, http_error_status(error));
}

/* From a message that is in the buffer as a whole. */
static ssize_t read_buffered(struct exchange *exchange, void *data, size_t size)
{
	size_t end = exchange->head.size + (size_t)exchange->head.length;
	size_t left = end - exchange->body_at;

	if (size > left)
		size = left;
	memcpy(data, exchange->in + exchange->body_at, size);
	exchange->body_at += size;
	exchange->body_ended = exchange->body_at == end;
	return (ssize_t)size;
}

static ssize_t send_continue(struct exchange *exchange)
{
	static const char line[] = "HTTP/1.1 100 Continue\r\n\r\n";
	ssize_t n;

	exchange->waits_for_continue = false;
	if (exchange->state != ANSWER_NONE)
		return 0;
	n = sley_stream_write_until(exchange->stream, line, sizeof(line) - 1,
				    exchange->body_deadline_ns);
	if (n == sizeof(line) - 1)
		return 0;
	exchange->state = ANSWER_BROKEN;
	return n < 0 ? n : -EPIPE;
}

static ssize_t wait_for_body(struct exchange *exchange)
{
	const char *data;
	ssize_t n = 0;

	if (exchange->waits_for_continue)
		n = send_continue(exchange);
	if (!n)
		n = connection_flush(exchange->connection);
	if (!n)
		n = sley_stream_peek_until(exchange->stream, &data, 1,
					   exchange->body_deadline_ns);
	if (n > 0)
		return 0;
	if (!n)
		return fail_as(exchange, HTTP_BODY_CUT);
	return fail(exchange, n, n == -ETIMEDOUT ? 408 : 400);
}

/* A step: some data, 0 for the end, -EAGAIN for a frame without data, or an error. */
static ssize_t read_step(struct exchange *exchange, void *to, size_t size)
{
	struct http_piece piece;
	const char *data;
	ssize_t n = sley_stream_peek_until(exchange->stream, &data, 0, 0);
	enum http_body_event event;

	if (n < 0)
		return fail(exchange, n, 400);
	event = http_body_next(&exchange->body, data,
			       (size_t)n < size ? (size_t)n : size, &piece);
	if (event == HTTP_BODY_DATA)
		memcpy(to, data + piece.at, piece.size);
	if (piece.used)
		sley_stream_consume(exchange->stream, piece.used);
	switch (event) {
	case HTTP_BODY_DATA:
		return (ssize_t)piece.size;
	case HTTP_BODY_END:
		exchange->body_ended = true;
		return 0;
	case HTTP_BODY_FAILED:
		return fail_as(exchange, exchange->body.error);
	default:
		break;
	}
	n = (size_t)n == piece.used ? wait_for_body(exchange) : 0;
	return n ? n : -EAGAIN;
}

ssize_t sley_http_read(struct sley_http_request *request, void *data,
		       size_t size)
{
	struct exchange *exchange = request->exchange;
	ssize_t n;

	if (exchange->body_error)
		return exchange->body_error;
	if (exchange->body_ended || !size)
		return 0;
	if (!exchange->copied)
		return read_buffered(exchange, data, size);
	do {
		n = read_step(exchange, data, size);
	} while (n == -EAGAIN);
	return n;
}

bool request_pass_over_body(struct exchange *exchange)
{
	size_t total = 0;
	ssize_t n;

	/* The client may send the body, or not: there is no telling. */
	if (exchange->waits_for_continue && !exchange->body_ended)
		return false;
	while (total < PASS_OVER_MAX) {
		/* The answer is written: its bytes serve as waste paper. */
		n = sley_http_read(&exchange->request, exchange->answer,
				   sizeof(exchange->answer));
		if (n <= 0)
			return n == 0;
		total += (size_t)n;
	}
	return false;
}
