/* SPDX-License-Identifier: MIT */
/*
 * library.c - see library.h.
 */
#include "os/library.h"

#include "os/fault.h"
#include "os/ownership.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check(const char *path)
{
	struct stat found;

	if (fault_errno("stat", EACCES) || stat(path, &found) != 0)
		return -errno;
	return os_is_ours(&found) ? 0 : -EPERM;
}

/* @path, which is absolute and has no links, and all folders above. */
static int check_all(char *path)
{
	size_t length = strlen(path);
	int err = check(path);

	while (!err && length > 1) {
		char *slash = strrchr(path, '/');

		length = slash == path ? 1 : (size_t)(slash - path);
		path[length] = '\0';
		err = check(path);
	}
	return err;
}

static int load(struct os_library *library, const char *path, char *why,
		size_t size)
{
	library->handle = fault_error("dlopen", ELIBBAD)
				  ? NULL
				  : dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library->handle)
		return 0;
	snprintf(why, size, "%s", dlerror() ?: "dlopen failed");
	return -ELIBBAD;
}

/* The path of the file without links, in @real, if it is to be trusted. */
static int find(char real[PATH_MAX], const char *dir, const char *name,
		char *why, size_t size)
{
	char path[PATH_MAX], above[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/%s", dir, name);
	int err;

	snprintf(why, size, "%s", path);
	if (length < 0 || (size_t)length >= sizeof(path))
		return -ENAMETOOLONG;
	if (fault_errno("realpath", EACCES, ENOMEM) || !realpath(path, real))
		return -errno;
	memcpy(above, real, sizeof(above));
	err = check_all(above);
	if (err)
		snprintf(why, size, "%s", above);
	return err;
}

/* Which file the library is; the file is at @path, or open. */
static int take_id(struct os_library *library, const char *path)
{
	struct stat found;

	if (fault_errno("stat", EACCES) ||
	    (path ? stat(path, &found) : fstat(library->fd, &found)) != 0)
		return -errno;
	library->device = found.st_dev;
	library->inode = found.st_ino;
	return 0;
}

int os_library_open(struct os_library *library, const char *dir,
		    const char *name, char *why, size_t size)
{
	char real[PATH_MAX];
	int err = find(real, dir, name, why, size);

	library->fd = -1;
	if (!err)
		err = take_id(library, real);
	return err ?: load(library, real, why, size);
}

int os_library_find(struct os_library *library, const char *dir,
		    const char *name, char *why, size_t size)
{
	char real[PATH_MAX];
	int err = find(real, dir, name, why, size);

	if (err)
		return err;
	library->handle = NULL;
	library->fd = fault_errno("open", EMFILE, EACCES)
			      ? -1
			      : open(real, O_RDONLY | O_CLOEXEC);
	if (library->fd < 0)
		return -errno;
	err = take_id(library, NULL);
	if (err)
		os_library_close(library);
	return err;
}

int os_library_load(struct os_library *library, char *why, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", library->fd);
	return load(library, path, why, size);
}

void os_library_close(struct os_library *library)
{
	if (library->handle)
		(void)dlclose(library->handle);
	if (library->fd >= 0)
		(void)close(library->fd);
}

void *os_library_symbol(const struct os_library *library, const char *name)
{
	return fault_error("dlsym", ELIBBAD) ? NULL
					     : dlsym(library->handle, name);
}
