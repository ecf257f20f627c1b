/* SPDX-License-Identifier: MIT */
/*
 * ownership.h - may users other than root and the user of the program change a file?
 */
#ifndef SLEY_OS_OWNERSHIP_H
#define SLEY_OS_OWNERSHIP_H

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Can only root and the user of the program change it?  A folder with the sticky bit,
 * as /tmp, may be written to by others, since they cannot replace what is not theirs.
 */
static inline bool os_is_ours(const struct stat *stat)
{
	mode_t others = S_IWGRP | S_IWOTH;

	if (stat->st_uid != 0 && stat->st_uid != geteuid())
		return false;
	return !(stat->st_mode & others) ||
	       (S_ISDIR(stat->st_mode) && stat->st_mode & S_ISVTX);
}

#endif
