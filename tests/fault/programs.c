/* SPDX-License-Identifier: MIT */
/*
 * programs.c - <sley/program.h> and <sley/signal.h>: a program that was not started has
 * left nothing behind, and a signal that was not heard is still there.
 */
#include "fault/io_scene.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define NO_PROGRAM -EAGAIN, -ENOSYS, -EPERM, NO_WAIT

/* ---- programs ------------------------------------------------------------------------------- */

static void await_end(struct sley_program *program)
{
	struct sley_program_end end;

	if (TRY(PATIENT(sley_program_wait_until(program, &end, in_time())),
		-ETIMEDOUT, NO_WAIT)) {
		CHECK(end.exited);
		CHECK_EQ(end.code, 0);
	}
}

static void close_end(int *fd)
{
	close_it(*fd);
	*fd = -1;
}

static void use_plain_program(void)
{
	const char *const argv[] = { "true", NULL };
	struct sley_program program;

	if (!TRY(sley_program_start(&program, argv, NULL), NO_PROGRAM))
		return;
	await_end(&program);
	sley_program_close(&program);
}

static void use_pipes(void)
{
	const char *const argv[] = { "cat", NULL };
	struct sley_program program;
	char data[8];

	if (!TRY(sley_program_start(
			 &program, argv,
			 SLEY_PROGRAM_OPTIONS(.in = SLEY_PROGRAM_PIPE,
					      .out = SLEY_PROGRAM_PIPE)),
		 NO_PROGRAM))
		return;
	(void)TRY(PATIENT(sley_io_write_until(program.in, "abc", 3, in_time())),
		  -EPIPE, NO_WAIT);
	close_end(&program.in);
	(void)TRY(PATIENT(sley_io_read_until(program.out, data, sizeof(data),
					     in_time())),
		  -EIO, -ETIMEDOUT, NO_WAIT);
	close_end(&program.out);
	await_end(&program);
	sley_program_close(&program);
}

static void use_programs(void *arg)
{
	(void)arg;
	trial_mark();
	trial_may_absorb("close"); /* of a pidfd, which holds no bytes */
	use_plain_program();
	use_pipes();
}

SCENARIO(programs)
{
	trial_play(use_programs);
}

SCENARIO(programs_of_threads)
{
	use_programs(NULL);
}

/* ---- signals -------------------------------------------------------------------------------- */

static sigset_t one_signal(void)
{
	sigset_t set;

	CHECK_EQ(sigemptyset(&set), 0);
	CHECK_EQ(sigaddset(&set, SIGUSR1), 0);
	return set;
}

static void send_late(void *arg)
{
	(void)arg;
	(void)!sley_sleep(SLEY_MSEC);
	CHECK_EQ(kill(getpid(), SIGUSR1), 0);
}

static void hear_signal(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	sigset_t set = one_signal();
	struct sley_task task;
	int signal = -1;

	(void)arg;
	trial_mark();
	trial_may_absorb("close"); /* of a signalfd, which holds no bytes */
	sley_spawn(&group, &task, send_late, NULL);
	if (TRY(signal = PATIENT(sley_signal_wait_until(&set, in_time())),
		-ETIMEDOUT, NO_WAIT))
		CHECK_EQ(signal, SIGUSR1);
	sley_join(&group);
}

/* Blocked before there are workers, which take it over. */
SCENARIO(signals)
{
	sigset_t set = one_signal();

	CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	trial_play(hear_signal);
}
