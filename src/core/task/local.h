/* SPDX-License-Identifier: MIT */
/*
 * local.h - the values of a task or a thread: <sley/local.h>.
 *
 *      strand->locals ──► chunk ──► older chunk ──► NULL
 *                         key value | key value | ...
 *
 * Chunks of a few slots, filled in the order in which keys are first set, and
 * searched from the newest chunk on.  There are rarely more than a handful of
 * keys, so a look at each is cheaper than any index.  Chunks never move: a
 * destructor may add one while all are being walked.
 *
 * Only the task itself, or the thread, touches them.  The oldest chunk hangs
 * on the cleanups of the strand; a thread has its exit instead.
 *
 * Rejected: numbered keys as pthread has (a registry, a limit, and a lock);
 * copying the values to children (no task would own them).
 */
#ifndef SLEY_CORE_TASK_LOCAL_H
#define SLEY_CORE_TASK_LOCAL_H

#include "core/task/cleanup.h"
#include "mem/alloc.h"

#include <sley/local.h>

#define LOCALS_SLOTS 5
#define LOCALS_ROUNDS 4

struct local_slot {
	const struct sley_local *key;
	void *value;
};

struct locals {
	struct locals *older;
	struct mem *mem;        /* of the chunk        */
	struct locals **head;   /* of all chunks       */
	struct cleanup cleanup; /* of the oldest       */
	uint32_t nr;            /* slots that are used */
	struct local_slot slot[LOCALS_SLOTS];
};

/* NULL: @key was never set. */
static inline struct local_slot *locals_find(struct locals *chunk,
					     const struct sley_local *key)
{
	for (; chunk; chunk = chunk->older) {
		for (uint32_t i = 0; i < chunk->nr; i++) {
			if (chunk->slot[i].key == key)
				return &chunk->slot[i];
		}
	}
	return NULL;
}

#endif
