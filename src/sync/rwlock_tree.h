/* SPDX-License-Identifier: MIT */
/*
 * rwlock_tree.h - a reader-writer lock that is re-entrant along a task tree.
 *
 * The inline paths always find such a lock shut.  Their changes of the word mean
 * nothing here.
 */
#ifndef SLEY_SYNC_RWLOCK_TREE_H
#define SLEY_SYNC_RWLOCK_TREE_H

#include "core/wait/waitq.h"

#include <sley/rwlock.h>

/* 0, -ETIMEDOUT, -ECANCELED, or -EDEADLK: the tree reads and cannot write. */
must_check int rwlock_tree_lock(struct sley_rwlock *lock, bool write,
				uint64_t deadline_ns, enum wait_flags flags);

must_check bool rwlock_tree_try_lock(struct sley_rwlock *lock, bool write);

/* False: the caller's tree does not hold the lock, or not in that mode. */
must_check bool rwlock_tree_unlock(struct sley_rwlock *lock, bool write);
must_check bool rwlock_tree_downgrade(struct sley_rwlock *lock);

#endif
