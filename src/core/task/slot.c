/* SPDX-License-Identifier: MIT */
/*
 * slot.c - see slot.h.
 */
#include "core/sched/place.h"
#include "core/task/slot.h"

#include "core/wait/wait.h"
#include "core/sched/worker.h"
#include "mem/table.h"
#include "os/at_fork.h"

#include <errno.h>

#define WOKEN_BY_DESTROY 1 /* the index a waiter is woken with */

struct slots sley__slots;

static const struct table table = {
	.chunk = sley__slots.chunk,
	.max_chunks = SLOT_CHUNKS,
	.length = SLOT_CHUNK_FIRST,
	.place_size = sizeof(struct slot),
	.doubles = true,
};

/* ---- ids -------------------------------------------------------------------- */

uint64_t slot_id(const struct slot *slot)
{
	/* relaxed: constant as long as the caller uses the slot. */
	return table_word(table_generation(load_relaxed(&slot->q.word)),
			  slot->index);
}

/* The word of a slot that has no signal; an odd @generation: the slot is in use. */
static uint64_t word_of(uint32_t generation)
{
	return table_word(generation, 0);
}

/* 0: the generations are used up. */
static uint32_t next_generation(uint64_t word)
{
	return table_next(table_generation(word), UINT32_MAX);
}

/* ---- use and end ------------------------------------------------------------- */

/* Under the lock of all: a slot that is not used, or NULL. */
static struct slot *take_free(void)
{
	struct slots *all = &sley__slots;
	struct slot *slot;

	if (all->free) {
		slot = table_find(&table, all->free - 1);
		all->free = slot->next_free;
	} else {
		slot = table_find(&table, all->nr_used);
		if (!slot)
			return NULL;
		slot->index = all->nr_used++;
	}
	all->nr_live++;
	return slot;
}

static void lock_slots(void)
{
	spin_lock(&sley__slots.lock);
}

static void unlock_slots(void)
{
	spin_unlock(&sley__slots.lock);
}

/* In a child: the threads that wait at a slot, or hold its lock, are not here. */
static void renew_slot(void *place)
{
	struct slot *slot = place;

	/* A page that is not written is not copied. */
	if (slot->q.first)
		slot->q.first = NULL;
	/* relaxed: there is one thread. */
	if (load_relaxed(&slot->q.word) & WAITQ_LOCK)
		waitq_unlock(&slot->q);
}

static void renew_slots(void)
{
	table_walk(&table, sley__slots.nr_used, renew_slot);
}

FORK_PART(FORK_SLOTS, .lock = lock_slots, .unlock = unlock_slots,
	  .renew = renew_slots);

/* Room for more slots, unless another thread was faster. */
static int add_chunk(void)
{
	struct slots *all = &sley__slots;
	uint32_t index;

	spin_lock(&all->lock);
	index = all->nr_used;
	spin_unlock(&all->lock);
	return table_make(&table, index);
}

int slot_create(struct sley_task *task, struct slot **out)
{
	struct slots *all = &sley__slots;
	struct slot *slot;
	uint64_t word;

	for (;;) {
		spin_lock(&all->lock);
		slot = take_free();
		spin_unlock(&all->lock);
		if (slot)
			break;
		if (add_chunk())
			return -ENOMEM;
	}
	/* A thread with an old id may be looking. */
	word = waitq_lock(&slot->q);
	slot->task = task;
	waitq_unlock_as(&slot->q, word_of(next_generation(word)));
	*out = slot;
	return 0;
}

static void put_free(struct slot *slot, bool used_up)
{
	struct slots *all = &sley__slots;

	spin_lock(&all->lock);
	if (!used_up) {
		slot->next_free = all->free;
		all->free = slot->index + 1;
	}
	all->nr_live--;
	spin_unlock(&all->lock);
}

void slot_destroy(struct slot *slot)
{
	/* relaxed: under the lock. */
	uint64_t word = load_relaxed(&slot->q.word);
	uint32_t generation = next_generation(word);
	struct sley_waiter *node = slot->q.first;
	struct sley_task *chain;

	for (; node; node = node->next == slot->q.first ? NULL : node->next)
		node->index = WOKEN_BY_DESTROY;
	chain = waitq_wake_all(&slot->q);
	slot->task = NULL;
	waitq_unlock_as(&slot->q, word_of(generation)); /* W1 */
	task_enqueue_chain(chain);
	put_free(slot, generation == 0);
}

