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

TEST(other_processes_read_the_hint_in_a_mirror)
{
	struct sley_task a = { 0 }, b = { 0 };
	uint64_t mirror = 0;

	runq_init(&queue);
	task_build(&a, 7, 0);
	task_build(&b, 9, 0);
	runq_push(&queue, &a);
	runq_set_mirror(&queue, &mirror);
	CHECK_EQ(mirror, 1ull << 7);
	runq_push(&queue, &b);
	CHECK_EQ(mirror, 1ull << 7 | 1ull << 9);
	CHECK(runq_take(&queue, 7) == &a);
	CHECK_EQ(mirror, 1ull << 9);
	runq_set_mirror(&queue, NULL);
	CHECK(runq_take(&queue, 9) == &b);
	CHECK_EQ(mirror, 1ull << 9);
	runq_fini(&queue);
}

TEST(a_look_at_peers_is_no_task_that_goes_first)
{
	struct sley_task task = { 0 };

	runq_init(&queue);
	runq_set_looks(&queue, true);
	CHECK(runq_is_first(&queue));
	CHECK(runq_has_looks(&queue));
	CHECK(!runq_has_first(&queue));
	task_build(&task, 7, 0);
	runq_push(&queue, &task);
	CHECK(runq_has_first(&queue));
	CHECK(runq_take(&queue, 7) == &task);
	CHECK(runq_has_looks(&queue));
	CHECK(!runq_has_first(&queue));
	runq_set_looks(&queue, false);
	CHECK(!runq_is_first(&queue));
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
