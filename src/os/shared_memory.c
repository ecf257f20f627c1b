/* SPDX-License-Identifier: MIT */
/*
 * shared_memory.c - memfd_create(2) with its seals.
 */
#include "os/shared_memory.h"

#include "os/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static int set_size(int fd, size_t size)
{
	if (fault_errno("ftruncate", ENOSPC, ENOMEM) ||
	    ftruncate(fd, (off_t)size))
		return -errno;
	if (fault_errno("fcntl", EPERM) || fcntl(fd, F_ADD_SEALS, SIZE_SEALS))
		return -errno;
	return 0;
}

int os_shared_memory_create(const char *name, size_t size)
{
	int saved_errno = errno, fd, err;

	fd = fault_errno("memfd_create", EMFILE, ENOMEM)
		     ? -1
		     : memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	err = fd < 0 ? -errno : set_size(fd, size);
	if (err && fd >= 0)
		os_close(fd);
	errno = saved_errno;
	return err ? err : fd;
}

int64_t os_shared_memory_size(int fd)
{
	int saved_errno = errno, seals;
	struct stat status;
	int64_t size;

	/* fault: neither call needs resources. */
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		size = -EPERM; /* no memfd, or one without the seal */
	else if (fstat(fd, &status))
		size = -errno;
	else
		size = status.st_size;
	errno = saved_errno;
	return size;
}

void *(os_shared_memory_map)(int fd, size_t size)
{
	int saved_errno = errno;
	/* fault: in shared_memory.h, for each caller. */
	void *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	errno = saved_errno;
	if (memory == MAP_FAILED)
		return NULL;
	fault_count_mapped((ptrdiff_t)size);
	return memory;
}

void os_close(int fd)
{
	int saved_errno = errno;

	/* An error is about written data, and there is none. */
	if (fd >= 0)
		(void)close(fd);
	errno = saved_errno;
}
