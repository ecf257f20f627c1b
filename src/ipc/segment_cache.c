/* SPDX-License-Identifier: MIT */
/*
 * segment_cache.c - see segment_cache.h.
 */
#include "ipc/segment_cache.h"

#include "os/map.h"
#include "os/shared_memory.h"

#include <errno.h>

static struct segment *segment_of(struct list *link)
{
	return container_of(link, struct segment, link);
}

void segment_cache_init(struct segment_cache *cache)
{
	*cache = (struct segment_cache){ .limit = 0 };
	list_init(&cache->free);
	list_init(&cache->arrived);
}

struct segment *segment_cache_take(struct segment_cache *cache, uint64_t bytes)
{
	struct segment *best = NULL;

	for (struct list *link = cache->free.next; link != &cache->free;
	     link = link->next) {
		struct segment *segment = segment_of(link);

		if (segment->size >= bytes &&
		    (!best || segment->size < best->size))
			best = segment;
	}
	if (best)
		list_remove(&best->link);
	return best;
}

/* How many bytes are free. */
static uint64_t nr_free(const struct segment_cache *cache)
{
	uint64_t bytes = 0;

	for (struct list *link = cache->free.next; link != &cache->free;
	     link = link->next)
		bytes += segment_of(link)->size;
	return bytes;
}

static void give_up(struct segment_cache *cache, struct segment *segment,
		    struct list *gone)
{
	list_remove(&segment->link);
	list_append(gone, &segment->link);
	cache->bytes -= segment->size;
	cache->nr--;
}

int segment_cache_ask(struct segment_cache *cache, uint64_t size,
		      struct list *gone)
{
	if (size > cache->limit)
		return -EMSGSIZE;
	if (cache->bytes + size - nr_free(cache) > cache->limit)
		return -EAGAIN;
	while (cache->bytes + size > cache->limit)
		give_up(cache, segment_of(list_first(&cache->free)), gone);
	cache->bytes += size;
	return 0;
}

void segment_cache_refused(struct segment_cache *cache, uint64_t size,
			   uint32_t epoch)
{
	if (epoch == cache->epoch)
		cache->bytes -= size;
}

void segment_cache_arrive(struct segment_cache *cache, struct segment *segment)
{
	segment->epoch = cache->epoch;
	list_append(&cache->arrived, &segment->link);
	cache->nr++;
}

struct segment *segment_cache_claim(struct segment_cache *cache,
				    uint32_t number)
{
	for (struct list *link = cache->arrived.next; link != &cache->arrived;
	     link = link->next) {
		if (segment_of(link)->number == number) {
			list_remove(link);
			return segment_of(link);
		}
	}
	return NULL;
}

bool segment_cache_put(struct segment_cache *cache, struct segment *segment)
{
	if (segment->epoch != cache->epoch)
		return true;
	list_prepend(&cache->free, &segment->link);
	return false;
}

void segment_cache_drop(struct segment_cache *cache, struct list *gone)
{
	while (!list_empty(&cache->free))
		list_append(gone, list_take_first(&cache->free));
	while (!list_empty(&cache->arrived))
		list_append(gone, list_take_first(&cache->arrived));
	cache->bytes = 0;
	cache->nr = 0;
	cache->epoch++;
}

struct segment *segment_map(struct mem *mem, int fd, uint64_t size,
			    uint32_t number)
{
	struct segment *segment;

	if (!size || os_shared_memory_size(fd) != (int64_t)size)
		return NULL;
	segment = mem_alloc(mem, sizeof(*segment));
	if (!segment)
		return NULL;
	*segment = (struct segment){ .size = size, .number = number };
	list_init(&segment->link);
	segment->memory = os_shared_memory_map(fd, size);
	if (segment->memory)
		return segment;
	mem_free(mem, segment, sizeof(*segment));
	return NULL;
}

void segment_unmap(struct mem *mem, struct segment *segment)
{
	os_unmap(segment->memory, segment->size);
	mem_free(mem, segment, sizeof(*segment));
}

void segments_unmap(struct mem *mem, struct list *gone)
{
	while (!list_empty(gone))
		segment_unmap(mem, segment_of(list_take_first(gone)));
}
