/* SPDX-License-Identifier: MIT */
/*
 * system.c - see system.h.
 */
#include "http/server/system.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

time_t system_seconds(void)
{
	return time(NULL);
}

void system_end_reading(int fd)
{
	(void)!shutdown(fd, SHUT_RD);
}

int system_file(int fd, uint64_t *size, struct timespec *changed)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	*size = (uint64_t)status.st_size;
	*changed = status.st_mtim;
	return 0;
}

ssize_t system_read_cached(int fd, void *data, size_t size, uint64_t from)
{
	const struct iovec part = { data, size };

	return preadv2(fd, &part, 1, (off_t)from, RWF_NOWAIT);
}
