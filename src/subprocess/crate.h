/* SPDX-License-Identifier: MIT */
/*
 * crate.h - shared memory for a call whose argument or result fits no slot of the ring.
 *
 * A subprocess that may get such calls has one more file without a name, the file of
 * *crates*.  It gets the descriptor with its start, as that of the ring.  The file is as
 * large as an address space, and has memory only where somebody wrote.  A crate is a
 * range of the file, which belongs to one call:
 *
 *   caller                                     subprocess
 *   takes a range that no other call has
 *   writes head and argument: pwrite()
 *   slot: where they are, how       ───────►   maps the file, up to the end of the range
 *   far the range goes                         runs the function: argument and result
 *                                              are in the range
 *   checks the size                 ◄───────   slot: code, size; also the result, if it
 *   reads the result: pread()                  fits
 *   gives memory back, then the range
 *
 * All of this is done by the caller, on its own time, and without the lock.  Only the list
 * of ranges is under the lock of the subprocess.  A part that fits the slot goes by the
 * slot: so a long result may have a short argument, and the other way round.
 *
 * Trust.  The program never maps the file.  So no fault in it can be a signal here, and
 * sizes and places are those that the program remembers (struct crate), not those of the
 * file.  The size of a result is compared with the room of the crate before a byte is
 * read.  The subprocess may write to the whole file at any time: it harms the calls that
 * are its own.
 *
 * Owners.  The caller has its range; while the call is in the ring, so has the ring.  A caller
 * that gives up leaves the range to the ring, because the subprocess may still write there.
 * The range is taken again when the call was answered, or when the fork server has
 * reaped the subprocess.  The collector gives such ranges back: any other thread that
 * finds the answer may hold a lock, and memory takes time to free.
 *
 * Death.  The subprocess may have written to the arguments of calls that it had not begun,
 * in the ring or in the queue.  These calls go back to their callers, which write the argument
 * again and call again.  So they may be overtaken by calls whose arguments are in slots.
 *
 * Memory.  A new crate is at the lowest place that is free.  What lies in the first
 * CRATES_KEPT bytes keeps its memory, for the next call; the rest is freed with each
 * call.  The kernel takes freed pages from the mapping of the subprocess, too.  The
 * subprocess unmaps nothing until it needs a longer mapping.
 *
 * Exhaustion is an error of the one call: -ENOMEM or -ENOSPC where the argument is
 * written, and -ENOMEM of the subprocess where it cannot map.  No call needs a descriptor.
 *
 * Rejected: a segment for each call, or a cache of them, whose descriptors go to the
 * subprocess by a socket.  Each call can then fail for want of a descriptor in three
 * places, packets of a dead life must be thrown away, and memory is freed only when
 * both processes have unmapped it.  A mapping in the program: freeing it interrupts
 * all CPUs that run the program, and a hole in the file is a SIGBUS if there is no memory.
 * A place that calls wait for: a second queue, with deadlines and cancels of its own.
 */
#ifndef SLEY_SUBPROCESS_CRATE_H
#define SLEY_SUBPROCESS_CRATE_H

#include "base/compiler.h"

#include <stddef.h>
#include <stdint.h>

/* Ranges begin and end at multiples; a page, whatever the machine. */
#define CRATE_UNIT 65536u

/* Of the file, at most: the addresses of a process. */
#define CRATES_MAX (1ull << 47)

/* Memory that a file keeps while there is no call. */
#define CRATES_KEPT (32ull << 20)

struct crate {
	struct crate *next; /* in the order of the file; lock of the subprocess */
	struct crate *next_left; /* given up                               */
	uint64_t begin;          /* in the file, never 0                   */
	uint64_t size;           /* of the range                           */
	uint64_t arg_size;       /* with the head; 0: it is in the slot    */
	uint64_t room;           /* for the result; 0: it is in the slot   */
	uint32_t life;           /* of the subprocess, when arg was written */
};

/* The file, and the ranges that are taken. */
struct crates {
	int file;            /* or -1                                      */
	uint64_t size;       /* of the file; 0: there is none              */
	struct crate *first; /* lock of the subprocess, as the next        */
	struct crate *left;  /* of callers that gave up: for the collector */
};

/* 0 or -errno.  Without it all crates are -EMSGSIZE. */
must_check int crates_open(struct crates *crates);
void crates_close(struct crates *crates);

/*
 * A crate without a range, for so many bytes each way; 0: that way goes by the slot.
 *
 *   -EMSGSIZE  the file is too short
 *   -ENOMEM
 */
must_check int crate_make(const struct crates *crates, struct crate **out,
			  uint64_t arg_size, uint64_t room);
void crate_free(struct crate *crate);

/* Where the result is in the file. */
static inline uint64_t crate_result_at(const struct crate *crate)
{
	return crate->begin + ((crate->arg_size + 63) & ~63ull);
}

/* ---- under the lock of the subprocess -------------------------------------------- */

/* Takes a range; 0, or -ENOMEM: the file is full. */
must_check int crates_take(struct crates *crates, struct crate *crate);

/* The range is free. */
void crates_remove(struct crates *crates, struct crate *crate);

/* The caller has given up, and nobody writes to the range any more. */
static inline void crates_leave(struct crates *crates, struct crate *crate)
{
	crate->next_left = crates->left;
	crates->left = crate;
}

/* ---- by the one that has the range, without the lock ------------------------------- */

/* Writes @size bytes at @offset of the range; 0 or -errno. */
must_check int crate_write(const struct crates *crates,
			   const struct crate *crate, uint64_t offset,
			   const void *data, size_t size);

/* Reads the first @size bytes of the result, at most ->room; 0 or -errno. */
must_check int crate_read_result(const struct crates *crates,
				 const struct crate *crate, void *data,
				 size_t size);

/* Frees memory of the range that is not kept. */
void crate_discard(const struct crates *crates, const struct crate *crate);

#endif
