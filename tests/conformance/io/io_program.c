/* SPDX-License-Identifier: MIT */
/*
 * io_program.c - <sley/program.h>: programs with pipes, and their ends as waits.
 */
#include <signal.h>

#include "conformance/bound.h"

static struct sley_program shell(const char *script,
				 const struct sley_program_options *options)
{
	const char *const argv[] = { "sh", "-c", script, NULL };
	struct sley_program program;

	CHECK_EQ(sley_program_start(&program, argv, options), 0);
	return program;
}

static void expect_exit(struct sley_program *program, int code)
{
	struct sley_program_end end;

	CHECK_EQ(sley_program_wait(program, &end), 0);
	CHECK(end.exited);
	CHECK_EQ(end.code, code);
	CHECK_EQ(end.signal, 0);
	CHECK_EQ(sley_program_wait(program, &end), -ESRCH);
	sley_program_close(program);
}

TEST_WORKERS(the_end_of_a_program_is_told_once)
{
	struct sley *rt = start();
	struct sley_program program = shell("exit 7", NULL);

	CHECK_EQ(program.in, -1);
	CHECK_EQ(program.out, -1);
	CHECK_EQ(program.err, -1);
	expect_exit(&program, 7);
	stop(rt);
}

TEST_WORKERS(a_program_reads_and_writes_pipes)
{
	struct sley *rt = start();
	struct sley_program program =
		shell("sort -n; echo done >&2; cat <&0",
		      SLEY_PROGRAM_OPTIONS(.in = SLEY_PROGRAM_PIPE,
					   .out = SLEY_PROGRAM_PIPE,
					   .err = SLEY_PROGRAM_PIPE));
	char data[16] = "";

	CHECK_EQ(sley_io_write(program.in, "3\n1\n2\n", 6), 6);
	sley_program_shut(&program);
	CHECK_EQ(sley_io_read(program.out, data, sizeof(data) - 1), 6);
	CHECK_STR(data, "1\n2\n3\n");
	memset(data, 0, sizeof(data));
	CHECK_EQ(sley_io_read(program.err, data, sizeof(data) - 1), 5);
	CHECK_STR(data, "done\n");
	CHECK_EQ(sley_io_read(program.out, data, sizeof(data)), 0);
	expect_exit(&program, 0);
	stop(rt);
}

TEST_WORKERS(a_program_has_its_directory_and_environment)
{
	struct sley *rt = start();
	const char *const environment[] = { "PATH=/usr/bin:/bin", "WHAT=that",
					    NULL };
	struct sley_program program =
		shell("test \"$WHAT\" = that && test \"$(pwd)\" = /",
		      SLEY_PROGRAM_OPTIONS(.in = SLEY_PROGRAM_NOTHING,
					   .directory = "/",
					   .environment = environment));

	expect_exit(&program, 0);
	stop(rt);
}

/* What the program was given is /dev/null: its input ends at once. */
TEST_WORKERS(nothing_can_be_read_from_nothing)
{
	struct sley *rt = start();
	struct sley_program program =
		shell("cat", SLEY_PROGRAM_OPTIONS(.in = SLEY_PROGRAM_NOTHING));

	expect_exit(&program, 0);
	stop(rt);
}

TEST_WORKERS(a_program_runs_on_after_a_wait_that_timed_out)
{
	struct sley *rt = start();
	struct sley_program program = shell("sleep 100", NULL);
	struct sley_program_end end;

	CHECK_EQ(sley_program_wait_until(&program, &end, in_ms(5)), -ETIMEDOUT);
	CHECK_EQ(sley_program_signal(&program, SIGTERM), 0);
	CHECK_EQ(sley_program_wait(&program, &end), 0);
	CHECK(!end.exited);
	CHECK_EQ(end.signal, SIGTERM);
	CHECK_EQ(end.code, 0);
	CHECK_EQ(sley_program_signal(&program, SIGTERM), -ESRCH);
	sley_program_close(&program);
	stop(rt);
}

/* Its pid is free afterwards: nothing is left of the program. */
TEST_WORKERS(a_program_that_is_given_up_is_killed)
{
	struct sley *rt = start();
	struct sley_program program = shell(
		"sleep 100", SLEY_PROGRAM_OPTIONS(.out = SLEY_PROGRAM_PIPE));
	int pid = program.pid;

	sley_program_close(&program);
	CHECK_EQ(kill(pid, 0), -1);
	CHECK_EQ(errno, ESRCH);
	stop(rt);
}

/* Blocked here for sley_signal_wait(), and not there. */
TEST_WORKERS(a_program_starts_with_no_signal_blocked)
{
	struct sley_program_end end;
	struct sley_program program;
	struct sley *rt;
	sigset_t set;

	CHECK_EQ(sigemptyset(&set), 0);
	CHECK_EQ(sigaddset(&set, SIGTERM), 0);
	CHECK_EQ(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	rt = start();
	program = shell("kill -TERM $$; sleep 100", NULL);
	CHECK_EQ(sley_program_wait_until(&program, &end, in_ms(20000)), 0);
	CHECK_EQ(end.signal, SIGTERM);
	sley_program_close(&program);
	stop(rt);
}

TEST_WORKERS(a_program_that_is_not_there_is_an_error)
{
	struct sley *rt = start();
	const char *const missing[] = { "/no/such/program", NULL };
	const char *const none[] = { NULL };
	const char *const sh[] = { "sh", NULL };
	struct sley_program program;

	CHECK_EQ(sley_program_start(
			 &program, missing,
			 SLEY_PROGRAM_OPTIONS(.out = SLEY_PROGRAM_PIPE)),
		 -ENOENT);
	CHECK_EQ(sley_program_start(&program, none, NULL), -EINVAL);
	CHECK_EQ(sley_program_start(&program, NULL, NULL), -EINVAL);
	CHECK_EQ(sley_program_start(&program, sh,
				    SLEY_PROGRAM_OPTIONS(.in = -3)),
		 -EBADF);
	CHECK_EQ(sley_program_start(&program, sh,
				    SLEY_PROGRAM_OPTIONS(.in = 9999)),
		 -EBADF);
	stop(rt);
}
