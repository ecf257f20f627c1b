/* SPDX-License-Identifier: MIT */
/*
 * yield.c - see yield.h.
 */
#include "actor/command/yield.h"

#include "mem/pool.h"

#include <errno.h>
#include <string.h>

static struct pool pool = { .object_size = sizeof(struct yields) };

/* ---- the view of others ----------------------------------------------------- */

static void publish(struct yields *yields, uint32_t nr)
{
	uint32_t first = yields->first;

	/* relaxed: hints. */
	store_relaxed(&yields->nr, nr);
	if (first != YIELD_NONE)
		/* relaxed: as above. */
		store_relaxed(&yields->oldest, yields->record[first].command);
}

/* A reader has the lock: it finds a struct that is complete, and not yet freed. */
static void show(struct process *process, struct yields *yields)
{
	spin_lock(&process->lock);
	process->yields = yields;
	spin_unlock(&process->lock);
}

/* ---- memory ------------------------------------------------------------------ */

static size_t size_of(uint32_t capacity)
{
	return (size_t)capacity * (sizeof(struct yield) + sizeof(uint32_t));
}

static uint32_t *bucket_of(const struct yields *yields, uint64_t tag)
{
	/* The upper half of a product depends on all bits of the tag. */
	uint64_t hash = (tag * 0x9e3779b97f4a7c15ull) >> 32;

	return &yields->bucket[hash & (yields->capacity - 1)];
}

static void into_bucket(struct yields *yields, uint32_t index)
{
	struct yield *yield = &yields->record[index];
	uint32_t *bucket = bucket_of(yields, yield->tag);

	yield->chain = *bucket;
	*bucket = index;
}

/* Records from @begin on are free; the others go into their buckets. */
static void arrange(struct yields *yields, uint32_t begin)
{
	memset(yields->bucket, 0xff, yields->capacity * sizeof(uint32_t));
	for (uint32_t i = yields->first; i != YIELD_NONE;
	     i = yields->record[i].newer)
		into_bucket(yields, i);
	yields->free = YIELD_NONE;
	for (uint32_t i = yields->capacity; i-- > begin;) {
		yields->record[i].chain = yields->free;
		yields->free = i;
	}
}

static struct yields *create(void)
{
	struct yields *yields = pool_get(&pool, NULL);

	if (!yields)
		return NULL;
	yields->record = yields->few;
	yields->bucket = yields->few_bucket;
	yields->capacity = chaos_few(YIELDS_FEW, 1) < 2 ? 1 : YIELDS_FEW;
	yields->first = yields->last = yields->fresh = YIELD_NONE;
	publish(yields, 0);
	arrange(yields, 0);
	return yields;
}

static void free_arrays(struct process *process)
{
	struct yields *yields = process->yields;

	if (yields->record != yields->few)
		mem_free(&process_runtime(process)->mem, yields->record,
			 size_of(yields->capacity));
}

/* All records are in use. */
static int grow(struct process *process)
{
	struct yields *yields = process->yields;
	uint32_t old = yields->capacity;
	struct yield *record =
		old > UINT32_MAX / 4 ? NULL
				     : mem_alloc(&process_runtime(process)->mem,
						 size_of(2 * old));

	if (!record)
		return -ENOMEM;
	memcpy(record, yields->record, old * sizeof(*record));
	free_arrays(process);
	yields->record = record;
	yields->bucket = (uint32_t *)(void *)(record + 2 * old);
	yields->capacity = 2 * old;
	arrange(yields, old);
	return 0;
}

/* ---- the table ------------------------------------------------------------------ */

struct yield *yields_find(const struct process *process, uint64_t tag)
{
	struct yields *yields = process->yields;
	uint32_t i = yields ? *bucket_of(yields, tag) : YIELD_NONE;

	while (i != YIELD_NONE && yields->record[i].tag != tag)
		i = yields->record[i].chain;
	return i == YIELD_NONE ? NULL : &yields->record[i];
}

static void append(struct yields *yields, uint32_t index)
{
	struct yield *yield = &yields->record[index];

	yield->older = yields->last;
	yield->newer = YIELD_NONE;
	if (yields->last == YIELD_NONE)
		yields->first = index;
	else
		yields->record[yields->last].newer = index;
	yields->last = index;
	if (yields->fresh == YIELD_NONE)
		yields->fresh = index;
}

int yields_add(struct process *process, uint32_t command, uint64_t tag,
	       void *payload)
{
	struct yields *yields = process->yields;
	struct sley_msg *done;
	uint32_t i;

	if (!yields) {
		yields = create();
		show(process, yields);
	}
	if (!yields)
		return -ENOMEM;
	if (yields_find(process, tag))
		return -EEXIST;
	if (yields->free == YIELD_NONE && grow(process))
		return -ENOMEM;
	done = mail_create(SLEY_DONE, tag);
	if (!done)
		return -ENOMEM;
	i = yields->free;
	yields->free = yields->record[i].chain;
	yields->record[i] = (struct yield){
		.tag = tag, .payload = payload, .done = done, .command = command
	};
	into_bucket(yields, i);
	append(yields, i);
	publish(yields, yields->nr + 1);
	return 0;
}

struct yield *yields_next_fresh(struct process *process)
{
	struct yields *yields = process->yields;
	struct yield *yield;

	if (!yields || yields->fresh == YIELD_NONE)
		return NULL;
	yield = &yields->record[yields->fresh];
	yields->fresh = yield->newer;
	return yield;
}

static void out_of_bucket(struct yields *yields, uint32_t index)
{
	struct yield *yield = &yields->record[index];
	uint32_t *link = bucket_of(yields, yield->tag);

	while (*link != index)
		link = &yields->record[*link].chain;
	*link = yield->chain;
}

static void unlink_yield(struct yields *yields, const struct yield *yield)
{
	uint32_t *newer = yield->older == YIELD_NONE
				  ? &yields->first
				  : &yields->record[yield->older].newer;
	uint32_t *older = yield->newer == YIELD_NONE
				  ? &yields->last
				  : &yields->record[yield->newer].older;

	*newer = yield->newer;
	*older = yield->older;
}

void yields_remove(struct process *process, struct yield *yield)
{
	struct yields *yields = process->yields;
	uint32_t i = (uint32_t)(yield - yields->record);

	if (yields->fresh == i)
		yields->fresh = yield->newer;
	out_of_bucket(yields, i);
	unlink_yield(yields, yield);
	yield->chain = yields->free;
	yields->free = i;
	publish(yields, yields->nr - 1);
}

void yields_free(struct process *process)
{
	struct yields *yields = process->yields;

	free_arrays(process);
	show(process, NULL);
	pool_put(&pool, NULL, yields);
}
