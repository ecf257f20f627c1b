/* SPDX-License-Identifier: MIT */
/*
 * subprocesses.c - functions in a subprocess, where calls fail in the program, in the
 * server or in the subprocess.
 *
 * A server that has ended is not started again, so all of it is one try.  In the second
 * scenario a task calls, and a worker hears the answers.
 */
#include "fault/sweep.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static int double_it(struct sley_subprocess_work *work)
{
	return 2 * *(const int *)work->arg;
}

static int hang(struct sley_subprocess_work *work)
{
	(void)work;
	for (;;)
		pause();
	return 0;
}

static int die(struct sley_subprocess_work *work)
{
	(void)work;
	_exit(1);
	return 0;
}

static int check_double(struct sley_subprocess *subprocess)
{
	int seven = 7;
	int code = sley_subprocess_call(subprocess, double_it, &seven,
					sizeof(seven), NULL);

	return code == 14 ? 0 : code;
}

/* It dies, and does it again. */
static int use(struct sley_subprocess *subprocess)
{
	int err = check_double(subprocess);

	if (err)
		return err;
	err = sley_subprocess_call(subprocess, die, NULL, 0, NULL);
	return err == SLEY_ECHILD ? check_double(subprocess) : err;
}

static int create_and_use(void)
{
	struct sley_subprocess *subprocess = NULL;
	int err = sley_subprocess_create(&subprocess, NULL);

	if (err)
		return err;
	err = use(subprocess);
	sley_subprocess_destroy(subprocess);
	return err;
}

/* A subprocess that is killed; it has no time for anything else. */
static int create_and_kill(void)
{
	struct sley_subprocess *subprocess = NULL;
	int err = sley_subprocess_create(
		&subprocess, SLEY_SUBPROCESS_OPTIONS(.call_ns = 5 * SLEY_MSEC));

	if (err)
		return err;
	err = sley_subprocess_call(subprocess, hang, NULL, 0, NULL);
	sley_subprocess_destroy(subprocess);
	return err == SLEY_ECHILD ? 0 : err;
}

static int begin_and_use(void)
{
	int err;

	err = sley_subprocess_register("double_it", double_it);
	if (!err)
		err = sley_subprocess_register("hang", hang);
	if (!err)
		err = sley_subprocess_register("die", die);
	if (!err)
		err = sley_subprocesses_init();
	if (err)
		return err;
	err = create_and_kill();
	if (!err)
		err = create_and_use();
	sley_subprocesses_exit();
	return err;
}

SCENARIO(subprocesses_that_are_killed)
{
	(void)TRY(begin_and_use(), -ENOMEM, -EAGAIN, -EMFILE, -ENOSPC, -EPERM,
		  -ENOBUFS, SLEY_ECHILD);
}

static void call_in_task(void *arg)
{
	struct sley_subprocess *subprocess = NULL;
	int *err = arg;

	*err = sley_subprocess_create(
		&subprocess,
		SLEY_SUBPROCESS_OPTIONS(.spin_ns = SLEY_SUBPROCESS_NO_SPIN));
	if (*err)
		return;
	*err = check_double(subprocess);
	sley_subprocess_destroy(subprocess);
}

static int begin_and_listen(void)
{
	int err, called = 0;

	err = sley_subprocess_register("double_it", double_it);
	if (!err)
		err = sley_subprocesses_init();
	if (err)
		return err;
	err = sley_run(SLEY_CONFIG(.workers = 1), call_in_task, &called);
	sley_subprocesses_exit();
	return err ? err : called;
}

SCENARIO(answers_that_a_worker_hears)
{
	(void)TRY(begin_and_listen(), -ENOMEM, -EAGAIN, -EMFILE, -ENOSPC,
		  -EPERM, -ENOBUFS, SLEY_ECHILD);
}
