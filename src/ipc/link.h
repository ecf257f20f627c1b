/* SPDX-License-Identifier: MIT */
/*
 * link.h - the connection of a client, without its system calls: which requests have a
 * slot, and what becomes of them when the daemon ends.
 *
 *   DOWN ──greet──► GREETING ──begin──► LIVE ──lost──► LOST ──greet──► GREETING ...
 *     ▲                 └──lost──► LOST, or DOWN          │
 *     └───────────────no daemon came in time──────────────┘
 *
 * A request is *held* or *sent*.  A held request has a slot of the ring with its data in
 * it, and no entry: there is no daemon, or its pool has no number yet, or it waits for a
 * segment.  A sent request has an entry.  Both are acknowledged.
 *
 * The end of a daemon.  All answers that are there are collected first.  Then each sent
 * request has one of three fates, by `begun` of shm/request_ring.h:
 *
 *   not begun                    held, for the next daemon
 *   begun and idempotent         the same; its data is written again, since the daemon
 *                                may have begun to write the answer there
 *   begun                        ended: outcome unknown
 *
 * A request that was cancelled ends here, in place of being sent again.  Then the next
 * daemon adopts the ring: its next life begins, with other ids.  So an answer of the last
 * daemon, whenever it was written, is the answer to no request.
 *
 * Requests for the daemon itself (pool 0) are ended with -ESTALE: their senders know
 * whether they are still needed.
 *
 * Slots in reserve.  Requests of the user leave LINK_RESERVE slots to the requests for the
 * daemon: else nobody could cancel while the ring is full.  A cancel that finds no slot
 * waits for one.
 *
 * Each request ends once: in link_collect(), for whatever reason.  Its owner is then the
 * caller's again.
 *
 * One thread at a time: the lock is ipc/client.c's.  No function makes a system call or
 * reads a clock, so that a simulator can drive this file.  A function that may have put
 * entries is followed by link_publish(), under the same lock.
 *
 * Rejected: a copy of each request outside of the ring (the owner has the data until the
 * request is complete; only forgotten requests have no owner, and their slot is not
 * written to by any daemon that keeps to the protocol).
 */
#ifndef SLEY_IPC_LINK_H
#define SLEY_IPC_LINK_H

#include "ipc/wire.h"
#include "mem/alloc.h"
#include "shm/request_submitter.h"

enum link_state {
	LINK_DOWN,
	LINK_GREETING,
	LINK_LIVE,
	LINK_LOST,
};

/* The pool 0: the daemon itself. */
#define LINK_DAEMON 0u

/* What is known of a pool in the session. */
enum link_pool_state {
	LINK_POOL_FREE, /* no pool has this place                        */
	LINK_POOL_SHUT, /* it has no number: its requests are held       */
	LINK_POOL_OPEN,
	LINK_POOL_GONE, /* this daemon has no such pool                  */
};

struct link_pool {
	uint32_t state;
	uint32_t number; /* OPEN: in the session                         */
	int code;        /* GONE: how requests end                       */
};

/* For .flags of a submission. */
#define LINK_FORGOTTEN 1u  /* nobody waits                             */
#define LINK_IDEMPOTENT 2u /* may run twice                            */
#define LINK_BULK 4u       /* IN and OUT are in a segment              */

/* What a caller submits.  head.pool and head.flags are set by the link. */
struct link_submission {
	struct wire_head head;
	uint32_t pool; /* its place, or LINK_DAEMON                       */
	uint32_t flags;
	const void *in; /* kept by the owner until the request ends       */
	uint32_t in_size;
	uint32_t segment_number; /* LINK_BULK: IN is there already        */
	void *segment;           /* the same, as the caller knows it      */
	void *out; /* gets an answer that is in the slot                  */
	void *owner;
};

enum link_phase {
	LINK_SLOT_FREE,
	LINK_SLOT_HELD,
	LINK_SLOT_MOVING, /* the same; its data is being copied, without the lock */
	LINK_SLOT_SENT,
	LINK_SLOT_ENDED, /* link_collect() tells of it                   */
};

/* By slot. */
struct link_request {
	struct wire_head head;
	const void *in;
	void *out;
	void *owner;
	void *segment;
	uint64_t order; /* of the submission                              */
	uint32_t phase;
	uint32_t flags;
	uint32_t pool;
	uint32_t in_size;
	uint32_t segment_number;
	uint32_t next; /* in a list, for a moment                         */
	int32_t code;  /* ENDED                                           */
	uint32_t size; /* ENDED: of the answer                            */
};

/* A request has ended. */
struct link_done {
	void *owner; /* NULL: nobody waits                                */
	int32_t code;
	uint32_t size; /* of the answer                                   */
	uint32_t pool;
	void *segment; /* where the answer is, and which is free now; or NULL */
};

struct link_counts {
	uint64_t submitted;
	uint64_t completed;
	uint64_t unknown;
	uint64_t again;
	uint64_t connects;
};

