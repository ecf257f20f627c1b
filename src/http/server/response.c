/* SPDX-License-Identifier: MIT */
/*
 * response.c - <sley/http.h>: answers, as bytes of the connection.
 */
#include "http/server/exchange.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

/* The connection is of no use any more. */
static cold int broken(struct exchange *exchange, int err)
{
	exchange->state = ANSWER_BROKEN;
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

/*
 * All parts, by a caller that has just looked at the clock.  If some bytes were written
 * before an error, the next call returns it.
 */
static int write_parts(struct exchange *exchange, struct iovec *parts, int nr)
{
	uint64_t deadline_ns = connection_deadline_from_look(
		exchange->connection, exchange->connection->options->write_ms);

	while (nr) {
		ssize_t n = likely(nr == 1)
				    ? sley_stream_write_until(exchange->stream,
							      parts->iov_base,
							      parts->iov_len,
							      deadline_ns)
				    : sley_stream_writev_until(exchange->stream,
							       parts, nr,
							       deadline_ns);

		if (unlikely(n < 0))
			return broken(exchange, (int)n);
		advance(&parts, &nr, (size_t)n);
	}
	return 0;
}

static void gather(struct exchange *exchange)
{
	if (likely(!exchange->gathers || exchange->connection->corked))
		return;
	sley_stream_cork(exchange->stream);
	exchange->connection->corked = true;
}

/* The fields that the handler has added, the empty line, and a small body. */
static char *append_rest(char *end, const struct exchange *exchange,
			 const void *data, size_t size)
{
	if (exchange->extra_size) {
		memcpy(end, exchange->extra, exchange->extra_size);
		end += exchange->extra_size;
	}
	memcpy(end, "\r\n", 2);
	end += 2;
	if (size)
		memcpy(end, data, size);
	return end + size;
}

static int write_answer(struct exchange *exchange,
			const struct http_answer *answer, const void *data,
			size_t size)
{
	char *head = exchange->answer, *end;
	struct iovec parts[3];
	int nr = 1;

	connection_look_at_clock(exchange->connection);
	end = http_answer_write(head, answer, exchange->connection->date);
	exchange->response.status = answer->status;
	exchange->state = ANSWER_BEGUN;
	exchange->body_kind = answer->body;
	gather(exchange);
	if (exchange->request.is_head || !data)
		size = 0;
	if (likely(exchange->extra_size + 2 + size <= SMALL_MAX)) {
		end = append_rest(end, exchange, data, size);
	} else {
		memcpy(exchange->extra + exchange->extra_size, "\r\n", 2);
		parts[nr++] = (struct iovec){ exchange->extra,
					      exchange->extra_size + 2 };
		parts[nr++] = (struct iovec){ (char *)(uintptr_t)data, size };
	}
	parts[0] = (struct iovec){ head, (size_t)(end - head) };
	return write_parts(exchange, parts, nr);
}

/* May an answer begin now, as the user wants it?  *@answer is filled in. */
static int prepare(struct exchange *exchange, struct http_answer *answer,
		   int status, const char *type)
{
	answer->type_size = type ? strlen(type) : 0;
	if (unlikely(status < 200 || status > 599 ||
		     answer->type_size > HTTP_TYPE_MAX ||
		     (type && !http_value_is_good(type, answer->type_size))))
		return -EINVAL;
	if (unlikely(exchange->state != ANSWER_NONE))
		return -EALREADY;
	if (unlikely(exchange->waits_for_continue ||
		     connection_stops(exchange->connection)))
		exchange->keeps = false;
	answer->status = status;
	answer->type = type;
	answer->connection = likely(exchange->keeps)
				     ? exchange->head.minor ? HTTP_KEEP_SILENTLY
							    : HTTP_KEEP_ALOUD
				     : HTTP_CLOSE;
	return 0;
}

static bool has_no_body(int status)
{
	return status == 204 || status == 304;
}

int response_begin(struct exchange *exchange, int status, const char *type,
		   uint64_t length)
{
	struct http_answer answer;
	int err = prepare(exchange, &answer, status, type);

	if (err)
		return err;
	answer.body = HTTP_ANSWER_LENGTH;
	answer.length = length;
	return write_answer(exchange, &answer, NULL, 0);
}

int sley_http_respond(struct sley_http_response *response, int status,
		      const char *type, const void *data, size_t size)
{
	struct exchange *exchange = response->exchange;
	struct http_answer answer;
	int err = prepare(exchange, &answer, status, type);

	if (unlikely(err))
		return err;
	answer.body = HTTP_ANSWER_LENGTH;
	answer.length = size;
	if (unlikely(has_no_body(status))) {
		if (size)
			return -EINVAL;
		answer.body = HTTP_ANSWER_EMPTY;
	}
	err = write_answer(exchange, &answer, data, size);
	if (likely(!err))
		exchange->state = ANSWER_DONE;
	return err;
}

int response_of_server(struct exchange *exchange, int status, const char *why)
{
	const char *name = http_status_text(status);
	char text[160];
	int size = snprintf(text, sizeof(text), why ? "%d %s: %s\n" : "%d %s\n",
			    status, name, why);

	exchange->extra_size = 0;
	return sley_http_respond(&exchange->response, status, "text/plain",
				 text, (size_t)size);
}

int sley_http_add(struct sley_http_response *response, const char *name,
		  const char *value)
{
	struct exchange *exchange = response->exchange;
	size_t name_size = strlen(name), value_size = strlen(value);
	char *to = exchange->extra + exchange->extra_size;

	if (exchange->state != ANSWER_NONE)
		return -EALREADY;
	if (!http_name_is_good(name, name_size) ||
	    !http_value_is_good(value, value_size))
		return -EINVAL;
	if (name_size > EXTRA_MAX || value_size > EXTRA_MAX ||
	    name_size + value_size + 4 > EXTRA_MAX - exchange->extra_size)
		return -ENOSPC;
	memcpy(to, name, name_size);
	memcpy(to + name_size, ": ", 2);
	memcpy(to + name_size + 2, value, value_size);
	memcpy(to + name_size + 2 + value_size, "\r\n", 2);
	exchange->extra_size += name_size + value_size + 4;
	return 0;
}

/* ---- in parts ------------------------------------------------------------------------------ */

int sley_http_begin(struct sley_http_response *response, int status,
		    const char *type)
{
	struct exchange *exchange = response->exchange;
	struct http_answer answer;
	int err;

	if (!exchange->head.minor)
		exchange->keeps = false;
	err = prepare(exchange, &answer, status, type);
	if (err)
		return err;
	answer.body = exchange->head.minor ? HTTP_ANSWER_CHUNKED
					   : HTTP_ANSWER_CLOSE;
	if (has_no_body(status))
		answer.body = HTTP_ANSWER_EMPTY;
	return write_answer(exchange, &answer, NULL, 0);
}

int sley_http_write(struct sley_http_response *response, const void *data,
		    size_t size)
{
	struct exchange *exchange = response->exchange;
	char line[HTTP_CHUNK_SIZE_MAX];
	struct iovec parts[3] = {
		{ line, 0 },
		{ (char *)(uintptr_t)data, size },
		{ (char *)(uintptr_t) "\r\n", 2 },
	};
	int err;

	if (exchange->state == ANSWER_BROKEN)
		return -EPIPE;
	if (exchange->state != ANSWER_BEGUN ||
	    (exchange->body_kind == HTTP_ANSWER_EMPTY && size))
		return -EINVAL;
	if (!size || exchange->request.is_head)
		return 0;
	err = connection_flush(exchange->connection);
	if (err)
		return broken(exchange, err);
	connection_look_at_clock(exchange->connection);
	if (exchange->body_kind == HTTP_ANSWER_CLOSE)
		return write_parts(exchange, &parts[1], 1);
	parts[0].iov_len = (size_t)(http_chunk_size_write(line, size) - line);
	return write_parts(exchange, parts, 3);
}

int response_end(struct exchange *exchange)
{
	struct iovec last = { (char *)(uintptr_t) "0\r\n\r\n", 5 };
	int err = 0;

	if (exchange->body_kind == HTTP_ANSWER_CHUNKED &&
	    !exchange->request.is_head) {
		connection_look_at_clock(exchange->connection);
		err = write_parts(exchange, &last, 1);
	}
	if (!err)
		exchange->state = ANSWER_DONE;
	return err;
}
