/* SPDX-License-Identifier: MIT */
/*
 * uring_queue.c - see uring_queue.h.
 */
#include "os/uring_queue.h"

#include "os/fault.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NR_OPERATIONS 64

static int setup(uint32_t nr_entries, struct io_uring_params *params)
{
	long fd = fault_errno("io_uring_setup", EPERM, ENOSYS, EMFILE)
			  ? -1
			  : syscall(SYS_io_uring_setup, nr_entries, params);

	return fd < 0 ? -errno : (int)fd;
}

uint64_t uring_queue_operations(const struct uring_queue *queue)
{
	union {
		struct io_uring_probe head;
		unsigned char
			bytes[sizeof(struct io_uring_probe) +
			      NR_OPERATIONS * sizeof(struct io_uring_probe_op)];
	} all;
	uint64_t bits = 0;

	memset(&all, 0, sizeof(all));
	if (fault_errno("io_uring_register", EPERM, ENOSYS) ||
	    syscall(SYS_io_uring_register, queue->fd, IORING_REGISTER_PROBE,
		    &all, NR_OPERATIONS) < 0)
		return 0;
	for (unsigned int i = 0; i < all.head.ops_len; i++) {
		if (all.head.ops[i].flags & IO_URING_OP_SUPPORTED)
			bits |= 1ull << all.head.ops[i].op;
	}
	return bits;
}

static void *map(int fd, size_t size, unsigned long long offset)
{
	void *memory = fault_errno("mmap", ENOMEM, EPERM)
			       ? MAP_FAILED
			       : mmap(NULL, size, PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_POPULATE, fd,
				      (off_t)offset);

	if (memory == MAP_FAILED)
		return NULL;
	/* fault: a child of fork() has no use for the ring, and takes no notice. */
	(void)madvise(memory, size, MADV_DONTFORK);
	return memory;
}

static void unmap(void *memory, size_t size)
{
	/* fault: at the limit of mappings the addresses stay taken. */
	if (memory)
		(void)munmap(memory, size);
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static int map_rings(struct uring_queue *queue, const struct io_uring_params *p)
{
	char *at;

	queue->rings_size = larger(
		p->sq_off.array + p->sq_entries * sizeof(uint32_t),
		p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe));
	queue->entries_size = p->sq_entries * sizeof(struct io_uring_sqe);
	queue->rings = map(queue->fd, queue->rings_size, IORING_OFF_SQ_RING);
	queue->entries = map(queue->fd, queue->entries_size, IORING_OFF_SQES);
	if (!queue->rings || !queue->entries)
		return -ENOMEM;
	at = queue->rings;
	queue->sq_head = (uint32_t *)(void *)(at + p->sq_off.head);
	queue->sq_tail = (uint32_t *)(void *)(at + p->sq_off.tail);
	queue->sq_mask = *(uint32_t *)(void *)(at + p->sq_off.ring_mask);
	queue->sq_array = (uint32_t *)(void *)(at + p->sq_off.array);
	queue->cq_head = (uint32_t *)(void *)(at + p->cq_off.head);
	queue->cq_tail = (uint32_t *)(void *)(at + p->cq_off.tail);
	queue->cq_mask = *(uint32_t *)(void *)(at + p->cq_off.ring_mask);
	queue->completions =
		(const struct io_uring_cqe *)(void *)(at + p->cq_off.cqes);
	return 0;
}

int uring_queue_open(struct uring_queue *queue, const struct uring_wish *wish)
{
	uint32_t features = wish->features | IORING_FEAT_SINGLE_MMAP;
	struct io_uring_params params = { .flags = wish->flags };
	int err = 0;

	if (wish->nr_completions) {
		params.flags |= IORING_SETUP_CQSIZE;
		params.cq_entries = wish->nr_completions;
	}
	*queue = (struct uring_queue){ .fd = setup(wish->nr_entries, &params) };
	/* An older kernel does not know the flags. */
	if (queue->fd < 0)
		return queue->fd == -EINVAL ? -ENOSYS : queue->fd;
	queue->features = params.features;
	if ((params.features & features) != features)
		err = -ENOSYS;
	if (!err)
		err = map_rings(queue, &params);
	if (err)
		uring_queue_close(queue);
	return err;
}

void uring_queue_close(struct uring_queue *queue)
{
	unmap(queue->entries, queue->entries_size);
	unmap(queue->rings, queue->rings_size);
	(void)close(queue->fd);
	*queue = (struct uring_queue){ 0 };
}
