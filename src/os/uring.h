/* SPDX-License-Identifier: MIT */
/*
 * uring.h - io_uring(7), as far as a thread needs it to sleep on a futex and on a
 * descriptor at the same time.
 *
 * A ring belongs to the thread that creates it: this thread alone sleeps in the ring
 * and destroys it.  The ring has at most one operation on a word, and at most one on
 * a descriptor.  An operation stays *armed* until it completes, also while the thread
 * is awake.  So the owner of the word has to take care: a FUTEX_WAKE for one waiter
 * may find the armed operation, and not a thread that sleeps on the same word.
 *
 * The process must have had a second thread before an operation on a word is armed.
 * On Linux 6.18 no wake finds an operation that was armed before the first thread
 * started.  The likely cause: since 6.16 the kernel keeps the waiters of a process with
 * one thread in another table than those of a process with threads.
 *
 * The ring is made with DEFER_TASKRUN: completions are written only while the thread
 * is in os_uring_sleep(), and a waker does nothing but wake the thread.  Without this
 * flag the waker would do the thread's work: measured, a wake-up cost the waker 13 us.
 *
 * No call changes errno.
 */
#ifndef SLEY_OS_URING_H
#define SLEY_OS_URING_H

#include "base/compiler.h"
#include "os/uring_queue.h"

#include <stdbool.h>
#include <stdint.h>

/* What has completed, and what is armed. */
#define OS_URING_WORD 1u /* the word has another value, or was woken */
#define OS_URING_READ 2u /* the descriptor can be read               */

struct os_uring {
	struct uring_queue queue;
	unsigned int armed;
	unsigned int nr_new; /* operations that the kernel does not know yet */
};

/* Was @ring created, and not destroyed?  All zero is no ring. */
static inline bool os_uring_exists(const struct os_uring *ring)
{
	return ring->queue.rings;
}

/*
 * 0, or -errno: -ENOSYS where the kernel is older than 6.7, -EPERM where a sandbox or
 * kernel.io_uring_disabled denies io_uring, -EMFILE, -ENOMEM.  @ring has no ring then.
 */
must_check int os_uring_create(struct os_uring *ring);

/* By the thread that created @ring.  Nothing is armed afterwards. */
void os_uring_destroy(struct os_uring *ring);

/*
 * The next sleep ends when *@word is not @expected, or when a waker wakes one waiter
 * of @word.  Does nothing if an operation is armed; it must be on the same word.
 */
void os_uring_arm_word(struct os_uring *ring, const uint32_t *word,
		       uint32_t expected);

/* The next sleep ends when @fd can be read.  Does nothing if it is armed. */
void os_uring_arm_read(struct os_uring *ring, int fd);

/*
 * Sleeps until an armed operation completes.  Returns the bits of the operations that
 * have completed, or 0 for no reason (a signal).  Returns -ETIMEDOUT once os_now() >=
 * @deadline_ns; UINT64_MAX never comes.  Any other error says that the kernel does
 * not let the thread sleep in a ring (any more): a seccomp filter came later.
 */
must_check int os_uring_sleep(struct os_uring *ring, uint64_t deadline_ns);

/* Completes the armed operations.  They may still have been completed by a waker. */
void os_uring_cancel(struct os_uring *ring);

#endif
