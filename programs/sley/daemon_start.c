/* SPDX-License-Identifier: MIT */
/*
 * daemon_start.c - see daemon_start.h.
 *
 * A datagram to $NOTIFY_SOCKET says that the daemon serves, as a service manager is told.
 * Until the datagram comes, log lines of the daemon come through a pipe, and are shown:
 * the lines have the reason if the start fails.  Afterwards the pipe has no reader, and
 * lines are lost, unless the daemon has a file for the log.
 */
#include "daemon_start.h"

#include "command.h"
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define SERVING "serving at " /* of the daemon: its socket follows           */

struct starting {
	int notify;  /* gets datagrams                                       */
	int log;     /* gets lines, until the daemon has a file for them      */
	int process; /* of the daemon: its end is seen                        */
	pid_t pid;
	bool shown;      /* there were lines                                  */
	char where[512]; /* what the daemon says of itself                    */
};

/* A socket with a name that the kernel chooses; @name gets it, for the daemon. */
static int open_notify(char *name, size_t size)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t length = sizeof(address);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)) ||
	    getsockname(fd, (struct sockaddr *)&address, &length)) {
		close(fd);
		return -1;
	}
	length -= (socklen_t)offsetof(struct sockaddr_un, sun_path);
	snprintf(name, size, "@%.*s", (int)length - 1, address.sun_path + 1);
	return fd;
}

/* The daemon that belongs to this program: beside it, or in ../sbin; else by $PATH. */
static void find_daemon(char path[PATH_MAX])
{
	static const char *const places[] = { "sleyd", "../sbin/sleyd" };
	char own[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *slash;

	own[length > 0 ? length : 0] = '\0';
	slash = strrchr(own, '/');
	for (size_t i = 0; slash && i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, PATH_MAX, "%.*s/%s", (int)(slash - own), own,
			 places[i]);
		if (access(path, X_OK) == 0)
			return;
	}
	snprintf(path, PATH_MAX, "sleyd");
}

/* In the child: becomes the daemon, in a session of its own. */
static void become_daemon(const struct daemon_start *start, const char *notify,
			  int log)
{
	char path[PATH_MAX];
	const char *argv[8] = { "sleyd" };
	int nr = 1, null = open("/dev/null", O_RDWR);

	find_daemon(path);
	if (start->config) {
		argv[nr++] = "--config";
		argv[nr++] = start->config;
	}
	if (start->socket) {
		argv[nr++] = "--socket";
		argv[nr++] = start->socket;
	}
	if (start->log) {
		argv[nr++] = "--log";
		argv[nr++] = start->log;
	}
	setenv("NOTIFY_SOCKET", notify, 1);
	unsetenv("INVOCATION_ID");
	unsetenv("LISTEN_FDS");
	setsid();
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	/* argv is not changed by execvp(). */
	execvp(path, (char *const *)argv);
	dprintf(STDERR_FILENO,
		"sley daemon: the program sleyd is not found (%s): %s\n", path,
		strerror(errno));
	_exit(127);
}

static int launch(struct starting *starting, const struct daemon_start *start)
{
	char name[128];
	int log[2];

	starting->notify = open_notify(name, sizeof(name));
	if (starting->notify < 0)
		return -errno;
	if (pipe2(log, O_CLOEXEC))
		return -errno;
	starting->log = log[0];
	starting->pid = fork();
	if (starting->pid == 0)
		become_daemon(start, name, log[1]);
	if (starting->pid < 0)
		return -errno;
	close(log[1]);
	starting->process = (int)syscall(SYS_pidfd_open, starting->pid, 0);
	return starting->process < 0 ? -errno : 0;
}

/* True: it serves. */
static bool take_datagram(struct starting *starting)
{
	char text[512];
	ssize_t size =
		recv(starting->notify, text, sizeof(text) - 1, MSG_DONTWAIT);
	const char *status;

	if (size <= 0)
		return false;
	text[size] = '\0';
	if (!strstr(text, "READY=1"))
		return false;
	status = strstr(text, "STATUS=");
	snprintf(starting->where, sizeof(starting->where), "%s",
		 status ? status + strlen("STATUS=") : "serving");
	return true;
}

/* False: the pipe has no writer any more. */
static bool take_lines(struct starting *starting)
{
	char text[4096];
	ssize_t size = read(starting->log, text, sizeof(text));

	if (size > 0)
		(void)!write(STDERR_FILENO, text, (size_t)size);
	starting->shown |= size > 0;
	return size > 0;
}

/* True: it serves.  False: it has ended. */
static bool wait_for_daemon(struct starting *starting)
{
	struct pollfd fds[] = {
		{ .fd = starting->notify, .events = POLLIN },
		{ .fd = starting->log, .events = POLLIN },
		{ .fd = starting->process, .events = POLLIN },
	};

	for (;;) {
		if (poll(fds, 3, -1) < 0) {
			if (errno == EINTR)
				continue;
			return false;
		}
		if (fds[0].revents && take_datagram(starting))
			return true;
		/* A child of the daemon may have the pipe for longer. */
		if (fds[1].revents && !take_lines(starting))
			fds[1].fd = -1;
		else if (!fds[1].revents && fds[2].revents)
			return false;
	}
}

/* Do commands find the daemon without being told where? */
static bool is_found(const char *where)
{
	const char *path = getenv("SLEY_SOCKET");
	const char *folder = getenv("XDG_RUNTIME_DIR");
	size_t length = folder ? strlen(folder) : 0;

	if (strncmp(where, SERVING, strlen(SERVING)) != 0)
		return true; /* it does not say where */
	where += strlen(SERVING);
	if (path && *path)
		return strcmp(where, path) == 0;
	return strcmp(where, "/run/sley/sleyd.sock") == 0 ||
	       (length && strncmp(where, folder, length) == 0 &&
		strcmp(where + length, "/sley/sleyd.sock") == 0);
}

/* The next daemon serves while the last one answers what has begun. */
static void tell_of_last(const char *where)
{
	struct peer last;

	if (strncmp(where, SERVING, strlen(SERVING)) != 0 ||
	    !peer_find(&last, where + strlen(SERVING), PEER_STOPPING))
		return;
	fprintf(stderr,
		"sley daemon: the last daemon, process %d, is still stopping: "
		"it answers its requests\n",
		last.pid);
	peer_close(&last);
}

int daemon_start(const struct daemon_start *start, bool json)
{
	struct starting starting = { .where = "" };
	int err = launch(&starting, start), status;

	if (err) {
		fprintf(stderr, "sley daemon: cannot start sleyd: %s\n",
			strerror(-err));
		return STATUS_TROUBLE;
	}
	if (!wait_for_daemon(&starting)) {
		waitpid(starting.pid, &status, 0);
		fprintf(stderr, "sley daemon: the daemon has not started; %s\n",
			starting.shown || !start->log
				? "the lines above say why"
				: "its log says why");
		return STATUS_TROUBLE;
	}
	tell_of_last(starting.where);
	if (json)
		printf("{\"pid\":%d}\n", starting.pid);
	else
		printf("The daemon is %s, as process %d.%s%s\n", starting.where,
		       starting.pid,
		       start->log ? ""
				  : "  Its log is lost: --log FILE keeps "
				    "it.",
		       is_found(starting.where)
			       ? ""
			       : "  Commands and clients find it by --socket "
				 "or $SLEY_SOCKET.");
	return STATUS_OK;
}
