/* SPDX-License-Identifier: MIT */
/*
 * session.h - a client, as the daemon sees it: the handshake, the ring, the requests that
 * are in flight, pools and segments by number.
 *
 * No function makes a system call or waits.  The caller, a shell, receives packets, maps
 * memory and runs requests, and is told what to do; so does the simulator, with plain
 * memory.  One thread at a time, unless a function says otherwise.
 *
 *   GREETING ──HELLO──► (ring) ──session_welcome()──► WELCOMED ──READY──► LIVE
 *      │                                                 │                  │
 *      └──────────────── session_end() ──────────────────┴──────────────────┴──► ENDING
 *
 * A request that was taken has the slot of its ring, in a table here, until it is
 * answered.  The client can name a slot that is in use, or take an id twice, only by
 * writing to the ring what no client library writes: that is *nonsense*, and ends the
 * session.  A request whose head is wrong is answered with an error instead, and the
 * requests beside it go on: heads are filled from what a program gave.
 *
 * Everything in the ring is copied before it is looked at.  session_check() copies the
 * head; the IN part is copied by the caller, once, to memory that no client can write to.
 *
 * Numbers.  Pool 0 is the daemon.  Others are given out for one session, from 1, and so
 * are segments: another session's number is the number of something else, or of nothing.
 * A segment serves one request at a time.
 */
#ifndef SLEY_IPC_SESSION_H
#define SLEY_IPC_SESSION_H

#include "base/compiler.h"
#include "ipc/packet.h"
#include "mem/alloc.h"
#include "shm/request_server.h"

#include <stdbool.h>

#define SESSION_POOLS_MAX 64
#define SESSION_SEGMENTS_MAX 64
#define SESSION_NO_SLOT UINT32_MAX

enum session_state {
	SESSION_GREETING,
	SESSION_WELCOMED,
	SESSION_LIVE,
	SESSION_ENDING,
};

/* What a daemon allows each client. */
struct session_limits {
	uint32_t max_depth;
	uint32_t max_slot_size;
	uint64_t max_segment_bytes;
};

/* What the shell has to do after a packet. */
enum session_wants {
	SESSION_MAKE_RING,  /* of .depth and .slot_size: session_welcome()  */
	SESSION_ADOPT_RING, /* the one that came: session_welcome()         */
	SESSION_BEGIN,      /* the ring is to be served                     */
};

struct session_pool {
	void *pool;       /* NULL: the number is free      */
	uint64_t methods; /* bits, as may_use() answers    */
	uint32_t nr_used; /* by requests in flight         */
	bool closing;     /* when the last has ended       */
};

struct session_segment {
	void foreign *memory; /* NULL: the number is free           */
	void *private;        /* of the shell: the copies           */
	uint64_t size;
	uint64_t private_size;
	bool used; /* by a request in flight             */
};

/* A slot of the ring. */
struct session_slot {
	struct request taken; /* .id 0: not in flight                       */
	uint32_t pool;        /* 0: none                                    */
	uint32_t segment;     /* 0: none                                    */
	uint32_t out_room;
	uint16_t flags;    /* of the head                                 */
	uint16_t nr_holds; /* of the shell: cancellers                    */
	bool ended;        /* of the shell: to be answered without holds  */
	void *owner;       /* of the shell, kept for the next request     */
};

struct session {
	enum session_state state;
	bool adopts; /* the client has brought its ring  */
	int32_t code;
	uint32_t depth;
	uint32_t slot_size;
	uint32_t nr_pools;
	uint32_t nr_segments;
	uint64_t segment_bytes;
	uint64_t nr_requests;
	struct session_limits limits;
	struct request_server server;
	struct session_slot *slots; /* NULL: there is no ring yet  */
	const char *reason;         /* why it ends                 */
	char name[WIRE_TEXT];       /* that the client gives itself */
	struct session_pool pools[SESSION_POOLS_MAX + 1];
	struct session_segment segments[SESSION_SEGMENTS_MAX + 1];
};

