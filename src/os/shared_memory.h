/* SPDX-License-Identifier: MIT */
/*
 * shared_memory.h - memory that several processes share.
 *
 * A file without a name whose size is sealed: no process can make the file
 * shorter, which would be a SIGBUS for the others.
 */
#ifndef SLEY_OS_SHARED_MEMORY_H
#define SLEY_OS_SHARED_MEMORY_H

#include "base/compiler.h"
#include "os/fault.h"

#include <stddef.h>
#include <stdint.h>

/* The descriptor, of @size zero bytes, or -errno.  Not inherited by exec. */
must_check int os_shared_memory_create(const char *name, size_t size);

/*
 * The same for memory that this process alone writes: *@memory is its mapping, undone by
 * os_unmap(), and no process gets a second one that can be written.
 */
must_check int os_shared_page_create(const char *name, size_t size,
				     void **memory);

/*
 * Is @fd such memory of another process?  0; -EPERM: a seal is missing, so that others than
 * its maker can write to it, or it can be made shorter; -EINVAL: it has another size.
 */
must_check int os_shared_page_check(int fd, size_t size);

/*
 * The size of a file that another process may have made: its size, which is final, or
 * -errno.  -EPERM: it is not sealed, and could be made shorter.
 */
must_check int64_t os_shared_memory_size(int fd);

/* The whole file, readable and writable; NULL: no memory.  Undone by os_unmap(). */
must_check void *os_shared_memory_map(int fd, size_t size);
#ifdef SLEY_FAULTS
#define os_shared_memory_map(fd, size)                                         \
	(fault_error("os_shared_memory_map", ENOMEM)                           \
		 ? NULL                                                        \
		 : (os_shared_memory_map)(fd, size))
#endif

/* The same, readable only. */
must_check const void *os_shared_memory_map_to_read(int fd, size_t size);
#ifdef SLEY_FAULTS
#define os_shared_memory_map_to_read(fd, size)                                 \
	(fault_error("os_shared_memory_map_to_read", ENOMEM)                   \
		 ? NULL                                                        \
		 : (os_shared_memory_map_to_read)(fd, size))
#endif

/*
 * The same in place of the memory at @at, whole pages of an os_map(), whose os_unmap() ends
 * this, too.  A thread that reads there meanwhile finds the old or the new memory.  0 or
 * -ENOMEM: then nothing has changed.
 */
must_check int os_shared_memory_map_over(int fd, size_t size, void *at);

/* Zeroes in place of the memory at @at, as above: a thread may wait for its words. */
must_check int os_shared_memory_blank_over(void *at, size_t size);

/* @size, or the largest size that a file of this process may have (ulimit -f). */
must_check uint64_t os_shared_memory_max(uint64_t size);

/*
 * Writes or reads all of @size bytes at @offset, without a mapping: so no memory is an error
 * and not a signal.  0 or -errno.  Bytes that were never written are 0.
 */
must_check int os_shared_memory_write(int fd, const void *data, size_t size,
				      uint64_t offset);
must_check int os_shared_memory_read(int fd, void *data, size_t size,
				     uint64_t offset);

/* Frees the memory of whole pages, in all processes: their bytes are 0 then. */
void os_shared_memory_discard(int fd, uint64_t offset, uint64_t size);

/* Any descriptor; nothing to do for -1. */
void os_close(int fd);

#endif
