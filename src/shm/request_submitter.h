/* SPDX-License-Identifier: MIT */
/*
 * request_submitter.h - the submitting side of a request ring, in private memory.
 *
 * Submissions are put one by one, and published together.  A request is acknowledged
 * once it is published: from then on it is answered, or taken back, once.
 *
 * One thread at a time: threads that share a submitter take a lock of theirs.  Waiting
 * needs no lock: entry_ring_await() and entry_ring_watch() with the word of
 * ->completions and the result of entry_ring_seen(), which was read under the lock.
 *
 * Rejected: a ring that several threads fill without a lock.  A thread that is preempted
 * between its reservation and its entry would hold up all later requests, the server
 * could not check numbers in their order, and a batch would cost as many atomic
 * operations as it has requests.  The lock is never in the shared memory, so the server
 * cannot wait for it.
 */
#ifndef SLEY_SHM_REQUEST_SUBMITTER_H
#define SLEY_SHM_REQUEST_SUBMITTER_H

#include "shm/request_ring.h"

#include <string.h>

#define REQUEST_NO_SLOT UINT32_MAX
#define REQUEST_FETCH_AHEAD 4

struct request_pending {
	uint64_t id; /* 0: the slot is free */
	uint64_t number;
	void *owner;
	uint32_t next_free;
};

struct request_submitter {
	struct request_ring ring;
	struct entry_writer submissions;
	struct entry_reader completions;
	uint32_t first_free;
	uint32_t nr_pending;
	bool broken;                      /* the server wrote nonsense */
	struct request_pending pending[]; /* by slot                   */
};

struct request_submission {
	uint64_t value;
	const void *data;
	uint32_t size;
	void *owner; /* given back with the answer */
};

struct request_answer {
	uint64_t id;
	uint64_t value;
	uint32_t size;
	void *owner;
};

/* A request without an answer. */
struct request_remnant {
	uint64_t id;
	void *owner;
	bool begun; /* may have been run, in part or as a whole */
};

static inline size_t request_submitter_size(uint32_t depth)
{
	return sizeof(struct request_submitter) +
	       depth * sizeof(struct request_pending);
}

/* Begins with the life that @ring is in.  No request is pending. */
static inline void request_submitter_init(struct request_submitter *submitter,
					  const struct request_ring *ring)
{
	struct request_memory foreign *memory = ring->memory;

	memset(submitter, 0, request_submitter_size(ring->depth));
	submitter->ring = *ring;
	submitter->submissions = (struct entry_writer){
		.word = &memory->submitted,
		.entries = request_ring_submissions(ring),
		.mask = ring->depth - 1,
		.nr = ring->first,
		.nr_published = ring->first,
	};
	submitter->completions = (struct entry_reader){
		.word = &memory->completed,
		.entries = request_ring_completions(ring),
		.mask = ring->depth - 1,
		.nr = ring->first,
	};
	for (uint32_t i = 0; i < ring->depth; i++)
		submitter->pending[i].next_free =
			i + 1 < ring->depth ? i + 1 : REQUEST_NO_SLOT;
}

static inline void request_free_slot(struct request_submitter *submitter,
				     uint32_t slot)
{
	struct request_pending *pending = &submitter->pending[slot];

	pending->id = 0;
	pending->owner = NULL;
	pending->next_free = submitter->first_free;
	submitter->first_free = slot;
	submitter->nr_pending--;
}

/* ---- slots that are held: taken, without a request of the server ------------------ */

/* A free slot, for data that is written there by the caller; or REQUEST_NO_SLOT. */
static inline must_check uint32_t
request_hold_slot(struct request_submitter *submitter)
{
	uint32_t slot = submitter->first_free;

	if (likely(slot != REQUEST_NO_SLOT))
		submitter->first_free = submitter->pending[slot].next_free;
	return slot;
}

/* A held slot is free again. */
static inline void request_release_slot(struct request_submitter *submitter,
					uint32_t slot)
{
	submitter->pending[slot].next_free = submitter->first_free;
	submitter->first_free = slot;
}

/*
 * Puts the first @size bytes of a held slot as a request: its id.  The server gets it with
 * the next publish.
 */
static inline uint64_t request_put_slot(struct request_submitter *submitter,
					uint32_t slot, uint64_t value,
					uint32_t size, void *owner)
{
	struct entry_writer *writer = &submitter->submissions;
	struct request_pending *pending = &submitter->pending[slot];
	struct ring_entry entry = {
		.id = request_id(submitter->ring.life, writer->nr),
		.slot = slot,
		.size = size,
		.value = value,
	};

	sley_assert(!pending->id && size <= submitter->ring.slot_size);
	pending->id = entry.id;
	pending->number = writer->nr;
	pending->owner = owner;
	submitter->nr_pending++;
	entry_ring_put(writer, &entry);
	return entry.id;
}

/*
 * Puts a request into a free slot.  The server gets it with the next publish.
 *
 *   -EAGAIN    no slot is free: collect, or wait for an answer
 *   -EMSGSIZE  the data does not fit into a slot
 *   -EPIPE     the server takes no more requests
 *   -EPROTO    the server is broken
 */
static inline must_check int
request_submit(struct request_submitter *submitter,
	       const struct request_submission *what, uint64_t *id)
{
	uint32_t slot;

	if (unlikely(submitter->broken))
		return -EPROTO;
	if (unlikely(submitter->completions.stopped))
		return -EPIPE;
	if (unlikely(what->size > submitter->ring.slot_size))
		return -EMSGSIZE;
	slot = request_hold_slot(submitter);
	if (slot == REQUEST_NO_SLOT)
		return -EAGAIN;
	if (what->size)
		foreign_write(request_ring_slot(&submitter->ring, slot),
			      what->data, what->size);
	*id = request_put_slot(submitter, slot, what->value, what->size,
			       what->owner);
	return 0;
}

