/* SPDX-License-Identifier: MIT */
/*
 * 27_function_pool.c - limits for running and for waiting calls; more are refused.
 *
 *   cc 27_function_pool.c $(pkg-config --cflags --libs sley)
 */
#include <errno.h>
#include <sley/sley.h>
#include <stdatomic.h>

enum { WORKERS = 2, WAITING = 3 };

/* The caller does the work: no worker has to be started, or kept for later. */
static struct sley_sem room = SLEY_SEM_INIT(WORKERS + WAITING);
static struct sley_sem workers = SLEY_SEM_INIT(WORKERS);
static atomic_int answered, refused;

static int pool_call(int (*fn)(void *), void *arg)
{
	int err;

	if (!sley_sem_try_acquire(&room, 1))
		return -EAGAIN; /* full, or stopped */
	err = sley_sem_acquire(&workers, 1);
	if (!err) {
		err = fn(arg);
		sley_sem_release(&workers, 1);
	}
	sley_sem_release(&room, 1);
	return err;
}

static int work(void *arg)
{
	return *(int *)arg == 42 ? 0 : -EDOM;
}

static void caller(void *arg)
{
	atomic_fetch_add(pool_call(work, arg) ? &refused : &answered, 1);
}

static void root(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[12];

	for (int i = 0; i < 12; i++)
		sley_spawn(&group, &task[i], caller, arg);
	/* Stop: no new caller gets in, and all callers inside have left. */
	(void)!sley_sem_acquire(&room, WORKERS + WAITING);
	sley_join(&group);
}

int main(void)
{
	int answer = 42;

	return sley_run(NULL, root, &answer) || answered + refused != 12;
}
