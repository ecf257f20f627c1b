/* SPDX-License-Identifier: MIT */
/*
 * request_ring.h - memory shared by a submitter and a server: requests, and answers in
 * any order.
 *
 * Two rings of entries (shm/entry_ring.h), one for each way, and slots for the data:
 *
 *   submitter                                     server
 *   takes a free slot, fills it
 *   submission: id, slot, size   ------------->   copies, checks; begun = number + 1
 *   copies, checks, frees slot   <-------------   completion: the same id and slot
 *
 * The answer is in the slot of the request: the server has copied the request by then.
 * The list of free slots is private to the submitter.  A submission holds a slot until
 * its completion is collected.  So neither ring can overflow, and a submitter without a
 * free slot waits for a completion.
 *
 * An id is the life of the ring and the number of the request.  The server takes the
 * numbers in their order.  The submitter keeps the id of each slot, and takes an answer
 * for just that id.  A request can therefore be taken once and answered once, whatever
 * the other process writes.
 *
 * A process trusts nothing of this memory.  Sizes and places are checked and copied
 * once, when the process attaches.  Entries are copied first and then checked.  A process
 * that finds nonsense is told that the other process is *broken*, which is final.
 *
 * The death of the server: answered requests count.  A request below begun may have
 * been run.  All others were not begun, and can be submitted again in the next life.
 * The same holds when the server has stopped: STOP in the word of the completions says
 * that it takes no more requests, and that begun is final.  Answers may still come.
 * STOP in the word of the submissions: the submitter will submit nothing more.
 *
 * All numbers are little-endian and have the same places on all processors.  There are
 * no pointers.  A change of the layout is a new version, and a new major version of what
 * both sides say (ipc/wire.h).
 *
 * Edges:
 *
 *   CW1  see shm/count_word.h
 */
#ifndef SLEY_SHM_REQUEST_RING_H
#define SLEY_SHM_REQUEST_RING_H

#include "base/compiler.h"
#include "shm/entry_ring.h"

#include <stddef.h>

#define REQUEST_RING_MAGIC 0x676e697279656c73ull /* "sleyring" */
/* As WIRE_MAJOR, a test makes another one. */
#ifndef REQUEST_RING_VERSION
#define REQUEST_RING_VERSION 1u
#endif
#define REQUEST_RING_DEPTH_MAX 65536u
#define REQUEST_RING_SLOT_MAX (1u << 20)

/* Constant in a life. */
struct request_header {
	uint64_t magic;
	uint32_t version;
	uint32_t depth; /* slots, and entries of each ring: a power of two */
	uint32_t slot_size; /* a multiple of 64; may be 0                      */
	uint32_t life;  /* at least 1                                      */
	uint64_t first; /* the number of the first request                 */
	uint64_t size;  /* of the whole memory                             */
};

struct request_memory {
	cache_aligned struct request_header header;
	cache_aligned uint32_t submitted; /* by the submitter      */
	cache_aligned uint32_t completed; /* by the server         */
	cache_aligned uint64_t begun;     /* by the server         */
	/* Submissions, completions, slots. */
	cache_aligned struct ring_entry entries[];
};

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "as it is written");
_Static_assert(sizeof(struct request_header) == 40, "the same everywhere");
_Static_assert(offsetof(struct request_header, version) == 8, "as above");
_Static_assert(offsetof(struct request_header, depth) == 12, "as above");
_Static_assert(offsetof(struct request_header, slot_size) == 16, "as above");
_Static_assert(offsetof(struct request_header, life) == 20, "as above");
_Static_assert(offsetof(struct request_header, first) == 24, "as above");
_Static_assert(offsetof(struct request_header, size) == 32, "as above");
_Static_assert(offsetof(struct request_memory, submitted) == 64, "as above");
_Static_assert(offsetof(struct request_memory, completed) == 128, "as above");
_Static_assert(offsetof(struct request_memory, begun) == 192, "as above");
_Static_assert(offsetof(struct request_memory, entries) == 256, "as above");
_Static_assert(sizeof(struct request_memory) == 256, "as above");

/* A process's own view of the memory: checked, and private. */
struct request_ring {
	struct request_memory foreign *memory;
	uint64_t size;
	uint64_t first;
	uint32_t depth;
	uint32_t slot_size;
	uint32_t life;
	uint32_t version; /* of the memory; in any case after an attach */
};

