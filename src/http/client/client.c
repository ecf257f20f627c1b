/* SPDX-License-Identifier: MIT */
/*
 * client.c - <sley/http.h>: one connection of a client, one request at a time.
 *
 * The head of the answer is parsed in the buffer of the stream, and stays there until
 * the body is read: so the fields can be looked at, and nothing is copied.
 */
#include <sley/http.h>

#include "base/options.h"
#include "http/message/answer.h"
#include "http/message/body.h"
#include "http/message/head.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#define MAX_FIELDS 64
#define REQUEST_MAX 4096 /* the head of a request */

struct answer {
	struct http_head head;
	struct http_body body;
	const char *in;   /* the head, as long as .has_head        */
	bool has_head;    /* it is in the buffer of the stream     */
	bool is_over;     /* the body has ended, or there is none  */
	bool ends_stream; /* no further request                    */
	struct http_field fields[MAX_FIELDS];
};

static const struct http_head_limits head_limits = HTTP_HEAD_LIMITS_DEFAULT;
static const struct http_body_limits body_limits = {
	.size = UINT64_MAX,
	.extension_size = 4096,
	.trailer_size = 4096,
	.nr_trailers = 32,
};

_Static_assert(sizeof(struct answer) <=
		       sizeof(((struct sley_http_client *)0)->message),
	       "enlarge .message in <sley/http.h>");

static struct answer *answer_of(struct sley_http_client *client)
{
	return (struct answer *)client->message;
}

int sley_http_connect_until(struct sley_http_client *client,
			    const char *address, uint64_t deadline_ns)
{
	struct answer *answer = answer_of(client);
	size_t size = strlen(address);

	if (size >= sizeof(client->host))
		return -ENAMETOOLONG;
	memcpy(client->host, address, size + 1);
	if (strncmp(address, "unix:", 5) == 0)
		memcpy(client->host, "localhost", sizeof("localhost"));
	answer->has_head = answer->ends_stream = false;
	answer->is_over = true;
	return sley_stream_connect_until(&client->stream, address, deadline_ns);
}

void sley_http_client_close(struct sley_http_client *client)
{
	sley_stream_close(&client->stream);
}

/* ---- the request ----------------------------------------------------------------------- */

struct pen {
	char *at, *end;
};

static void put(struct pen *pen, const char *text)
{
	size_t size = strlen(text), left = (size_t)(pen->end - pen->at);

	if (size > left) {
		pen->at = pen->end; /* full: the caller sees it */
		return;
	}
	memcpy(pen->at, text, size);
	pen->at += size;
}

static int send_parts(struct sley_http_client *client, struct iovec *parts,
		      uint64_t deadline_ns)
{
	size_t size = parts[0].iov_len + parts[1].iov_len;
	ssize_t n = parts[1].iov_len
			    ? sley_stream_writev_until(&client->stream, parts,
						       2, deadline_ns)
			    : sley_stream_write_until(&client->stream,
						      parts[0].iov_base, size,
						      deadline_ns);

	if (n == (ssize_t)size)
		return 0;
	return n < 0 ? (int)n : -EPIPE;
}

static int send_request(struct sley_http_client *client,
			const struct sley_http_question *question,
			uint64_t deadline_ns)
{
	char head[REQUEST_MAX], length[21];
	struct pen pen = { head, head + sizeof(head) };
	struct iovec parts[2];

	put(&pen, question->method);
	put(&pen, " ");
	put(&pen, question->target);
	put(&pen, " HTTP/1.1\r\nHost: ");
	put(&pen, client->host);
	if (question->data_size) {
		*http_number_write(length, question->data_size) = '\0';
		put(&pen, "\r\nContent-Length: ");
		put(&pen, length);
	}
	put(&pen, "\r\n");
	put(&pen, question->fields ? question->fields : "");
	put(&pen, "\r\n");
	if (pen.at == pen.end)
		return -EMSGSIZE;
	parts[0] = (struct iovec){ head, (size_t)(pen.at - head) };
	parts[1] = (struct iovec){ (char *)(uintptr_t)question->data,
				   question->data_size };
	return send_parts(client, parts, deadline_ns);
}

/* ---- the answer ------------------------------------------------------------------------- */

static int receive_head(struct sley_http_client *client, uint64_t deadline_ns)
{
	struct answer *answer = answer_of(client);
	enum http_result result;
	size_t size = 0;

	http_response_init(&answer->head, answer->fields, MAX_FIELDS,
			   &head_limits);
	do {
		ssize_t n = size < SLEY_STREAM_BUFFER
				    ? sley_stream_peek_until(&client->stream,
							     &answer->in,
							     size + 1,
							     deadline_ns)
				    : -EMSGSIZE;

		if (n < 0)
			return (int)n;
		if ((size_t)n <= size)
			return -ENODATA;
		size = (size_t)n;
		result = http_head_parse(&answer->head, answer->in, size);
	} while (result == HTTP_MORE);
	if (result == HTTP_DONE)
		return 0;
	return answer->head.error == HTTP_HEAD_TOO_LARGE ||
			       answer->head.error == HTTP_TOO_MANY_FIELDS
		       ? -EMSGSIZE
		       : -EBADMSG;
}

