/* SPDX-License-Identifier: MIT */
/*
 * descriptor.h - what the library knows of an open descriptor of the process.
 *
 * Each number of a descriptor has a place in a table that all runtimes share: which
 * calls use the descriptor, which tasks wait for it (io/ready.h), and which runtimes
 * are told of its changes (io/reactor.h).  A place is made when its number is used for
 * the first time, and is never freed: the kernel gives numbers out again.
 *
 * Closing.  A call counts as a *user* from its beginning to its end, also while it
 * waits.  So a number is never closed, and given out again, under a call:
 *
 *   user                                  closer
 *   1. users + 1; finds CLOSING:          1. users |= CLOSING (DS3); found it:
 *      leaves, -EBADF                        another closer was first, -EBADF
 *   2. uses the descriptor, or waits      2. wakes all waiters, for good
 *   3. users - 1 (DS1); none left, and    3. waits until no user is left (DS1)
 *      CLOSING: wakes the closer          4. makes the place empty, users |= GOING
 *                                         5. closes the number
 *                                         6. takes both bits away (DS2), wakes the
 *                                            callers that found GOING
 *
 * A user that waits for nothing takes step 3 soon, so the closer waits for a short
 * time.  During step 5 the number changes hands: a caller that enters then may have
 * the old file in mind, or own the new one already.  It finds GOING, waits for step 6,
 * and enters again; the kernel tells what is behind the number by then.  If the bits
 * went before step 5, a caller could enter in between, and wait for a file that
 * nothing is told of.
 *
 * A program that closes with close(2) leaves a place behind that tells of the closed
 * file.  If the library itself opens the next file of that number, it finds out, makes
 * the place empty and reports the misuse (descriptor_is_new()).  Otherwise a wait for
 * the new file may never end.
 *
 * In a child of fork() all places are empty: the calls of other threads are gone, and
 * no runtime is left to be told.
 *
 * Edges:
 *
 *   DS1  a user leaves -> the closer finds no user : what the user did
 *   DS2  the closer has closed -> the next user enters : the place is empty
 *   DS3  the closer sets CLOSING -> a user finds it, and leaves with -EBADF : all that
 *        the closer did before the close.  So the user can tell why the file is closed
 *
 * Rejected: a table for each runtime (a close would have to visit all runtimes); the
 * waiters in memory of the program, beside the number (the program has only the
 * number, and may copy it); a lock around each call, in place of a count (calls of
 * both directions, and of several tasks, go on at the same time).
 */
#ifndef SLEY_IO_DESCRIPTOR_H
#define SLEY_IO_DESCRIPTOR_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "io/side.h"
#include "mem/table.h"
#include "os/socket.h"

#include <errno.h>

struct sley;

enum io_direction {
	IO_IN,  /* reading, accepting    */
	IO_OUT, /* writing, connecting   */
	NR_IO_DIRECTIONS,
};

struct io_descriptor {
	uint32_t users;    /* calls under way, CLOSING and GOING              */
	uint32_t traits;   /* without TRAIT_KNOWN: not asked for yet          */
	uint64_t reactors; /* a bit for each that knows of the descriptor     */
	struct io_side side[NR_IO_DIRECTIONS];
} cache_aligned;

#define DESCRIPTOR_CLOSING (1u << 31)
#define DESCRIPTOR_GOING (1u << 30) /* with CLOSING: the number changes hands */
#define DESCRIPTOR_CHUNK 256u
#define DESCRIPTOR_CHUNKS                                                      \
	8192u /* two million numbers: more than kernels allow */

extern void *sley__descriptors[DESCRIPTOR_CHUNKS]
	__attribute__((visibility("hidden")));

static const struct table descriptor_table = {
	.chunk = sley__descriptors,
	.max_chunks = DESCRIPTOR_CHUNKS,
	.length = DESCRIPTOR_CHUNK,
	.place_size = sizeof(struct io_descriptor),
};

/* ---- users -------------------------------------------------------------------------- */

/* The rare cases of descriptor_enter(): there is no place yet; the number is GOING. */
must_check int descriptor_enter_slow(int fd, struct io_descriptor **out);
must_check int descriptor_enter_later(int fd, struct io_descriptor **out);

