/* SPDX-License-Identifier: MIT */
/*
 * program.c - <sley/program.h>: programs with pipes, and their ends as waits.
 *
 * The kernel makes a pidfd readable when its process has ended: a wait for the end is a
 * poll.  Starting a program may take a millisecond, so a thread of
 * core/wait/blocking.h does it.
 */
#include <sley/program.h>

#include "base/options.h"
#include "io/descriptor.h"
#include "os/network.h"
#include "os/program.h"
#include "os/shared_memory.h"

#include <poll.h>
#include <signal.h>
#include <sley/blocking.h>
#include <sley/io.h>

/* ---- starting ------------------------------------------------------------------------ */

struct start {
	struct os_program program;
	int pidfd;
	int result;
};

static void run_start(void *arg)
{
	struct start *start = arg;

	start->result = os_program_start(&start->program, &start->pidfd);
}

static void close_three(const int fd[3])
{
	for (int i = 0; i < 3; i++)
		if (fd[i] >= 0)
			os_close(fd[i]);
}

/*
 * What the program gets as descriptor @i, in *@theirs; the caller's end of a pipe is in
 * *@ours, and the program's end in *@passed, to be closed later.
 */
static int choose(int i, int wanted, int *theirs, int *ours, int *passed)
{
	int fd[2], err;

	*theirs = wanted ? wanted : i;
	if (wanted != SLEY_PROGRAM_PIPE)
		return wanted < SLEY_PROGRAM_NOTHING ? -EBADF : 0;
	err = os_pipe(fd, true);
	if (err)
		return err;
	*theirs = *passed = i ? fd[1] : fd[0];
	*ours = i ? fd[0] : fd[1];
	return descriptor_is_new(*ours, "sley_program_start");
}

static int choose_three(const struct sley_program_options *options,
			int theirs[3], int ours[3], int passed[3])
{
	const int wanted[3] = { options->in, options->out, options->err };
	int err = 0;

	for (int i = 0; i < 3 && !err; i++)
		err = choose(i, wanted[i], &theirs[i], &ours[i], &passed[i]);
	return err;
}

static int start_program(struct start *start)
{
	int err = sley_blocking_call(run_start, start);

	return err ? err : start->result;
}

int sley_program_start(struct sley_program *program, const char *const *argv,
		       const struct sley_program_options *given)
{
	struct sley_program_options options = { .size = sizeof(options) };
	int ours[3] = { -1, -1, -1 }, passed[3] = { -1, -1, -1 };
	struct start start = { .result = 0 };
	int err = given ? options_take(&options, given) : 0;

	if (err)
		return err;
	if (!argv || !argv[0])
		return -EINVAL;
	start.program.argv = argv;
	start.program.environment = options.environment;
	start.program.directory = options.directory;
	err = choose_three(&options, start.program.fd, ours, passed);
	if (!err)
		err = start_program(&start);
	close_three(passed);
	if (err < 0) {
		close_three(ours);
		return err;
	}
	*program = (struct sley_program){
		.in = ours[0],
		.out = ours[1],
		.err = ours[2],
		.pid = err,
		.pidfd = start.pidfd,
	};
	err = descriptor_is_new(start.pidfd, "sley_program_start");
	if (err)
		sley_program_close(program);
	return err;
}

/* ---- its end ------------------------------------------------------------------------- */

int sley_program_wait_until(struct sley_program *program,
			    struct sley_program_end *end, uint64_t deadline_ns)
{
	int events, code, err;
	bool exited;

	if (program->pidfd < 0)
		return -ESRCH;
	events = sley_io_poll_until(program->pidfd, POLLIN, deadline_ns);
	if (events < 0)
		return events;
	err = os_program_reap(program->pidfd, &exited, &code);
	if (err == -EAGAIN)
		return err;
	sley_io_close(program->pidfd);
	program->pidfd = -1;
	if (err)
		return err;
	*end = (struct sley_program_end){
		.exited = exited,
		.code = exited ? code : 0,
		.signal = exited ? 0 : code,
	};
	return 0;
}

int sley_program_signal(struct sley_program *program, int signal)
{
	if (program->pidfd < 0)
		return -ESRCH;
	return os_program_signal(program->pidfd, signal);
}

static void close_pipe(int *fd)
{
	if (*fd >= 0)
		sley_io_close(*fd);
	*fd = -1;
}

void sley_program_shut(struct sley_program *program)
{
	close_pipe(&program->in);
}

static void run_reap(void *arg)
{
	struct sley_program *program = arg;

	os_program_end(program->pidfd);
}

void sley_program_close(struct sley_program *program)
{
	close_pipe(&program->in);
	close_pipe(&program->out);
	close_pipe(&program->err);
	if (program->pidfd < 0)
		return;
	(void)!os_program_signal(program->pidfd, SIGKILL);
	/* Also in a cancelled task: a killed process is gone soon. */
	if (sley_blocking_call(run_reap, program))
		run_reap(program);
	close_pipe(&program->pidfd);
}
