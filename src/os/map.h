/* SPDX-License-Identifier: MIT */
/*
 * map.h - address space from the kernel, and guards in it.
 *
 * A guard is a range whose touch is a SIGSEGV.  There are two kinds:
 *
 *   advised    MADV_GUARD_INSTALL, Linux 6.13: marks in the page table, no
 *              mapping of its own, survives os_discard(), any number of guards
 *   protected  mprotect(): a mapping of its own, and splits the mapping around;
 *              vm.max_map_count (65,530 by default) ends this at about 32,700
 *
 * Advising fails where the kernel cannot do it, and where the kernel only claims to.
 */
#ifndef SLEY_OS_MAP_H
#define SLEY_OS_MAP_H

#include "base/compiler.h"
#include "os/fault.h"

#include <stdbool.h>
#include <stddef.h>

size_t os_page_size(void);

/* Zeroed, readable and writable, costs no memory until touched; or NULL. */
void *os_map(size_t size);
#ifdef SLEY_FAULTS
#define os_map(size) (fault_error("os_map", ENOMEM) ? NULL : (os_map)(size))
#endif
/* At the limit of mappings the addresses stay taken; the memory does not. */
void os_unmap(void *memory, size_t size);

/*
 * Reserves addresses only, until os_commit() turns a part of the range into memory
 * like that of os_map().  NULL: the process may not have so many addresses.
 * os_unmap() ends both.
 */
void *os_reserve(size_t size);
#ifdef SLEY_FAULTS
#define os_reserve(size)                                                       \
	(fault_error("os_reserve", ENOMEM) ? NULL : (os_reserve)(size))
#endif

/* 0 or -ENOMEM; pages that were memory already stay as before. */
int os_commit(void *memory, size_t size);

/*
 * Copies @size bytes from an address that may be unmapped.  False: there is no
 * memory, or the kernel does not say.  For reports: the bytes may change at any
 * moment.
 */
must_check bool os_peek(void *out, const void *address, size_t size);

/* Use small pages only for @memory: a touched byte must not cost 2 MiB. */
void os_no_huge_pages(void *memory, size_t size);

/* Both return 0 or a negative errno value. */
int os_guard_advise(void *memory, size_t size);
int os_guard_protect(void *memory, size_t size);

/*
 * os_guard_advise() for @nr ranges, each @stride bytes after the last, in one
 * system call where the kernel can.  On failure some ranges may be guards.
 */
int os_guard_advise_many(void *first, size_t size, size_t stride, int nr);

/* Give the pages back, where that is allowed; the contents are gone. */
void os_discard(void *memory, size_t size);

#endif
