/* SPDX-License-Identifier: MIT */
/*
 * sley/rwlock.h - reader-writer lock: many readers, or one writer.
 *
 * First come, first served: a waiting writer goes before readers that come
 * later, and waiting readers go before writers that come later.  A release hands
 * the lock to the writer that has waited longest, or to all readers that came
 * before the next writer.  So there is no starvation.  But a reader must not
 * take the lock a second time: a writer may wait between the two.  (A lock with
 * a task tree allows this: SLEY_RWLOCK_TREE_INIT.)
 *
 * A lock lives in memory of the caller, needs no clean-up, and works between
 * tasks and plain threads alike.  A lock may be held across a wait, and a task
 * may release a lock that another task has taken.  The memory may be reused as
 * soon as one task or thread holds the lock for writing and no other task or
 * thread wants the lock: the lock may be in a stack frame that returns.
 */
#ifndef SLEY_RWLOCK_H
#define SLEY_RWLOCK_H

#include <sley/compiler.h>
#include <sley/waitq.h>

SLEY_BEGIN_DECLS

struct sley_rwlock_tree;

/* The fields are private.  Zeroed memory is a free lock. */
struct sley_rwlock {
	struct sley_waitq q;
	union {
		struct sley_rwlock_tree *tree; /* with SLEY_RWLOCK_TREE    */
		int64_t balance;               /* readers inside or to come */
	};
};

#define SLEY_RWLOCK_INIT { SLEY_WAITQ_INIT, { NULL } }

/* In the word, all private: */
#define SLEY_RWLOCK_WRITER 2u  /* there is a writer                      */
#define SLEY_RWLOCK_WAITERS 4u /* there are waiters                      */
#define SLEY_RWLOCK_TREE 8u    /* re-entrant along a task tree: constant */
#define SLEY_RWLOCK_STRAY 16u  /* a reader may still be on its way out   */
#define SLEY_RWLOCK_READER 32u /* one reader                             */
#define SLEY_RWLOCK_SHUT                                                       \
	(SLEY_RWLOCK_WRITER | SLEY_RWLOCK_WAITERS | SLEY_RWLOCK_TREE)

/* ---- along a task tree ------------------------------------------------- */

/* How many task trees can read at the same time; further trees wait. */
#define SLEY_RWLOCK_HOLDS 8

/* Private: a task tree that reads. */
struct sley_rwlock_hold {
	uint64_t tree; /* 0: free */
	uint64_t count;
};

/*
 * The part of a lock that makes it re-entrant along a task tree.  A task tree is
 * a task, its forked children, and the tasks of groups that it put into its tree
 * with sley_group_in_tree().  Outside of tasks each thread is a tree of its own.
 *
 * - A tree that writes may lock again, to write and to read.  A read lock that
 *   was taken meanwhile outlives the last write lock: the tree goes on as a
 *   reader.
 * - A tree that reads may read again, ahead of waiting writers.  Otherwise a
 *   task that reads and waits for its sub-tasks would wait for ever.
 * - A tree that reads cannot write: that is -EDEADLK, or misuse where there is
 *   no error to return.
 * - Only a tree that holds the lock may release it; any task of the tree may.
 *
 * The lock does not keep tasks of the same tree apart.  Every operation locks
 * the list of waiters and looks at the holds.
 *
 * Caller-owned, one per lock.  Private; zeroed memory is valid.
 */
struct sley_rwlock_tree {
	uint64_t writer; /* the tree that writes; 0: none            */
	uint32_t writes; /* how often that tree holds the lock to write */
	uint32_t reads;  /* and how often, meanwhile, to read        */
	struct sley_rwlock_hold hold[SLEY_RWLOCK_HOLDS];
};

/* A lock that is re-entrant along a task tree; @tree_ is zeroed. */
#define SLEY_RWLOCK_TREE_INIT(tree_) { { SLEY_RWLOCK_TREE, NULL }, { tree_ } }

/* ---- to read ----------------------------------------------------------- */

SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS bool
sley_rwlock_try_read_lock_slow(struct sley_rwlock *lock);
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_rwlock_read_lock_slow(struct sley_rwlock *lock);
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_rwlock_read_unlock_slow(struct sley_rwlock *lock, uint64_t word);

