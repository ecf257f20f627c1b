/* SPDX-License-Identifier: MIT */
/*
 * wire.h - what a client process and a daemon say to each other: packets of the
 * handshake, the head of a request in its slot, the requests for the daemon itself, and
 * the page of the daemon.
 *
 * The carrier is memory that both map: a request ring (shm/request_ring.h), of which the
 * client is the submitter and the daemon is the server.  A SEQPACKET socket carries the
 * handshake, descriptors, and the news that the peer is gone; nothing else:
 *
 *   client                                      daemon
 *   connect                        -------->    SO_PEERCRED, a pidfd: may this user?
 *   HELLO, if it adopts: + ring    -------->    makes the ring, or checks the given one
 *   checks, maps                   <--------    WELCOME + two bells, page, ring
 *     or                           <--------    REFUSED: a code, both versions, a text
 *   begins the life of the ring
 *   READY: the life                -------->    attaches as the server of this life
 *   ...                            <--------    SEGMENT + memory, before the answer
 *                                               to the CONTROL_SEGMENT that asked
 *   ...                            <--------    GOODBYE: why the client is ejected
 *
 * Until READY the client alone writes to the ring.  So a ring that is adopted, because
 * the daemon before this one has died, begins a new life while no server looks at it: the
 * client keeps the data of its requests in their slots, and puts their entries again.
 *
 * A client is REFUSED before its session has begun, whatever the reason.  For its requests
 * a daemon that refuses is no daemon: they wait for another.  GOODBYE ends a session, and
 * fails its requests.
 *
 * All packets have one size.  Both sides refuse other sizes, other magic numbers and
 * descriptors that are not due.
 *
 * A version is {major, minor}.  It covers the packets, the head of a request, the requests
 * for the daemon, the page, and the layout of the ring.
 *
 *   minor  Changes with an addition that the older side can do without: a meaning of a
 *          reserved field, a flag, a kind of packet, a method of pool 0.  The smaller of
 *          the two versions counts (packet_minor()).  The newer side leaves flags and kinds
 *          out that the older side would refuse.  The older side reads no reserved field.
 *   major  Changes if the older side would read a field wrongly.  The client is refused,
 *          and both sides name both versions.  REQUEST_RING_VERSION changes together with
 *          the major version alone: a ring outlives its daemon, and a daemon adopts no ring
 *          of another layout.
 *
 * All major versions agree on the size of a packet, on its first 12 bytes and on the value of
 * WIRE_REFUSED.  Of a packet of another major version no other field is read.
 *
 * A request is a slot of the ring: a head of 64 bytes, then the IN part.  The answer
 * overwrites the slot from its beginning.  If IN or OUT do not fit, both are in a
 * *segment*: memory that the daemon made for this client and that one request at a time
 * uses; a struct wire_bulk follows the head then, and IN and OUT begin at offset 0 of the
 * segment.
 *
 * The pool with the number 0 is the daemon itself: its methods are enum wire_control.
 * Other numbers are given out by CONTROL_OPEN, for one session.
 *
 * All numbers are little-endian and have the same places on all processors.  Nothing
 * here is a pointer.  The layouts are frozen: a change is a new version.
 */
#ifndef SLEY_IPC_WIRE_H
#define SLEY_IPC_WIRE_H

#include "base/atomic.h"
#include "base/compiler.h"

#include <stddef.h>
#include <stdint.h>

#define WIRE_MAGIC 0x64796c73u /* "slyd" */

/* Other builds, for the test of two versions, are made in programs/sleyd/CMakeLists.txt. */
#ifndef WIRE_MAJOR
#define WIRE_MAJOR 1u
#endif
#ifndef WIRE_MINOR
#define WIRE_MINOR 0u
#endif

/* What this version writes to fields that it does not read. */
#ifndef WIRE_RESERVED
#define WIRE_RESERVED 0u
#endif

/* ---- packets ---------------------------------------------------------------------- */

enum wire_kind {
	WIRE_HELLO = 1, /* client: I want a ring, or have one              */
	WIRE_READY,     /* client: the life of the ring has begun          */
	WIRE_WELCOME,   /* daemon: here is what you need                   */
	WIRE_REFUSED,   /* daemon: no, since ...                           */
	WIRE_SEGMENT,   /* daemon: a segment, as a descriptor              */
	WIRE_GOODBYE,   /* daemon: the session ends, since ...             */
};

