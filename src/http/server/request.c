/* SPDX-License-Identifier: MIT */
/*
 * request.c - <sley/http.h>: the fields, the path and the body of a request.
 */
#include "http/message/target.h"
#include "http/server/connection.h"

#include <errno.h>
#include <string.h>

/* A body that the handler has not read is passed over up to here. */
#define PASS_OVER_MAX (64u << 10)

static struct sley_http_text text_of(const struct connection *connection,
				     struct http_slice slice)
{
	return (struct sley_http_text){ connection->in + slice.at, slice.size };
}

struct sley_http_text sley_http_find(const struct sley_http_request *request,
				     const char *lower)
{
	const struct connection *connection = request->connection;
	const struct http_field *field =
		http_head_find(&connection->head, connection->in, lower, 0);

	return field ? text_of(connection, field->value)
		     : (struct sley_http_text){ NULL, 0 };
}

int sley_http_field(const struct sley_http_request *request, size_t idx,
		    struct sley_http_text *name, struct sley_http_text *value)
{
	const struct connection *connection = request->connection;

	if (idx >= connection->head.nr_fields)
		return -ENOENT;
	*name = text_of(connection, connection->fields[idx].name);
	*value = text_of(connection, connection->fields[idx].value);
	return 0;
}

ssize_t sley_http_path(const struct sley_http_request *request, char *path,
		       size_t size)
{
	struct connection *connection = request->connection;
	size_t length;
	enum http_error error = http_path_decode(request->path.data,
						 (uint32_t)request->path.size,
						 path, size, &length);

	if (!error)
		return (ssize_t)length;
	connection->refusal = http_error_status(error);
	return error == HTTP_PATH_TOO_LONG ? -ENAMETOOLONG : -EINVAL;
}

/* ---- the body ----------------------------------------------------------------------------- */

void request_begin_body(struct connection *connection,
			enum http_framing framing)
{
	connection->body_at = connection->head.size;
	connection->waits_for_continue = connection->head.expects_continue;
	connection->body_deadline_ns =
		connection_deadline(connection, connection->options->body_ms);
	http_body_init(&connection->body, framing, connection->head.length,
		       &connection->body_limits);
}

/* The error stays, and @status is the answer unless there is one. */
static ssize_t fail(struct connection *connection, ssize_t err, int status)
{
	connection->body_error = (int)err;
	connection->refusal = status;
	connection->keeps = false;
	return err;
}

static ssize_t fail_as(struct connection *connection, enum http_error error)
{
	ssize_t err = error == HTTP_BODY_TOO_LARGE ? -EMSGSIZE
		      : error == HTTP_BODY_CUT     ? -ENODATA
						   : -EBADMSG;

	return fail(connection, err, http_error_status(error));
}

/* From a message that is in the buffer as a whole. */
static ssize_t read_buffered(struct connection *connection, void *data,
			     size_t size)
{
	size_t end = connection->head.size + (size_t)connection->head.length;
	size_t left = end - connection->body_at;

	if (size > left)
		size = left;
	memcpy(data, connection->in + connection->body_at, size);
	connection->body_at += size;
	connection->body_ended = connection->body_at == end;
	return (ssize_t)size;
}

static ssize_t send_continue(struct connection *connection)
{
	static const char line[] = "HTTP/1.1 100 Continue\r\n\r\n";
	ssize_t n;

	connection->waits_for_continue = false;
	if (connection->state != ANSWER_NONE)
		return 0;
	n = sley_stream_write_until(connection->stream, line, sizeof(line) - 1,
				    connection->body_deadline_ns);
	if (n == sizeof(line) - 1)
		return 0;
	connection->state = ANSWER_BROKEN;
	return n < 0 ? n : -EPIPE;
}

static ssize_t wait_for_body(struct connection *connection)
{
	const char *data;
	ssize_t n = 0;

	if (connection->waits_for_continue)
		n = send_continue(connection);
	if (!n)
		n = connection_flush(connection);
	if (!n)
		n = sley_stream_peek_until(connection->stream, &data, 1,
					   connection->body_deadline_ns);
	if (n > 0)
		return 0;
	if (!n)
		return fail_as(connection, HTTP_BODY_CUT);
	return fail(connection, n, n == -ETIMEDOUT ? 408 : 400);
}

/* A step: some data, 0 for the end, -EAGAIN for a frame without data, or an error. */
static ssize_t read_step(struct connection *connection, void *to, size_t size)
{
	struct http_piece piece;
	const char *data;
	ssize_t n = sley_stream_peek_until(connection->stream, &data, 0, 0);
	enum http_body_event event;

	if (n < 0)
		return fail(connection, n, 400);
	event = http_body_next(&connection->body, data,
			       (size_t)n < size ? (size_t)n : size, &piece);
	if (event == HTTP_BODY_DATA)
		memcpy(to, data + piece.at, piece.size);
	if (piece.used)
		sley_stream_consume(connection->stream, piece.used);
	switch (event) {
	case HTTP_BODY_DATA:
		return (ssize_t)piece.size;
	case HTTP_BODY_END:
		connection->body_ended = true;
		return 0;
	case HTTP_BODY_FAILED:
		return fail_as(connection, connection->body.error);
	default:
		break;
	}
	n = (size_t)n == piece.used ? wait_for_body(connection) : 0;
	return n ? n : -EAGAIN;
}

ssize_t sley_http_read(struct sley_http_request *request, void *data,
		       size_t size)
{
	struct connection *connection = request->connection;
	ssize_t n;

	if (connection->body_error)
		return connection->body_error;
	if (connection->body_ended || !size)
		return 0;
	if (!connection->copied)
		return read_buffered(connection, data, size);
	do {
		n = read_step(connection, data, size);
	} while (n == -EAGAIN);
	return n;
}

bool request_pass_over_body(struct connection *connection)
{
	char scratch[2048];
	size_t total = 0;
	ssize_t n;

	/* The client may send the body, or not: there is no telling. */
	if (connection->waits_for_continue && !connection->body_ended)
		return false;
	while (total < PASS_OVER_MAX) {
		n = sley_http_read(&connection->request, scratch,
				   sizeof(scratch));
		if (n <= 0)
			return n == 0;
		total += (size_t)n;
	}
	return false;
}
