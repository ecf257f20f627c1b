/* SPDX-License-Identifier: MIT */
/*
 * segment.h - memory that several processes share.
 *
 * A file without a name whose size is sealed: nobody who has it can make it
 * shorter, which would be a SIGBUS for the others.
 */
#ifndef SLEY_OS_SEGMENT_H
#define SLEY_OS_SEGMENT_H

#include "base/compiler.h"
#include "os/fault.h"

#include <stddef.h>

/* The descriptor, of @size zero bytes, or -errno.  Not inherited by exec. */
must_check int os_segment_create(const char *name, size_t size);

/* All of it, readable and writable; NULL: no memory.  os_unmap() ends it. */
must_check void *os_segment_map(int fd, size_t size);
#ifdef SLEY_FAULTS
#define os_segment_map(fd, size)                                               \
	(fault_error("os_segment_map", ENOMEM) ? NULL                          \
					       : (os_segment_map)(fd, size))
#endif

/* Any descriptor; -1 is none. */
void os_close(int fd);

#endif
