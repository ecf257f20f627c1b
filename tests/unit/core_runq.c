/* SPDX-License-Identifier: MIT */
/*
 * core_runq.c - the shared queue, alone.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "core/sched/runq.h"
#include "harness/test.h"

static struct runq queue;

TEST(a_queued_task_moves_to_the_tail_of_its_new_level)
{
	struct sley_task a = { 0 }, b = { 0 };

	runq_init(&queue);
	task_build(&a, 7, 0);
	task_build(&b, 9, 0);
	CHECK(!runq_move(&a, 9));
	runq_push(&queue, &a);
	runq_push(&queue, &b);
	CHECK(runq_move(&a, 9));
	CHECK_EQ(task_level(&a), 9);
	CHECK_EQ(runq_hint(&queue), 1ull << 9);
	CHECK(runq_take(&queue, 9) == &b);
	CHECK(runq_take(&queue, 9) == &a);
	CHECK(!runq_move(&a, 3));
	CHECK_EQ(runq_hint(&queue), 0);
	runq_fini(&queue);
}

static void use_lost_queue(struct sley_task *task)
{
	static struct runq fresh;
	struct sley_task other = { 0 };

	alarm(10);
	CHECK(runq_move(task, 3));
	runq_settle();
	/* Its tag is not given to another one. */
	runq_init(&fresh);
	CHECK_NE(fresh.tag, queue.tag);
	task_build(&other, 7, 0);
	runq_push(&fresh, &other);
	CHECK(runq_move(&other, 3));
	CHECK(runq_take(&fresh, 3) == &other);
	_exit(0);
}

TEST(a_child_of_fork_does_not_wait_for_the_lock_of_a_lost_queue)
{
	struct sley_task task = { 0 };
	int status;
	pid_t pid;

	runq_init(&queue);
	task_build(&task, 7, 0);
	runq_push(&queue, &task);
	spin_lock(&queue.lock); /* as another thread might have */
	pid = fork();
	CHECK_GE(pid, 0);
	if (!pid)
		use_lost_queue(&task);
	spin_unlock(&queue.lock);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK(runq_move(&task, 3));
	CHECK(runq_take(&queue, 3) == &task);
	runq_fini(&queue);
}
