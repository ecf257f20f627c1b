/* SPDX-License-Identifier: MIT */
/*
 * heap.c - model_alloc: leaks and use after free.
 *
 * Blocks are cut from one arena, which starts again with every execution, so
 * that addresses are the same in equal executions.  A freed block is filled
 * with rubbish and stays away for the rest of the execution.
 */
#include "engine.h"

#include <string.h>

#define ARENA_SIZE (1u << 20)
#define BLOCKS_MAX 1024
#define ALIGNMENT 64

static _Alignas(ALIGNMENT) char arena[ARENA_SIZE];
static struct block {
	char *start;
	size_t size;
	bool freed;
	int freed_by;
} blocks[BLOCKS_MAX];
static int nr_blocks;
static size_t used;
static int live;

void heap_reset(void)
{
	nr_blocks = 0;
	used = 0;
	live = 0;
}

int heap_live(void)
{
	return live;
}

void *model_alloc(size_t size)
{
	size_t room = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	struct block *b = &blocks[nr_blocks];

	if (nr_blocks == BLOCKS_MAX || room > ARENA_SIZE - used)
		model_fail(MODEL_UNSTABLE, "the model's heap is full");
	nr_blocks++;
	*b = (struct block){ .start = arena + used, .size = room };
	used += room;
	live++;
	memset(b->start, 0, room);
	shadow_mapped(b->start, room, __builtin_return_address(0));
	return b->start;
}

void *model_mapped(void *p, size_t size)
{
	shadow_mapped(p, size, __builtin_return_address(0));
	return p;
}

static struct block *find(const char *p)
{
	if (p < arena || p >= arena + used)
		return NULL;
	for (int i = 0; i < nr_blocks; i++) {
		if (p >= blocks[i].start &&
		    p < blocks[i].start + blocks[i].size)
			return &blocks[i];
	}
	return NULL;
}

/* A scheduling point, since it races with every access to the block. */
void model_free(void *p)
{
	const struct block *b = find(p);
	struct op op = { .kind = OP_FREE,
			 .addr = p,
			 .site = "heap\0free\0block" };

	if (!p)
		return;
	if (!b || b->start != p)
		model_fail(MODEL_USE_AFTER_FREE, "free of what was not given");
	op.size = (uint32_t)b->size;
	machine_post(&op);
}

void heap_free(char *p, int thread)
{
	struct block *b = find(p);

	if (b->freed)
		model_fail(MODEL_USE_AFTER_FREE, "freed twice");
	b->freed = true;
	b->freed_by = thread;
	live--;
	memset(b->start, 0xdd, b->size);
}

void heap_check(const char *p)
{
	const struct block *b = find(p);

	if (b && b->freed)
		model_fail(MODEL_USE_AFTER_FREE, "access to freed memory");
}

/* Its own late stores reach memory before anybody else can get the block. */
void heap_check_flush(const char *p, int thread)
{
	const struct block *b = find(p);

	if (b && b->freed && b->freed_by != thread)
		model_fail(MODEL_USE_AFTER_FREE, "store to freed memory");
}
