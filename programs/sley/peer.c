/* SPDX-License-Identifier: MIT */
/*
 * peer.c - see peer.h.
 */
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* As clients choose it, see sley_client_open(). */
static void choose_path(char *out, size_t size, const char *given)
{
	const char *folder = getenv("XDG_RUNTIME_DIR");

	if (!given)
		given = getenv("SLEY_SOCKET");
	if (given && *given) {
		snprintf(out, size, "%s", given);
		return;
	}
	if (folder && *folder) {
		snprintf(out, size, "%s/sley/sleyd.sock", folder);
		if (access(out, F_OK) == 0)
			return;
	}
	snprintf(out, size, "/run/sley/sleyd.sock");
}

/* A service manager may listen for a daemon that has not begun. */
static bool is_daemon(int pid)
{
	char path[64], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	return strncmp(name, "sleyd", 5) == 0;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return -1;
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd >= 0 &&
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

bool peer_find(struct peer *peer, const char *given, const char *suffix)
{
	struct ucred listener;
	socklen_t size = sizeof(listener);
	size_t length;
	int fd;

	*peer = (struct peer){ .process = -1 };
	choose_path(peer->path, sizeof(peer->path), given);
	length = strlen(peer->path);
	snprintf(peer->path + length, sizeof(peer->path) - length, "%s",
		 suffix);
	fd = connect_to(peer->path);
	peer->path[length] = '\0';
	if (fd < 0)
		return false;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &listener, &size) == 0 &&
	    listener.pid > 1)
		peer->process = (int)syscall(SYS_pidfd_open, listener.pid, 0);
	close(fd);
	peer->pid = listener.pid;
	if (peer->process >= 0 && is_daemon(peer->pid))
		return true;
	peer_close(peer);
	return false;
}

/* Does @pid hold a lock (flock(2)) of the file with this number? */
static bool holds(int pid, unsigned long long inode)
{
	FILE *file = fopen("/proc/locks", "re");
	char line[256];
	bool is = false;

	while (file && !is && fgets(line, sizeof(line), file)) {
		unsigned long long found;
		int holder;

		is = sscanf(line, "%*u: FLOCK %*s %*s %d %*x:%*x:%llu", &holder,
			    &found) == 2 &&
		     holder == pid && found == inode;
	}
	if (file)
		fclose(file);
	return is;
}

int peer_holder(const char *path)
{
	char name[160];
	struct stat status;
	FILE *file;
	int pid = 0;

	snprintf(name, sizeof(name), "%s.lock", path);
	file = access(path, F_OK) ? fopen(name, "re") : NULL;
	if (!file)
		return 0;
	if (fscanf(file, "%d", &pid) != 1 || fstat(fileno(file), &status) ||
	    !holds(pid, status.st_ino))
		pid = 0;
	fclose(file);
	return pid;
}

void peer_close(struct peer *peer)
{
	if (peer->process >= 0)
		close(peer->process);
	peer->process = -1;
}

int peer_signal(const struct peer *peer, int number)
{
	return (int)syscall(SYS_pidfd_send_signal, peer->process, number, NULL,
			    0);
}
