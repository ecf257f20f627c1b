/* SPDX-License-Identifier: MIT */
/*
 * name_wait.c - see name_wait.h.
 */
#include "actor/name/name_wait.h"

#include "actor/name/directory.h"
#include "core/sched/place.h"
#include "core/wait/wait.h"
#include "os/at_fork.h"

#include <errno.h>
#include <string.h>

static struct sley_waitq lists[1u << DIRECTORY_SHARD_BITS];

static struct sley_waitq *list_of(uint64_t hash)
{
	return &lists[hash_slot(hash, DIRECTORY_SHARD_BITS)];
}

/* In a child of fork(): its waiters are threads and tasks of the parent. */
static void forget_waiters(void)
{
	memset(lists, 0, sizeof(lists));
}

FORK_PART(FORK_NAME_WAITS, .renew = forget_waiters);

void name_appeared(uint64_t hash)
{
	struct sley_waitq *list = list_of(hash);
	struct sley_task *chain;

	(void)waitq_lock(list);
	chain = waitq_wake_all(list);
	waitq_unlock(list);
	task_enqueue_chain(chain);
}

/* A look, and a wait.  0: *@pid has the name; if it is SLEY_NO_PID: look again. */
static int look(struct sley_waitq *list, const char *name, sley_pid *pid,
		uint64_t deadline_ns)
{
	struct sley_waiter node;
	int err = 0;

	(void)waitq_lock(list);
	*pid = sley_name_find(name);
	if (!*pid) {
		err = waitq_wait(list, &node, deadline_ns, 0);
		if (err >= 0)
			return 0;
	}
	waitq_unlock(list);
	return err;
}

int sley_name_find_until(const char *name, sley_pid *pid, uint64_t deadline_ns)
{
	sley_pid found = SLEY_NO_PID;
	struct key key;
	int err = 0;

	*pid = SLEY_NO_PID;
	if (!key_init(&key, name))
		return -EINVAL;
	while (!err && !found)
		err = look(list_of(key.hash), name, &found, deadline_ns);
	*pid = found;
	return err;
}
