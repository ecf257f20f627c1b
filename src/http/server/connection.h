/* SPDX-License-Identifier: MIT */
/*
 * connection.h - one connection of a server, from its first request to its end.
 *
 * The task of a connection goes round:
 *
 *   wait        until a request begins                .idle_ms    (connection is idle)
 *   head        parse it where it is, in the buffer   .head_ms    408
 *   handler     answers, and may read the body        .body_ms    408
 *               and write the answer                  .write_ms
 *   rest        pass over the rest of the body
 *
 * All state is in the frame of the task, and nothing is allocated or cleared for a
 * request.  A message that is in the buffer as a whole is used where it is: the texts
 * of a request point into the buffer, and the bytes are taken after the handler.  If
 * the rest of a body must be waited for, the buffer will be used again, and the head is
 * copied to the stack first (run_copied()).
 *
 * Answers are gathered: if bytes of a further request are there, the answer goes into
 * the buffer of the stream (sley_stream_cork()), which is flushed before the task
 * waits for input.  An answer to the last request goes out directly, with its body where
 * it is: one system call, no copy.
 *
 * Time.  The wall clock is read once for each answer, for the Date; it costs a few
 * instructions.  Deadlines need the monotonic clock, which costs more, and is read
 * when the second of the wall clock has changed.  So a deadline may come a second late.
 * Short deadlines, below 2 s, are exact.
 *
 * Stop.  A stopping server ends the input of idle connections: their read returns the
 * end.  Both change one word, so either the connection sees that the server stops when
 * it becomes idle, or the stopper sees that the connection is idle.
 *
 * Rejected: a timer for each phase of each connection that is set and cleared (the
 * deadline of the wait does that); cancelling the task of an idle connection (a request
 * that came at the same moment could not be answered: its waits would all fail).
 */
#ifndef SLEY_HTTP_CONNECTION_H
#define SLEY_HTTP_CONNECTION_H

#include <sley/http.h>

#include "base/compiler.h"
#include "http/message/answer.h"
#include "http/message/body.h"
#include "http/message/head.h"

#define MAX_FIELDS 64
#define EXTRA_MAX 1024 /* of the fields that a handler adds */

/* In .word. */
#define CONNECTION_IDLE 1u
#define CONNECTION_STOPS 2u

/* Where an answer is. */
enum answer_state {
	ANSWER_NONE,
	ANSWER_BEGUN, /* the head is written, and more may follow        */
	ANSWER_DONE,
	ANSWER_BROKEN /* the connection cannot be used any more          */
};

struct connection {
	struct sley_stream *stream;
	struct sley_http_server *server;
	const struct sley_http_options *options;
	struct connection *next, **link; /* of the server; under its lock */
	uint32_t word;                   /* idle? stops? */
	uint32_t nr_requests;

	/* The clock. */
	time_t second;   /* of the wall, at .now_ns        */
	uint64_t now_ns; /* of the monotonic clock         */
	char date[HTTP_DATE_SIZE];

	/* The request. */
	bool keeps;   /* the connection lasts after the answer   */
	bool corked;  /* .stream gathers answers                 */
	bool gathers; /* a further request has begun              */
	bool copied;  /* the head is not in the stream any more  */
	bool waits_for_continue;
	const char *in; /* the head, and perhaps more              */
	size_t in_size;
	struct http_head head;
	struct http_head_limits head_limits;
	struct sley_http_request request;
	struct http_field fields[MAX_FIELDS];

	/* Its body. */
	struct http_body body;
	struct http_body_limits body_limits;
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
	char extra[EXTRA_MAX + 2]; /* and the empty line */
};

/* The function of a connection, for sley_listener_serve(). */
int connection_serve(struct sley_stream *stream, void *server);

/* Called by the stopper, under the lock of the server. */
void connection_stop(struct connection *connection);

/* Is the next answer the last one, because the server stops? */
bool connection_stops(const struct connection *connection);

/* The deadline that is so many milliseconds from now, or from the last answer. */
uint64_t connection_deadline(struct connection *connection, uint32_t ms);

/* Read the clocks, and write .date anew if needed. */
void connection_look_at_clock(struct connection *connection);

/* Write what was gathered; before each wait for input. */
must_check int connection_flush(struct connection *connection);

/* ---- request.c: the body of a request ------------------------------------------------- */

void request_begin_body(struct connection *connection,
			enum http_framing framing);

/* Pass over the rest.  False: there is too much, or it does not come. */
must_check bool request_pass_over_body(struct connection *connection);

/* ---- response.c: the answer ----------------------------------------------------------- */

/* For answers of the server itself, with a line of text as their body. */
must_check int response_of_server(struct connection *connection, int status,
				  const char *why);

/* The last chunk. */
must_check int response_end(struct connection *connection);

/* Begin an answer whose body of @length bytes the caller sends, unless for HEAD. */
must_check int response_begin(struct connection *connection, int status,
			      const char *type, uint64_t length);

#endif
