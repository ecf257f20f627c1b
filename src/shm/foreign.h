/* SPDX-License-Identifier: MIT */
/*
 * foreign.h - memory that another process writes, too: copy, check the copy, use the copy.
 *
 *   const struct ring_entry foreign *entry;
 *
 * points to such memory.  The other process may change it at any moment, so what was read
 * twice may be two things.  clang lets no code read or write there by mistake: `entry->id`
 * and a conversion to a plain pointer are warnings (-Wnoderef), which are errors in our
 * builds.  The address of a field, `&entry->id`, is foreign again.  What is left:
 *
 *   load_relaxed(&entry->id)     and all of base/atomic.h: a single load, into a copy
 *   foreign_read(), foreign_write()    bytes, once
 *   (struct ring_entry *)entry   a cast: only to write.  clang does not ask why
 *
 * clang does not notice an index of an array that is a member, as entries[] of struct
 * request_memory.  Other compilers check nothing.  No instruction is added anywhere.
 */
#ifndef SLEY_SHM_FOREIGN_H
#define SLEY_SHM_FOREIGN_H

#include <stddef.h>
#include <string.h>

#if defined(__clang__) && !defined(SLEY_MODEL) /* there atomics are calls */
#define foreign __attribute__((noderef))
#else
#define foreign
#endif

/* The only read of these bytes. */
static inline void foreign_read(void *to, const void foreign *from, size_t size)
{
	memcpy(to, (const void *)from, size);
}

static inline void foreign_write(void foreign *to, const void *from,
				 size_t size)
{
	memcpy((void *)to, from, size);
}

#endif