/* The head leaves the buffer, and the body can be read. */
static void drop_head(struct sley_http_client *client)
{
	struct answer *answer = answer_of(client);

	if (!answer->has_head)
		return;
	sley_stream_consume(&client->stream, answer->head.size);
	answer->has_head = false;
}

/* Answers before the answer, as "100 Continue", are passed over. */
static int receive_answer(struct sley_http_client *client,
			  enum http_asked asked, uint64_t deadline_ns)
{
	struct answer *answer = answer_of(client);
	enum http_framing framing;
	int err;

	for (;;) {
		err = receive_head(client, deadline_ns);
		if (err)
			return err;
		answer->has_head = true;
		if (answer->head.status >= 200)
			break;
		drop_head(client);
	}
	framing = http_response_framing(&answer->head, asked);
	http_body_init(&answer->body, framing, answer->head.length,
		       &body_limits);
	answer->is_over = framing == HTTP_NO_BODY;
	answer->ends_stream = framing == HTTP_UNTIL_CLOSE ||
			      !answer->head.keep_alive;
	return answer->head.status;
}

/* What is left of the answer before. */
static ssize_t pass_over(struct sley_http_client *client, uint64_t deadline_ns)
{
	char scratch[1024];
	ssize_t n;

	do {
		n = sley_http_answer_read_until(client, scratch,
						sizeof(scratch), deadline_ns);
	} while (n > 0);
	drop_head(client);
	return !n && answer_of(client)->ends_stream ? -ENODATA : n;
}

int sley_http_ask_until(struct sley_http_client *client,
			const struct sley_http_question *given,
			uint64_t deadline_ns)
{
	struct sley_http_question question;
	ssize_t n = options_take(&question, given);

	if (!n && !question.target)
		n = -EINVAL;
	if (n)
		return (int)n;
	if (!question.method)
		question.method = "GET";
	n = pass_over(client, deadline_ns);
	if (!n)
		n = send_request(client, &question, deadline_ns);
	/* The server may have refused the request before it had read all. */
	if (n && n != -EPIPE && n != -ECONNRESET)
		return (int)n;
	return receive_answer(client,
			      strcmp(question.method, "HEAD") == 0
				      ? HTTP_ASKED_HEAD
				      : HTTP_ASKED_ANY,
			      deadline_ns);
}

struct sley_http_text
sley_http_answer_find(const struct sley_http_client *client, const char *lower)
{
	const struct answer *answer = (const struct answer *)client->message;
	const struct http_field *field =
		answer->has_head
			? http_head_find(&answer->head, answer->in, lower, 0)
			: NULL;

	return field ? (struct sley_http_text){ answer->in + field->value.at,
						field->value.size }
		     : (struct sley_http_text){ NULL, 0 };
}

/* Some data, 0 at the end, -EAGAIN for a frame without data, or an error. */
static ssize_t read_step(struct sley_http_client *client, void *to, size_t size,
			 uint64_t deadline_ns)
{
	struct answer *answer = answer_of(client);
	struct http_piece piece;
	enum http_body_event event;
	const char *data;
	ssize_t n = sley_stream_peek_until(&client->stream, &data, 0, 0);

	if (n < 0)
		return n;
	event = http_body_next(&answer->body, data,
			       (size_t)n < size ? (size_t)n : size, &piece);
	if (event == HTTP_BODY_DATA)
		memcpy(to, data + piece.at, piece.size);
	if (piece.used)
		sley_stream_consume(&client->stream, piece.used);
	if (event == HTTP_BODY_DATA)
		return (ssize_t)piece.size;
	if (event == HTTP_BODY_FAILED)
		return -EBADMSG;
	if (event == HTTP_BODY_MORE) {
		n = (size_t)n == piece.used
			    ? sley_stream_peek_until(&client->stream, &data, 1,
						     deadline_ns)
			    : 1;
		if (n)
			return n < 0 ? n : -EAGAIN;
		if (http_body_close(&answer->body) != HTTP_BODY_END)
			return -ENODATA;
	}
	answer->is_over = true;
	return 0;
}

ssize_t sley_http_answer_read_until(struct sley_http_client *client, void *data,
				    size_t size, uint64_t deadline_ns)
{
	struct answer *answer = answer_of(client);
	ssize_t n;

	if (answer->is_over || !size)
		return 0;
	drop_head(client);
	do {
		n = read_step(client, data, size, deadline_ns);
	} while (n == -EAGAIN);
	return n;
}