/* Bytes of the memory, or 0: not allowed. */
static inline uint64_t request_ring_size(uint32_t depth, uint32_t slot_size)
{
	if (!depth || depth > REQUEST_RING_DEPTH_MAX || (depth & (depth - 1)) ||
	    slot_size > REQUEST_RING_SLOT_MAX || slot_size % CACHE_LINE)
		return 0;
	return sizeof(struct request_memory) +
	       (uint64_t)depth * (2 * sizeof(struct ring_entry) + slot_size);
}

static inline uint64_t request_id(uint32_t life, uint64_t number)
{
	return (uint64_t)life << 32 | (uint32_t)number;
}

static inline struct ring_entry foreign *
request_ring_submissions(const struct request_ring *ring)
{
	return ring->memory->entries;
}

static inline struct ring_entry foreign *
request_ring_completions(const struct request_ring *ring)
{
	return ring->memory->entries + ring->depth;
}

/* @slot is below the depth. */
static inline void foreign *request_ring_slot(const struct request_ring *ring,
					      uint32_t slot)
{
	sley_assert(slot < ring->depth);
	return (unsigned char foreign *)(ring->memory->entries +
					 2 * ring->depth) +
	       (size_t)slot * ring->slot_size;
}

/*
 * This process is about to write to the slot, or to read it and then to write: its first
 * lines come over now, beside those of other slots, and not one by one at the first
 * writes.  A slot goes to and fro, so it is always with the other process.
 */
static inline void request_ring_fetch(const struct request_ring *ring,
				      uint32_t slot, uint32_t size)
{
	const unsigned char *at =
		(const unsigned char *)request_ring_slot(ring, slot);

	prefetch_write(at);
	if (size > CACHE_LINE)
		prefetch_write(at + CACHE_LINE);
}

/* The server: request @number begins, or may have begun. */
static inline void request_ring_begin(const struct request_ring *ring,
				      uint64_t number)
{
	/* relaxed: read after the end of the server, or by CW1 of its STOP. */
	store_relaxed(&ring->memory->begun, number + 1);
	compiler_barrier();
}

/* After the end or the STOP of the server: the number of the first that did not. */
static inline uint64_t request_ring_begun(const struct request_ring *ring)
{
	/* relaxed: as above. */
	return load_relaxed(&ring->memory->begun);
}

/*
 * No other process uses the memory: begins a new life, whose first request has the
 * number @first.  All of the header is written again, since the previous life may have
 * changed it.
 */
static inline void request_ring_begin_life(struct request_ring *ring,
					   uint32_t life, uint64_t first)
{
	struct request_memory *memory = (struct request_memory *)ring->memory;

	sley_assert(life);
	ring->life = life;
	ring->first = first;
	memory->header =
		(struct request_header){ .magic = REQUEST_RING_MAGIC,
					 .version = REQUEST_RING_VERSION,
					 .depth = ring->depth,
					 .slot_size = ring->slot_size,
					 .life = life,
					 .first = first,
					 .size = ring->size };
	count_word_reset(&memory->submitted, (uint32_t)first);
	count_word_reset(&memory->completed, (uint32_t)first);
	/* relaxed: no other process uses the memory yet. */
	store_relaxed(&memory->begun, first);
}

/* The server, before it serves: the life that the submitter has begun, as a copy. */
static inline void request_ring_read_life(struct request_ring *ring)
{
	const struct request_header foreign *header = &ring->memory->header;

	/* relaxed: each field is read once, and only the copy counts. */
	ring->life = load_relaxed(&header->life);
	ring->first = load_relaxed(&header->first);
}

/*
 * Creates the memory and its first life, and attaches.  Returns the descriptor for the
 * other process.  -EINVAL: the sizes are not allowed; or an error of the system.
 */
must_check int request_ring_create(struct request_ring *out, const char *name,
				   uint32_t depth, uint32_t slot_size);

/*
 * Attaches to memory that another process gave.  Looks at nothing before the size of
 * the file is known to be final.
 *
 *   -EPERM            the file could be made shorter
 *   -EBADMSG          it is no such memory
 *   -EPROTONOSUPPORT  it has another version, which is in @out
 *   -EINVAL           its sizes are not allowed, or are not the size of the file
 *   -ENOMEM           there is no memory to map it
 */
must_check int request_ring_attach(struct request_ring *out, int fd);

void request_ring_detach(struct request_ring *ring);

#endif
