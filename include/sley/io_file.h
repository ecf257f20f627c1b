/* SPDX-License-Identifier: MIT */
/*
 * sley/io_file.h - files: only the fiber waits for the disk.
 *
 * <sley/io.h> includes this header.  Its rules hold here, too: each call does what the
 * system call of the same name does, returns a negative error value instead of
 * setting errno, and has a variant with a deadline.
 *
 *     int fd = sley_io_open("notes", O_RDONLY, 0);
 *
 *     if (fd >= 0) {
 *             ssize_t n = sley_io_pread(fd, buffer, sizeof(buffer), 0);
 *             ...
 *             sley_io_close(fd);
 *     }
 *
 * A read of a file that is in the page cache is made in place, and costs what
 * pread(2) costs.  Where a disk has to answer, the task waits, and its worker goes on
 * with other tasks: the kernel carries the call out in a ring of io_uring, or a
 * thread of <sley/blocking.h> does.  If there is neither a ring nor a thread, the call
 * holds the worker.  A plain thread makes the system call itself.
 *
 * The kernel cannot always take back a call that it has begun.  So a deadline or
 * a cancel ends a call only if the kernel has not begun it, or takes it back;
 * otherwise the call goes on until it is complete, and returns its result.  In every
 * case no memory of the caller is touched after the return.  A call that returns
 * -ETIMEDOUT or -ECANCELED has done nothing, if its own comment says no more.
 *
 * Many calls may be under way in one runtime.  Calls beyond what the kernel's ring
 * holds wait for room, and none is lost.
 *
 * Two tasks that share the position of an open file (sley_io_read() and
 * sley_io_write() use the position) may hold each other's worker while the disk
 * answers, as the kernel lets one of them wait for the other.  sley_io_pread() and
 * sley_io_pwrite() do not use the position.
 */
#ifndef SLEY_IO_FILE_H
#define SLEY_IO_FILE_H

#include <sley/compiler.h>
#include <sley/time.h>

#include <sys/types.h>

SLEY_BEGIN_DECLS

struct iovec; /* of <sys/uio.h> */

struct statx;

/* The directory that a relative path begins in: AT_FDCWD of <fcntl.h>. */
#define SLEY_IO_CWD (-100)

/* ---- bytes at an offset ------------------------------------------------- */

/*
 * sley_io_pread_until - sley_io_pread() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data is borrowed for the call.
 * Errors:   -ETIMEDOUT  @deadline_ns came before the kernel began, or the kernel took
 *                       the call back
 *           and as sley_io_pread()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_io_pread_until(int fd, void *data, size_t size, off_t offset,
		    uint64_t deadline_ns);

/*
 * sley_io_pread - read up to @size bytes at @offset.
 *
 * Returns the number of bytes; less than @size at the end of the file only, or after
 * an error or an early end that came when some bytes had been read; 0 at the end.
 * The position of the open file stays where it is.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data is borrowed for the call.
 * Errors:   -ECANCELED  the task was cancelled; nothing is read
 *           -EBADF      @fd is not open, or is closed by sley_io_close()
 *           -EINVAL     @offset is negative
 *           and as pread(2): -EISDIR, -ESPIPE, -EIO, ...
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_io_pread(int fd, void *data, size_t size, off_t offset)
{
	return sley_io_pread_until(fd, data, size, offset, SLEY_FOREVER);
}

/*
 * sley_io_pwrite_until - sley_io_pwrite() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data is borrowed for the call.
 * Errors:   -ETIMEDOUT  @deadline_ns came before the kernel began, or the kernel took
 *                       the call back
 *           and as sley_io_pwrite()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_io_pwrite_until(int fd, const void *data, size_t size, off_t offset,
		     uint64_t deadline_ns);

/*
 * sley_io_pwrite - write @size bytes at @offset, all of them.
 *
 * Returns @size; or less, if an error or an early end came after some bytes.  With
 * O_APPEND the bytes go to the end of the file, whatever @offset is.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data is borrowed for the call.
 * Errors:   as sley_io_pread(); and as pwrite(2): -ENOSPC, -EFBIG, ...
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_io_pwrite(int fd, const void *data, size_t size, off_t offset)
{
	return sley_io_pwrite_until(fd, data, size, offset, SLEY_FOREVER);
}

/*
 * sley_io_preadv_until - sley_io_preadv() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @parts and the memory they name are borrowed for the call.
 * Errors:   -ETIMEDOUT  @deadline_ns came before the kernel began, or the kernel took
 *                       the call back
 *           and as sley_io_preadv()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_io_preadv_until(int fd, const struct iovec *parts, int nr, off_t offset,
		     uint64_t deadline_ns);

/*
 * sley_io_preadv - sley_io_pread() into @nr parts of memory, one after the other.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @parts and the memory they name are borrowed for the call.
 * Errors:   as sley_io_pread(); -EINVAL: also @nr is negative, or above IOV_MAX
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_io_preadv(int fd, const struct iovec *parts, int nr, off_t offset)
{
	return sley_io_preadv_until(fd, parts, nr, offset, SLEY_FOREVER);
}

/*
 * sley_io_pwritev_until - sley_io_pwritev() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @parts and the memory they name are borrowed for the call.
 * Errors:   -ETIMEDOUT  @deadline_ns came before the kernel began, or the kernel took
 *                       the call back
 *           and as sley_io_pwritev()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_io_pwritev_until(int fd, const struct iovec *parts, int nr, off_t offset,
		      uint64_t deadline_ns);

/*
 * sley_io_pwritev - sley_io_pwrite() of @nr parts of memory, one after the other.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @parts and the memory they name are borrowed for the call.
 * Errors:   as sley_io_pwrite(); -EINVAL: also @nr is negative, or above IOV_MAX
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_io_pwritev(int fd, const struct iovec *parts, int nr, off_t offset)
{
	return sley_io_pwritev_until(fd, parts, nr, offset, SLEY_FOREVER);
}

/* ---- names -------------------------------------------------------------- */

