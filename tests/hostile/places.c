/* SPDX-License-Identifier: MIT */
/*
 * places.c - strange places for a process: without /proc and /sys, as the first
 * of its namespace, without files 0 to 2, without an environment.
 */
#include "hostile/namespace.h"
#include "hostile/surrounding.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

TEST_PROOF("limit")

/* ---- files of the kernel ------------------------------------------------------ */

static void no_proc(void)
{
	enter_namespaces(0);
	cover("/proc");
}

static void no_sys(void)
{
	enter_namespaces(0);
	cover("/sys");
}

static void no_proc_no_sys(void)
{
	enter_namespaces(0);
	cover("/proc");
	cover("/sys");
}

TEST(proc_not_mounted)
{
	check_works(no_proc, NULL);
	check_works(no_proc, "4 placed");
	check_doctor(no_proc, "degraded mounts /proc is not mounted");
	check_doctor(no_proc, "ok mappings vm.max_map_count is not known");
}

TEST(sys_not_mounted)
{
	check_works(no_sys, NULL);
	check_works(no_sys, "4 placed");
	check_doctor(no_sys, "degraded mounts /sys is not mounted");
}

TEST(proc_and_sys_not_mounted)
{
	check_works(no_proc_no_sys, NULL);
	check_works(no_proc_no_sys, "2 placed");
	check_doctor(no_proc_no_sys, "/proc and /sys are not mounted");
}

/* ---- the first process ------------------------------------------------------------ */

/*
 * The child is the first of its namespace; this process ends as it does.  The
 * default action of a signal is to be ignored there.
 */
static void first_process(void)
{
	int status;
	pid_t pid;

	enter_namespaces(CLONE_NEWPID);
	pid = fork();
	need(pid >= 0, "no fork() in a namespace");
	if (pid == 0) {
		need(getpid() == 1, "it is not the first");
		return;
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		kill(getpid(), WTERMSIG(status));
	_exit(WEXITSTATUS(status));
}

TEST(process_1)
{
	check_works(first_process, NULL);
	check_doctor(first_process, "ok sley started");
}

TEST(process_1_dies_of_its_mistakes)
{
	check_dies(first_process, "2 misuse",
		   "sley: misuse in sley_mutex_unlock");
	check_dies(first_process, "2 overflow",
		   "stack overflow in fiber \"culprit\"");
	test_result("works");
}

/* ---- files 0, 1 and 2 ---------------------------------------------------------------- */

static void closed_files(void)
{
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
}

TEST(standard_files_closed)
{
	struct ending e;

	run_scene(closed_files, "2", &e);
	CHECK_EQ(e.status, 0);
	CHECK_STR(e.text, "");
	/* The last words are lost, and nothing else. */
	run_scene(closed_files, "2 misuse", &e);
	CHECK(WIFSIGNALED(e.status));
	CHECK_EQ(WTERMSIG(e.status), SIGABRT);
	run_scene(closed_files, "2 overflow", &e);
	CHECK(WIFSIGNALED(e.status));
	CHECK_EQ(WTERMSIG(e.status), SIGSEGV);
	test_result("works");
}

/* ---- the environment -------------------------------------------------------------------- */

static void no_environment(void)
{
	clearenv();
	need(chdir("/") == 0, "no /");
}

TEST(environment_empty)
{
	check_works(no_environment, NULL);
	check_doctor(no_environment, "ok sley started");
}

static void trace_to_nowhere(void)
{
	setenv("SLEY_TRACE", "full:/nowhere/at/all", 1);
}

TEST(environment_with_a_trace_that_cannot_be_written)
{
	struct ending e;

	run_scene(trace_to_nowhere, "2", &e);
	CHECK_EQ(e.status, 0);
	CHECK(strstr(e.text, "sley: cannot write the trace to"));
	CHECK(strstr(e.text, "works"));
	test_result("works, and says why there is no trace");
}