/*
 * sley_rwlock_try_read_lock - take a read lock if there is no writer or waiter.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; true if it was taken
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK static inline bool
sley_rwlock_try_read_lock(struct sley_rwlock *lock)
{
	uint64_t word = 0;

	do {
		if (__atomic_compare_exchange_n(
			    &lock->q.word, &word, word + SLEY_RWLOCK_READER,
			    false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
	} while (!(word & SLEY_RWLOCK_SHUT));
	return (word & SLEY_RWLOCK_TREE) &&
	       sley_rwlock_try_read_lock_slow(lock);
}

/*
 * sley_rwlock_read_lock - take a reader-writer lock to read.
 *
 * A cancel of the caller does not cut the wait short; the next wait that can be
 * cancelled fails.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER static inline void
sley_rwlock_read_lock(struct sley_rwlock *lock)
{
	uint64_t word = __atomic_fetch_add(&lock->q.word, SLEY_RWLOCK_READER,
					   __ATOMIC_ACQUIRE);

	if (__builtin_expect(!!(word & SLEY_RWLOCK_SHUT), 0))
		sley_rwlock_read_lock_slow(lock);
}

/*
 * sley_rwlock_read_lock_until - take the lock to read, by a deadline.
 *
 * A lock that needs no wait is taken even if the deadline has passed.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, -ECANCELED; the lock is not held then
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_rwlock_read_lock_until(struct sley_rwlock *lock, uint64_t deadline_ns);

/*
 * sley_rwlock_read_unlock - release a lock that was taken to read.
 *
 * The release of a lock without a reader is misuse.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    everything before the call happens before the next write lock
 *           returns.
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline void
sley_rwlock_read_unlock(struct sley_rwlock *lock)
{
	uint64_t word = __atomic_fetch_sub(&lock->q.word, SLEY_RWLOCK_READER,
					   __ATOMIC_RELEASE);

	if (__builtin_expect(
		    (word & SLEY_RWLOCK_SHUT) || word < SLEY_RWLOCK_READER, 0))
		sley_rwlock_read_unlock_slow(lock, word);
}

/* ---- to write ---------------------------------------------------------- */

SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS bool
sley_rwlock_try_write_lock_slow(struct sley_rwlock *lock);
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_rwlock_write_lock_slow(struct sley_rwlock *lock);
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_rwlock_write_unlock_slow(struct sley_rwlock *lock);
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_rwlock_downgrade_slow(struct sley_rwlock *lock);

/*
 * sley_rwlock_try_write_lock - take the lock to write, if it is free.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; true if it was taken
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK static inline bool
sley_rwlock_try_write_lock(struct sley_rwlock *lock)
{
	uint64_t word = 0;

	if (__atomic_compare_exchange_n(&lock->q.word, &word,
					SLEY_RWLOCK_WRITER, false,
					__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return true;
	/* A reader that gives up may still be counted, but does not matter. */
	return ((word & SLEY_RWLOCK_TREE) || !(word & SLEY_RWLOCK_SHUT)) &&
	       sley_rwlock_try_write_lock_slow(lock);
}

/*
 * sley_rwlock_write_lock - take a reader-writer lock to write.
 *
 * A cancel of the caller does not cut the wait short; the next wait that can be
 * cancelled fails.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   none; a call while the caller's task tree reads is misuse
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER static inline void
sley_rwlock_write_lock(struct sley_rwlock *lock)
{
	uint64_t word = 0;

	if (!__atomic_compare_exchange_n(&lock->q.word, &word,
					 SLEY_RWLOCK_WRITER, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		sley_rwlock_write_lock_slow(lock);
}

/*
 * sley_rwlock_write_lock_until - take the lock to write, by a deadline.
 *
 * A free lock is taken even if the deadline has passed.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, -ECANCELED; the lock is not held then, and waiters
 *           behind the caller no longer wait for it
 *           -EDEADLK  the caller's task tree has the lock to read
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_rwlock_write_lock_until(struct sley_rwlock *lock, uint64_t deadline_ns);

/*
 * sley_rwlock_write_unlock - release a lock that was taken to write.
 *
 * The release of a lock without a writer is misuse.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    everything before the call happens before the next lock returns.
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline void
sley_rwlock_write_unlock(struct sley_rwlock *lock)
{
	uint64_t word = SLEY_RWLOCK_WRITER;

	if (!__atomic_compare_exchange_n(&lock->q.word, &word, 0, false,
					 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		sley_rwlock_write_unlock_slow(lock);
}

/*
 * sley_rwlock_downgrade - turn a write lock into a read lock.
 *
 * No other writer gets in between; readers that wait at the head of the queue
 * get the lock, too.  Release the lock with sley_rwlock_read_unlock().  Along a
 * task tree, the call is misuse if the tree holds the lock for writing more than
 * once.
 *
 * Context:  any thread
 * Blocks:   never
 * Order:    everything before the call happens before the next lock returns.
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline void
sley_rwlock_downgrade(struct sley_rwlock *lock)
{
	uint64_t word = SLEY_RWLOCK_WRITER;

	if (!__atomic_compare_exchange_n(&lock->q.word, &word,
					 SLEY_RWLOCK_READER, false,
					 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		sley_rwlock_downgrade_slow(lock);
}

SLEY_END_DECLS
#endif
