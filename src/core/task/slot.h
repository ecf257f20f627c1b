/* SPDX-License-Identifier: MIT */
/*
 * slot.h - numbered meeting places: somebody waits there, somebody else, who
 * has the number, wakes.
 *
 *   id:    generation (32 bits) | index (32 bits)
 *   word:  generation (32 bits) | ... | SIGNALLED | lock of the list
 *
 * A slot is EMPTY, has WAITERs, or is SIGNALLED; never both of the latter.  All
 * of it, the generation included, changes under the lock of its word.  So who
 * waits and who wakes meet there, in whichever order they come: a wake finds a
 * waiter or leaves the signal, a wait finds the signal or is in the list before
 * anybody can look again.  There is no moment between a look and a link.
 *
 * The generation is odd while the slot is in use, and grows with each use and
 * each end of one.  An id names one use: afterwards it finds another
 * generation.  A slot whose generations are used up is not used again, so no id
 * ever comes back.
 *
 * Slots are found by index in chunks that double in size and are never freed:
 * who has an old id may look, and even wait for the lock, at any time.  All of
 * them belong to the process, since ids go from one runtime to another.  So
 * they survive a fork(), but nobody waits at them in the child.
 *
 * A slot is a key, which anybody may wait at, or the waker of a task, where that
 * task waits.  The latter knows its task, which cannot end before it has given
 * up the slot, and so cannot end while somebody holds its lock.
 *
 *   a task asks for its waker       the slot hangs on its strand, and ends with
 *                                   it: core/task/cleanup.h
 *   it is spawned with one          there is no strand yet: TASK_SLOT says that
 *                                   its argument is in the slot, and the slot
 *                                   in place of its argument.  slot_start()
 *                                   puts both right when the task is claimed,
 *                                   also if it is then dropped.
 *
 * Edges:
 *
 *   S2  a chunk is made -> somebody finds it by index : its slots are zero
 *   W1  see core/wait/waitq.h
 *
 * Rejected: a hash table from ids to waiters, with entries only while somebody
 * waits.  It needs a lock per bucket that wakers of different tasks share, and a
 * wake that comes first finds no entry to leave its signal in.
 */
#ifndef SLEY_CORE_TASK_SLOT_H
#define SLEY_CORE_TASK_SLOT_H

#include "core/task/cleanup.h"
#include "core/wait/waitq.h"
#include "lf/spin.h"

#include <sley/waker.h>

struct slot {
	struct sley_waitq q;
	struct sley_task *task; /* whose waker it is; NULL: a key (lock)   */
	void *arg;              /* of the task, until it starts            */
	struct cleanup cleanup; /* once it has started                     */
	uint32_t index;         /* constant                                */
	uint32_t next_free;     /* 1 + index; under slots.lock             */
} cache_aligned;

#define SLOT_SIGNALLED 2ull
#define SLOT_CHUNK_FIRST 64u /* slots; the next one has twice as many */
#define SLOT_CHUNKS 26u      /* 2^32 - 64 slots                       */

/* All of the process. */
extern struct slots {
	struct spinlock lock;
	uint32_t nr_used; /* slots that were ever used (lock)           */
	uint32_t free;    /* 1 + index of the first free one (lock)     */
	uint64_t nr_live; /* (lock)                                     */
	struct slot *chunk[SLOT_CHUNKS];
} sley__slots;

/* A new slot; @task NULL: a key.  0 or -ENOMEM. */
must_check int slot_create(struct sley_task *task, struct slot **out);

/* Of the slot as it is used now, by whoever uses it. */
uint64_t slot_id(const struct slot *slot);

/* The slot of @id, a waker or a key, locked.  NULL: there is none any more. */
must_check struct slot *slot_lock_waker(uint64_t id);
must_check struct slot *slot_lock_key(uint64_t id);

/* By who knows that it is in use. */
void slot_lock(struct slot *slot);

/* It is locked; each of these unlocks it. */
bool slot_wake(struct slot *slot); /* true: a waiter; else the signal  */
must_check int slot_wait(struct slot *slot, uint64_t deadline_ns);
void slot_unlock(struct slot *slot);
void slot_destroy(struct slot *slot); /* waiters return -EIDRM        */

uint64_t slots_nr_live(void);

/* ---- of a task -------------------------------------------------------------- */

struct strand;
struct sley;

/* What the user gets of the waker @slot, of a task of @rt. */
void slot_describe(const struct slot *slot, const struct sley *rt,
		   struct sley_waker *out);

/* Before it is queued, with its argument set: gives @task a waker. */
must_check int slot_give(struct sley_task *task, struct slot **out);

/* Undo that: it will not be queued. */
void slot_take_back(struct sley_task *task);

/* TASK_SLOT: @task is about to run on @strand, or to be dropped there. */
void slot_start(struct strand *strand, struct sley_task *task);

/* That of the task on @strand, which is the caller.  NULL: no memory. */
struct slot *slot_of(struct strand *strand);

#endif
