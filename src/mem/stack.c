/* SPDX-License-Identifier: MIT */
/*
 * stack.c - stacks for fibers: one pool for each size.
 *
 * Two locks.  The spinlock guards the lists and is held for a few stores.  The
 * mutex makes one thread at a time grow the pool; a thread that waited for the
 * mutex looks at the lists again, since the previous holder has left a batch there.
 *
 * Guards are advised in batches: of the 1 us of a single guard, a batch in one
 * system call saves 0.3.  Filling in the top pages in batches, too, saves a
 * thirtieth of the page faults' time and wastes memory; not done.
 */
#include "mem/stack.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/fault_lock.h"
#include "os/map.h"

#include <errno.h>

#define STACKS_PER_CHUNK 1024
#define CHUNK_SIZE_MAX ((size_t)1 << 30)
#define STACKS_PER_BATCH 64

struct stack_slot {
	struct list link;
	char *low;
	uint32_t colour; /* bytes to leave free at the top */
};

struct stack_chunk {
	struct stack_chunk *next;
	char *memory;
	uint32_t nr_stacks;
	uint32_t nr_used; /* the others are fresh: no guard yet */
	struct stack_slot slots[];
};

static size_t chunk_header_size(uint32_t nr_stacks)
{
	return sizeof(struct stack_chunk) +
	       nr_stacks * sizeof(struct stack_slot);
}

size_t stack_guard_size(void)
{
	return round_up(STACK_GUARD_SIZE_MIN, os_page_size());
}

int stack_pool_init(struct stack_pool *pool, size_t stack_size,
		    bool no_guard_advice)
{
	if (stack_size < STACK_SIZE_MIN || stack_size > CHUNK_SIZE_MAX)
		return -EINVAL;
	*pool = (struct stack_pool){
		.warm_max = (uint32_t)chaos_few(STACK_WARM_MAX, 1),
		.size = round_up(stack_size, os_page_size()),
		.guard = stack_guard_size(),
		.no_guard_advice = no_guard_advice,
	};
	pool->stride = pool->size + pool->guard;
	list_init(&pool->warm_list);
	list_init(&pool->cold_list);
	return -(fault_error("pthread_mutex_init", ENOMEM)
			 ?: pthread_mutex_init(&pool->growing, NULL));
}

void stack_pool_fini(struct stack_pool *pool)
{
	struct stack_chunk *chunk = pool->chunks;

	sley_assert(pool->nr_out == 0);
	while (chunk) {
		struct stack_chunk *next = chunk->next;

		os_unmap(chunk->memory, chunk->nr_stacks * pool->stride);
		os_unmap(chunk, chunk_header_size(chunk->nr_stacks));
		chunk = next;
	}
	pool->chunks = NULL;
	pthread_mutex_destroy(&pool->growing);
}

/* Maps a chunk; a smaller chunk where a large chunk is refused. */
static struct stack_chunk *chunk_map(const struct stack_pool *pool)
{
	uint32_t nr_stacks = (uint32_t)chaos_few(STACKS_PER_CHUNK, 4);

	while (nr_stacks > 1 && nr_stacks * pool->stride > CHUNK_SIZE_MAX)
		nr_stacks /= 2;
	for (; nr_stacks; nr_stacks /= 2) {
		char *memory = os_map(nr_stacks * pool->stride);
		struct stack_chunk *chunk;

		if (!memory)
			continue;
		chunk = os_map(chunk_header_size(nr_stacks));
		if (!chunk) {
			os_unmap(memory, nr_stacks * pool->stride);
			return NULL;
		}
		os_no_huge_pages(memory, nr_stacks * pool->stride);
		chunk->memory = memory;
		chunk->nr_stacks = nr_stacks;
		return chunk;
	}
	return NULL;
}

/* Makes guards for up to @nr stacks at @first; returns for how many. */
static uint32_t stack_guard(struct stack_pool *pool, char *first, uint32_t nr)
{
	if (!pool->no_guard_advice) {
		if (!os_guard_advise_many(first, pool->guard, pool->stride,
					  (int)nr))
			return nr;
		/* An older kernel: from now on the other way. */
		pool->no_guard_advice = true;
	}
	/* Each guard costs two mappings of a bounded number: one at a time. */
	return os_guard_protect(first, pool->guard) ? 0 : 1;
}

/* Takes fresh stacks into use; returns the first of @nr_taken. */
static struct stack_slot *chunk_take(struct stack_pool *pool,
				     struct stack_chunk *chunk,
				     uint32_t *nr_taken)
{
	struct stack_slot *slots = &chunk->slots[chunk->nr_used];
	char *first = chunk->memory + chunk->nr_used * pool->stride;
	uint32_t nr = chunk->nr_stacks - chunk->nr_used;

	if (nr > chaos_few(STACKS_PER_BATCH, 1))
		nr = (uint32_t)chaos_few(STACKS_PER_BATCH, 1);
	nr = stack_guard(pool, first, nr);
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t index = chunk->nr_used + i;

		list_init(&slots[i].link);
		slots[i].low = first + i * pool->stride + pool->guard;
		slots[i].colour = index % STACK_NR_COLOURS * CACHE_LINE;
	}
	chunk->nr_used += nr;
	*nr_taken = nr;
	return slots;
}