/* A request whose head was checked. */
struct session_call {
	struct wire_head head;
	void *pool; /* as it was given to session_add_pool(); NULL: the daemon */
	const void foreign *in; /* of the client: copy it, once      */
	uint32_t in_size;
	uint32_t out_room;
	uint32_t slot;
	uint32_t segment; /* 0: none */
};

void session_init(struct session *session, const struct session_limits *limits);

/* Frees the table of slots; the owners are the shell's. */
void session_free(struct session *session, struct mem *mem);

/* ---- the handshake ---------------------------------------------------------------------- */

/*
 * A packet has come, with @nr_fds descriptors: what to do; or an error, and *@answer is
 * to be sent before the end of the session.
 */
must_check int session_packet(struct session *session,
			      struct wire_packet *packet, uint32_t nr_fds,
			      struct wire_packet *answer);

/*
 * The ring is there: *@answer is a WELCOME, with .session, .generation and .segment_bytes
 * of @offer.  -ENOMEM; or -E2BIG, of an adopted ring that is larger than the limits.
 */
must_check int session_welcome(struct session *session, struct mem *mem,
			       const struct request_ring *ring,
			       const struct packet_offer *offer,
			       struct wire_packet *answer);

/*
 * The session ends, with @code; @reason is a constant text, or NULL.  0: the client is gone,
 * and what nobody waits for can still be taken from the ring.
 */
void session_end(struct session *session, int32_t code, const char *reason);

/* ---- requests ------------------------------------------------------------------------- */

/*
 * Takes at most @max requests, which are in flight from now on: their slots are in
 * @slots.  How many; -EPROTO: nonsense, .reason says which.
 */
must_check int session_take(struct session *session, uint32_t *slots,
			    uint32_t max);

/*
 * Copies and checks the head of a request that was taken.  0, or an error, with which the
 * request is to be answered.  *@call is good for answers in both cases.
 */
must_check int session_check(struct session *session, uint32_t slot,
			     struct session_call *call);

/* Where the answer to @call goes: .out_room bytes.  Without a lock. */
void foreign *session_answer_place(const struct session *session,
				   uint32_t slot);

/*
 * The answer is at its place.  Puts its entry; the slot is not in flight any more.
 * Returns a pool that was to be closed and has no requests any more, or NULL.
 */
void *session_answer(struct session *session, uint32_t slot, int32_t code,
		     uint32_t size);

/* Publishes the answers: bits for entry_ring_tell(); nonsense is noticed later. */
must_check int session_publish(struct session *session);

/* Takes no more requests, and says so: bits for entry_ring_tell(). */
must_check int session_stop(struct session *session);

/* The slot of the request with that id, if it is in flight; or SESSION_NO_SLOT. */
uint32_t session_find(const struct session *session, uint64_t id);

static inline uint32_t session_nr_in_flight(const struct session *session)
{
	return session->slots ? request_server_nr_taken(&session->server) : 0;
}

/* ---- numbers --------------------------------------------------------------------------- */

/* The number of the pool; -EMFILE: there are too many. */
must_check int session_add_pool(struct session *session, void *pool,
				uint64_t methods);

/*
 * The client closes a pool.  *@pool: what the shell has to close now; or NULL, later.
 * -EBADF: it has no such pool.
 */
must_check int session_close_pool(struct session *session, uint64_t number,
				  void **pool);

/* A new segment of @size bytes fits: its number; -EDQUOT, -EMFILE, -EINVAL. */
must_check int session_reserve_segment(struct session *session, uint64_t size);
void session_set_segment(struct session *session, uint32_t number,
			 void foreign *memory, uint64_t size);

/*
 * The client gives a segment back: *@out is to be unmapped.  -EBADF: it has no such
 * segment; -EBUSY: a request uses it.
 */
must_check int session_release_segment(struct session *session, uint64_t number,
				       struct session_segment *out);

#endif
