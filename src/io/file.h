/* SPDX-License-Identifier: MIT */
/*
 * file.h - regular files, directories and block devices: their calls never wait for
 * readiness, but the kernel may hold the thread until a disk has answered.
 *
 * Try first.  A read is tried in place, with a flag that lets the kernel refuse where
 * a disk would have to answer: a read of the page cache costs one system call.  A
 * write is tried, too, where the file system can tell; that it cannot is noted in the
 * traits of the descriptor.  Nothing is tried past the page cache (O_DIRECT): there the
 * flag keeps the kernel from waiting for room in a queue, but not for the disk.
 *
 * A refused call is carried out elsewhere, while the task waits: in the ring of the
 * runtime (io/ring.h), or by a thread of the pool of blocking calls
 * (core/wait/blocking.h) if there is no ring, or the ring does not take the call.  If
 * there is no thread either, the call is made in place, and holds the worker: a call
 * that is made late is better than a call that fails.  A plain thread makes each call
 * in place, and tries nothing.
 *
 * A thread that has begun a call cannot take it back.  So there a deadline or a cancel
 * ends a call only before it begins.
 *
 * Rejected: mincore(2) in place of a try (a second system call, and the answer is old
 * by then); a try for writes in append mode (a try may end halfway, and then an append
 * of another task could come in between).
 */
#ifndef SLEY_IO_FILE_CALL_H
#define SLEY_IO_FILE_CALL_H

#include "io/call.h"
#include "os/file_call.h"

/*
 * Carries out @file, elsewhere if the caller is a task: its result; or -ETIMEDOUT,
 * -ECANCELED: it was not begun.
 */
must_check ssize_t file_run(const struct os_file_call *file,
			    uint64_t deadline_ns);

/*
 * By a call on a file: ->fd, ->size and ->deadline_ns say where, how much and until
 * when.  At @offset, or OS_FILE_POSITION: the number of bytes, or -errno; bytes before
 * an error are in ->done.
 */
must_check ssize_t file_readv(struct io_call *call, const struct iovec *part,
			      int nr, int64_t offset);
must_check ssize_t file_writev(struct io_call *call, const struct iovec *part,
			       int nr, int64_t offset);

/*
 * Are @size bytes from @offset on in the page cache, as far as the first and the last
 * byte tell?  Bytes behind the end of the file count as there.
 */
must_check bool file_is_cached(int fd, int64_t offset, size_t size);

/*
 * Closes @fd, whose traits are @traits, as far as they are known: 0 or -errno.  The
 * close of a file that was written may have to wait for a server, or for a disk.
 */
must_check int file_close(int fd, uint32_t traits);

/*
 * Closes @fd, a socket whose close waits for its peer, while the task waits: 0 or
 * -errno.  Not in the ring, which would close the socket in the submitting thread.
 */
must_check int file_close_slowly(int fd);

#endif
