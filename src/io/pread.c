/* SPDX-License-Identifier: MIT */
/*
 * pread.c - <sley/io_file.h>: bytes at an offset.
 */
#include <sley/io_file.h>

#include "io/call.h"
#include "io/file.h"
#include "io/parts.h"

struct offset_call {
	struct io_call call;
	const struct iovec *part;
	int nr;
	int64_t offset;
};

/* No file: a device that has offsets, or the kernel says -ESPIPE. */
static ssize_t attempt(struct io_call *call, enum os_file_kind kind)
{
	const struct offset_call *at =
		container_of(call, struct offset_call, call);
	const struct os_file_call file = { .kind = kind,
					   .fd = call->fd,
					   .part = at->part,
					   .nr = at->nr,
					   .offset = at->offset };

	return os_file_call(&file);
}

static ssize_t attempt_read(struct io_call *call)
{
	return attempt(call, OS_FILE_READ);
}

static ssize_t attempt_write(struct io_call *call)
{
	return attempt(call, OS_FILE_WRITE);
}

static ssize_t read_file(struct io_call *call)
{
	const struct offset_call *at =
		container_of(call, struct offset_call, call);

	return file_readv(call, at->part, at->nr, at->offset);
}

static ssize_t write_file(struct io_call *call)
{
	const struct offset_call *at =
		container_of(call, struct offset_call, call);

	return file_writev(call, at->part, at->nr, at->offset);
}

static ssize_t read_at(int fd, const struct iovec *part, int nr, size_t size,
		       int64_t offset, uint64_t deadline_ns)
{
	struct offset_call at = {
		.call = { .fd = fd,
			  .direction = IO_IN,
			  .deadline_ns = deadline_ns,
			  .attempt = attempt_read,
			  .on_file = read_file,
			  .never_waits = true,
			  .tries_first = true,
			  .size = size },
		.part = part,
		.nr = nr,
		.offset = offset,
	};

	return unlikely(offset < 0) ? -EINVAL : io_call(&at.call);
}

static ssize_t write_at(int fd, const struct iovec *part, int nr, size_t size,
			int64_t offset, uint64_t deadline_ns)
{
	struct offset_call at = {
		.call = { .fd = fd,
			  .direction = IO_OUT,
			  .deadline_ns = deadline_ns,
			  .attempt = attempt_write,
			  .on_file = write_file,
			  .never_waits = true,
			  .tries_first = true,
			  .size = size },
		.part = part,
		.nr = nr,
		.offset = offset,
	};

	return unlikely(offset < 0) ? -EINVAL : io_call(&at.call);
}

ssize_t sley_io_pread_until(int fd, void *data, size_t size, off_t offset,
			    uint64_t deadline_ns)
{
	const struct iovec part = { data, size };

	return read_at(fd, &part, 1, size, offset, deadline_ns);
}

ssize_t sley_io_pwrite_until(int fd, const void *data, size_t size,
			     off_t offset, uint64_t deadline_ns)
{
	const struct iovec part = { (void *)(uintptr_t)data, size };

	return write_at(fd, &part, 1, size, offset, deadline_ns);
}

ssize_t sley_io_preadv_until(int fd, const struct iovec *part, int nr,
			     off_t offset, uint64_t deadline_ns)
{
	size_t size;
	int err = parts_size(part, nr, &size);

	return err ? err : read_at(fd, part, nr, size, offset, deadline_ns);
}

ssize_t sley_io_pwritev_until(int fd, const struct iovec *part, int nr,
			      off_t offset, uint64_t deadline_ns)
{
	size_t size;
	int err = parts_size(part, nr, &size);

	return err ? err : write_at(fd, part, nr, size, offset, deadline_ns);
}