struct link {
	enum link_state state;
	struct mem *mem;
	struct request_submitter *submitter; /* NULL: before the first daemon */
	struct link_request *requests;       /* by slot                       */
	struct link_pool *pools;
	uint32_t nr_pools;
	uint32_t nr_used;    /* slots that are not free                       */
	uint32_t nr_reserve; /* of them, for the daemon                       */
	uint32_t nr_ended;
	uint32_t nr_cancels; /* that wait for a slot                          */
	uint32_t nr_homeless; /* held requests that need a segment             */
	int dismissed; /* why the daemon has thrown the client out       */
	uint64_t patience_ns;
	uint64_t give_up_ns; /* LOST: no daemon came until then                */
	uint64_t order;
	struct link_counts counts;
};

void link_init(struct link *link, struct mem *mem, uint64_t patience_ns);
void link_fini(struct link *link);

/* ---- the daemon ---------------------------------------------------------------------- */

/* A daemon was asked; from DOWN or LOST. */
void link_greet(struct link *link, uint64_t now_ns);

/*
 * The daemon has welcomed the client.  @ring: of the first daemon; NULL: it has adopted
 * ours.  0: the link is LIVE, and *@life is for the daemon; -ENOMEM: nothing has changed.
 */
must_check int link_begin(struct link *link, const struct request_ring *ring,
			  uint32_t *life);

/* The daemon says that it ends the session, with this code. */
void link_dismiss(struct link *link, int code);

/* There is no connection any more.  Requests may have ended. */
void link_lost(struct link *link, uint64_t now_ns);

/* Time has passed: requests whose time is over have ended. */
void link_expire(struct link *link, uint64_t now_ns);

/* The client is closed: all requests have ended. */
void link_end_all(struct link *link, int code);

/* The daemon has stopped, and answers nothing more: look for the next one. */
must_check bool link_is_drained(struct link *link);

/* The daemon has written nonsense. */
static inline bool link_is_broken(const struct link *link)
{
	return link->state == LINK_LIVE && link->submitter->broken;
}

/* ---- pools --------------------------------------------------------------------------- */

/* A place for a pool, which is SHUT; or 0: no memory. */
must_check uint32_t link_pool_add(struct link *link);
/* No request of the pool is under way.  Its number in the session, or 0. */
uint32_t link_pool_remove(struct link *link, uint32_t pool);
/* The daemon has given the pool a number: its held requests are put. */
void link_pool_open(struct link *link, uint32_t pool, uint32_t number);
/* The daemon has no such pool: its requests end with @code, as do later ones. */
void link_pool_fail(struct link *link, uint32_t pool, int code);

/* ---- requests ------------------------------------------------------------------------ */

/* Does the data of a request fit a slot? */
static inline bool link_fits(const struct link *link, uint64_t in_size,
			     uint64_t out_size)
{
	uint64_t room = link->submitter->ring.slot_size;

	return in_size + sizeof(struct wire_head) <= room && out_size <= room;
}

/*
 * Puts or holds a request: its slot, or
 *
 *   -EAGAIN     no slot is free
 *   -EHOSTDOWN  there is no daemon
 *   -ESTALE     its segment belongs to a daemon that is gone, or it is for the daemon and
 *               the link is not LIVE
 */
must_check int64_t link_submit(struct link *link,
			       const struct link_submission *what);

/* May the next request of the user be submitted? */
static inline bool link_has_room(const struct link *link)
{
	return link->nr_used + link->nr_reserve < link->submitter->ring.depth;
}

/* Is the request of @owner under way, in @slot? */
static inline bool link_has(const struct link *link, uint32_t slot,
			    const void *owner)
{
	return link->requests[slot].owner == owner;
}

/* Asks the daemon to end the request, if it is still under way. */
void link_cancel(struct link *link, uint32_t slot, const void *owner);

/*
 * A held request that needs a segment, in the order of submission: its slot, or
 * REQUEST_NO_SLOT.  It does not end before one of the two calls below.
 */
must_check uint32_t link_take_homeless(struct link *link);
/* IN of this request is in this segment now, and the last one is not used any more. */
void link_house(struct link *link, uint32_t slot, uint32_t segment_number,
		void *segment);
/* There is no segment: the request ends with @code, or with 0 is held as before. */
void link_leave_homeless(struct link *link, uint32_t slot, int code);

/*
 * Takes up to @max requests that have ended: how many; or -EPROTO: the daemon is broken.
 * Puts cancels that have waited for a slot.
 */
must_check int link_collect(struct link *link, struct link_done *done,
			    uint32_t max);

/* For entry_ring_tell() with link_submitted_word(): needs no lock. */
must_check int link_publish(struct link *link);

static inline uint32_t foreign *link_submitted_word(const struct link *link)
{
	return link->submitter->submissions.word;
}

static inline uint32_t foreign *link_completed_word(const struct link *link)
{
	return link->submitter->completions.word;
}

/* What has been collected: for entry_ring_await() and entry_ring_watch(). */
static inline uint32_t link_seen(const struct link *link)
{
	return entry_ring_seen(&link->submitter->completions);
}

#endif