uint64_t slots_nr_live(void)
{
	struct slots *all = &sley__slots;
	uint64_t nr;

	spin_lock(&all->lock);
	nr = all->nr_live;
	spin_unlock(&all->lock);
	return nr;
}

/* ---- meeting -------------------------------------------------------------------- */

static struct slot *lock_slot(uint64_t id, bool waker)
{
	uint32_t generation = table_generation(id);
	struct slot *slot = generation & 1 ? table_find(&table, (uint32_t)id)
					   : NULL;

	if (!slot)
		return NULL;
	if (table_generation(waitq_lock(&slot->q)) == generation &&
	    (slot->task != NULL) == waker)
		return slot;
	waitq_unlock(&slot->q);
	return NULL;
}

struct slot *slot_lock_waker(uint64_t id)
{
	return lock_slot(id, true);
}

struct slot *slot_lock_key(uint64_t id)
{
	return lock_slot(id, false);
}

void slot_lock(struct slot *slot)
{
	(void)waitq_lock(&slot->q);
}

void slot_unlock(struct slot *slot)
{
	waitq_unlock(&slot->q);
}

bool slot_wake(struct slot *slot)
{
	/* relaxed: under the lock. */
	uint64_t word = load_relaxed(&slot->q.word) & ~WAITQ_LOCK;
	struct waitq_woken woken = waitq_wake_first(&slot->q);

	if (!woken.any)
		word |= SLOT_SIGNALLED;
	waitq_unlock_as(&slot->q, word); /* W1 */
	if (woken.task)
		task_enqueue(woken.task);
	return woken.any;
}

int slot_wait(struct slot *slot, uint64_t deadline_ns)
{
	/* relaxed: under the lock. */
	uint64_t word = load_relaxed(&slot->q.word) & ~WAITQ_LOCK;
	struct sley_waiter node;
	int result;

	if (word & SLOT_SIGNALLED) {
		waitq_unlock_as(&slot->q, word & ~SLOT_SIGNALLED);
		return 0;
	}
	result = waitq_wait(&slot->q, &node, deadline_ns, 0);
	if (result < 0)
		waitq_unlock(&slot->q);
	return result == WOKEN_BY_DESTROY ? -EIDRM : result;
}

/* ---- of a task --------------------------------------------------------------------- */

/* The task has returned: no waker finds it from now on. */
static void end_of_task(struct cleanup *cleanup)
{
	struct slot *slot = container_of(cleanup, struct slot, cleanup);

	slot_lock(slot);
	slot_destroy(slot);
}

void slot_describe(const struct slot *slot, const struct sley *rt,
		   struct sley_waker *out)
{
	*out = (struct sley_waker){
		.id = slot_id(slot),
		.priority = (int)task_level(slot->task) - LEVEL_DEFAULT,
		.queue = rt->runq.tag,
	};
}

int slot_give(struct sley_task *task, struct slot **out)
{
	int err = slot_create(task, out);

	if (err)
		return err;
	(*out)->arg = task->arg;
	task->arg = *out;
	return 0;
}

void slot_take_back(struct sley_task *task)
{
	struct slot *slot = task->arg;

	task->arg = slot->arg;
	end_of_task(&slot->cleanup);
}

void slot_start(struct strand *strand, struct sley_task *task)
{
	struct slot *slot = task->arg;

	task->arg = slot->arg;
	cleanup_add_last(&strand->cleanups, &slot->cleanup, end_of_task);
}

struct slot *slot_of(struct strand *strand)
{
	struct cleanup *cleanup = strand->cleanups;
	struct slot *slot;

	for (; cleanup; cleanup = cleanup->next) {
		if (cleanup->fn == end_of_task)
			return container_of(cleanup, struct slot, cleanup);
	}
	if (slot_create(strand->task, &slot))
		return NULL;
	cleanup_add_last(&strand->cleanups, &slot->cleanup, end_of_task);
	return slot;
}
