/* SPDX-License-Identifier: MIT */
/*
 * slot.h - numbered meeting places: a waiter waits there, and a notifier that has
 * the number wakes the waiter.
 *
 *   id:    generation (32 bits) | index (32 bits)
 *   word:  generation (32 bits) | ... | SIGNALLED | lock of the list
 *
 * A slot is EMPTY, has WAITERs, or is SIGNALLED; never both WAITERs and SIGNALLED.  The
 * whole slot, the generation included, changes under the lock of its word.  So the
 * waiter and the notifier meet there, in whichever order they come: a wake finds a
 * waiter or leaves the signal; a wait finds the signal or is in the list before
 * the next notifier can look.  Looking and linking are one critical section.
 *
 * The generation is odd while the slot is in use.  The generation grows with each
 * use and with the end of each use.  An id names one use: after that use the id
 * finds another generation.  A slot whose generations are used up is not used
 * again, so no id ever comes back.
 *
 * Slots are found by index in a table (mem/table.h) whose chunks double in size and
 * are never freed: a holder of an old id may look, and even wait for the lock, at
 * any time.  All slots belong to the process, since ids go from one runtime to
 * another.  So slots survive a fork(), but have no waiters in the child.
 *
 * A slot is a key, where any task or thread may wait, or the waker of a task, where
 * that task waits.  A waker knows its task.  The task cannot end before it has
 * given up the slot, and so cannot end while a notifier holds the lock of the slot.
 *
 *   a task asks for its waker       the slot hangs on its strand, and ends with
 *                                   the task: core/task/cleanup.h
 *   a task is spawned with a waker  there is no strand yet: TASK_SLOT says that
 *                                   the argument of the task is in the slot, and
 *                                   the slot in place of the argument.
 *                                   slot_start() puts both right when the task is
 *                                   claimed, also if the task is then dropped.
 *
 * Edges:
 *
 *   W1  see core/wait/waitq.h
 *
 * Rejected: a hash table from ids to waiters, with entries only while there is a
 * waiter.  The table needs a lock per bucket that wakers of different tasks share,
 * and a wake that comes first finds no entry to leave its signal in.
 */
#ifndef SLEY_CORE_TASK_SLOT_H
#define SLEY_CORE_TASK_SLOT_H

#include "core/task/cleanup.h"
#include "core/wait/waitq.h"
#include "lf/spin.h"

#include <sley/waker.h>

struct slot {
	struct sley_waitq q;
	struct sley_task *task; /* the waker's task; NULL: a key (lock)    */
	void *arg;              /* of the task, until the task starts      */
	struct cleanup cleanup; /* once the task has started               */
	uint32_t index;         /* constant                                */
	uint32_t next_free;     /* 1 + index; under slots.lock             */
} cache_aligned;

#define SLOT_SIGNALLED 2ull
#define SLOT_CHUNK_FIRST 64u /* slots; the next chunk has twice as many */
#define SLOT_CHUNKS 26u      /* 2^32 - 64 slots                       */

/* All of the process. */
extern struct slots {
	struct spinlock lock;
	uint32_t nr_used; /* slots that were ever used (lock)           */
	uint32_t free;    /* 1 + index of the first free slot (lock) */
	uint64_t nr_live; /* (lock)                                     */
	void *chunk[SLOT_CHUNKS];
} sley__slots;

/* A new slot; @task NULL: a key.  0 or -ENOMEM. */
must_check int slot_create(struct sley_task *task, struct slot **out);

/* The id of the current use, for the caller that uses the slot. */
uint64_t slot_id(const struct slot *slot);

/* The slot of @id, a waker or a key, locked.  NULL: the use of @id has ended. */
must_check struct slot *slot_lock_waker(uint64_t id);
must_check struct slot *slot_lock_key(uint64_t id);

/* For a caller that knows that the slot is in use. */
void slot_lock(struct slot *slot);

/* The slot is locked; each of these functions unlocks it. */
bool slot_wake(struct slot *slot); /* true: a waiter; else the signal  */
must_check int slot_wait(struct slot *slot, uint64_t deadline_ns);
void slot_unlock(struct slot *slot);
void slot_destroy(struct slot *slot); /* waiters return -EIDRM        */

uint64_t slots_nr_live(void);

/* ---- of a task -------------------------------------------------------------- */

struct strand;
struct sley;

/* The description of the waker @slot, of a task of @rt, for the user. */
void slot_describe(const struct slot *slot, const struct sley *rt,
		   struct sley_waker *out);

/* Gives @task a waker, before @task is queued, with its argument set. */
must_check int slot_give(struct sley_task *task, struct slot **out);

/* Undo slot_give(): @task will not be queued. */
void slot_take_back(struct sley_task *task);

/* TASK_SLOT: @task is about to run on @strand, or to be dropped there. */
void slot_start(struct strand *strand, struct sley_task *task);

/* The waker of the task on @strand, which is the caller.  NULL: no memory. */
struct slot *slot_of(struct strand *strand);

#endif
