/* SPDX-License-Identifier: MIT */
/*
 * place.c - see place.h.
 */
#include "place.h"

#include "log.h"
#include "user.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYSTEM_SOCKET "/run/sley/sleyd.sock"

static bool made_folder;

const char *place_socket(const char *given)
{
	static char path[PATH_MAX];
	const char *service = getenv("RUNTIME_DIRECTORY"); /* of systemd      */
	const char *folder = getenv("XDG_RUNTIME_DIR");

	if (!given || !*given)
		given = getenv("SLEY_SOCKET");
	if (given && *given)
		return given;
	if (service && *service == '/') {
		snprintf(path, sizeof(path), "%s/sleyd.sock", service);
		return path;
	}
	if (geteuid() == 0)
		return SYSTEM_SOCKET;
	if (!folder || *folder != '/') {
		log_line("where shall the socket be?  There is no "
			 "$XDG_RUNTIME_DIR: use --socket PATH, $SLEY_SOCKET or "
			 "'socket:' in the configuration");
		return NULL;
	}
	snprintf(path, sizeof(path), "%s/sley/sleyd.sock", folder);
	return path;
}

const char *place_domain(const char *name)
{
	static char path[PATH_MAX];
	const char *service = getenv("RUNTIME_DIRECTORY");

	if (*name == '/' || !service || *service != '/')
		return name;
	snprintf(path, sizeof(path), "%s/domain-%s", service, name);
	return path;
}

/* The folder of @path. */
static void folder_of(const char *path, char folder[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) : 0;

	if (!slash)
		snprintf(folder, PATH_MAX, ".");
	else
		snprintf(folder, PATH_MAX, "%.*s", length ? (int)length : 1,
			 path);
}

/* 1: the folder was made; 0: it is there; or -errno. */
static int make(const char *folder, mode_t mode, const char *user)
{
	uint32_t uid, gid;

	if (mkdir(folder, mode))
		return errno == EEXIST ? 0 : -errno;
	if (user && geteuid() == 0 && !user_find(user, &uid, &gid) &&
	    chown(folder, uid, gid))
		return -errno;
	return 1;
}

int place_make_folder(const char *path, const char *user)
{
	char folder[PATH_MAX];
	int result;

	folder_of(path, folder);
	result = make(folder, geteuid() == 0 ? 0755 : 0700, user);
	made_folder = result > 0;
	if (result < 0)
		log_line("the folder %s is not made: %s; make it, or choose "
			 "another place by --socket PATH",
			 folder, strerror(-result));
	return result < 0 ? result : 0;
}

int place_make_state(const char *folder, const char *user)
{
	int result = make(folder, 0700, user);

	if (result < 0)
		log_line("'state_dir: %s' is not made: %s; make the folders "
			 "above it",
			 folder, strerror(-result));
	return result < 0 ? result : 0;
}

void place_remove_folder(const char *path)
{
	char folder[PATH_MAX];

	if (!path || !made_folder)
		return;
	folder_of(path, folder);
	(void)rmdir(folder);
}

int place_write_pid(const char *path)
{
	char temporary[PATH_MAX], text[32];
	int length = snprintf(text, sizeof(text), "%d\n", getpid());
	int fd, err = 0;

	snprintf(temporary, sizeof(temporary), "%s.new", path);
	fd = open(temporary,
		  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0 || write(fd, text, (size_t)length) != length ||
	    rename(temporary, path))
		err = errno ? -errno : -EIO;
	if (fd >= 0)
		close(fd);
	if (err)
		log_line("the file %s is not written: %s", path,
			 strerror(-err));
	return err;
}

const char *place_absolute(const char *path, char *out, size_t size)
{
	char folder[PATH_MAX];

	if (!path || *path == '/' || !getcwd(folder, sizeof(folder)))
		return path;
	snprintf(out, size, "%s/%s", folder, path);
	return out;
}
