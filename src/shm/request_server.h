/* SPDX-License-Identifier: MIT */
/*
 * request_server.h - the serving side of a request ring, in private memory.
 *
 * The server takes requests in their order, and answers in any order.  Answers are put
 * one by one, and published together.
 *
 * One thread at a time, as with request_submitter.h; waiting needs no lock, with the
 * word of ->submissions.
 *
 * After the death of the submitter the server has what it took, and can still take the
 * rest: published requests are acknowledged.
 */
#ifndef SLEY_SHM_REQUEST_SERVER_H
#define SLEY_SHM_REQUEST_SERVER_H

#include "shm/request_ring.h"

struct request_server {
	struct request_ring ring;
	struct entry_reader submissions;
	struct entry_writer completions;
	bool stopping;
	bool broken; /* the submitter wrote nonsense */
};

/* A private copy of a submission. */
struct request {
	uint64_t id;
	uint64_t value;
	uint32_t slot;
	uint32_t size;
};

/* Begins with the life that @ring is in. */
static inline void request_server_init(struct request_server *server,
				       const struct request_ring *ring)
{
	struct request_memory foreign *memory = ring->memory;

	*server = (struct request_server){ .ring = *ring };
	server->submissions = (struct entry_reader){
		.word = &memory->submitted,
		.entries = request_ring_submissions(ring),
		.mask = ring->depth - 1,
		.nr = ring->first,
	};
	server->completions = (struct entry_writer){
		.word = &memory->completed,
		.entries = request_ring_completions(ring),
		.mask = ring->depth - 1,
		.nr = ring->first,
		.nr_published = ring->first,
	};
}

/* How many requests are taken and not answered. */
static inline uint32_t
request_server_nr_taken(const struct request_server *server)
{
	return (uint32_t)(server->submissions.nr - server->completions.nr);
}

/* Is @entry, a private copy, request @number? */
static inline bool request_is_sound(const struct request_server *server,
				    const struct ring_entry *entry,
				    uint64_t number)
{
	return entry->id == request_id(server->ring.life, number) &&
	       entry->slot < server->ring.depth &&
	       entry->size <= server->ring.slot_size;
}

/*
 * Takes a request, which counts as begun: 1; or 0: there is none, or the server is
 * stopping.  @data has room for a whole slot, or is NULL.  -EPROTO: the submitter is
 * broken.  It has written more requests than there are slots, or a request that is
 * stale, out of order or too large.
 */
static inline must_check int request_take(struct request_server *server,
					  struct request *out, void *data)
{
	struct entry_reader *reader = &server->submissions;
	uint64_t number = reader->nr;
	struct ring_entry entry;
	int nr;

	if (unlikely(server->broken))
		return -EPROTO;
	if (unlikely(server->stopping))
		return 0;
	nr = entry_ring_look(reader, server->ring.depth -
					     request_server_nr_taken(server));
	if (!nr)
		return 0;
	if (nr > 0)
		entry_ring_get(reader, &entry);
	if (unlikely(nr < 0 || !request_is_sound(server, &entry, number))) {
		reader->nr = number;
		server->broken = true;
		return -EPROTO;
	}
	if (data && entry.size)
		foreign_read(data, request_ring_slot(&server->ring, entry.slot),
			     entry.size);
	else
		request_ring_fetch(&server->ring, entry.slot, entry.size);
	request_ring_begin(&server->ring, number);
	*out = (struct request){ .id = entry.id,
				 .value = entry.value,
				 .slot = entry.slot,
				 .size = entry.size };
	return 1;
}

/*
 * Puts the answer to @request, which was taken and is answered once.  @size bytes of data
 * are in the slot of @request already; they fit.
 */
static inline void request_put_written(struct request_server *server,
				       const struct request *request,
				       uint64_t value, uint32_t size)
{
	struct ring_entry entry = { .id = request->id,
				    .slot = request->slot,
				    .size = size,
				    .value = value };

	sley_assert(request_server_nr_taken(server));
	entry_ring_put(&server->completions, &entry);
}

/*
 * The same with data.  -EMSGSIZE: the data does not fit into a slot; the request is not
 * answered.
 */
static inline must_check int request_put_answer(struct request_server *server,
						const struct request *request,
						uint64_t value,
						const void *data, uint32_t size)
{
	if (size > server->ring.slot_size)
		return -EMSGSIZE;
	if (size)
		foreign_write(request_ring_slot(&server->ring, request->slot),
			      data, size);
	request_put_written(server, request, value, size);
	return 0;
}

/*
 * The submitter may have all answers that were put.  Returns bits for
 * entry_ring_tell(), which needs no lock, or -EPROTO: the submitter is broken.
 */
static inline must_check int
request_publish_answers(struct request_server *server)
{
	int bits = entry_ring_publish(&server->completions);

	if (unlikely(bits < 0))
		server->broken = true;
	return bits;
}

/*
 * Takes no more requests.  What was taken can still be answered.  Returns bits, as
 * request_publish_answers().
 */
static inline must_check int request_server_stop(struct request_server *server)
{
	server->stopping = true;
	return entry_ring_stop(&server->completions);
}

#endif
