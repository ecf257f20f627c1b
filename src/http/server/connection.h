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
 * What a connection needs while it waits for a request is in the frame of the task.
 * What a request needs is borrowed when its first byte is there, and given back before
 * the next wait (exchange.h).  So of the stack of an idle connection one page is in
 * memory, if the handler is content with it, and nothing is allocated or cleared for a
 * request.
 *
 * A message that is in the buffer as a whole is used where it is: the texts of a request
 * point into the buffer, and the bytes are taken after the handler.  If the rest of a
 * body must be waited for, the buffer will be used again, and the head is copied to a
 * borrowed buffer first (run_copied()).
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

/* In .word. */
#define CONNECTION_IDLE 1u
#define CONNECTION_STOPS 2u

struct exchange;

struct connection {
	struct sley_stream *stream;
	struct sley_http_server *server;
	const struct sley_http_options *options;
	struct connection *next, **link; /* of the server; under its lock */
	struct exchange *exchange;       /* NULL: the connection is idle  */
	uint32_t word;                   /* idle? stops? */
	uint32_t nr_requests;
	bool corked;    /* .stream gathers answers                          */
	size_t in_size; /* bytes in .stream: of a request, and perhaps more */
	struct http_head_limits head_limits;
	struct http_body_limits body_limits;

	/* The clock. */
	time_t second;   /* of the wall, at .now_ns        */
	uint64_t now_ns; /* of the monotonic clock         */
	char date[HTTP_DATE_SIZE];
};

/* The function of a connection, for sley_listener_serve(). */
int connection_serve(struct sley_stream *stream, void *server);

/* Called by the stopper, under the lock of the server. */
void connection_stop(struct connection *connection);

/* Is the next answer the last one, because the server stops? */
bool connection_stops(const struct connection *connection);

/* The deadline that is so many milliseconds from now, or from the last answer. */
uint64_t connection_deadline(struct connection *connection, uint32_t ms);

/* The same, by a caller that has just looked at the clock. */
uint64_t connection_deadline_from_look(const struct connection *connection,
				       uint32_t ms);

/* Read the clocks, and write .date anew if needed. */
void connection_look_at_clock(struct connection *connection);

/* Write what was gathered; before each wait for input. */
must_check int connection_flush(struct connection *connection);

#endif
