/* SPDX-License-Identifier: MIT */
/*
 * file.h - regular files, directories and block devices: their calls never wait for
 * readiness, but the kernel may hold the thread until a disk has answered.
 */
#ifndef SLEY_IO_FILE_H
#define SLEY_IO_FILE_H

#include "io/call.h"

#define FILE_POSITION (-1) /* the position of the open file, which moves on */

/*
 * By a user of the descriptor: ->fd and ->deadline_ns of @call say where, and until
 * when.  At @offset, or FILE_POSITION: the number of bytes, or -errno.
 */
must_check ssize_t file_readv(const struct io_call *call,
			      const struct iovec *part, int nr, int64_t offset);
must_check ssize_t file_writev(const struct io_call *call,
			       const struct iovec *part, int nr,
			       int64_t offset);

#endif