/* For .flags of HELLO. */
#define WIRE_ADOPT 1u /* the client has a ring, which comes as a descriptor */

/*
 * The descriptors of a WELCOME, in this order.  An adopted ring is not sent back.  The bell
 * of the client is a socket and no eventfd, see os_bell_create(): it can be read after a
 * ring, and is cleared as an eventfd is, one ring at a time.
 */
enum wire_fd {
	WIRE_FD_SERVER_BELL, /* eventfd: the client signals the daemon      */
	WIRE_FD_CLIENT_BELL, /* socket: the daemon signals the client       */
	WIRE_FD_PAGE,        /* struct wire_page, to be mapped read-only    */
	WIRE_FD_RING,
	WIRE_FDS_MAX,
};

#define WIRE_TEXT 136

struct wire_packet {
	uint32_t magic;
	uint16_t major;
	uint16_t minor;
	uint32_t kind;  /* enum wire_kind                                    */
	uint32_t flags; /* HELLO: WIRE_ADOPT                                 */
	/*
	 * HELLO: slots that are wished for, 0: the daemon's default.  WELCOME:
	 * slots of the ring.
	 */
	uint32_t depth;
	uint32_t slot_size; /* the same: bytes of a slot, with its head      */
	uint32_t life;      /* READY: the life that the client has begun     */
	int32_t code;       /* REFUSED, GOODBYE: an error below 0            */
	uint64_t session;   /* WELCOME: the number of the session            */
	uint64_t generation; /* WELCOME: of the daemon; differs after a restart */
	/*
	 * WELCOME: the bytes of all segments that the client may have.  SEGMENT: its
	 * size.
	 */
	uint64_t bytes;
	uint32_t segment; /* SEGMENT: its number, from 1                     */
	uint32_t reserved;
	/*
	 * HELLO: the name of the program.  WELCOME: the version of the daemon, as a
	 * text.  REFUSED, GOODBYE: the reason, for a person.  Ends with a 0.
	 */
	char text[WIRE_TEXT];
};

_Static_assert(sizeof(struct wire_packet) == 200, "the same everywhere");
_Static_assert(offsetof(struct wire_packet, kind) == 8, "as above");
_Static_assert(offsetof(struct wire_packet, depth) == 16, "as above");
_Static_assert(offsetof(struct wire_packet, code) == 28, "as above");
_Static_assert(offsetof(struct wire_packet, session) == 32, "as above");
_Static_assert(offsetof(struct wire_packet, bytes) == 48, "as above");
_Static_assert(offsetof(struct wire_packet, segment) == 56, "as above");
_Static_assert(offsetof(struct wire_packet, text) == 64, "as above");

/* ---- requests --------------------------------------------------------------------- */

/* For .flags of a head. */
#define WIRE_FORGOTTEN 1u /* no caller waits; the answer has no data          */
#define WIRE_BULK 2u      /* IN and OUT are in a segment                      */
#define WIRE_ENQUEUE 4u   /* .enqueue of struct sley_request_spec             */
#ifndef WIRE_FLAGS
#define WIRE_FLAGS 7u
#endif

/* The flags as they are sent to this daemon; a later version leaves its own out. */
#ifndef WIRE_SENT_FLAGS
#define WIRE_SENT_FLAGS(flags) (flags)
#endif

/* The beginning of the slot of a request; the IN part follows. */
struct wire_head {
	uint32_t pool;
	uint32_t method;
	uint32_t query_kind; /* struct sley_query                            */
	uint32_t query_timeout;
	uint64_t query_first;
	uint64_t query_count;
	uint64_t deadline_ns; /* of CLOCK_MONOTONIC, the same in all processes */
	uint64_t group;
	uint32_t io_size;  /* UINT32_MAX: so many or more                    */
	uint32_t out_room; /* bytes that the submitter has for the answer    */
	int16_t priority;
	uint16_t flags;
	uint32_t reserved;
};

_Static_assert(sizeof(struct wire_head) == 64, "one cache line");
_Static_assert(offsetof(struct wire_head, query_first) == 16, "as above");
_Static_assert(offsetof(struct wire_head, deadline_ns) == 32, "as above");
_Static_assert(offsetof(struct wire_head, io_size) == 48, "as above");
_Static_assert(offsetof(struct wire_head, priority) == 56, "as above");

/*
 * Copies a head that was made a moment ago: field by field, as it was made.  A load of
 * several fields at once would wait until all stores before it have left the processor,
 * and those may wait for cache lines of the other process.
 */
