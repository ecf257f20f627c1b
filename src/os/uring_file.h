/* SPDX-License-Identifier: MIT */
/*
 * uring_file.h - calls on files (os/file_call.h), carried out by the kernel in a ring of
 * io_uring(7) while the threads of the program go on.
 *
 * A plain ring, without SINGLE_ISSUER and DEFER_TASKRUN: any thread submits, one at a
 * time, and any thread takes completions, one at a time.  The kernel takes an entry in
 * the system call that submits it, so there is never more than one entry in the queue,
 * and each submission either has succeeded or has left nothing behind.
 *
 * The features, by the version of Linux that has them, and what is wrong before:
 *
 *   5.1   READV, WRITEV, FSYNC
 *   5.5   no completion is dropped (NODROP); ASYNC_CANCEL
 *   5.6   OPENAT, OPENAT2, CLOSE, STATX; the kernel tells which operations it has
 *   5.11  UNLINKAT, RENAMEAT
 *   5.12  the kernel's threads are threads of the process (NATIVE_WORKERS).  Before,
 *         they had other limits and namespaces, and most of the known holes in security
 *         are in those versions: no ring
 *   6.9   FTRUNCATE.  Before: not in the ring
 *
 *   all   A read or write at the position of the file does not take the lock of the
 *         position, so two readers may get the same bytes: not in the ring.
 *         An open file with O_NONBLOCK gets -EAGAIN where a disk would have to answer:
 *         the caller does such a call elsewhere.
 *         A CLOSE ends the file in the thread that submitted it, which may take long:
 *         so a CLOSE is always left to a thread of the kernel.
 *         OPENAT is tried with O_NONBLOCK first, so an open of a FIFO for reading does
 *         not wait for a writer (seen in 6.18): an OPENAT is left to a thread, too.
 *         An OPENAT that was cancelled while it waited ends with ERESTARTSYS, an error
 *         of the kernel's own (seen in 6.18): here it is EINTR.
 *         A completion that is no work of the kernel's threads, such as that of a
 *         buffered read, interrupts the thread that submitted it: a system call of this
 *         thread may return EINTR, as after a signal.
 *
 * No call changes errno.
 */
#ifndef SLEY_OS_URING_FILE_H
#define SLEY_OS_URING_FILE_H

#include "os/file_call.h"
#include "os/uring_queue.h"

struct os_uring_file {
	struct uring_queue queue;
	uint32_t kinds; /* a bit for each enum os_file_kind */
};

/*
 * At most @nr_completions submissions, of calls and cancels, are under way at a time.
 * 0, or -errno as os_uring_create() of os/uring.h.
 */
must_check int os_uring_file_create(struct os_uring_file *ring,
				    uint32_t nr_completions);

/* Nothing is under way. */
void os_uring_file_destroy(struct os_uring_file *ring);

/* Can the kernel carry out @call? */
must_check bool os_uring_file_takes(const struct os_uring_file *ring,
				    const struct os_file_call *call);

/*
 * By one thread at a time.  @call, and all that it names, stays until its completion,
 * which has @mark.  0, or -errno: the kernel has not taken it; -EAGAIN, -ENOMEM, -EBUSY:
 * only for now.
 */
must_check int os_uring_file_submit(struct os_uring_file *ring,
				    const struct os_file_call *call,
				    uint64_t mark);

/*
 * By one thread at a time: the kernel shall not begin, or shall end, the submission
 * that has @mark.  Its completion comes in any case.  The cancel has a completion of
 * its own, with @cancel_mark.
 */
must_check int os_uring_file_cancel(struct os_uring_file *ring, uint64_t mark,
				    uint64_t cancel_mark);

struct os_uring_done {
	uint64_t mark;
	int result; /* of the system call, or -errno; -ECANCELED, -EINTR: cancelled */
};

/* Any thread: is there a completion?  A hint. */
bool os_uring_file_has(const struct os_uring_file *ring);

/* By one thread at a time: takes completions, up to @max of them: how many. */
must_check unsigned int os_uring_file_take(struct os_uring_file *ring,
					   struct os_uring_done *done,
					   unsigned int max);

#endif
