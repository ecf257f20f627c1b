/* SPDX-License-Identifier: MIT */
/*
 * buffer.c - see buffer.h.
 */
#include "stream/buffer.h"

#include "core/sched/worker.h"
#include "mem/pool.h"

#include <sley/stream.h>

/* Few at a time: a new buffer is touched when it comes from its chunk. */
#define BUFFERS_IN_CHUNK 8

static uint64_t nr_made;

static bool count_chunk(struct pool *pool, void *chunk)
{
	(void)pool;
	(void)chunk;
	/* relaxed: a count for tests. */
	(void)add_relaxed(&nr_made, BUFFERS_IN_CHUNK);
	return true;
}

static struct pool buffers = {
	.object_size = SLEY_STREAM_BUFFER,
	.chunk_objects = BUFFERS_IN_CHUNK,
	.adopt = count_chunk,
};

static struct pool_cache *cache(void)
{
	struct worker *worker = worker_current();

	return likely(worker) ? &worker->cache[CACHE_BUFFERS] : NULL;
}

char *buffer_get(void)
{
	return pool_get(&buffers, cache());
}

void buffer_put(char *buffer)
{
	pool_put(&buffers, cache(), buffer);
}

uint64_t buffers_made(void)
{
	/* relaxed: a count for tests. */
	return load_relaxed(&nr_made);
}
