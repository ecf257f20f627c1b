/* SPDX-License-Identifier: MIT */
/*
 * file.c - see file.h.
 */
#include "io/file.h"

#include <sley/blocking.h>

struct file_call {
	int fd;
	const struct iovec *part;
	int nr;
	int64_t offset;
	ssize_t result;
};

static void run_readv(void *arg)
{
	struct file_call *file = arg;

	file->result = os_preadv(file->fd, file->part, file->nr, file->offset);
}

static void run_writev(void *arg)
{
	struct file_call *file = arg;

	file->result = os_pwritev(file->fd, file->part, file->nr, file->offset);
}

ssize_t file_readv(const struct io_call *call, const struct iovec *part, int nr,
		   int64_t offset)
{
	struct file_call file = { call->fd, part, nr, offset, 0 };
	int err = sley_blocking_call_until(run_readv, &file, call->deadline_ns);

	return err ? err : file.result;
}

ssize_t file_writev(const struct io_call *call, const struct iovec *part,
		    int nr, int64_t offset)
{
	struct file_call file = { call->fd, part, nr, offset, 0 };
	int err =
		sley_blocking_call_until(run_writev, &file, call->deadline_ns);

	return err ? err : file.result;
}
