/* SPDX-License-Identifier: MIT */
/*
 * program.c - posix_spawn(3), and what is known by a pidfd.
 */
#include "os/program.h"

#include "os/fault.h"
#include "os/pidfd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

extern char **environ;

/* ---- starting ------------------------------------------------------------------------ */

/* As after a login: nothing is blocked, and a closed pipe ends the program. */
static int set_signals(posix_spawnattr_t *attributes)
{
	sigset_t none, pipe;

	(void)sigemptyset(&none);
	(void)sigemptyset(&pipe);
	(void)sigaddset(&pipe, SIGPIPE);
	return posix_spawnattr_setsigmask(attributes, &none)
		       ?: posix_spawnattr_setsigdefault(attributes, &pipe)
		       ?: posix_spawnattr_setflags(attributes,
						   POSIX_SPAWN_SETSIGMASK |
							   POSIX_SPAWN_SETSIGDEF);
}

static int add_actions(posix_spawn_file_actions_t *actions,
		       const struct os_program *program)
{
	int err = 0;

	for (int i = 0; i < 3 && !err; i++) {
		int fd = program->fd[i];

		if (fd < 0)
			err = posix_spawn_file_actions_addopen(
				actions, i, "/dev/null", O_RDWR, 0);
		else
			err = posix_spawn_file_actions_adddup2(actions, fd, i);
	}
	if (!err && program->directory)
		err = posix_spawn_file_actions_addchdir_np(actions,
							   program->directory);
	return err;
}

static int spawn(const struct os_program *program, pid_t *pid)
{
	char *const *argv = (char *const *)(uintptr_t)program->argv;
	char *const *environment =
		program->environment
			? (char *const *)(uintptr_t)program->environment
			: environ;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return err;
	err = posix_spawnattr_init(&attributes);
	if (!err) {
		err = add_actions(&actions, program)
			      ?: set_signals(&attributes);
		if (!err)
			err = fault_error("posix_spawnp", EAGAIN, ENOMEM)
				      ?: posix_spawnp(pid, argv[0], &actions,
						      &attributes, argv,
						      environment);
		(void)posix_spawnattr_destroy(&attributes);
	}
	(void)posix_spawn_file_actions_destroy(&actions);
	return err;
}

int os_program_start(const struct os_program *program, int *pidfd)
{
	int saved_errno = errno, err;
	pid_t pid;

	err = -spawn(program, &pid);
	if (!err) {
		*pidfd = os_pidfd_open(pid);
		if (*pidfd < 0) {
			err = *pidfd;
			(void)kill(pid, SIGKILL);
			(void)waitpid(pid, NULL, 0);
		}
	}
	errno = saved_errno;
	return err ? err : pid;
}

/* ---- its end ------------------------------------------------------------------------- */

int os_program_reap(int pidfd, bool *exited, int *code)
{
	int saved_errno = errno, err = 0;
	siginfo_t info = { .si_pid = 0 };

	/* fault: asks the kernel, which needs no resources. */
	while (waitid((idtype_t)P_PIDFD, (id_t)pidfd, &info,
		      WEXITED | WNOHANG) &&
	       errno == EINTR)
		;
	if (!info.si_pid)
		err = errno == ECHILD ? -ECHILD : -EAGAIN;
	*exited = info.si_code == CLD_EXITED;
	*code = info.si_status;
	errno = saved_errno;
	return err;
}

void os_program_end(int pidfd)
{
	int saved_errno = errno;

	/* fault: as above. */
	while (waitid((idtype_t)P_PIDFD, (id_t)pidfd, NULL, WEXITED) &&
	       errno == EINTR)
		;
	errno = saved_errno;
}

int os_program_signal(int pidfd, int signal)
{
	int saved_errno = errno, err = 0;

	/* fault: as above. */
	if (syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0))
		err = -errno;
	errno = saved_errno;
	return err;
}
