/* SPDX-License-Identifier: MIT */
/*
 * around.c - what leaves the runtime: calls that block, traces, fork(),
 * overflows.
 */
#include "fault/sweep.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int nr_ran;

static void count(void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_ran, 1);
}

static void run_tasks(const struct sley_config *config, sley_fn *fn, int nr)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = trial_create(config);
	struct sley_task tasks[16];
	int i = 0;

	if (!rt)
		return;
	trial_mark();
	for (; i < nr; i++) {
		if (!TRY(sley_spawn_on(rt, &group, &tasks[i], fn, NULL, NULL),
			 -ENOMEM))
			break;
	}
	sley_join(&group);
	trial_stop(rt);
}

/* ---- calls that block ------------------------------------------------------------- */

static atomic_int nr_calls;

static void nap(void *arg)
{
	test_nap_ms(1);
	count(arg);
}

static void call(void *arg)
{
	(void)arg;
	for (int i = 0; i < 3; i++)
		atomic_fetch_add(&nr_calls,
				 TRY(sley_blocking_call(nap, NULL), -EAGAIN));
}

SCENARIO(blocking_calls)
{
	struct sley_config config = trial_config(2);

	run_tasks(&config, call, 6);
	CHECK_EQ(atomic_load(&nr_ran), atomic_load(&nr_calls));
}

/* Threads of the pool end as others begin. */
SCENARIO(blocking_calls_by_threads_that_leave)
{
	struct sley_config config = trial_config(1);

	config.blocking_idle_ms = 1;
	run_tasks(&config, call, 3);
	CHECK_EQ(atomic_load(&nr_ran), atomic_load(&nr_calls));
}

/* Begun in any case, and ended in any case. */
static void enter_region(void *arg)
{
	for (int i = 0; i < 3; i++) {
		const int errors[] = { -EAGAIN, 0 };

		(void)trial_failed(TEST_PLACE("sley_blocking_begin()"),
				   sley_blocking_begin(), errors);
		test_nap_ms(1);
		sley_blocking_end();
		sley_yield();
	}
	count(arg);
}

SCENARIO(blocking_regions)
{
	struct sley_config config = trial_config(2);

	run_tasks(&config, enter_region, 6);
}

/* ---- traces ------------------------------------------------------------------------ */

static void trace_something(void *arg)
{
	sley_trace_begin("outer");
	sley_trace_instant("here");
	sley_yield();
	sley_trace_begin("inner");
	sley_trace_end();
	sley_trace_end();
	count(arg);
}

SCENARIO(traces)
{
	struct sley_config config = trial_config(2);
	char path[64];

	snprintf(path, sizeof(path), "fault-trace.%d.json", (int)getpid());
	config.trace = path;
	run_tasks(&config, trace_something, 4);
	unlink(path);
}

/* ---- fork() --------------------------------------------------------------------------- */

/* The child has a runtime of its own, if it gets one. */
static void run_in_child(void *arg)
{
	struct sley_config config = trial_config(1);
	int status;
	pid_t pid;

	(void)arg;
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		struct sley *rt;

		if (TRY(sley_create(&rt, &config), -ENOMEM, -EAGAIN))
			CHECK_EQ(sley_destroy(rt), 0);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	count(NULL);
}

SCENARIO(forks_of_the_process)
{
	struct sley_config config = trial_config(2);

	if (test_sanitizer())
		return; /* locks of the sanitizers do not survive it */
	run_tasks(&config, run_in_child, 1);
}

/* ---- overflows --------------------------------------------------------------------------- */

static volatile int depth_max = INT_MAX;

__attribute__((noinline)) static int recurse(int n)
{
	volatile char frame[4096];

	frame[0] = (char)n;
	return n < depth_max ? recurse(n + 1) + frame[0] : 0;
}

static void overflow(void *arg)
{
	(void)arg;
	(void)recurse(0);
}

/* It dies, of the signal it would die of anyway; what it says may be lost. */
SCENARIO(a_stack_overflow)
{
	struct sley_config config = trial_config(1);
	int status;
	pid_t pid;

	if (test_sanitizer())
		return; /* they report it in their own way */
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		run_tasks(&config, overflow, 1);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		CHECK_EQ(WTERMSIG(status), SIGSEGV);
	else
		CHECK(trial_struck() && WEXITSTATUS(status) == 0);
}
