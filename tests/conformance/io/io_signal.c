/* SPDX-License-Identifier: MIT */
/*
 * io_signal.c - <sley/signal.h>: signals as waits.
 */
#include <signal.h>

#include "conformance/bound.h"

static sigset_t set_of(int first, int second)
{
	sigset_t set;

	CHECK_EQ(sigemptyset(&set), 0);
	CHECK_EQ(sigaddset(&set, first), 0);
	CHECK_EQ(sigaddset(&set, second), 0);
	return set;
}

static sigset_t block_two(void)
{
	sigset_t set = set_of(SIGUSR1, SIGUSR2);

	CHECK_EQ(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	return set;
}

struct wait {
	sigset_t set;
	atomic_bool begun;
	int result;
};

static void wait_for_signal(void *arg)
{
	struct wait *wait = arg;

	atomic_store(&wait->begun, true);
	wait->result = sley_signal_wait(&wait->set);
}

TEST_WORKERS(a_task_waits_for_a_signal)
{
	struct wait wait = { .set = block_two() };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, wait_for_signal, &wait);
	while (!atomic_load(&wait.begun))
		sley_yield();
	CHECK_EQ(sley_sleep(2 * SLEY_MSEC), 0);
	CHECK_EQ(kill(getpid(), SIGUSR2), 0);
	sley_join(&group);
	CHECK_EQ(wait.result, SIGUSR2);
	stop(rt);
}

TEST_WORKERS(a_signal_that_came_before_is_not_lost)
{
	sigset_t set = block_two();
	struct sley *rt = start();

	CHECK_EQ(kill(getpid(), SIGUSR1), 0);
	CHECK_EQ(sley_signal_wait_until(&set, in_ms(5000)), SIGUSR1);
	/* It was taken. */
	CHECK_EQ(sley_signal_wait_until(&set, in_ms(2)), -ETIMEDOUT);
	stop(rt);
}

static int wait_in_scope(void *arg)
{
	return sley_signal_wait(arg);
}

static int fail(void *arg)
{
	(void)arg;
	CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	return -EIO;
}

TEST_WORKERS(a_cancel_ends_the_wait_and_takes_no_signal)
{
	sigset_t set = block_two();
	struct sley *rt = start();
	struct sley_task task[2];
	struct sley_scope scope;

	sley_scope_open(&scope);
	sley_scope_spawn(&scope, &task[0], wait_in_scope, &set);
	sley_scope_spawn(&scope, &task[1], fail, NULL);
	CHECK_EQ(sley_scope_close(&scope), -EIO);
	CHECK_EQ(kill(getpid(), SIGUSR1), 0);
	CHECK_EQ(sley_signal_wait_until(&set, in_ms(5000)), SIGUSR1);
	stop(rt);
}

TEST(signals_that_are_not_blocked_are_refused)
{
	struct sley *rt = start();
	sigset_t set = set_of(SIGUSR1, SIGUSR2), none;

	CHECK_EQ(sigemptyset(&none), 0);
	CHECK_EQ(sley_signal_wait(&set), -EINVAL);
	CHECK_EQ(sley_signal_wait(&none), -EINVAL);
	stop(rt);
}
