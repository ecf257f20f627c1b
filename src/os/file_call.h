/* SPDX-License-Identifier: MIT */
/*
 * file_call.h - system calls on files, each written down before it is made.
 *
 * The kernel may hold the thread that makes such a call until a disk, or a server, has
 * answered.  So a call is a description first.  The thread that carries it out may be
 * another thread (os_file_call()), or a thread of the kernel (os/uring_file.h).
 *
 * A read or write of the page cache alone need not be held up: os_try_preadv() and
 * os_try_pwritev() return -EAGAIN where a disk would have to answer.
 *
 * Each call returns what the kernel returned, or -errno.  Signals do not end a call: it
 * is made again.  No call changes errno.
 */
#ifndef SLEY_OS_FILE_CALL_H
#define SLEY_OS_FILE_CALL_H

#include "base/compiler.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct statx;

enum os_file_kind {
	OS_FILE_READ,  /* .fd .part .nr .offset                           */
	OS_FILE_WRITE, /* .fd .part .nr .offset                           */
	OS_FILE_OPEN,  /* .fd .path .flags .mode                          */
	OS_FILE_OPEN_BENEATH, /* .fd .path .how                              */
	OS_FILE_CLOSE,    /* .fd                                             */
	OS_FILE_SYNC,     /* .fd                                             */
	OS_FILE_DATASYNC, /* .fd                                             */
	OS_FILE_TRUNCATE, /* .fd .offset: the new size                       */
	OS_FILE_STAT,     /* .fd .path .flags .mode (the mask) .stat         */
	OS_FILE_UNLINK,   /* .fd .path .flags                                */
	OS_FILE_RENAME,   /* .fd .path .to_fd .to_path .flags                */
	OS_FILE_SENDFILE, /* .fd .fd_offset .to_fd .size                     */
	OS_FILE_SPLICE,   /* .fd .fd_offset .to_fd .to_offset .size .flags   */
	NR_OS_FILE_KINDS,
};

/* How openat2(2) opens a file: struct open_how of <linux/openat2.h>. */
struct os_open_how {
	uint64_t flags;
	uint64_t mode;
	uint64_t resolve;
};

#define OS_FILE_POSITION                                                       \
	(-1) /* the position of the open file, which moves on */

struct os_file_call {
	enum os_file_kind kind;
	int fd; /* the file; or the directory that .path begins in */
	int to_fd;
	int flags;
	uint32_t mode;
	int nr; /* of parts */
	const struct iovec *part;
	int64_t offset; /* or OS_FILE_POSITION */
	const char *path;
	const char *to_path;
	const struct os_open_how *how;
	struct statx *stat;
	size_t size;
	int64_t *fd_offset; /* NULL: the position */
	int64_t *to_offset;
};

/*
 * For .how: the path, and all symbolic links in it, stay beneath the folder that it
 * begins in.  Linux 5.6.
 */
must_check struct os_open_how os_open_beneath(int flags, uint32_t mode);

/* Makes the call, on this thread. */
must_check ssize_t os_file_call(const struct os_file_call *call);

/*
 * At @offset, or OS_FILE_POSITION.  -EAGAIN: nothing could be done at once;
 * -EOPNOTSUPP: the file system cannot tell.  The result may be less than all.
 */
must_check ssize_t os_try_preadv(int fd, const struct iovec *part, int nr,
				 int64_t offset);
must_check ssize_t os_try_pwritev(int fd, const struct iovec *part, int nr,
				  int64_t offset);

#endif
