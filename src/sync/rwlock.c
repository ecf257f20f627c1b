/* SPDX-License-Identifier: MIT */
/*
 * rwlock.c - the slow paths; the fast paths are inline in <sley/rwlock.h>.
 *
 *   word:  arrived | STRAY | TREE | WAITERS | WRITER | lock of the list
 *
 * The lock is *shut* while a writer is inside or a caller waits, else *open*.  A
 * reader adds one to the word when it comes and subtracts one when it goes.  If
 * the reader found the word open, that completes the lock or the unlock.  If the
 * reader found the word shut, both the lock and the unlock go on in the slow path
 * here.  So while the lock is open readers change only the word.  While it is shut
 * all readers that come in or go out pass the list's lock, and can be counted
 * exactly:
 *
 *   inside    readers that read, and readers that have read and are still to come
 *             here
 *   arrived   readers that read, and readers that want to read and wait or are
 *             still to come here
 *
 *   shut:  balance = inside
 *   open:  balance = arrived - inside : readers that are still to come in, less
 *          readers that are still to go out
 *
 * The single read-modify-write that shuts or opens the lock reads how many have
 * arrived at that moment, and so turns one balance into the other.  Readers that
 * are still to come here correct the balance when they come.  In both states the
 * balance is zero when the word is zero: so a writer that finds the word zero
 * need not look at the balance.
 *
 * A writer gets in when no reader is inside.  Then every earlier reader has made
 * its last access to the lock, and the writer may free the lock.  Only if a
 * waiting writer gives up can the lock be opened with a reader on its way out:
 * STRAY sends the next writer here, where the writer waits for that reader.
 *
 * A holder that leaves, or a waiter that gives up, passes the lock on: to the
 * writer at the head of the queue if no reader is inside, or to the readers at
 * the head.  No other caller can come in between, so no waiter starves.  WAITERS
 * is set if and only if the queue is not empty; with the queue empty and no
 * writer the lock is opened.
 *
 * Edges:
 *
 *   W1  see core/wait/waitq.h; the inline paths acquire and release the same word,
 *       and every change of it is a read-modify-write
 *
 * Rejected: compare-and-swap for readers, and with it a word that only the holder
 * of the list's lock changes.  Much simpler, but two workers that read took 14 to
 * 21 ns each time, and take 9 to 11 this way.
 */
#include "core/sched/place.h"
#include "core/sched/levels.h"
#include "core/wait/wait.h"
#include "sync/rwlock_tree.h"

#include <errno.h>
#include <sley/rwlock.h>

static bool is_open(uint64_t word)
{
	return !(word & SLEY_RWLOCK_SHUT);
}

static int64_t arrived(uint64_t word)
{
	return (int64_t)(word / SLEY_RWLOCK_READER);
}

static bool has_tree(const struct sley_rwlock *lock)
{
	/* relaxed: constant. */
	return unlikely(load_relaxed(&lock->q.word) & SLEY_RWLOCK_TREE);
}

static uint64_t peek(const struct sley_rwlock *lock)
{
	/* relaxed: under the list's lock, for bits that change only there. */
	return load_relaxed(&lock->q.word);
}

/* ---- under the list's lock ------------------------------------------------ */

/* Shut the lock, if it is open, by WAITERS, with or without a waiter. */
static void shut(struct sley_rwlock *lock)
{
	/* Readers go without the list's lock: acquires their last accesses. */
	uint64_t word = or_acquire(&lock->q.word, SLEY_RWLOCK_WAITERS); /* W1 */

	if (is_open(word))
		lock->balance = arrived(word) - lock->balance;
}

