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

struct kind {
	enum io_direction direction;
	ssize_t (*attempt)(struct io_call *call);
	ssize_t (*on_file)(struct io_call *call);
};

static const struct kind reading = { IO_IN, attempt_read, read_file };
static const struct kind writing = { IO_OUT, attempt_write, write_file };

/* ->fd, ->size and ->deadline_ns, and the fields of the offset, are set. */
static inline ssize_t call_at(const struct kind *kind, struct offset_call *at)
{
	at->call.direction = kind->direction;
	at->call.attempt = kind->attempt;
	at->call.on_file = kind->on_file;
	at->call.never_waits = true;
	at->call.tries_first = true;
	return unlikely(at->offset < 0) ? -EINVAL : io_call(&at->call);
}

static inline ssize_t call_with_part(const struct kind *kind, int fd,
				     const struct iovec *part, off_t offset,
				     uint64_t deadline_ns)
{
	struct offset_call at = {
		.call = { .fd = fd,
			  .deadline_ns = deadline_ns,
			  .size = part->iov_len },
		.part = part,
		.nr = 1,
		.offset = offset,
	};

	return call_at(kind, &at);
}

static ssize_t call_with_parts(const struct kind *kind, int fd,
			       const struct iovec *part, int nr, off_t offset,
			       uint64_t deadline_ns)
{
	struct offset_call at = {
		.call = { .fd = fd, .deadline_ns = deadline_ns },
		.part = part,
		.nr = nr,
		.offset = offset,
	};
	int err = parts_size(part, nr, &at.call.size);

	return err ? err : call_at(kind, &at);
}

ssize_t sley_io_pread_until(int fd, void *data, size_t size, off_t offset,
			    uint64_t deadline_ns)
{
	const struct iovec part = { data, size };

	return call_with_part(&reading, fd, &part, offset, deadline_ns);
}

ssize_t sley_io_pwrite_until(int fd, const void *data, size_t size,
			     off_t offset, uint64_t deadline_ns)
{
	const struct iovec part = { (void *)(uintptr_t)data, size };

	return call_with_part(&writing, fd, &part, offset, deadline_ns);
}

ssize_t sley_io_preadv_until(int fd, const struct iovec *part, int nr,
			     off_t offset, uint64_t deadline_ns)
{
	return call_with_parts(&reading, fd, part, nr, offset, deadline_ns);
}

ssize_t sley_io_pwritev_until(int fd, const struct iovec *part, int nr,
			      off_t offset, uint64_t deadline_ns)
{
	return call_with_parts(&writing, fd, part, nr, offset, deadline_ns);
}
