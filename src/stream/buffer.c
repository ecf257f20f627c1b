/* SPDX-License-Identifier: MIT */
/*
 * buffer.c - see buffer.h; and <sley/stream.h>: buffers for programs.
 */
#include "stream/buffer.h"

#include "core/sched/worker.h"
#include "mem/object_pool.h"

#include <sley/stream.h>

/* Few at a time: a new buffer is touched when it comes from its chunk. */
#define BUFFERS_IN_CHUNK 8

static uint64_t nr_made;

static bool count_chunk(struct object_pool *pool, void *chunk)
{
	(void)pool;
	(void)chunk;
	/* relaxed: a count for tests. */
	(void)add_relaxed(&nr_made, BUFFERS_IN_CHUNK);
	return true;
}

static struct object_pool buffers = {
	.object_size = SLEY_STREAM_BUFFER,
	.chunk_objects = BUFFERS_IN_CHUNK,
	.adopt = count_chunk,
};

static struct object_pool_cache *cache(void)
{
	struct worker *worker = worker_current();

	return likely(worker) ? &worker->cache[CACHE_BUFFERS] : NULL;
}

char *buffer_get(void)
{
	return object_pool_get(&buffers, cache());
}

void buffer_put(char *buffer)
{
	object_pool_put(&buffers, cache(), buffer);
}

void *sley_stream_borrow(void)
{
	return buffer_get();
}

void sley_stream_give_back(void *buffer)
{
	buffer_put(buffer);
}

uint64_t buffers_made(void)
{
	/* relaxed: a count for tests. */
	return load_relaxed(&nr_made);
}
