/* SPDX-License-Identifier: MIT */
/*
 * whole_file.c - see whole_file.h.
 */
#include "os/whole_file.h"

#include "os/fault.h"
#include "os/ownership.h"

#include <errno.h>
#include <fcntl.h>

static int check(int fd)
{
	struct stat found;

	if (fault_errno("fstat", EIO, ENOMEM) || fstat(fd, &found) != 0)
		return -errno;
	if (!S_ISREG(found.st_mode))
		return -EINVAL;
	return os_is_ours(&found) ? 0 : -EPERM;
}

/* One byte more than there is room for tells that the file is too long. */
static int read_all(int fd, char *data, size_t room, size_t *size)
{
	char beyond;

	*size = 0;
	for (;;) {
		size_t left = room - *size;
		ssize_t got = fault_errno("read", EIO)
				      ? -1
				      : read(fd, left ? data + *size : &beyond,
					     left ? left : 1);

		if (got == 0)
			return 0;
		if (got > 0 && !left)
			return -EFBIG;
		if (got > 0)
			*size += (size_t)got;
		else if (errno != EINTR)
			return -errno;
	}
}

int os_whole_file_read(const char *path, char *data, size_t room, size_t *size)
{
	/* Not blocking: a pipe of that name must not hold the caller up. */
	int fd = fault_errno("open", EACCES, EMFILE, ENOMEM)
			 ? -1
			 : open(path,
				O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int err;

	if (fd < 0)
		return -errno;
	err = check(fd);
	if (!err)
		err = read_all(fd, data, room, size);
	close(fd);
	return err;
}
