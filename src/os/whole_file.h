/* SPDX-License-Identifier: MIT */
/*
 * whole_file.h - a file of the user, read as a whole.
 *
 * The file is believed, so it must be a plain file that only root and the user of the
 * program can change.  The rights are those of the file that was opened, not of a file
 * that had the name before.
 */
#ifndef SLEY_OS_WHOLE_FILE_H
#define SLEY_OS_WHOLE_FILE_H

#include "base/compiler.h"

#include <stddef.h>

/*
 * Reads the file @path to @data, which has room for @room bytes; *@size of them are
 * used.  0, or the error of open() or read(); -EINVAL: it is no plain file; -EPERM:
 * others may write to it; -EFBIG: there is no room for all of it.
 */
must_check int os_whole_file_read(const char *path, char *data, size_t room,
				  size_t *size);

#endif
