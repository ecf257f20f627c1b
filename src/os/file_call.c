/* SPDX-License-Identifier: MIT */
/*
 * file_call.c - see file_call.h.
 */
#include "os/file_call.h"

#include "os/fault.h"
#include "os/retry.h"
#include "os/sigpipe.h"
#include "os/socket.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- bytes -------------------------------------------------------------------------- */

static ssize_t read_parts(const struct os_file_call *call)
{
	return fault_errno("preadv", EIO, ENOMEM) ? -1
	       : call->offset < 0
		       ? readv(call->fd, call->part, call->nr)
		       : preadv(call->fd, call->part, call->nr, call->offset);
}

static ssize_t write_parts(const struct os_file_call *call)
{
	return fault_errno("pwritev", EIO, ENOSPC) ? -1
	       : call->offset < 0
		       ? writev(call->fd, call->part, call->nr)
		       : pwritev(call->fd, call->part, call->nr, call->offset);
}

ssize_t os_try_preadv(int fd, const struct iovec *part, int nr, int64_t offset)
{
	return RETRY(ssize_t,
		     fault_errno("preadv2", EAGAIN, EOPNOTSUPP)
			     ? -1
			     : preadv2(fd, part, nr, offset, RWF_NOWAIT));
}

/*
 * A file system that cannot tell says EOPNOTSUPP, and some say EINVAL: ext4 the one,
 * tmpfs the other, in Linux 6.18.
 */
ssize_t os_try_pwritev(int fd, const struct iovec *part, int nr, int64_t offset)
{
	ssize_t n = RETRY(ssize_t,
			  fault_errno("pwritev2", EAGAIN, EOPNOTSUPP)
				  ? -1
				  : pwritev2(fd, part, nr, offset, RWF_NOWAIT));

	return n == -EINVAL ? -EOPNOTSUPP : n;
}

/* ---- the file itself ---------------------------------------------------------------- */

static int open_path(const struct os_file_call *call)
{
	return fault_errno("openat", EMFILE, ENFILE, EACCES)
		       ? -1
		       : openat(call->fd, call->path, call->flags, call->mode);
}

_Static_assert(sizeof(struct os_open_how) == sizeof(struct open_how) &&
		       offsetof(struct os_open_how, mode) ==
			       offsetof(struct open_how, mode) &&
		       offsetof(struct os_open_how, resolve) ==
			       offsetof(struct open_how, resolve),
	       "as the kernel has it");

struct os_open_how os_open_beneath(int flags, uint32_t mode)
{
	return (struct os_open_how){
		.flags = (unsigned int)flags,
		/* The kernel wants 0 where no file is made. */
		.mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE
				? mode
				: 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
}

static int open_beneath(const struct os_file_call *call)
{
	return fault_errno("openat2", EMFILE, ENFILE, EACCES)
		       ? -1
		       : (int)syscall(SYS_openat2, call->fd, call->path,
				      call->how, sizeof(*call->how));
}

static int sync_file(const struct os_file_call *call)
{
	if (fault_errno("fsync", EIO, ENOSPC))
		return -1;
	return call->kind == OS_FILE_SYNC ? fsync(call->fd)
					  : fdatasync(call->fd);
}

static int truncate_file(const struct os_file_call *call)
{
	return fault_errno("ftruncate", EIO, EFBIG)
		       ? -1
		       : ftruncate(call->fd, call->offset);
}

static int stat_path(const struct os_file_call *call)
{
	return fault_errno("statx", ENOMEM, EACCES)
		       ? -1
		       : statx(call->fd, call->path, call->flags, call->mode,
			       call->stat);
}

static int unlink_path(const struct os_file_call *call)
{
	return fault_errno("unlinkat", EIO, EACCES)
		       ? -1
		       : unlinkat(call->fd, call->path, call->flags);
}

static int rename_path(const struct os_file_call *call)
{
	return fault_errno("renameat2", EIO, ENOSPC)
		       ? -1
		       : renameat2(call->fd, call->path, call->to_fd,
				   call->to_path, (unsigned int)call->flags);
}

/* ---- from one descriptor to another ------------------------------------------------- */

static ssize_t send_file(const struct os_file_call *call)
{
	return fault_errno("sendfile", EAGAIN, EPIPE, ENOMEM)
		       ? -1
		       : sendfile(call->to_fd, call->fd, call->fd_offset,
				  call->size);
}

static ssize_t splice_bytes(const struct os_file_call *call)
{
	return fault_errno("splice", EAGAIN, EPIPE, ENOMEM)
		       ? -1
		       : splice(call->fd, call->fd_offset, call->to_fd,
				call->to_offset, call->size,
				(unsigned int)call->flags);
}

/* ---- any of them -------------------------------------------------------------------- */

static ssize_t make(const struct os_file_call *call)
{
	switch (call->kind) {
	case OS_FILE_READ:
		return read_parts(call);
	case OS_FILE_WRITE:
		return write_parts(call);
	case OS_FILE_OPEN:
		return open_path(call);
	case OS_FILE_OPEN_BENEATH:
		return open_beneath(call);
	case OS_FILE_SYNC:
	case OS_FILE_DATASYNC:
		return sync_file(call);
	case OS_FILE_TRUNCATE:
		return truncate_file(call);
	case OS_FILE_STAT:
		return stat_path(call);
	case OS_FILE_UNLINK:
		return unlink_path(call);
	case OS_FILE_RENAME:
		return rename_path(call);
	case OS_FILE_SENDFILE:
		return send_file(call);
	default:
		return splice_bytes(call);
	}
}

/* The peer may be gone: there is no flag against SIGPIPE here. */
static ssize_t make_quietly(const struct os_file_call *call)
{
	sigset_t before;
	ssize_t result;

	os_sigpipe_block(&before);
	result = RETRY(ssize_t, make(call));
	os_sigpipe_restore(&before, result);
	return result;
}

ssize_t os_file_call(const struct os_file_call *call)
{
	if (call->kind == OS_FILE_SENDFILE || call->kind == OS_FILE_SPLICE)
		return make_quietly(call);
	/* A signal does not keep a descriptor from being closed. */
	if (call->kind == OS_FILE_CLOSE)
		return os_close_checked(call->fd);
	return RETRY(ssize_t, make(call));
}
