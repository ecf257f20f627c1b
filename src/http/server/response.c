/* SPDX-License-Identifier: MIT */
/*
 * response.c - <sley/http.h>: answers, as bytes of the connection.
 */
#include "http/server/connection.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

/* Head and body up to this size are one piece of memory, and one plain write. */
#define SMALL_MAX 1024

/* The connection is of no use any more. */
static cold int broken(struct connection *connection, int err)
{
	connection->state = ANSWER_BROKEN;
	return err;
}

/* @n bytes of the parts are written. */
static void advance(struct iovec **parts, int *nr, size_t n)
{
	while (*nr && n >= (*parts)->iov_len) {
		n -= (*parts)->iov_len;
		(*parts)++;
		(*nr)--;
	}
	if (*nr) {
		(*parts)->iov_base = (char *)(*parts)->iov_base + n;
		(*parts)->iov_len -= n;
	}
}

/* All parts.  If some bytes were written before an error, the next call returns it. */
static int write_parts(struct connection *connection, struct iovec *parts,
		       int nr)
{
	uint64_t deadline_ns =
		connection_deadline(connection, connection->options->write_ms);

	while (nr) {
		ssize_t n =
			likely(nr == 1)
				? sley_stream_write_until(connection->stream,
							  parts->iov_base,
							  parts->iov_len,
							  deadline_ns)
				: sley_stream_writev_until(connection->stream,
							   parts, nr,
							   deadline_ns);

		if (unlikely(n < 0))
			return broken(connection, (int)n);
		advance(&parts, &nr, (size_t)n);
	}
	return 0;
}

static void gather(struct connection *connection)
{
	if (likely(!connection->gathers || connection->corked))
		return;
	sley_stream_cork(connection->stream);
	connection->corked = true;
}

static int write_answer(struct connection *connection,
			const struct http_answer *answer, const void *data,
			size_t size)
{
	char head[SMALL_MAX + HTTP_ANSWER_MAX];
	struct iovec parts[3];
	char *end;
	int nr = 1;

	connection_look_at_clock(connection);
	end = http_answer_write(head, answer, connection->date);
	memcpy(connection->extra + connection->extra_size, "\r\n", 2);
	connection->extra_size += 2;
	connection->response.status = answer->status;
	connection->state = ANSWER_BEGUN;
	connection->body_kind = answer->body;
	gather(connection);
	if (connection->request.is_head || !data)
		size = 0;
	if (likely(connection->extra_size + size <= SMALL_MAX)) {
		memcpy(end, connection->extra, connection->extra_size);
		end += connection->extra_size;
		if (size)
			memcpy(end, data, size);
		end += size;
	} else {
		parts[nr++] = (struct iovec){ connection->extra,
					      connection->extra_size };
		parts[nr++] = (struct iovec){ (char *)(uintptr_t)data, size };
	}
	parts[0] = (struct iovec){ head, (size_t)(end - head) };
	return write_parts(connection, parts, nr);
}

/* May an answer begin now, as the user wants it?  *@answer is filled in. */
static int prepare(struct connection *connection, struct http_answer *answer,
		   int status, const char *type)
{
	answer->type_size = type ? strlen(type) : 0;
	if (unlikely(status < 200 || status > 599 ||
		     answer->type_size > HTTP_TYPE_MAX ||
		     (type && !http_value_is_good(type, answer->type_size))))
		return -EINVAL;
	if (unlikely(connection->state != ANSWER_NONE))
		return -EALREADY;
	if (unlikely(connection->waits_for_continue ||
		     connection_stops(connection)))
		connection->keeps = false;
	answer->status = status;
	answer->type = type;
	answer->connection = likely(connection->keeps)
				     ? connection->head.minor
					       ? HTTP_KEEP_SILENTLY
					       : HTTP_KEEP_ALOUD
				     : HTTP_CLOSE;
	return 0;
}

static bool has_no_body(int status)
{
	return status == 204 || status == 304;
}

int response_begin(struct connection *connection, int status, const char *type,
		   uint64_t length)
{
	struct http_answer answer;
	int err = prepare(connection, &answer, status, type);

	if (err)
		return err;
	answer.body = HTTP_ANSWER_LENGTH;
	answer.length = length;
	return write_answer(connection, &answer, NULL, 0);
}

