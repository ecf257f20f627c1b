/* SPDX-License-Identifier: MIT */
/*
 * file.c - see file.h.
 */
#include "os/file.h"

#include "os/fault.h"

#include <errno.h>

int os_file_create(FILE **out, const char *path)
{
	if (fault_errno("fopen", EACCES, EMFILE, ENOMEM))
		return -errno;
	*out = fopen(path, "we");
	return *out ? 0 : -errno;
}

/*
 * stdio forgets the reason of a failed write that was not the last write. Writing
 * one more byte brings the reason back; if that succeeds, the reason is unknown.
 */
static int write_error(FILE *file)
{
	if (fault_error("ferror", EIO))
		return -EIO;
	if (!ferror(file))
		return 0;
	return fputc('\n', file) == EOF || fflush(file) ? -errno : -EIO;
}

int os_file_close(FILE *file)
{
	int err = write_error(file);
	int injected = fault_error("fclose", ENOSPC, EIO);

	if (fclose(file) && !err)
		err = -errno;
	return err ? err : -injected;
}
