/* SPDX-License-Identifier: MIT */
/*
 * shared_memory.c - memfd_create(2) with its seals.
 */
#include "os/shared_memory.h"

#include "os/fault.h"
#include "os/map.h"
#include "os/retry.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u /* Linux 6.3 */
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 16 /* Linux 5.1 */
#endif

#define SIZE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW)
#define PAGE_SEALS (SIZE_SEALS | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)

/* Not to be executed, where the kernel can promise that. */
static int create(const char *name)
{
	unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd;

	if (fault_errno("memfd_create", EMFILE, ENOMEM))
		return -errno;
	fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, flags);
	return fd < 0 ? -errno : fd;
}

static int set_size(int fd, size_t size)
{
	if (fault_errno("ftruncate", ENOSPC, ENOMEM) ||
	    ftruncate(fd, (off_t)size))
		return -errno;
	return 0;
}

static int seal(int fd, int seals)
{
	if (fault_errno("fcntl", EPERM) ||
	    fcntl(fd, F_ADD_SEALS, seals | F_SEAL_SEAL))
		return -errno;
	return 0;
}

int os_shared_memory_create(const char *name, size_t size)
{
	int saved_errno = errno, fd = create(name);
	int err = fd < 0 ? fd : set_size(fd, size);

	if (!err)
		err = seal(fd, SIZE_SEALS);
	if (err && fd >= 0)
		os_close(fd);
	errno = saved_errno;
	return err ? err : fd;
}

/* A mapping that is there when the seal comes stays writable. */
static int map_and_seal(int fd, size_t size, void **memory)
{
	int err = set_size(fd, size);

	if (err)
		return err;
	*memory = os_shared_memory_map(fd, size);
	if (!*memory)
		return -ENOMEM;
	err = seal(fd, SIZE_SEALS | F_SEAL_FUTURE_WRITE);
	if (err)
		os_unmap(*memory, size);
	return err;
}

int os_shared_page_create(const char *name, size_t size, void **memory)
{
	int saved_errno = errno, fd = create(name);
	int err = fd < 0 ? fd : map_and_seal(fd, size, memory);

	if (err && fd >= 0)
		os_close(fd);
	errno = saved_errno;
	return err ? err : fd;
}

int os_shared_page_check(int fd, size_t size)
{
	int saved_errno = errno, seals, err = 0;
	struct stat status;

	/* fault: neither call needs resources. */
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || (seals & PAGE_SEALS) != PAGE_SEALS)
		err = -EPERM;
	else if (fstat(fd, &status) || status.st_size != (off_t)size)
		err = -EINVAL;
	errno = saved_errno;
	return err;
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

static void *map(int fd, size_t size, int rights)
{
	int saved_errno = errno;
	/* fault: in shared_memory.h, for each caller. */
	void *memory = mmap(NULL, size, rights, MAP_SHARED, fd, 0);

	errno = saved_errno;
	if (memory == MAP_FAILED)
		return NULL;
	fault_count_mapped((ptrdiff_t)size);
	return memory;
}

void *(os_shared_memory_map)(int fd, size_t size)
{
	return map(fd, size, PROT_READ | PROT_WRITE);
}

const void *(os_shared_memory_map_to_read)(int fd, size_t size)
{
	return map(fd, size, PROT_READ);
}

/* A whole register: of an int on the stack, syscall() would read what lies behind it, too. */
#define BEGIN_OF_FILE 0l

/*
 * By the system call itself: other threads read the place meanwhile, and the thread
 * sanitizer takes mmap(2) of the C library for a write to all of the place.
 */
static int map_over(void *at, size_t size, int rights, int flags, int fd)
{
	int saved_errno = errno, err = 0;

	/* fault: of a page that comes; where one goes, nobody is told if it stays. */
	if (syscall(SYS_mmap, at, size, rights, flags | MAP_FIXED, fd,
		    BEGIN_OF_FILE) == -1)
		err = -ENOMEM;
	errno = saved_errno;
	return err;
}

int os_shared_memory_map_over(int fd, size_t size, void *at)
{
	return -fault_error("mmap", ENOMEM)
		       ?: map_over(at, size, PROT_READ, MAP_SHARED, fd);
}

int os_shared_memory_blank_over(void *at, size_t size)
{
	/* The kernel refuses to wait for a word that can never change. */
	return map_over(at, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

uint64_t os_shared_memory_max(uint64_t size)
{
	struct rlimit limit;

	/* fault: fails only for wrong arguments. */
	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur > size)
		return size;
	return limit.rlim_cur;
}

/* The kernel moves 2 GiB at a time. */
int os_shared_memory_write(int fd, const void *data, size_t size,
			   uint64_t offset)
{
	const char *from = data;

	while (size) {
		ssize_t nr =
			RETRY(ssize_t,
			      fault_errno("pwrite", ENOSPC, ENOMEM)
				      ? -1
				      : pwrite(fd, from, size, (off_t)offset));

		if (nr < 0)
			return (int)nr;
		from += nr;
		size -= (size_t)nr;
		offset += (uint64_t)nr;
	}
	return 0;
}

int os_shared_memory_read(int fd, void *data, size_t size, uint64_t offset)
{
	char *to = data;

	while (size) {
		ssize_t nr = RETRY(ssize_t, fault_errno("pread", EIO, ENOMEM)
						    ? -1
						    : pread(fd, to, size,
							    (off_t)offset));

		if (nr <= 0)
			return nr ? (int)nr : -EIO;
		to += nr;
		size -= (size_t)nr;
		offset += (uint64_t)nr;
	}
	return 0;
}

void os_shared_memory_discard(int fd, uint64_t offset, uint64_t size)
{
	int saved_errno = errno;

	/* fault: a hint, nobody looks at the result. */
	(void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			(off_t)offset, (off_t)size);
	errno = saved_errno;
}

void os_close(int fd)
{
	int saved_errno = errno;

	/* An error is about written data, and there is none. */
	if (fd >= 0)
		(void)close(fd);
	errno = saved_errno;
}
