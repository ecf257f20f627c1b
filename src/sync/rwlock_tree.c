/* SPDX-License-Identifier: MIT */
/*
 * rwlock_tree.c - see rwlock_tree.h, and <sley/rwlock.h> for the rules.
 *
 * Everything is under the lock of the list.  A claim is the request of a tree.
 * It is *admitted* if the lock is free for it and no claim has waited longer.  It
 * *re-enters* if its tree has the lock already, past all waiting claims.  When
 * the lock changes, all claims are looked at in the order in which they came: a
 * claim that re-enters is granted wherever it stands, since its tree may wait for
 * it.
 */
#include "sync/rwlock_tree.h"

#include "core/sched/place.h"
#include "core/sched/levels.h"
#include "core/task/tree.h"
#include "core/wait/wait.h"

struct claim {
	uint64_t tree;
	bool write;
};

/* ---- the holds of the trees ------------------------------------------------ */

/* The hold of @id; with 0, a free hold.  NULL: there is no such hold. */
static struct sley_rwlock_hold *hold_of(struct sley_rwlock_tree *tree,
					uint64_t id)
{
	for (size_t i = 0; i < array_size(tree->hold); i++) {
		if (tree->hold[i].tree == id)
			return &tree->hold[i];
	}
	return NULL;
}

static bool is_read(const struct sley_rwlock_tree *tree)
{
	for (size_t i = 0; i < array_size(tree->hold); i++) {
		if (tree->hold[i].tree)
			return true;
	}
	return false;
}

static bool reenters(struct sley_rwlock_tree *tree, const struct claim *claim)
{
	return tree->writer == claim->tree ||
	       (!claim->write && hold_of(tree, claim->tree));
}

static bool admits(struct sley_rwlock_tree *tree, const struct claim *claim)
{
	if (tree->writer)
		return false;
	return claim->write ? !is_read(tree) : hold_of(tree, 0) != NULL;
}

static void hold(struct sley_rwlock_tree *tree, uint64_t id, uint64_t count)
{
	struct sley_rwlock_hold *own = hold_of(tree, id);

	if (!own)
		own = hold_of(tree, 0);
	own->tree = id;
	own->count += count;
}

static void take(struct sley_rwlock_tree *tree, const struct claim *claim)
{
	if (claim->write) {
		tree->writer = claim->tree;
		tree->writes++;
	} else if (tree->writer) {
		tree->reads++;
	} else {
		hold(tree, claim->tree, 1);
	}
}

static bool release_write(struct sley_rwlock_tree *tree, uint64_t id)
{
	if (tree->writer != id)
		return false;
	if (--tree->writes)
		return true;
	tree->writer = 0;
	if (tree->reads)
		hold(tree, id, tree->reads);
	tree->reads = 0;
	return true;
}

static bool release_read(struct sley_rwlock_tree *tree, uint64_t id)
{
	struct sley_rwlock_hold *own = hold_of(tree, id);

	if (tree->writer == id && tree->reads) {
		tree->reads--;
		return true;
	}
	if (!own)
		return false;
	if (!--own->count)
		own->tree = 0;
	return true;
}

/* ---- the queue ---------------------------------------------------------------- */

/* Let in the claims that are granted now, and unlock. */
static void pass_on(struct sley_rwlock *lock)
{
	struct sley_waiter *node = lock->q.first, *next;
	struct sley_waiter *last = node ? node->prev : NULL;
	struct task_fifo tasks = { NULL, NULL };
	bool first = true;

	for (; node; node = next) {
		struct claim claim = *(struct claim *)node->slot;
		struct waitq_woken woken;

		next = node == last ? NULL : node->next;
		if (!reenters(lock->tree, &claim) &&
		    !(first && admits(lock->tree, &claim))) {
			first = false;
			continue;
		}
		woken = waitq_wake_node(node);
		if (woken.any)
			take(lock->tree, &claim);
		if (woken.task)
			fifo_push(&tasks, woken.task);
	}
	waitq_unlock_counted(&lock->q);
	task_enqueue_chain(tasks.first);
}

/* Under the lock of the list. */
static bool try_take(struct sley_rwlock *lock, const struct claim *claim)
{
	if (!reenters(lock->tree, claim) &&
	    (lock->q.first || !admits(lock->tree, claim)))
		return false;
	take(lock->tree, claim);
	return true;
}

bool rwlock_tree_try_lock(struct sley_rwlock *lock, bool write)
{
	struct claim claim = { tree_current(), write };
	bool taken;

	(void)waitq_lock(&lock->q);
	taken = try_take(lock, &claim);
	waitq_unlock_counted(&lock->q);
	return taken;
}

int rwlock_tree_lock(struct sley_rwlock *lock, bool write, uint64_t deadline_ns,
		     enum wait_flags flags)
{
	struct claim claim = { tree_current(), write };
	struct sley_waiter node;
	int err = 0;

	(void)waitq_lock(&lock->q);
	if (try_take(lock, &claim)) {
		waitq_unlock_counted(&lock->q);
		return 0;
	}
	if (write && hold_of(lock->tree, claim.tree)) {
		waitq_unlock_counted(&lock->q);
		return -EDEADLK;
	}
	node.slot = &claim;
	err = waitq_wait(&lock->q, &node, deadline_ns, flags | WAIT_COUNTED);
	if (err)
		pass_on(lock);
	return err;
}

bool rwlock_tree_unlock(struct sley_rwlock *lock, bool write)
{
	uint64_t id = tree_current();
	bool released;

	(void)waitq_lock(&lock->q);
	released = write ? release_write(lock->tree, id)
			 : release_read(lock->tree, id);
	pass_on(lock);
	return released;
}

bool rwlock_tree_downgrade(struct sley_rwlock *lock)
{
	uint64_t id = tree_current();
	bool released = false;

	(void)waitq_lock(&lock->q);
	if (lock->tree->writer == id && lock->tree->writes == 1) {
		lock->tree->reads++;
		released = release_write(lock->tree, id);
	}
	pass_on(lock);
	return released;
}
