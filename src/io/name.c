/* SPDX-License-Identifier: MIT */
/*
 * name.c - <sley/io_file.h>: calls on the name of a file, or on the file as a whole.
 */
#include <sley/io_file.h>

#include "io/call.h"
#include "io/file.h"

#include <fcntl.h>

_Static_assert(SLEY_IO_CWD == AT_FDCWD, "as the kernel calls it");

/*
 * A path with ".." in it cannot be followed while folders are moved.  A file that another
 * process has leased gives the same error, so there is an end to it.
 */
#define BENEATH_TRIES 64

/* ---- users of descriptors -------------------------------------------------------------- */

/* AT_FDCWD is no descriptor: *@out is NULL. */
static int enter(int fd, struct io_descriptor **out)
{
	*out = NULL;
	return fd == AT_FDCWD ? 0 : descriptor_enter(fd, out);
}

static void leave(struct io_descriptor *descriptor)
{
	if (descriptor)
		descriptor_leave(descriptor);
}

/* @file uses its descriptor, which is not closed meanwhile. */
static int run(const struct os_file_call *file, uint64_t deadline_ns)
{
	struct io_descriptor *descriptor;
	int result = enter(file->fd, &descriptor);

	if (result)
		return result;
	result = (int)file_run(file, deadline_ns);
	leave(descriptor);
	return result;
}

/* ---- names ------------------------------------------------------------------------------- */

/* @fd was opened with @flags: itself, or -errno, and it is closed. */
static int opened(int fd, int flags, const char *call)
{
	int err = descriptor_is_new(fd, call);

	if (err) {
		(void)!file_close(fd, 0);
		return err;
	}
	if ((flags & O_ACCMODE) == O_RDONLY)
		descriptor_note_reading(fd);
	return fd;
}

int sley_io_openat_until(int dir, const char *path, int flags, mode_t mode,
			 uint64_t deadline_ns)
{
	const struct os_file_call file = { .kind = OS_FILE_OPEN,
					   .fd = dir,
					   .path = path,
					   .flags = flags | O_CLOEXEC,
					   .mode = mode };
	int fd = run(&file, deadline_ns);

	return fd < 0 ? fd : opened(fd, flags, "sley_io_openat");
}

int sley_io_open_beneath_until(int dir, const char *path, int flags,
			       mode_t mode, uint64_t deadline_ns)
{
	const struct os_open_how how = os_open_beneath(flags | O_CLOEXEC, mode);
	const struct os_file_call file = { .kind = OS_FILE_OPEN_BENEATH,
					   .fd = dir,
					   .path = path,
					   .how = &how };
	int fd = -EAGAIN;

	/* A folder was moved meanwhile: look again. */
	for (int i = 0; fd == -EAGAIN && i < BENEATH_TRIES; i++)
		fd = run(&file, deadline_ns);
	return fd < 0 ? fd : opened(fd, flags, "sley_io_open_beneath");
}

int sley_io_unlinkat_until(int dir, const char *path, int flags,
			   uint64_t deadline_ns)
{
	const struct os_file_call file = {
		.kind = OS_FILE_UNLINK, .fd = dir, .path = path, .flags = flags
	};

	return run(&file, deadline_ns);
}

int sley_io_renameat_until(int dir, const char *path, int to_dir,
			   const char *to_path, unsigned int flags,
			   uint64_t deadline_ns)
{
	const struct os_file_call file = { .kind = OS_FILE_RENAME,
					   .fd = dir,
					   .path = path,
					   .to_fd = to_dir,
					   .to_path = to_path,
					   .flags = (int)flags };
	struct io_descriptor *descriptor;
	int result = enter(to_dir, &descriptor);

	if (result)
		return result;
	result = run(&file, deadline_ns);
	leave(descriptor);
	return result;
}

int sley_io_statx_until(int dir, const char *path, int flags, unsigned int mask,
			struct statx *out, uint64_t deadline_ns)
{
	const struct os_file_call file = { .kind = OS_FILE_STAT,
					   .fd = dir,
					   .path = path,
					   .flags = flags,
					   .mode = mask,
					   .stat = out };

	return run(&file, deadline_ns);
}

/* ---- the file as a whole -------------------------------------------------------------------- */

int sley_io_fsync_until(int fd, uint64_t deadline_ns)
{
	const struct os_file_call file = { .kind = OS_FILE_SYNC, .fd = fd };

	return run(&file, deadline_ns);
}

int sley_io_fdatasync_until(int fd, uint64_t deadline_ns)
{
	const struct os_file_call file = { .kind = OS_FILE_DATASYNC, .fd = fd };

	return run(&file, deadline_ns);
}

int sley_io_ftruncate_until(int fd, off_t size, uint64_t deadline_ns)
{
	const struct os_file_call file = { .kind = OS_FILE_TRUNCATE,
					   .fd = fd,
					   .offset = size };

	return run(&file, deadline_ns);
}
