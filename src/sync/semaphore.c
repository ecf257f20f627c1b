/* SPDX-License-Identifier: MIT */
/*
 * semaphore.c - the slow paths; the fast paths are inline in <sley/semaphore.h>.
 *
 *   word:  units << 2 | WAITERS | lock of the list
 *
 * Units may be taken and given without the lock only while the two low bits are
 * zero.  So the caller that has the lock is alone with the word, and while a
 * caller waits all calls come through here.
 *
 * A waiter says in its node how many units it wants.  A caller that gives units,
 * or a waiter that gives up, serves the list from its head: as long as there are
 * enough units for the first waiter, it is woken with its units, which no other
 * caller can take.  A waiter whose wait was decided otherwise is passed over and
 * costs nothing.  A waiter that gives up serves the list, too: it may have been
 * the first, and the waiters behind it may want less.
 *
 * The units that are left and the free lock are one store, so a caller that takes
 * the last units may free the semaphore: no other caller is inside any more.
 *
 * Edges:
 *
 *   W1  see core/wait/waitq.h; the inline paths acquire and release the same word
 *
 * Rejected: letting small requests pass a large request at the head.  This keeps
 * more units in use and starves large requests.
 */
#include "core/sched/place.h"
#include "core/wait/wait.h"

#include <sley/semaphore.h>

#define WAITERS 2ull
#define ONE ((uint64_t)SLEY_SEM_ONE)
_Static_assert(SLEY_SEM_BUSY == (WAITQ_LOCK | WAITERS), "one word");

struct request {
	struct sley_waiter node;
	uint64_t units; /* as in the word */
};

void sley_sem_init(struct sley_sem *sem, uint32_t n)
{
	sem->q = (struct sley_waitq){ .word = n * ONE };
}

uint32_t sley_sem_value(const struct sley_sem *sem)
{
	return (uint32_t)(load_acquire(&sem->q.word) / ONE); /* W1 */
}

/* The lock is ours.  Serve the list with @units, unlock, queue the woken tasks. */
static void serve_and_unlock(struct sley_sem *sem, uint64_t units)
{
	struct sley_task *chain = NULL, **last = &chain;
	struct sley_waiter *node;

	while ((node = sem->q.first)) {
		struct sley_task *task = node->task;
		uint64_t wanted =
			container_of(node, struct request, node)->units;
		enum task_decision decision;

		if (wanted > units)
			break;
		waitq_unlink(node);
		decision = task_decide(task, VERDICT_WOKEN, 0);
		if (decision != DECIDED_LOST)
			units -= wanted;
		if (decision == DECIDED_QUEUE) {
			task->next = NULL;
			*last = task;
			last = &task->next;
		}
	}
	waitq_unlock_as(&sem->q, units | (sem->q.first ? WAITERS : 0)); /* W1 */
	task_enqueue_chain(chain);
}

/* The lock is ours.  True: taken, and unlocked. */
static bool take_and_unlock(struct sley_sem *sem, uint64_t word, uint64_t units)
{
	if ((word & WAITERS) || word < units)
		return false;
	waitq_unlock_as(&sem->q, word - units);
	return true;
}

bool sley_sem_try_acquire_slow(struct sley_sem *sem, uint32_t n)
{
	uint64_t word = waitq_lock(&sem->q);

	if (take_and_unlock(sem, word, n * ONE))
		return true;
	waitq_unlock_as(&sem->q, word);
	return false;
}

int sley_sem_acquire_slow(struct sley_sem *sem, uint32_t n,
			  uint64_t deadline_ns)
{
	struct request request = { .units = n * ONE };
	uint64_t word = waitq_lock(&sem->q);
	int err;

	if (take_and_unlock(sem, word, request.units))
		return 0;
	/* relaxed: under the lock; unlocking publishes it. */
	store_relaxed(&sem->q.word, word | WAITERS | WAITQ_LOCK);
	err = waitq_wait(&sem->q, &request.node, deadline_ns, 0);
	if (err)
		/* relaxed: under the lock. */
		serve_and_unlock(sem, load_relaxed(&sem->q.word) &
					      ~(uint64_t)SLEY_SEM_BUSY);
	return err;
}

void sley_sem_release_slow(struct sley_sem *sem, uint32_t n)
{
	uint64_t units = waitq_lock(&sem->q) & ~WAITERS;

	sley_check(units / ONE <= SLEY_SEM_MAX - n,
		   "a semaphore holds at most SLEY_SEM_MAX units");
	serve_and_unlock(sem, units + n * ONE);
}