/* The lock is shut.  Unlock the list; open the lock without writer and waiters. */
static void leave(struct sley_rwlock *lock, bool writer)
{
	int64_t inside = lock->balance;
	uint64_t word = peek(lock), next;

	do {
		next = word &
		       ~(WAITQ_LOCK | SLEY_RWLOCK_WRITER | SLEY_RWLOCK_WAITERS);
		if (writer)
			next = (next & ~(uint64_t)SLEY_RWLOCK_STRAY) |
			       SLEY_RWLOCK_WRITER;
		if (lock->q.first)
			next |= SLEY_RWLOCK_WAITERS;
		if (is_open(next)) {
			lock->balance = arrived(word) - inside;
			if (inside)
				next |= SLEY_RWLOCK_STRAY;
		}
	} while (!cas_release(&lock->q.word, &word, next)); /* W1 */
}

/*
 * The lock is shut; @writer: a writer is inside.  Let in the waiters that may
 * come in now, and unlock the list.
 */
static void pass_on(struct sley_rwlock *lock, bool writer)
{
	struct task_fifo tasks = { NULL, NULL };
	struct sley_waiter *node;

	while (!writer && (node = lock->q.first)) {
		bool write = node->slot;
		struct waitq_woken woken;

		if (write && lock->balance)
			break;
		woken = waitq_wake_node(node);
		if (!woken.any)
			continue;
		if (write)
			writer = true;
		else
			lock->balance++;
		if (woken.task)
			fifo_push(&tasks, woken.task);
	}
	leave(lock, writer);
	task_enqueue_chain(tasks.first);
}

/* Wait at the end of the queue; unlocks the list. */
static int wait_in_line(struct sley_rwlock *lock, bool write,
			uint64_t deadline_ns, enum wait_flags flags)
{
	struct sley_waiter node;
	int err;

	node.slot = write ? lock : NULL;
	err = waitq_wait(&lock->q, &node, deadline_ns, flags | WAIT_COUNTED);
	if (likely(!err))
		return 0;
	if (!write)
		/* relaxed: the list's lock orders it. */
		(void)sub_relaxed(&lock->q.word, SLEY_RWLOCK_READER);
	if (!is_open(peek(lock))) {
		/* The waiters behind it may be let in. */
		pass_on(lock, peek(lock) & SLEY_RWLOCK_WRITER);
		return err;
	}
	if (!write)
		lock->balance--;
	waitq_unlock_counted(&lock->q);
	return err;
}

/* ---- to read -------------------------------------------------------------- */

/* The reader has added itself to the word, and found the lock shut. */
static int read_lock_until(struct sley_rwlock *lock, uint64_t deadline_ns,
			   enum wait_flags flags)
{
	uint64_t word = waitq_lock(&lock->q);

	if (is_open(word)) { /* by now: the reader is in */
		lock->balance--;
		waitq_unlock_counted(&lock->q);
		return 0;
	}
	/* relaxed: under the list's lock. */
	(void)or_relaxed(&lock->q.word, SLEY_RWLOCK_WAITERS);
	return wait_in_line(lock, false, deadline_ns, flags);
}

bool sley_rwlock_try_read_lock_slow(struct sley_rwlock *lock)
{
	return rwlock_tree_try_lock(lock, false);
}

void sley_rwlock_read_lock_slow(struct sley_rwlock *lock)
{
	if (has_tree(lock))
		(void)!rwlock_tree_lock(lock, false, UINT64_MAX, WAIT_SHIELDED);
	else
		(void)!read_lock_until(lock, UINT64_MAX, WAIT_SHIELDED);
}

int sley_rwlock_read_lock_until(struct sley_rwlock *lock, uint64_t deadline_ns)
{
	uint64_t word = add_acquire(&lock->q.word, SLEY_RWLOCK_READER); /* W1 */

	if (likely(is_open(word)))
		return 0;
	if (has_tree(lock))
		return rwlock_tree_lock(lock, false, deadline_ns, 0);
	return read_lock_until(lock, deadline_ns, 0);
}

