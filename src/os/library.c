/* SPDX-License-Identifier: MIT */
/*
 * library.c - see library.h.
 */
#include "os/library.h"

#include "os/fault.h"
#include "os/ownership.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static int load(void **library, const char *path, char *why, size_t size)
{
	*library = fault_error("dlopen", ELIBBAD)
			   ? NULL
			   : dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (*library)
		return 0;
	snprintf(why, size, "%s", dlerror() ?: "dlopen failed");
	return -ELIBBAD;
}

int os_library_open(void **library, const char *dir, const char *name,
		    char *why, size_t size)
{
	char path[PATH_MAX], real[PATH_MAX], above[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/%s", dir, name);
	int err;

	snprintf(why, size, "%s", path);
	if (length < 0 || (size_t)length >= sizeof(path))
		return -ENAMETOOLONG;
	if (fault_errno("realpath", EACCES, ENOMEM) || !realpath(path, real))
		return -errno;
	memcpy(above, real, sizeof(above));
	err = check_all(above);
	if (err) {
		snprintf(why, size, "%s", above);
		return err;
	}
	return load(library, real, why, size);
}

void os_library_close(void *library)
{
	(void)dlclose(library);
}

void *os_library_symbol(void *library, const char *name)
{
	return fault_error("dlsym", ELIBBAD) ? NULL : dlsym(library, name);
}
