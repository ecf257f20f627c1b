/* SPDX-License-Identifier: MIT */
/*
 * exchange.h - a request and its answer, in a borrowed buffer.
 *
 * The buffer is borrowed when the first byte of a request is there, and given back
 * before the connection waits for the next request (connection.h).  Requests that were
 * sent together share it, one after the other.
 *
 * Not on the stack: the pages of a stack that were touched once stay, and with this
 * on it each idle connection would keep a second page.
 */
#ifndef SLEY_HTTP_EXCHANGE_H
#define SLEY_HTTP_EXCHANGE_H

#include "http/server/connection.h"

#define MAX_FIELDS 64
#define EXTRA_MAX 1024 /* of the fields that a handler adds */

/* Head and body up to this size are one piece of memory, and one plain write. */
#define SMALL_MAX 1024

/* A part of a file up to this size is sent together with the head. */
#define SMALL_FILE_MAX 8192

/* Where an answer is. */
enum answer_state {
	ANSWER_NONE,
	ANSWER_BEGUN, /* the head is written, and more may follow        */
	ANSWER_DONE,
	ANSWER_BROKEN /* the connection cannot be used any more          */
};

struct exchange {
	struct connection *connection;
	struct sley_stream *stream; /* of the connection */

	/* The request. */
	bool keeps;   /* the connection lasts after the answer   */
	bool gathers; /* a further request has begun              */
	bool copied;  /* the head is not in the stream any more  */
	bool waits_for_continue;
	const char *in; /* the head, and perhaps more              */
	struct http_head head;
	struct sley_http_request request;

	/* Its body. */
	struct http_body body;
	size_t body_at; /* in .in, if not .copied */
	bool body_ended;
	int body_error; /* stays */
	int refusal;    /* the status for an error of the request; or 0 */
	uint64_t body_deadline_ns;

	/* The answer. */
	struct sley_http_response response;
	enum answer_state state;
	enum http_answer_body body_kind;
	size_t extra_size;

	struct http_field fields[MAX_FIELDS];
	char extra[EXTRA_MAX + 2]; /* and the empty line */
	char answer[SMALL_MAX + HTTP_ANSWER_MAX];
	char file_part[SMALL_FILE_MAX]; /* file.c */
};

_Static_assert(sizeof(struct exchange) <= SLEY_STREAM_BUFFER,
	       "an exchange fits into a buffer");

/* ---- request.c: the body of a request ------------------------------------------------- */

void request_begin_body(struct exchange *exchange, enum http_framing framing);

/* Pass over the rest.  False: there is too much, or it does not come. */
must_check bool request_pass_over_body(struct exchange *exchange);

/* ---- response.c: the answer ----------------------------------------------------------- */

/* For answers of the server itself, with a line of text as their body. */
must_check int response_of_server(struct exchange *exchange, int status,
				  const char *why);

/* The last chunk. */
must_check int response_end(struct exchange *exchange);

/* Begin an answer whose body of @length bytes the caller sends, unless for HEAD. */
must_check int response_begin(struct exchange *exchange, int status,
			      const char *type, uint64_t length);

#endif
