/* SPDX-License-Identifier: MIT */
/*
 * rwlock.c - the slow paths; the fast ones are inline in <sley/rwlock.h>.
 *
 *   word:  arrived | STRAY | TREE | WAITERS | WRITER | lock of the list
 *
 * The lock is *shut* while somebody writes or waits, else *open*.  A reader
 * adds one to the word when it comes and takes it away when it goes.  If what it
 * found was open, that is all: it is in, it is out.  If it found the lock shut
 * it comes here afterwards, in both cases.  So while the lock is open readers
 * change the word alone, and while it is shut all who come in or go out pass
 * the list's lock and can be counted exactly:
 *
 *   inside    who reads, and who has read and is still to come here
 *   arrived   who reads, and who wants to and waits or is still to come here
 *
 *   shut:  balance = inside
 *   open:  balance = arrived - inside : who is still to come in, less who is
 *          still to go out
 *
 * The one read-modify-write that shuts the lock or opens it says what has
 * arrived at that moment, and so turns one into the other.  Those who are still
 * to come correct the balance when they do.  It is zero, either way, when the
 * word is: so writers that find nobody need not look at it.
 *
 * A writer gets in when nobody is inside.  Then every reader before it has made
 * its last access to the lock, and the writer may free it.  Only if a writer
 * that waited gives up can the lock be opened with somebody on its way out:
 * STRAY sends the next writer here, where it is waited for.
 *
 * Who leaves, or gives up, passes the lock on: to the writer at the head of the
 * queue if nobody is inside, or to the readers at the head.  Nobody can come
 * in between, so nobody starves.  WAITERS is set if and only if the queue is
 * not empty; with the queue empty and no writer the lock is opened.
 *
 * Edges:
 *
 *   W1  see core/wait/waitq.h; the inline paths acquire and release the same word,
 *       and every change of it is a read-modify-write
 *
 * Rejected: compare-and-swap for readers, and with it a lock that nobody but
 * the holder of the list's lock changes while it is held.  Much simpler, but
 * two workers that read took 14 to 21 ns each time, and take 9 to 11 this way.
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
	/* relaxed: under the list's lock, for what changes under it only. */
	return load_relaxed(&lock->q.word);
}

/* ---- under the list's lock ------------------------------------------------ */

/* Shut it, if it is open; with WAITERS, whoever that may be. */
static void shut(struct sley_rwlock *lock)
{
	/* Readers go without the list's lock: acquires what the last did. */
	uint64_t word = or_acquire(&lock->q.word, SLEY_RWLOCK_WAITERS); /* W1 */

	if (is_open(word))
		lock->balance = arrived(word) - lock->balance;
}

/* It is shut.  Unlock the list; open the lock if there is nobody to keep it. */
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
 * It is shut, and there is a @writer or none.  Let in who may come in now, and
 * unlock the list.
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
		/* Those behind it may be let in. */
		pass_on(lock, peek(lock) & SLEY_RWLOCK_WRITER);
		return err;
	}
	if (!write)
		lock->balance--;
	waitq_unlock_counted(&lock->q);
	return err;
}

/* ---- to read -------------------------------------------------------------- */

/* The reader has added itself to the word, and found it shut. */
static int read_lock_until(struct sley_rwlock *lock, uint64_t deadline_ns,
			   enum wait_flags flags)
{
	uint64_t word = waitq_lock(&lock->q);

	if (is_open(word)) { /* by now: so it is in */
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

/* The reader has taken itself from @word: it was shut, or it is misuse. */
void sley_rwlock_read_unlock_slow(struct sley_rwlock *lock, uint64_t word)
{
	if (has_tree(lock)) {
		sley_check(rwlock_tree_unlock(lock, false),
			   "read-unlock a lock in a task tree that reads it");
		return;
	}
	sley_check(arrived(word) > 0, "read-unlock a lock only while it is "
				      "read");
	if (is_open(waitq_lock(&lock->q))) { /* by now */
		lock->balance++;
		waitq_unlock_counted(&lock->q);
		return;
	}
	sley_check(lock->balance > 0, "read-unlock a lock only while it is "
				      "read");
	if (--lock->balance)
		waitq_unlock_counted(&lock->q);
	else
		pass_on(lock, false);
}

/* ---- to write ------------------------------------------------------------- */

/* Lock the list and shut the lock.  True: nobody is inside or waits. */
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
 * Not by shut(): others who only try would be sent away meanwhile, and nobody
 * waits.
 */
bool sley_rwlock_try_write_lock_slow(struct sley_rwlock *lock)
{
	uint64_t word;

	if (has_tree(lock))
		return rwlock_tree_try_lock(lock, true);
	word = waitq_lock(&lock->q) | WAITQ_LOCK;
	do {
		/* Open: who has arrived and is not inside is the balance. */
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
		sley_check(
			rwlock_tree_unlock(lock, true),
			"write-unlock a lock in the task tree that writes it");
		return;
	}
	sley_check(waitq_lock(&lock->q) & SLEY_RWLOCK_WRITER,
		   "write-unlock a lock only while it is written");
	pass_on(lock, false);
}

void sley_rwlock_downgrade_slow(struct sley_rwlock *lock)
{
	if (has_tree(lock)) {
		sley_check(rwlock_tree_downgrade(lock),
			   "downgrade a lock in the task tree that writes it, "
			   "and only once");
		return;
	}
	sley_check(waitq_lock(&lock->q) & SLEY_RWLOCK_WRITER,
		   "downgrade a lock only while it is written");
	/* relaxed: under the list's lock. */
	(void)add_relaxed(&lock->q.word, SLEY_RWLOCK_READER);
	lock->balance = 1;
	pass_on(lock, false);
}