/*
 * sley_io_openat_until - sley_io_openat() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    the caller owns the new descriptor; @path is borrowed for the call.
 * Errors:   -ETIMEDOUT  @deadline_ns came before the kernel began, or the kernel took
 *                       the call back
 *           and as sley_io_openat()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_io_openat_until(int dir, const char *path, int flags, mode_t mode,
		     uint64_t deadline_ns);

/*
 * sley_io_openat - open or create a file, as openat(2).
 *
 * Returns a descriptor, which is closed by exec: O_CLOEXEC is implied.  A call that
 * is cancelled while the kernel opens the file returns the descriptor, if it was
 * opened.  To open a FIFO waits for the other side; add O_NONBLOCK to @flags if such a
 * wait must end at a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    the caller owns the new descriptor; @path is borrowed for the call.
 * Errors:   as sley_io_pread(); -EMFILE, -ENFILE and as openat(2): -ENOENT,
 *           -EACCES, -EEXIST, ...
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_io_openat(int dir, const char *path, int flags, mode_t mode)
{
	return sley_io_openat_until(dir, path, flags, mode, SLEY_FOREVER);
}

/*
 * sley_io_open_until - sley_io_open() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    the caller owns the new descriptor; @path is borrowed for the call.
 * Errors:   as sley_io_openat_until()
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_io_open_until(const char *path, int flags, mode_t mode,
		   uint64_t deadline_ns)
{
	return sley_io_openat_until(SLEY_IO_CWD, path, flags, mode,
				    deadline_ns);
}

/*
 * sley_io_open - sley_io_openat() from the working directory.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    the caller owns the new descriptor; @path is borrowed for the call.
 * Errors:   as sley_io_openat()
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_io_open(const char *path, int flags, mode_t mode)
{
	return sley_io_openat(SLEY_IO_CWD, path, flags, mode);
}

/*
 * sley_io_open_beneath_until - sley_io_open_beneath() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    the caller owns the new descriptor; @path is borrowed for the call.
 * Errors:   -ETIMEDOUT  @deadline_ns came before the kernel began, or the kernel took
 *                       the call back
 *           and as sley_io_open_beneath()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_io_open_beneath_until(int dir, const char *path, int flags, mode_t mode,
			   uint64_t deadline_ns);

/*
 * sley_io_open_beneath - sley_io_openat() of a path that does not leave @dir.
 *
 * As openat2(2) with RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS: an absolute path, "..",
 * or a symbolic link that leads out of the directory @dir is refused by the kernel, also
 * if others move and link files meanwhile.  For paths that strangers name.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    the caller owns the new descriptor; @path is borrowed for the call.
 * Errors:   -EXDEV   @path leads out of @dir
 *           -ENOSYS  the kernel is older than Linux 5.6
 *           -EAGAIN  folders are moved all the time
 *           and as sley_io_openat(), and openat2(2)
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_io_open_beneath(int dir, const char *path, int flags, mode_t mode)
{
	return sley_io_open_beneath_until(dir, path, flags, mode, SLEY_FOREVER);
}

/*
 * sley_io_unlinkat_until - sley_io_unlinkat() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @path is borrowed for the call.
 * Errors:   -ETIMEDOUT  @deadline_ns came before the kernel began, or the kernel took
 *                       the call back
 *           and as sley_io_unlinkat()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_io_unlinkat_until(int dir, const char *path, int flags,
		       uint64_t deadline_ns);

/*
 * sley_io_unlinkat - remove a name, as unlinkat(2).
 *
 * With AT_REMOVEDIR in @flags the name of an empty directory.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @path is borrowed for the call.
 * Errors:   as sley_io_pread(); and as unlinkat(2): -ENOENT, -EISDIR, ...
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_io_unlinkat(int dir, const char *path, int flags)
{
	return sley_io_unlinkat_until(dir, path, flags, SLEY_FOREVER);
}

/*
 * sley_io_unlink_until - sley_io_unlink() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @path is borrowed for the call.
 * Errors:   as sley_io_unlinkat_until()
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_io_unlink_until(const char *path, uint64_t deadline_ns)
{
	return sley_io_unlinkat_until(SLEY_IO_CWD, path, 0, deadline_ns);
}

/*
 * sley_io_unlink - remove a name, as unlink(2).
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @path is borrowed for the call.
 * Errors:   as sley_io_unlinkat()
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_io_unlink(const char *path)
{
	return sley_io_unlinkat(SLEY_IO_CWD, path, 0);
}

/*
 * sley_io_renameat_until - sley_io_renameat() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @path and @to_path are borrowed for the call.
 * Errors:   -ETIMEDOUT  @deadline_ns came before the kernel began, or the kernel took
 *                       the call back
 *           and as sley_io_renameat()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_io_renameat_until(int dir, const char *path, int to_dir,
		       const char *to_path, unsigned int flags,
		       uint64_t deadline_ns);

/*
 * sley_io_renameat - give a file another name, as renameat2(2).
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @path and @to_path are borrowed for the call.
 * Errors:   as sley_io_pread(); and as renameat2(2): -ENOENT, -EEXIST, ...
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_io_renameat(int dir, const char *path, int to_dir, const char *to_path,
		 unsigned int flags)
{
	return sley_io_renameat_until(dir, path, to_dir, to_path, flags,
				      SLEY_FOREVER);
}

/*
 * sley_io_rename_until - sley_io_rename() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @path and @to_path are borrowed for the call.
 * Errors:   as sley_io_renameat_until()
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_io_rename_until(const char *path, const char *to_path,
		     uint64_t deadline_ns)
{
	return sley_io_renameat_until(SLEY_IO_CWD, path, SLEY_IO_CWD, to_path,
				      0, deadline_ns);
}

/*
 * sley_io_rename - give a file another name, as rename(2).
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @path and @to_path are borrowed for the call.
 * Errors:   as sley_io_renameat()
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_io_rename(const char *path, const char *to_path)
{
	return sley_io_renameat(SLEY_IO_CWD, path, SLEY_IO_CWD, to_path, 0);
}

/*
 * sley_io_statx_until - sley_io_statx() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @path and *@out are borrowed for the call.
 * Errors:   -ETIMEDOUT  @deadline_ns came before the kernel began, or the kernel took
 *                       the call back
 *           and as sley_io_statx()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_io_statx_until(int dir, const char *path, int flags, unsigned int mask,
		    struct statx *out, uint64_t deadline_ns);

/*
 * sley_io_statx - the size, the times and more of a file, as statx(2).
 *
 * With AT_EMPTY_PATH in @flags and "" as @path, of the descriptor @dir itself.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @path and *@out are borrowed for the call.
 * Errors:   as sley_io_pread(); and as statx(2): -ENOENT, -EACCES, ...
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_io_statx(int dir, const char *path, int flags, unsigned int mask,
	      struct statx *out)
{
	return sley_io_statx_until(dir, path, flags, mask, out, SLEY_FOREVER);
}

/* ---- the file itself ---------------------------------------------------- */

