/* SPDX-License-Identifier: MIT */
/*
 * file.c - see file.h.
 */
#include "os/file.h"

#include "os/fault.h"

#include <errno.h>
#include <stdbool.h>

int os_file_create(FILE **out, const char *path)
{
	if (fault_errno("fopen", EACCES, EMFILE, ENOMEM))
		return -errno;
	*out = fopen(path, "we");
	return *out ? 0 : -errno;
}

/* stdio forgets the reason of a write that failed before the last one. */
int os_file_close(FILE *file)
{
	bool wrote = !fault_error("ferror", EIO) && !ferror(file);
	int err = fclose(file) ? -errno : 0;

	if (!err)
		err = -fault_error("fclose", ENOSPC, EIO);
	return err || wrote ? err : -EIO;
}