static struct stack_slot *stack_pool_take(struct stack_pool *pool)
{
	struct list *link;

	spin_lock(&pool->lock);
	link = list_take_first(&pool->warm_list);
	if (link) {
		if (--pool->nr_warm < pool->nr_unneeded)
			pool->nr_unneeded = pool->nr_warm;
	} else {
		link = list_take_first(&pool->cold_list);
	}
	if (link)
		pool->nr_out++;
	spin_unlock(&pool->lock);
	return link ? container_of(link, struct stack_slot, link) : NULL;
}

static struct stack_slot *stack_pool_grow(struct stack_pool *pool)
{
	struct stack_chunk *chunk = pool->chunks;
	struct stack_slot *slots;
	uint32_t nr;

	if (!chunk || chunk->nr_used == chunk->nr_stacks) {
		chunk = chunk_map(pool);
		if (!chunk)
			return NULL;
		chunk->next = pool->chunks;
		pool->chunks = chunk;
	}
	slots = chunk_take(pool, chunk, &nr);
	if (!nr)
		return NULL;
	spin_lock(&pool->lock);
	for (uint32_t i = 1; i < nr; i++)
		list_append(&pool->cold_list, &slots[i].link);
	pool->nr_out++;
	spin_unlock(&pool->lock);
	return &slots[0];
}

int(stack_pool_get)(struct stack_pool *pool, struct stack *out)
{
	struct stack_slot *slot = stack_pool_take(pool);

	if (!slot) {
		fault_lock(pthread_mutex_lock(&pool->growing));
		slot = stack_pool_take(pool);
		if (!slot)
			slot = stack_pool_grow(pool);
		pthread_mutex_unlock(&pool->growing);
		if (!slot)
			return -ENOMEM;
	}
	out->low = slot->low;
	out->size = pool->size - slot->colour;
	out->slot = slot;
	return 0;
}

/* Takes the stack that has been idle longest off the warm list, or NULL. */
static struct stack_slot *stack_pool_coldest(struct stack_pool *pool)
{
	struct list *link;

	if (list_empty(&pool->warm_list))
		return NULL;
	link = pool->warm_list.prev;
	list_remove(link);
	/* A stack that leaves the warm list does not count as unneeded. */
	if (--pool->nr_warm < pool->nr_unneeded)
		pool->nr_unneeded = pool->nr_warm;
	return container_of(link, struct stack_slot, link);
}

static void stack_pool_discard(struct stack_pool *pool, struct stack_slot *slot)
{
	os_discard(slot->low, pool->size);
	spin_lock(&pool->lock);
	list_prepend(&pool->cold_list, &slot->link);
	spin_unlock(&pool->lock);
}

void stack_pool_put(struct stack_pool *pool, struct stack *stack)
{
	struct stack_slot *slot = stack->slot;
	struct stack_slot *coldest = NULL;

	sley_assert(slot);
	sley_assert(slot->low == stack->low);
	*stack = (struct stack){ 0 };
	spin_lock(&pool->lock);
	sley_assert(pool->nr_out > 0);
	pool->nr_out--;
	list_prepend(&pool->warm_list, &slot->link);
	if (++pool->nr_warm > pool->warm_max)
		coldest = stack_pool_coldest(pool);
	spin_unlock(&pool->lock);
	if (coldest)
		stack_pool_discard(pool, coldest);
}

/* Discards the pages of up to @nr warm stacks, the longest idle first. */
static void stack_pool_cool(struct stack_pool *pool, uint32_t nr)
{
	struct stack_slot *slot;

	for (; nr; nr--) {
		spin_lock(&pool->lock);
		slot = stack_pool_coldest(pool);
		spin_unlock(&pool->lock);
		if (!slot)
			return;
		stack_pool_discard(pool, slot);
	}
}

void stack_pool_age(struct stack_pool *pool)
{
	uint32_t nr;

	spin_lock(&pool->lock);
	nr = pool->nr_unneeded / STACK_AGE_SHARE;
	if (pool->nr_unneeded % STACK_AGE_SHARE)
		nr++;
	pool->nr_unneeded = pool->nr_warm - nr;
	spin_unlock(&pool->lock);
	stack_pool_cool(pool, nr);
}

void stack_pool_trim(struct stack_pool *pool)
{
	stack_pool_cool(pool, UINT32_MAX);
}