int sley_http_respond(struct sley_http_response *response, int status,
		      const char *type, const void *data, size_t size)
{
	struct connection *connection = response->connection;
	struct http_answer answer;
	int err = prepare(connection, &answer, status, type);

	if (unlikely(err))
		return err;
	answer.body = HTTP_ANSWER_LENGTH;
	answer.length = size;
	if (unlikely(has_no_body(status))) {
		if (size)
			return -EINVAL;
		answer.body = HTTP_ANSWER_EMPTY;
	}
	err = write_answer(connection, &answer, data, size);
	if (likely(!err))
		connection->state = ANSWER_DONE;
	return err;
}

int response_of_server(struct connection *connection, int status,
		       const char *why)
{
	const char *name = http_status_text(status);
	char text[160];
	int size = snprintf(text, sizeof(text), why ? "%d %s: %s\n" : "%d %s\n",
			    status, name, why);

	connection->extra_size = 0;
	return sley_http_respond(&connection->response, status, "text/plain",
				 text, (size_t)size);
}

int sley_http_add(struct sley_http_response *response, const char *name,
		  const char *value)
{
	struct connection *connection = response->connection;
	size_t name_size = strlen(name), value_size = strlen(value);
	char *to = connection->extra + connection->extra_size;

	if (connection->state != ANSWER_NONE)
		return -EALREADY;
	if (!http_name_is_good(name, name_size) ||
	    !http_value_is_good(value, value_size))
		return -EINVAL;
	if (name_size > EXTRA_MAX || value_size > EXTRA_MAX ||
	    name_size + value_size + 4 > EXTRA_MAX - connection->extra_size)
		return -ENOSPC;
	memcpy(to, name, name_size);
	memcpy(to + name_size, ": ", 2);
	memcpy(to + name_size + 2, value, value_size);
	memcpy(to + name_size + 2 + value_size, "\r\n", 2);
	connection->extra_size += name_size + value_size + 4;
	return 0;
}

/* ---- in parts ------------------------------------------------------------------------------ */

int sley_http_begin(struct sley_http_response *response, int status,
		    const char *type)
{
	struct connection *connection = response->connection;
	struct http_answer answer;
	int err;

	if (!connection->head.minor)
		connection->keeps = false;
	err = prepare(connection, &answer, status, type);
	if (err)
		return err;
	answer.body = connection->head.minor ? HTTP_ANSWER_CHUNKED
					     : HTTP_ANSWER_CLOSE;
	if (has_no_body(status))
		answer.body = HTTP_ANSWER_EMPTY;
	return write_answer(connection, &answer, NULL, 0);
}

int sley_http_write(struct sley_http_response *response, const void *data,
		    size_t size)
{
	struct connection *connection = response->connection;
	char line[HTTP_CHUNK_SIZE_MAX];
	struct iovec parts[3] = {
		{ line, 0 },
		{ (char *)(uintptr_t)data, size },
		{ (char *)(uintptr_t) "\r\n", 2 },
	};
	int err;

	if (connection->state == ANSWER_BROKEN)
		return -EPIPE;
	if (connection->state != ANSWER_BEGUN ||
	    (connection->body_kind == HTTP_ANSWER_EMPTY && size))
		return -EINVAL;
	if (!size || connection->request.is_head)
		return 0;
	err = connection_flush(connection);
	if (err)
		return broken(connection, err);
	if (connection->body_kind == HTTP_ANSWER_CLOSE)
		return write_parts(connection, &parts[1], 1);
	parts[0].iov_len = (size_t)(http_chunk_size_write(line, size) - line);
	return write_parts(connection, parts, 3);
}

int response_end(struct connection *connection)
{
	struct iovec last = { (char *)(uintptr_t) "0\r\n\r\n", 5 };
	int err = 0;

	if (connection->body_kind == HTTP_ANSWER_CHUNKED &&
	    !connection->request.is_head)
		err = write_parts(connection, &last, 1);
	if (!err)
		connection->state = ANSWER_DONE;
	return err;
}
