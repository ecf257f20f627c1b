/* SPDX-License-Identifier: MIT */
/*
 * hazard_process.c - fiber hazards: new processes from tasks, and the end of
 * this one.  What a child of fork() may do with sley is in fork_process.c.
 *
 * Workers and the threads for blocking calls block all signals.  fork() undoes
 * that in the child, since sley hears of it.  Of posix_spawn(), system() and
 * popen() nobody hears: there the program that is started inherits the mask,
 * unless its starter says otherwise.  docs/TLS.md shows how.
 */
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "conformance/bound.h"

TEST_PROOF("hazard")

extern char **environ;

static void skip_sanitizers(void)
{
	if (test_sanitizer())
		test_skip("sanitizers do not survive fork() with threads");
	if (test_emulated())
		test_skip("qemu-user dies of threads in the forked child of a "
			  "process with threads");
}

/* ---- from where ---------------------------------------------------------- */

static void run_in_task(sley_fn *fn, void *arg)
{
	struct sley *rt = start();

	run_task(fn, arg);
	stop(rt);
}

static void in_call(void *fn)
{
	CHECK_EQ(sley_blocking_call((sley_fn *)(uintptr_t)fn, NULL), 0);
}

static void in_region(void *fn)
{
	CHECK_EQ(sley_blocking_begin(), 0);
	((sley_fn *)(uintptr_t)fn)(NULL);
	sley_blocking_end();
}

static void *pointer(sley_fn *fn)
{
	return (void *)(uintptr_t)fn;
}

/* ---- fork() where a task may block ----------------------------------------- */

static int wait_for(pid_t pid)
{
	int status;

	CHECK_GE(pid, 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

static void fork_and_be_killed(void *arg)
{
	pid_t pid = fork();
	int status;

	(void)arg;
	if (pid == 0) {
		raise(SIGTERM);
		_exit(0);
	}
	status = wait_for(pid);
	CHECK(WIFSIGNALED(status));
	CHECK_EQ(WTERMSIG(status), SIGTERM);
}

TEST_WORKERS(fork_a_child_of_a_blocking_call_takes_signals)
{
	skip_sanitizers();
	run_in_task(in_call, pointer(fork_and_be_killed));
}

TEST_WORKERS(fork_a_child_of_a_blocking_region_takes_signals)
{
	skip_sanitizers();
	run_in_task(in_region, pointer(fork_and_be_killed));
}

static void run_own(int workers)
{
	struct sley_config config = { .size = sizeof(config),
				      .workers = workers };
	atomic_int ran = 0;
	struct sley *own = start_with(&config);

	run_task(count_task, &ran);
	CHECK_EQ(ran, 1);
	stop(own);
}

static void fork_and_run_own(void *arg)
{
	pid_t pid = fork();

	(void)arg;
	if (pid == 0) {
		run_own(2);
		run_own(SLEY_SINGLE);
		_exit(0);
	}
	CHECK_EQ(wait_for(pid), 0);
}

TEST_WORKERS(fork_a_child_of_a_blocking_call_runs_its_own_runtimes)
{
	skip_sanitizers();
	run_in_task(in_call, pointer(fork_and_run_own));
}

TEST_WORKERS(fork_a_child_of_a_blocking_region_runs_its_own_runtimes)
{
	skip_sanitizers();
	run_in_task(in_region, pointer(fork_and_run_own));
}

/* Does not return in the child: what is below belongs to the parent. */
static void fork_and_come_back(void *arg)
{
	struct rlimit no_core = { 0, 0 };
	pid_t pid = fork();
	int status;

	(void)arg;
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		close(STDERR_FILENO);
		alarm(20); /* where it hangs */
		return;
	}
	status = wait_for(pid);
	CHECK(WIFSIGNALED(status));
	CHECK_EQ(WTERMSIG(status), SIGABRT);
}

TEST_WORKERS(fork_a_child_that_returns_from_a_blocking_call_aborts)
{
	skip_sanitizers();
	run_in_task(in_call, pointer(fork_and_come_back));
}

TEST_WORKERS(fork_a_child_that_returns_from_a_blocking_region_aborts)
{
	skip_sanitizers();
	run_in_task(in_region, pointer(fork_and_come_back));
}

/* ---- posix_spawn(), system(), popen() --------------------------------------- */

/* The program ends at once, of SIGTERM if it takes it. */
static char shell[] = "sh", flag[] = "-c", suicide[] = "kill -TERM $$; exit 7";
static char *const arguments[] = { shell, flag, suicide, NULL };

static int spawn_suicide(const posix_spawnattr_t *attributes)
{
	pid_t pid;

	CHECK_EQ(posix_spawn(&pid, "/bin/sh", NULL, attributes, arguments,
			     environ),
		 0);
	return wait_for(pid);
}

static void spawn_with_mask(void *arg)
{
	posix_spawnattr_t attributes;
	sigset_t none;
	int status;

	(void)arg;
	sigemptyset(&none);
	CHECK_EQ(posix_spawnattr_init(&attributes), 0);
	CHECK_EQ(posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK),
		 0);
	CHECK_EQ(posix_spawnattr_setsigmask(&attributes, &none), 0);
	status = spawn_suicide(&attributes);
	posix_spawnattr_destroy(&attributes);
	CHECK(WIFSIGNALED(status));
	CHECK_EQ(WTERMSIG(status), SIGTERM);
}

TEST_WORKERS(spawn_a_program_takes_signals_if_its_mask_is_set)
{
	run_in_task(spawn_with_mask, NULL);
}

TEST_WORKERS(spawn_from_a_blocking_call_works_too)
{
	run_in_task(in_call, pointer(spawn_with_mask));
}

/* What docs/TLS.md warns of.  Bound threads have the mask of the program. */
static void spawn_without_mask(void *arg)
{
	int status = spawn_suicide(NULL);

	(void)arg;
	if (is_single()) {
		CHECK(WIFSIGNALED(status));
		return;
	}
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 7);
}

TEST_WORKERS(spawn_a_program_inherits_the_mask_of_the_worker)
{
	run_in_task(spawn_without_mask, NULL);
}

static void talk_to_programs(void *arg)
{
	char line[64] = "";
	FILE *pipe;

	(void)arg;
	CHECK_EQ(WEXITSTATUS(system("exit 5")), 5);
	pipe = popen("echo hello", "r");
	CHECK(pipe);
	CHECK(fgets(line, sizeof(line), pipe));
	CHECK_STR(line, "hello\n");
	CHECK_EQ(pclose(pipe), 0);
}

TEST_WORKERS(spawn_system_and_popen_work_in_tasks)
{
	skip_sanitizers();
	run_in_task(talk_to_programs, NULL);
}

/* ---- exit() ------------------------------------------------------------------- */

static void exit_in_task(void *arg)
{
	(void)arg;
	sley_yield();
	exit(7);
}

static int exit_code_of(int workers)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct sley_config config = config_of(workers);

		(void)!sley_run(&config, exit_in_task, NULL);
		_exit(1);
	}
	status = wait_for(pid);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST_WORKERS(exit_in_a_task_ends_the_process_with_its_status)
{
	if (test_sanitizer())
		test_skip("what the tasks of others have is leaked by exit()");
	CHECK_EQ(exit_code_of(test_config()->workers), 7);
}
