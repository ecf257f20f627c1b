/* SPDX-License-Identifier: MIT */
/*
 * yield.c - see yield.h.
 */
#include "actor/command/yield.h"

#include "base/bits.h"
#include "mem/object_pool.h"

#include <errno.h>
#include <string.h>

static struct object_pool pool = { .object_size = sizeof(struct yields) };

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
	return (size_t)capacity *
	       (sizeof(struct yield) + sizeof(struct hash_node *));
}

/* Records from @begin on are free; the others go into the table. */
static void arrange(struct yields *yields, uint32_t begin)
{
	for (uint32_t i = yields->first; i != YIELD_NONE;
	     i = yields->record[i].newer)
		hash_add(&yields->by_tag, &yields->record[i].node,
			 yield_tag(&yields->record[i]));
	yields->free = NULL;
	for (uint32_t i = yields->capacity; i-- > begin;)
		hash_chain_add(&yields->free, &yields->record[i].node);
}

static struct yields *create(void)
{
	struct yields *yields = object_pool_get(&pool, NULL);

	if (!yields)
		return NULL;
	yields->record = yields->few;
	memset(yields->few_bucket, 0, sizeof(yields->few_bucket));
	hash_init(&yields->by_tag, yields->few_bucket, YIELDS_FEW_BITS);
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
	yields->capacity = 2 * old;
	hash_init(&yields->by_tag,
		  (struct hash_node **)(void *)(record + 2 * old),
		  (uint32_t)bits_last(2 * old));
	arrange(yields, old);
	return 0;
}

/* ---- the table ------------------------------------------------------------------ */

static struct yield *yield_of(struct hash_node *node)
{
	return container_of(node, struct yield, node);
}

struct yield *yields_find(const struct process *process, uint64_t tag)
{
	struct yields *yields = process->yields;
	struct hash_node *node = yields ? hash_find(&yields->by_tag, tag)
					: NULL;

	return node ? yield_of(node) : NULL;
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
	struct yield *yield;

	if (!yields) {
		yields = create();
		show(process, yields);
	}
	if (!yields)
		return -ENOMEM;
	if (yields_find(process, tag))
		return -EEXIST;
	if (!yields->free && grow(process))
		return -ENOMEM;
	done = mail_create(SLEY_DONE, tag);
	if (!done)
		return -ENOMEM;
	yield = yield_of(yields->free);
	yields->free = yield->node.next;
	*yield = (struct yield){ .payload = payload,
				 .done = done,
				 .command = command };
	hash_add(&yields->by_tag, &yield->node, tag);
	append(yields, (uint32_t)(yield - yields->record));
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
	hash_remove(&yields->by_tag, &yield->node);
	unlink_yield(yields, yield);
	hash_chain_add(&yields->free, &yield->node);
	publish(yields, yields->nr - 1);
}

void yields_free(struct process *process)
{
	struct yields *yields = process->yields;

	free_arrays(process);
	show(process, NULL);
	object_pool_put(&pool, NULL, yields);
}
