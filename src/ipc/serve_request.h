/* SPDX-License-Identifier: MIT */
/*
 * serve_request.h - from a request in a client's ring to sley_submit(), and back.
 *
 *   taker     takes a batch, checks the heads (ipc/session.h), and for each: copies the IN
 *             part to private memory, submits.  A request that is complete then
 *             (ipc/handover.h) is answered with the batch: one publish, one wake-up
 *   worker    completes a request that was queued: copies the answer to its slot, and
 *             publishes it
 *
 * The private memory of a request, with room for both parts, belongs to its slot, or to its
 * segment if the parts are large, and is kept there for the next request: slots and
 * segments serve one request at a time.  A client takes its free slots last in, first out,
 * so a client with few requests uses little memory here, which stays in the caches.
 *
 * Cancelling.  A canceller holds a slot (under the lock of the connection) while it cancels
 * the request there.  A request that completes meanwhile is answered by its last canceller.
 */
#ifndef SLEY_IPC_SERVE_REQUEST_H
#define SLEY_IPC_SERVE_REQUEST_H

#include "ipc/connection.h"
#include "ipc/handover.h"
#include "route/request.h"

/* Of one ring, before another ring has its turn. */
#define SERVE_BATCH 32

/* A request of a client, in private memory; its parts follow, or are elsewhere. */
struct serve {
	struct served_request served;
	struct handover handover;
	uint32_t slot;
	struct connection *connection;
	void *in;
	void *out;
	uint32_t in_size;
	uint32_t out_room;
	int32_t code;
	uint32_t answer_size;
	uint32_t room; /* bytes that follow                         */
	cache_aligned unsigned char payload[];
};

/* An answer, for a batch. */
struct serve_answer {
	uint32_t slot;
	int32_t code;
	uint32_t size;
};

/* Of a taker, since it is too large for a stack. */
struct serve_batch {
	uint32_t slots[SERVE_BATCH];
	int errors[SERVE_BATCH];
	struct session_call calls[SERVE_BATCH];
	struct serve_answer answers[SERVE_BATCH];
	uint32_t nr_answers;
	bool ended; /* the session has, when the batch was taken */
};

/*
 * By the taker of the ingress: takes at most a batch of requests.  *@seen: for
 * ring_set_looked().
 */
enum ring_found serve_turn(struct connection *connection,
			   struct serve_batch *batch, uint32_t *seen);

/* A request for the daemon itself that was not answered at once is done. */
void serve_end(struct serve *serve, int32_t code, uint32_t answer_size);

/* Cancels the request with that id: 0; -ENOENT: it is not in flight. */
must_check int serve_cancel(struct connection *connection, uint64_t id);

/* The session has ended: cancels all that the client waited for. */
void serve_cancel_all(struct connection *connection);

/* No request is in flight: frees the private memory. */
void serve_free(struct connection *connection);

#endif