/*
 * sley_io_fsync_until - sley_io_fsync() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT  @deadline_ns came before the kernel began, or the kernel took
 *                       the call back
 *           and as sley_io_fsync()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_io_fsync_until(int fd, uint64_t deadline_ns);

/*
 * sley_io_fsync - wait until everything written to @fd is on the disk.
 *
 * A call that ends early leaves open how much is on the disk.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   as sley_io_pread(); and as fsync(2): -EIO, -ENOSPC, -EINVAL, ...
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_io_fsync(int fd)
{
	return sley_io_fsync_until(fd, SLEY_FOREVER);
}

/*
 * sley_io_fdatasync_until - sley_io_fdatasync() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT  @deadline_ns came before the kernel began, or the kernel took
 *                       the call back
 *           and as sley_io_fdatasync()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_io_fdatasync_until(int fd, uint64_t deadline_ns);

/*
 * sley_io_fdatasync - sley_io_fsync(), but for times and the like.
 *
 * A call that ends early leaves open how much is on the disk.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   as sley_io_fsync()
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_io_fdatasync(int fd)
{
	return sley_io_fdatasync_until(fd, SLEY_FOREVER);
}

/*
 * sley_io_ftruncate_until - sley_io_ftruncate() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT  @deadline_ns came before the kernel began, or the kernel took
 *                       the call back
 *           and as sley_io_ftruncate()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_io_ftruncate_until(int fd, off_t size, uint64_t deadline_ns);

/*
 * sley_io_ftruncate - make a file @size bytes long.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   as sley_io_pread(); and as ftruncate(2): -EINVAL, -EFBIG, ...
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_io_ftruncate(int fd, off_t size)
{
	return sley_io_ftruncate_until(fd, size, SLEY_FOREVER);
}

/* ---- from one descriptor to another ------------------------------------- */

