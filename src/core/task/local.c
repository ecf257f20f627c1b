/* SPDX-License-Identifier: MIT */
/*
 * local.c - the values of a task or a thread: <sley/local.h>.
 *
 *      strand->locals ──► chunk ──► older chunk ──► NULL
 *                         key value | key value | ...
 *
 * Chunks of a few slots, filled in the order in which keys are first set, and
 * searched from the newest chunk on.  There are rarely more than a handful of
 * keys, so a look at each is cheaper than any index.  Chunks never move: a
 * destructor may add one while all are being walked.
 *
 * Only the task itself, or the thread, touches the chunks.  The oldest chunk hangs
 * on the cleanups of the strand; a thread has its exit instead.
 *
 * Rejected: numbered keys as pthread has (a registry, a limit, and a lock);
 * copying the values to children (no task would own them).
 */
#include "core/sched/worker.h"
#include "core/task/cleanup.h"
#include "mem/alloc.h"
#include "os/thread.h"

#include <errno.h>
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

_Static_assert(sizeof(struct locals) == 2 * CACHE_LINE, "no byte is wasted");

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

/* Of a thread that runs no tasks. */
static _Thread_local struct {
	struct locals *head;
	struct mem mem;
} thread;

static inline struct locals *locals_of(const struct strand *strand)
{
	return likely(strand) ? strand->locals : thread.head;
}

void *sley_local_get(const struct sley_local *key)
{
	const struct local_slot *slot =
		locals_find(locals_of(strand_current()), key);

	return slot ? slot->value : NULL;
}

/* ---- the end ------------------------------------------------------------------ */

/* False: there was nothing to destroy. */
static bool destroy_round(struct locals *chunk)
{
	bool any = false;

	for (; chunk; chunk = chunk->older) {
		for (uint32_t i = chunk->nr; i-- > 0;) {
			struct local_slot *slot = &chunk->slot[i];
			void *value = slot->value;

			slot->value = NULL;
			if (!value || !slot->key->destroy)
				continue;
			any = true;
			slot->key->destroy(value);
		}
	}
	return any;
}

/* Destructors may switch: @head tells whose values these are, no thread does. */
static void locals_destroy(struct locals **head)
{
	struct locals *chunk;

	for (int i = 0; i < LOCALS_ROUNDS && destroy_round(*head); i++)
		;
	while ((chunk = *head)) {
		*head = chunk->older;
		mem_free(chunk->mem, chunk, sizeof(*chunk));
	}
}

static void end_task(struct cleanup *cleanup)
{
	locals_destroy(container_of(cleanup, struct locals, cleanup)->head);
}

static void end_thread(void)
{
	locals_destroy(&thread.head);
}

/* ---- setting ------------------------------------------------------------------- */

static struct locals *chunk_create(struct mem *mem, struct locals **head)
{
	struct locals *chunk = mem_alloc(mem, sizeof(*chunk));

	if (chunk) {
		chunk->mem = mem;
		chunk->head = head;
		chunk->older = *head;
	}
	return chunk;
}

static struct locals *add_to_strand(struct strand *strand)
{
	/* The home may change; the runtime is the same. */
	struct worker *home = strand_home(strand);
	struct locals *chunk = chunk_create(&home->rt->mem, &strand->locals);

	if (!chunk)
		return NULL;
	if (!strand->locals)
		cleanup_add(&strand->cleanups, &chunk->cleanup, end_task);
	strand->locals = chunk;
	return chunk;
}

static struct locals *add_to_thread(void)
{
	struct locals *chunk;

	if (!thread.head) {
		mem_init(&thread.mem, NULL);
		if (os_thread_at_exit(end_thread))
			return NULL;
	}
	chunk = chunk_create(&thread.mem, &thread.head);
	if (chunk)
		thread.head = chunk;
	return chunk;
}

int sley_local_set(const struct sley_local *key, void *value)
{
	struct strand *strand = strand_current();
	struct locals *chunk = locals_of(strand);
	struct local_slot *slot = locals_find(chunk, key);

	if (slot) {
		slot->value = value;
		return 0;
	}
	if (!chunk || chunk->nr == LOCALS_SLOTS)
		chunk = strand ? add_to_strand(strand) : add_to_thread();
	if (!chunk)
		return -ENOMEM;
	chunk->slot[chunk->nr++] = (struct local_slot){ key, value };
	return 0;
}