static inline void wire_head_copy(struct wire_head *to,
				  const struct wire_head *from)
{
	/* relaxed: nothing is shared; but the compiler joins no loads. */
	to->pool = load_relaxed(&from->pool);
	to->method = load_relaxed(&from->method);
	to->query_kind = load_relaxed(&from->query_kind);
	/* relaxed: as above. */
	to->query_timeout = load_relaxed(&from->query_timeout);
	to->query_first = load_relaxed(&from->query_first);
	to->query_count = load_relaxed(&from->query_count);
	/* relaxed: as above. */
	to->deadline_ns = load_relaxed(&from->deadline_ns);
	to->group = load_relaxed(&from->group);
	to->io_size = load_relaxed(&from->io_size);
	/* relaxed: as above. */
	to->out_room = load_relaxed(&from->out_room);
	to->priority = load_relaxed(&from->priority);
	to->flags = WIRE_SENT_FLAGS(load_relaxed(&from->flags));
	to->reserved = WIRE_RESERVED;
}

/* With WIRE_BULK, behind the head. */
struct wire_bulk {
	uint32_t segment;
	uint32_t in_size;
	uint64_t reserved;
};

_Static_assert(sizeof(struct wire_bulk) == 16, "the same everywhere");

/* The longest IN part and the longest answer, in a segment. */
#define WIRE_BULK_MAX (1u << 30)

/*
 * The value of an answer's entry: the code of the request in the lower half, the size of
 * the answer in the upper half.  The answer is in the slot, or at the beginning of the
 * segment of the request.
 */
static inline uint64_t wire_answer(int32_t code, uint32_t size)
{
	return (uint64_t)size << 32 | (uint32_t)code;
}

static inline int32_t wire_answer_code(uint64_t value)
{
	return (int32_t)(uint32_t)value;
}

static inline uint32_t wire_answer_size(uint64_t value)
{
	return (uint32_t)(value >> 32);
}

/* ---- requests for the daemon itself: pool 0 ------------------------------------------ */

enum wire_control {
	/* IN: struct wire_open, then the params; OUT: struct wire_opened. */
	WIRE_CONTROL_OPEN,
	/* IN: struct wire_number, of a pool. */
	WIRE_CONTROL_CLOSE,
	/* IN: struct wire_number: the id of a request of this ring. */
	WIRE_CONTROL_CANCEL,
	/*
	 * IN: struct wire_number: how many bytes; OUT: struct wire_number: the
	 * segment.  Its memory has come as a packet before the answer.
	 */
	WIRE_CONTROL_SEGMENT,
	/* IN: struct wire_number: the segment is not used any more. */
	WIRE_CONTROL_RELEASE,
	WIRE_NR_CONTROLS,
};

#define WIRE_NAME 64 /* SLEY_POOL_NAME_MAX + 1 */

struct wire_number {
	uint64_t number;
};

/* As struct sley_pool_options; the pool must be there if .module is empty. */
struct wire_open {
	char pool[WIRE_NAME];
	char module[WIRE_NAME];
	uint32_t containers;
	uint32_t flags; /* WIRE_OPEN_ISOLATED */
	uint32_t max_restarts;
	uint32_t reserved;
	uint64_t limit_ns;
};

#define WIRE_OPEN_ISOLATED 1u

struct wire_opened {
	uint32_t pool;
	uint32_t nr_containers;
};

_Static_assert(sizeof(struct wire_open) == 152, "the same everywhere");
_Static_assert(sizeof(struct wire_opened) == 8, "the same everywhere");

/* ---- the page of the daemon ---------------------------------------------------------- */

enum wire_state {
	WIRE_SERVING,
	WIRE_STOPPING, /* takes no more requests; the next daemon may come  */
};

/* Written by the daemon alone; clients map it read-only, and believe it. */
struct wire_page {
	uint32_t magic;
	uint16_t major;
	uint16_t minor;
	uint32_t state; /* enum wire_state */
	uint32_t pid;
	uint64_t generation;
	uint64_t started_ns; /* CLOCK_MONOTONIC                             */
	uint32_t nr_clients;
	uint32_t nr_workers;
	char version[32];
};

_Static_assert(sizeof(struct wire_page) == 72, "the same everywhere");
_Static_assert(offsetof(struct wire_page, generation) == 16, "as above");

#endif