/* The reader has subtracted itself from @word: it was shut, or this is misuse. */
void sley_rwlock_read_unlock_slow(struct sley_rwlock *lock, uint64_t word)
{
	if (has_tree(lock)) {
		sley_check(rwlock_tree_unlock(lock, false),
			   "this task tree does not hold the lock for reading");
		return;
	}
	sley_check(arrived(word) > 0, "no reader holds this lock");
	if (is_open(waitq_lock(&lock->q))) { /* by now */
		lock->balance++;
		waitq_unlock_counted(&lock->q);
		return;
	}
	sley_check(lock->balance > 0, "no reader holds this lock");
	if (--lock->balance)
		waitq_unlock_counted(&lock->q);
	else
		pass_on(lock, false);
}

/* ---- to write ------------------------------------------------------------- */

/* Lock the list and shut the lock.  True: no caller is inside or waits. */
static bool shut_and_look(struct sley_rwlock *lock)
{
	(void)waitq_lock(&lock->q);
	shut(lock);
	return !(peek(lock) & SLEY_RWLOCK_WRITER) && !lock->q.first &&
	       !lock->balance;
}

static int write_lock_until(struct sley_rwlock *lock, uint64_t deadline_ns,
			    enum wait_flags flags)
{
	if (!shut_and_look(lock))
		return wait_in_line(lock, true, deadline_ns, flags);
	leave(lock, true);
	return 0;
}

/*
 * Not by shut(): other callers that only try would be refused meanwhile, though
 * no caller waits.
 */
bool sley_rwlock_try_write_lock_slow(struct sley_rwlock *lock)
{
	uint64_t word;

	if (has_tree(lock))
		return rwlock_tree_try_lock(lock, true);
	word = waitq_lock(&lock->q) | WAITQ_LOCK;
	do {
		/* Open: arrived readers that are not inside are the balance. */
		if (!is_open(word) || arrived(word) != lock->balance) {
			waitq_unlock_counted(&lock->q);
			return false;
		}
	} while (!cas_acquire(&lock->q.word, &word,
			      word | SLEY_RWLOCK_WRITER)); /* W1 */
	lock->balance = 0;
	leave(lock, true);
	return true;
}

void sley_rwlock_write_lock_slow(struct sley_rwlock *lock)
{
	if (has_tree(lock))
		sley_check(rwlock_tree_lock(lock, true, UINT64_MAX,
					    WAIT_SHIELDED) != -EDEADLK,
			   "a task tree that reads a lock cannot write it");
	else
		(void)!write_lock_until(lock, UINT64_MAX, WAIT_SHIELDED);
}

int sley_rwlock_write_lock_until(struct sley_rwlock *lock, uint64_t deadline_ns)
{
	uint64_t word = 0;

	if (likely(cas_acquire(&lock->q.word, &word,
			       SLEY_RWLOCK_WRITER))) /* W1 */
		return 0;
	if (has_tree(lock))
		return rwlock_tree_lock(lock, true, deadline_ns, 0);
	return write_lock_until(lock, deadline_ns, 0);
}

void sley_rwlock_write_unlock_slow(struct sley_rwlock *lock)
{
	if (has_tree(lock)) {
		sley_check(rwlock_tree_unlock(lock, true),
			   "this task tree does not hold the lock for writing");
		return;
	}
	sley_check(waitq_lock(&lock->q) & SLEY_RWLOCK_WRITER,
		   "no writer holds this lock");
	pass_on(lock, false);
}

void sley_rwlock_downgrade_slow(struct sley_rwlock *lock)
{
	if (has_tree(lock)) {
		sley_check(rwlock_tree_downgrade(lock),
			   "this task tree does not hold the lock for writing, "
			   "or holds it for writing more than once");
		return;
	}
	sley_check(waitq_lock(&lock->q) & SLEY_RWLOCK_WRITER,
		   "no writer holds this lock");
	/* relaxed: under the list's lock. */
	(void)add_relaxed(&lock->q.word, SLEY_RWLOCK_READER);
	lock->balance = 1;
	pass_on(lock, false);
}
