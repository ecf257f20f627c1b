/* SPDX-License-Identifier: MIT */
/*
 * request_ring.c - the memory of a request ring is created, or attached to.
 */
#include "shm/request_ring.h"

#include "base/atomic.h"
#include "os/map.h"
#include "os/shared_memory.h"

#include <string.h>

int request_ring_create(struct request_ring *out, const char *name,
			uint32_t depth, uint32_t slot_size)
{
	uint64_t size = request_ring_size(depth, slot_size);
	int fd;

	if (!size)
		return -EINVAL;
	fd = os_shared_memory_create(name, size);
	if (fd < 0)
		return fd;
	*out = (struct request_ring){ .size = size,
				      .depth = depth,
				      .slot_size = slot_size,
				      .version = REQUEST_RING_VERSION };
	out->memory = os_shared_memory_map(fd, size);
	if (!out->memory) {
		os_close(fd);
		return -ENOMEM;
	}
	request_ring_begin_life(out, 1, 0);
	return fd;
}

/* Copies the header, and checks the copy. */
static int check(struct request_ring *out, uint64_t real_size)
{
	const struct request_header foreign *header = &out->memory->header;
	/* relaxed: each field is read once, and only the copy counts. */
	uint64_t magic = load_relaxed(&header->magic);
	/* relaxed: as above. */
	uint64_t size = load_relaxed(&header->size);

	/* relaxed: as above. */
	out->version = load_relaxed(&header->version);
	out->depth = load_relaxed(&header->depth);
	out->slot_size = load_relaxed(&header->slot_size);
	/* relaxed: as above. */
	out->life = load_relaxed(&header->life);
	out->first = load_relaxed(&header->first);
	if (magic != REQUEST_RING_MAGIC)
		return -EBADMSG;
	if (out->version != REQUEST_RING_VERSION)
		return -EPROTONOSUPPORT;
	if (!out->life || size != real_size ||
	    size != request_ring_size(out->depth, out->slot_size))
		return -EINVAL;
	return 0;
}

int request_ring_attach(struct request_ring *out, int fd)
{
	int64_t size = os_shared_memory_size(fd);
	int err;

	*out = (struct request_ring){ .memory = NULL };
	if (size < 0)
		return (int)size;
	if ((uint64_t)size < sizeof(struct request_memory))
		return -EINVAL;
	out->size = (uint64_t)size;
	out->memory = os_shared_memory_map(fd, out->size);
	if (!out->memory)
		return -ENOMEM;
	err = check(out, out->size);
	if (err)
		request_ring_detach(out);
	return err;
}

void request_ring_detach(struct request_ring *ring)
{
	if (ring->memory)
		os_unmap((void *)ring->memory, ring->size);
	ring->memory = NULL;
}
