/* SPDX-License-Identifier: MIT */
/*
 * pidfd.c - fork(2) and what belongs to it.
 *
 * The kernel tells a child of the end of its parent (PR_SET_PDEATHSIG); the kernel
 * means the end of the thread that forked the child, so a process that forks here
 * has one thread.  A program with threads is watched by a pidfd instead.
 */
#include "os/pidfd.h"

#include "os/fault.h"
#include "os/text.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* The thread sanitizer has threads of its own, which are used to being forked. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_THREADS_OF_OTHERS 1
#endif
#endif
#ifndef HAS_THREADS_OF_OTHERS
#define HAS_THREADS_OF_OTHERS 0
#endif

int os_nr_threads(void)
{
	char text[4096];
	const char *at;
	uint64_t nr;

	if (HAS_THREADS_OF_OTHERS ||
	    !os_text_read(text, sizeof(text), "/proc/self/status"))
		return 0;
	at = strstr(text, "\nThreads:");
	if (!at)
		return 0;
	at += strcspn(at, "0123456789");
	return os_text_number(&at, &nr) ? (int)nr : 0;
}

int(os_fork)(void)
{
	int saved_errno = errno;
	pid_t pid = fork(); /* fault: in pidfd.h, for each caller */

	if (pid < 0)
		pid = -errno;
	else
		/* By parent and child, in either order; fails only if done already. */
		(void)setpgid(pid, 0);
	errno = saved_errno;
	return pid;
}

int os_pid(void)
{
	return getpid();
}

void os_end_with(int parent)
{
	/* fault: the signal exists. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!os_is_parent(parent))
		os_exit(0);
}

bool os_is_parent(int pid)
{
	return getppid() == pid;
}

int os_pidfd_open(int pid)
{
	int saved_errno = errno;
	long fd = fault_errno("pidfd_open", ENOSYS, EMFILE)
			  ? -1
			  : syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		fd = -errno;
	errno = saved_errno;
	return (int)fd;
}

void os_kill(int pid)
{
	int saved_errno = errno;

	/* A process that has ended already cannot be killed. */
	(void)kill(-pid, SIGKILL);
	(void)kill(pid, SIGKILL);
	errno = saved_errno;
}

/* Until a child is reaped, no other process gets the number of child or group. */
int os_reap(int *status)
{
	siginfo_t info = { .si_pid = 0 };
	int saved_errno = errno;
	pid_t pid = 0;

	if (!waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) &&
	    info.si_pid) {
		pid = info.si_pid;
		(void)kill(-pid, SIGKILL);
		if (waitpid(pid, status, 0) < 0)
			pid = 0;
	}
	errno = saved_errno;
	return pid;
}

void os_reap_one(int pid)
{
	int saved_errno = errno;

	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	errno = saved_errno;
}

void os_explain_end(char *text, size_t size, int status)
{
	if (WIFSIGNALED(status))
		(void)snprintf(text, size, "was killed by signal %d (%s)",
			       WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		(void)snprintf(text, size, "exited with status %d",
			       WEXITSTATUS(status));
}

int os_watch_children(struct os_signals *old)
{
	sigset_t all, ended;
	int fd;

	sigfillset(&all);
	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old->blocked);
	/* Ignored children would be gone before their status can be asked for. */
	(void)signal(SIGCHLD, SIG_DFL);
	fd = fault_errno("signalfd", EMFILE, ENOMEM)
		     ? -1
		     : signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

void os_hush_children(int fd)
{
	struct signalfd_siginfo info;
	int saved_errno = errno;

	/* fault: nothing to read is no failure. */
	while (read(fd, &info, sizeof(info)) > 0)
		;
	errno = saved_errno;
}

void os_name_process(const char *name)
{
	(void)prctl(PR_SET_NAME, name); /* only for the eyes */
}

void os_exit(int status)
{
	_exit(status);
}
