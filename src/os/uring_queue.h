/* SPDX-License-Identifier: MIT */
/*
 * uring_queue.h - the two queues of an io_uring(7): entries for the kernel, and
 * completions from the kernel.
 *
 * For os/uring.h and os/uring_file.h, which say how threads share a queue.  Raw system
 * calls: a library would be a dependency, and Debian 12's liburing lacks operations
 * that are used here.
 *
 * No call changes errno, unless it says so.
 *
 * Edges:
 *
 *   UQ1  the kernel's tail -> the taker, and the taker's head -> the kernel : the
 *        completion is written, and read
 */
#ifndef SLEY_OS_URING_QUEUE_H
#define SLEY_OS_URING_QUEUE_H

#include "base/atomic.h"
#include "base/compiler.h"

#include <linux/io_uring.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uring_queue {
	int fd;
	uint32_t features;
	void *rings; /* NULL: there is no queue */
	size_t rings_size;
	void *entries;
	size_t entries_size;
	uint32_t *sq_head;
	uint32_t *sq_tail;
	uint32_t sq_mask;
	uint32_t *sq_array;
	uint32_t *cq_head;
	uint32_t *cq_tail;
	uint32_t cq_mask;
	const struct io_uring_cqe *completions;
};

struct uring_wish {
	uint32_t nr_entries;
	uint32_t nr_completions; /* 0: as the kernel likes          */
	uint32_t flags;          /* IORING_SETUP_...                */
	uint32_t features;       /* IORING_FEAT_...: must be there  */
};

/*
 * 0, or -errno: -ENOSYS where the kernel is too old for @wish, -EPERM where a sandbox
 * or kernel.io_uring_disabled denies io_uring, -EMFILE, -ENFILE, -ENOMEM.  There is no
 * queue then.  May change errno.
 */
must_check int uring_queue_open(struct uring_queue *queue,
				const struct uring_wish *wish);
void uring_queue_close(struct uring_queue *queue);

/*
 * Which of the operations 0 to 63 the kernel has, a bit for each; 0 if the kernel does
 * not tell.  May change errno.
 */
uint64_t uring_queue_operations(const struct uring_queue *queue);

/*
 * By one thread at a time.  There is room: the caller sees to it that the kernel takes
 * entries before the next thread comes.
 */
static inline void uring_queue_push(struct uring_queue *queue,
				    const struct io_uring_sqe *entry)
{
	struct io_uring_sqe *entries = queue->entries;
	/* relaxed: only the pusher writes the tail. */
	uint32_t tail = load_relaxed(queue->sq_tail);

	entries[tail & queue->sq_mask] = *entry;
	queue->sq_array[tail & queue->sq_mask] = tail & queue->sq_mask;
	/* relaxed: the kernel reads it in a later system call of this thread. */
	store_relaxed(queue->sq_tail, tail + 1);
}

/* The entry that was pushed last was not taken by the kernel: it is not there. */
static inline void uring_queue_retract(struct uring_queue *queue)
{
	/* relaxed: as in uring_queue_push(). */
	uint32_t tail = load_relaxed(queue->sq_tail);

	/* relaxed: as in uring_queue_push(). */
	store_relaxed(queue->sq_tail, tail - 1);
}

/* By the pusher: has the kernel taken all entries? */
static inline bool uring_queue_is_taken(const struct uring_queue *queue)
{
	/* relaxed: the kernel wrote it in a system call of this thread. */
	return load_relaxed(queue->sq_head) ==
	       /* relaxed: as in uring_queue_push(). */
	       load_relaxed(queue->sq_tail);
}

/* Any thread: is there a completion?  A hint. */
static inline bool uring_queue_has(const struct uring_queue *queue)
{
	/* relaxed: a hint. */
	return load_relaxed(queue->cq_tail) !=
	       /* relaxed: a hint. */
	       load_relaxed(queue->cq_head);
}

/* By one thread at a time: the oldest completion.  False: there is none. */
static inline bool uring_queue_take(const struct uring_queue *queue,
				    struct io_uring_cqe *out)
{
	/* relaxed: only the taker writes the head. */
	uint32_t head = load_relaxed(queue->cq_head);

	if (head == load_acquire(queue->cq_tail)) /* UQ1 */
		return false;
	*out = queue->completions[head & queue->cq_mask];
	store_release(queue->cq_head, head + 1); /* UQ1 */
	return true;
}

#endif