/*
 * The server may have all requests that were put.  Returns bits for
 * entry_ring_tell(), which needs no lock, or -EPROTO: the server is broken.
 */
static inline must_check int
request_publish(struct request_submitter *submitter)
{
	int bits = entry_ring_publish(&submitter->submissions);

	if (unlikely(bits < 0))
		submitter->broken = true;
	return bits;
}

/* Is @entry, a private copy, the answer to a request? */
static inline bool request_is_answer(const struct request_submitter *submitter,
				     const struct ring_entry *entry)
{
	return entry->slot < submitter->ring.depth &&
	       submitter->pending[entry->slot].id == entry->id && entry->id &&
	       entry->size <= submitter->ring.slot_size;
}

/* Of @nr answers that are there, a later one: its slot comes over meanwhile. */
static inline void
request_fetch_ahead(const struct request_submitter *submitter, int nr)
{
	uint32_t slot;

	if (nr <= REQUEST_FETCH_AHEAD)
		return;
	slot = entry_ring_glance(&submitter->completions, REQUEST_FETCH_AHEAD);
	if (likely(slot < submitter->ring.depth))
		request_ring_fetch(&submitter->ring, slot,
				   submitter->ring.slot_size);
}

/*
 * Takes an answer: 1; or 0: there is none yet.  @data has room for a whole slot, or is
 * NULL.  -EPROTO: the server is broken.  It has written more answers than there are
 * requests, or an answer that is stale, forged or too large.
 */
static inline must_check int
request_collect(struct request_submitter *submitter, struct request_answer *out,
		void *data)
{
	struct entry_reader *reader = &submitter->completions;
	struct ring_entry entry;
	int nr;

	if (unlikely(submitter->broken))
		return -EPROTO;
	nr = entry_ring_look(reader, submitter->nr_pending);
	if (!nr)
		return 0;
	if (nr > 0) {
		request_fetch_ahead(submitter, nr);
		entry_ring_get(reader, &entry);
	}
	if (unlikely(nr < 0 || !request_is_answer(submitter, &entry))) {
		submitter->broken = true;
		return -EPROTO;
	}
	if (data && entry.size)
		foreign_read(data,
			     request_ring_slot(&submitter->ring, entry.slot),
			     entry.size);
	*out = (struct request_answer){
		.id = entry.id,
		.value = entry.value,
		.size = entry.size,
		.owner = submitter->pending[entry.slot].owner,
	};
	request_free_slot(submitter, entry.slot);
	return 1;
}

/* Says that no request will follow.  Returns bits, as request_publish(). */
static inline must_check int
request_submitter_stop(struct request_submitter *submitter)
{
	return entry_ring_stop(&submitter->submissions);
}

/* ---- the server has ended, or has stopped ---------------------------------------- */

/* A walk over the requests that will have no answer. */
struct request_retreat {
	uint64_t nr_unbegun; /* of the last requests */
	uint32_t slot;
	bool dead;
};

/*
 * All answers are collected.  @dead: the server has ended, and all requests come back.
 * Else the server has stopped, and the requests that it has begun stay.  Each request
 * below begun counts as begun, and each request of a server whose begun makes no sense.
 */
static inline void
request_retreat_init(struct request_retreat *retreat,
		     const struct request_submitter *submitter, bool dead)
{
	const struct entry_writer *writer = &submitter->submissions;
	uint64_t nr =
		writer->nr_published - request_ring_begun(&submitter->ring);

	sley_assert(dead || submitter->completions.stopped);
	if (submitter->broken || nr > submitter->nr_pending)
		nr = 0;
	*retreat = (struct request_retreat){
		.nr_unbegun = nr + (writer->nr - writer->nr_published),
		.dead = dead
	};
}

/* Has the request that is pending in @slot begun, as far as is known? */
static inline bool request_is_begun(const struct request_submitter *submitter,
				    const struct request_retreat *retreat,
				    uint32_t slot)
{
	return submitter->submissions.nr - submitter->pending[slot].number >
	       retreat->nr_unbegun;
}

/* The server has ended: the slot of a pending request is held, with its data. */
static inline void request_take_slot_back(struct request_submitter *submitter,
					  uint32_t slot)
{
	submitter->pending[slot].id = 0;
	submitter->pending[slot].owner = NULL;
	submitter->nr_pending--;
}

/*
 * The server has ended, no request is pending, and no other process uses the memory: the
 * next life begins.  Held slots stay held.
 */
static inline void request_submitter_begin(struct request_submitter *submitter,
					   uint32_t life)
{
	uint64_t first = submitter->submissions.nr;

	sley_assert(!submitter->nr_pending);
	request_ring_begin_life(&submitter->ring, life, first);
	submitter->submissions.nr_published = first;
	submitter->completions.nr = first;
	submitter->completions.stopped = false;
	submitter->broken = false;
}

/* The next request, which is pending no longer.  False: there are no more. */
static inline bool request_take_back(struct request_submitter *submitter,
				     struct request_retreat *retreat,
				     struct request_remnant *out)
{
	while (retreat->slot < submitter->ring.depth) {
		uint32_t slot = retreat->slot++;
		const struct request_pending *pending =
			&submitter->pending[slot];
		bool begun = request_is_begun(submitter, retreat, slot);

		if (!pending->id || (begun && !retreat->dead))
			continue;
		*out = (struct request_remnant){ .id = pending->id,
						 .owner = pending->owner,
						 .begun = begun };
		request_free_slot(submitter, slot);
		return true;
	}
	return false;
}

#endif
