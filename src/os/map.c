/* SPDX-License-Identifier: MIT */
/*
 * map.c - address space from the kernel, and guards in it.
 */
#include "os/map.h"

#include "base/assert.h"
#include "base/atomic.h"
#include "os/fault.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Newer than the C library's headers. */
#define OS_MADV_GUARD_INSTALL 102
#define OS_MADV_NONSENSE 0x5ee1
#define OS_PIDFD_SELF (-10001) /* this process; Linux 6.14 */

#define GUARDS_PER_CALL 64

size_t os_page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE); /* fault: none, it is known */
}

bool os_peek(void *out, const void *address, size_t size)
{
	struct iovec to = { out, size };
	struct iovec from = { (void *)(uintptr_t)address, size };
	int saved_errno = errno;
	/* fault: a kernel that refuses is taken for a no */
	ssize_t done = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	errno = saved_errno;
	return done == (ssize_t)size;
}

static void *map_as(size_t size, int protection)
{
	int saved_errno = errno;
	/* fault: in map.h, for each caller. */
	void *memory = mmap(NULL, size, protection,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory != MAP_FAILED) {
		fault_count_mapped((ptrdiff_t)size);
		return memory;
	}
	errno = saved_errno;
	return NULL;
}

void *(os_map)(size_t size)
{
	return map_as(size, PROT_READ | PROT_WRITE);
}

void *(os_reserve)(size_t size)
{
	return map_as(size, PROT_NONE);
}

int os_commit(void *memory, size_t size)
{
	int saved_errno = errno;

	if (!fault_errno("mprotect", ENOMEM) &&
	    !mprotect(memory, size, PROT_READ | PROT_WRITE))
		return 0;
	errno = saved_errno;
	return -ENOMEM;
}

/*
 * The kernel may have merged the range with its neighbours.  To cut the range out
 * then takes a mapping more, which the kernel may refuse (ENOMEM) at
 * vm.max_map_count.
 */
void os_unmap(void *memory, size_t size)
{
	int saved_errno = errno;

	fault_count_mapped(-(ptrdiff_t)size);
	if (likely(!fault_errno("munmap", ENOMEM) && !munmap(memory, size)))
		return;
	/*
	 * The kernel has made one mapping of the range and its neighbours, and
	 * allows no second mapping: vm.max_map_count.  At least the pages go back.
	 */
	if (errno != ENOMEM)
		sley_fatal("munmap of %zu bytes at %p failed: error %d", size,
			   memory, errno);
	errno = saved_errno;
	os_discard(memory, size);
}

void os_no_huge_pages(void *memory, size_t size)
{
	/* Fails only where the kernel has no huge pages at all. */
	(void)(fault_errno("madvise", EINVAL) ||
	       madvise(memory, size, MADV_NOHUGEPAGE));
}

/*
 * An emulator between us and the kernel may accept every advice and follow none:
 * qemu-user does.  A yes to nonsense shows that; then no other yes counts.
 */
static bool advice_counts(void *memory, size_t size)
{
	enum { UNKNOWN, COUNTS, MEANS_NOTHING };
	static uint32_t answer;
	/* relaxed: all callers get the same answer. */
	uint32_t known = load_relaxed(&answer);

	if (likely(known != UNKNOWN))
		return known == COUNTS;
	/* fault: a failure is the good case. */
	known = madvise(memory, size, OS_MADV_NONSENSE) ? COUNTS
							: MEANS_NOTHING;
	/* relaxed: as above. */
	store_relaxed(&answer, known);
	return known == COUNTS;
}

int os_guard_advise(void *memory, size_t size)
{
	if (!advice_counts(memory, size))
		return -ENOSYS;
	if (fault_errno("madvise", EINVAL, ENOMEM) ||
	    madvise(memory, size, OS_MADV_GUARD_INSTALL))
		return -errno;
	return 0;
}

int os_guard_protect(void *memory, size_t size)
{
	if (fault_errno("mprotect", ENOMEM) ||
	    mprotect(memory, size, PROT_NONE))
		return -errno;
	return 0;
}

static bool guard_advise_batch(char *first, size_t size, size_t stride, int nr)
{
	struct iovec ranges[GUARDS_PER_CALL];

	if (nr < 2 || nr > GUARDS_PER_CALL || !advice_counts(first, size))
		return false;
	for (int i = 0; i < nr; i++) {
		ranges[i].iov_base = first + (size_t)i * stride;
		ranges[i].iov_len = size;
	}
	if (fault_errno("process_madvise", EINVAL, EPERM))
		return false;
	return syscall(SYS_process_madvise, OS_PIDFD_SELF, ranges, (size_t)nr,
		       OS_MADV_GUARD_INSTALL, 0) == (long)(size * (size_t)nr);
}

int os_guard_advise_many(void *first, size_t size, size_t stride, int nr)
{
	int saved_errno = errno;
	int err = 0;

	/* Installing a guard twice changes nothing. */
	if (guard_advise_batch(first, size, stride, nr))
		return 0;
	errno = saved_errno;
	for (int i = 0; i < nr && !err; i++)
		err = os_guard_advise((char *)first + (size_t)i * stride, size);
	return err;
}

void os_discard(void *memory, size_t size)
{
	int saved_errno = errno;

	/*
	 * Locked memory (EINVAL) stays: that is the purpose of locking.  And
	 * where a sandbox forbids advice, all memory stays.
	 */
	if ((fault_errno("madvise", EINVAL, EPERM) ||
	     madvise(memory, size, MADV_DONTNEED)) &&
	    errno == ENOMEM)
		sley_fatal("discarding %zu bytes at %p failed: error %d", size,
			   memory, errno);
	errno = saved_errno;
}