/* The last user of a descriptor that closes has left. */
void descriptor_wake_closer(struct io_descriptor *descriptor);

static inline void descriptor_leave(struct io_descriptor *descriptor)
{
	uint32_t users = sub_release(&descriptor->users, 1); /* DS1 */

	if (unlikely(users == DESCRIPTOR_CLOSING + 1))
		descriptor_wake_closer(descriptor);
}

/* The caller becomes a user.  0; -EBADF: @fd closes, or is no number; -ENOMEM. */
static inline must_check int descriptor_enter(int fd,
					      struct io_descriptor **out)
{
	struct io_descriptor *descriptor = NULL;
	uint32_t users;

	if (likely(fd >= 0))
		descriptor = table_find(&descriptor_table, (uint32_t)fd);
	if (unlikely(!descriptor))
		return descriptor_enter_slow(fd, out);
	*out = descriptor;
	users = add_acquire(&descriptor->users, 1); /* DS2 DS3 */
	if (likely(!(users & DESCRIPTOR_CLOSING)))
		return 0;
	descriptor_leave(descriptor);
	return users & DESCRIPTOR_GOING ? descriptor_enter_later(fd, out)
					: -EBADF;
}

/* By a user: is it about to be closed? */
static inline bool descriptor_closes(const struct io_descriptor *descriptor)
{
	return load_acquire(&descriptor->users) & /* DS3 */
	       DESCRIPTOR_CLOSING;
}

/* ---- traits ------------------------------------------------------------------------- */

#define TRAIT_KNOWN 0x100u
#define TRAIT_NONBLOCKING 0x200u
#define TRAIT_WRITABLE 0x400u
/* Files: there is no use in a try (io/file.h). */
#define TRAIT_NO_TRY_READ 0x800u
#define TRAIT_NO_TRY_WRITE 0x1000u
/* Of a descriptor that the library has opened, without asking: not TRAIT_KNOWN. */
#define TRAIT_OPENED_TO_READ 0x2000u

/* Asks the kernel, and keeps the answer. */
uint32_t descriptor_ask_traits(struct io_descriptor *descriptor, int fd);

static inline uint32_t descriptor_traits(struct io_descriptor *descriptor,
					 int fd)
{
	/* relaxed: every thread that asks the kernel gets the same answer. */
	uint32_t traits = load_relaxed(&descriptor->traits);

	return likely(traits & TRAIT_KNOWN)
		       ? traits
		       : descriptor_ask_traits(descriptor, fd);
}

static inline void descriptor_add_traits(struct io_descriptor *descriptor,
					 uint32_t bits)
{
	/* relaxed: every thread that tries finds the same. */
	(void)or_relaxed(&descriptor->traits, bits);
}

static inline enum os_fd_kind traits_kind(uint32_t traits)
{
	return (enum os_fd_kind)(traits & 0xff);
}

/* ---- reactors ----------------------------------------------------------------------- */

/* Which reactors are told of the descriptor: bits of io/reactor.h. */
static inline uint64_t
descriptor_reactors(const struct io_descriptor *descriptor)
{
	/* relaxed: the kernel orders its own table of descriptors. */
	return load_relaxed(&descriptor->reactors);
}

static inline void descriptor_add_reactors(struct io_descriptor *descriptor,
					   uint64_t bits)
{
	/* relaxed: as above. */
	(void)or_relaxed(&descriptor->reactors, bits);
}

/* Was any of @bits there? */
static inline bool descriptor_drop_reactors(struct io_descriptor *descriptor,
					    uint64_t bits)
{
	/* relaxed: as above. */
	return and_relaxed(&descriptor->reactors, ~bits) & bits;
}

/* ---- its life ----------------------------------------------------------------------- */

/*
 * @fd was just opened by the library, on behalf of @call: no place of an earlier file
 * is left.  0, or -ENOMEM: there is no place for @fd.
 */
must_check int descriptor_is_new(int fd, const char *call);

/* By the opener of a new descriptor: it was opened for reading only. */
void descriptor_note_reading(int fd);

/* Wakes all waiters, waits until no user is left, closes: 0 or -errno. */
must_check int descriptor_close(int fd);

#endif