/*
 * sley_io_sendfile_until - sley_io_sendfile() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    *@offset is borrowed for the call.
 * Errors:   -ETIMEDOUT  @deadline_ns came before the kernel began, or the kernel took
 *                       the call back
 *           and as sley_io_sendfile()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_io_sendfile_until(int to, int from, off_t *offset, size_t size,
		       uint64_t deadline_ns);

/*
 * sley_io_sendfile - send @size bytes of the file @from to a socket or pipe.
 *
 * The bytes do not pass through memory of the program.  *@offset says where to begin,
 * and moves on; NULL: the position of the open file does.  Waits for room in @to as
 * often as necessary, and for the disk.  Returns the number of bytes that were sent:
 * @size, or less at the end of the file, or after an error or an early end.  A socket or
 * pipe @to becomes non-blocking.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    *@offset is borrowed for the call.
 * Errors:   -ETIMEDOUT, -ECANCELED  nothing is sent
 *           as sley_io_write(); and as sendfile(2): -EINVAL, ...
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_io_sendfile(int to, int from, off_t *offset, size_t size)
{
	return sley_io_sendfile_until(to, from, offset, size, SLEY_FOREVER);
}

/*
 * sley_io_splice_until - sley_io_splice() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    *@from_offset and *@to_offset are borrowed for the call.
 * Errors:   -ETIMEDOUT  @deadline_ns came before the kernel began, or the kernel took
 *                       the call back
 *           and as sley_io_splice()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_io_splice_until(int from, off_t *from_offset, int to, off_t *to_offset,
		     size_t size, uint64_t deadline_ns);

/*
 * sley_io_splice - move up to @size bytes from or to a pipe.
 *
 * As splice(2): one of the two is a pipe.  Waits until @from has something and @to has
 * room, and returns the number of bytes that were moved; 0 at the end of @from.
 * A socket becomes non-blocking.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    *@from_offset and *@to_offset are borrowed for the call.
 * Errors:   -ETIMEDOUT, -ECANCELED  nothing is moved
 *           as sley_io_write(); and as splice(2): -EINVAL, ...
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_io_splice(int from, off_t *from_offset, int to, off_t *to_offset,
	       size_t size)
{
	return sley_io_splice_until(from, from_offset, to, to_offset, size,
				    SLEY_FOREVER);
}

SLEY_END_DECLS
#endif
