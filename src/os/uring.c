/* SPDX-License-Identifier: MIT */
/*
 * uring.c - see uring.h.
 *
 * The kernel touches the ring only inside the system calls of the thread that owns
 * the ring (SINGLE_ISSUER, DEFER_TASKRUN).  So no order is needed beyond that of the
 * thread's own program.
 */
#include "os/uring.h"

#include "base/atomic.h"
#include "os/clock.h"
#include "os/fault.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Not in the headers of Debian 12. */
#define OP_FUTEX_WAIT 51 /* IORING_OP_FUTEX_WAIT, Linux 6.7              */
#define NR_OPS (OP_FUTEX_WAIT + 1)
#define FUTEX_U32_PRIVATE (0x02 | 128) /* FUTEX2_SIZE_U32, FUTEX2_PRIVATE */
#define FUTEX_ANY_BIT 0xffffffffu
#ifndef IORING_SETUP_SINGLE_ISSUER
#define IORING_SETUP_SINGLE_ISSUER (1u << 12)
#endif
#ifndef IORING_SETUP_DEFER_TASKRUN
#define IORING_SETUP_DEFER_TASKRUN (1u << 13)
#endif

#define NR_ENTRIES 4 /* two operations, and a cancel for each */
#define NS_PER_SEC 1000000000u

/* The mark of a cancel; other marks are the bits of uring.h. */
#define MARK_CANCEL 4u

/* ---- system calls ------------------------------------------------------------------- */

static int setup(struct io_uring_params *params)
{
	long fd = fault_errno("io_uring_setup", EPERM, ENOSYS, EMFILE)
			  ? -1
			  : syscall(SYS_io_uring_setup, NR_ENTRIES, params);

	return fd < 0 ? -errno : (int)fd;
}

/* Does the kernel have the operation on a futex? */
static int probe(int fd)
{
	union {
		struct io_uring_probe head;
		unsigned char bytes[sizeof(struct io_uring_probe) +
				    NR_OPS * sizeof(struct io_uring_probe_op)];
	} all;

	memset(&all, 0, sizeof(all));
	if (fault_errno("io_uring_register", EPERM, ENOSYS) ||
	    syscall(SYS_io_uring_register, fd, IORING_REGISTER_PROBE, &all,
		    NR_OPS) < 0)
		return -errno;
	if (all.head.last_op < OP_FUTEX_WAIT ||
	    !(all.head.ops[OP_FUTEX_WAIT].flags & IO_URING_OP_SUPPORTED))
		return -ENOSYS;
	return 0;
}

/* How many new operations the kernel took, or -errno. */
static int enter(struct os_uring *ring, struct __kernel_timespec *timeout)
{
	const struct __kernel_timespec at_once = { 0 };
	struct io_uring_getevents_arg arg = { .ts = (uintptr_t)timeout };
	long nr;

	/* A signal ends the sleep; what has completed is still seen. */
	if (fault_spurious("io_uring_enter", EINTR))
		arg.ts = (uintptr_t)&at_once;
	nr = fault_errno("io_uring_enter", EPERM, EAGAIN)
		     ? -1
		     : syscall(SYS_io_uring_enter, ring->fd, ring->nr_new, 1,
			       IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG,
			       &arg, sizeof(arg));
	return nr < 0 ? -errno : (int)nr;
}

/* ---- begin and end ------------------------------------------------------------------ */

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

static int map_rings(struct os_uring *ring, const struct io_uring_params *p)
{
	char *at;

	ring->rings_size = larger(
		p->sq_off.array + p->sq_entries * sizeof(uint32_t),
		p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe));
	ring->entries_size = p->sq_entries * sizeof(struct io_uring_sqe);
	ring->rings = map(ring->fd, ring->rings_size, IORING_OFF_SQ_RING);
	ring->entries = map(ring->fd, ring->entries_size, IORING_OFF_SQES);
	if (!ring->rings || !ring->entries)
		return -ENOMEM;
	at = ring->rings;
	ring->sq_tail = (uint32_t *)(void *)(at + p->sq_off.tail);
	ring->sq_mask = *(uint32_t *)(void *)(at + p->sq_off.ring_mask);
	ring->sq_array = (uint32_t *)(void *)(at + p->sq_off.array);
	ring->cq_head = (uint32_t *)(void *)(at + p->cq_off.head);
	ring->cq_tail = (uint32_t *)(void *)(at + p->cq_off.tail);
	ring->cq_mask = *(uint32_t *)(void *)(at + p->cq_off.ring_mask);
	ring->completions = at + p->cq_off.cqes;
	return 0;
}

static void close_ring(struct os_uring *ring)
{
	unmap(ring->entries, ring->entries_size);
	unmap(ring->rings, ring->rings_size);
	(void)close(ring->fd);
	*ring = (struct os_uring){ 0 };
}

static int create(struct os_uring *ring)
{
	struct io_uring_params params = { .flags = IORING_SETUP_SINGLE_ISSUER |
						   IORING_SETUP_DEFER_TASKRUN };
	int err;

	*ring = (struct os_uring){ .fd = setup(&params) };
	/* Linux before 6.1 does not know the flags. */
	if (ring->fd < 0)
		return ring->fd == -EINVAL ? -ENOSYS : ring->fd;
	err = probe(ring->fd);
	if (!err && !(params.features & IORING_FEAT_SINGLE_MMAP &&
		      params.features & IORING_FEAT_EXT_ARG))
		err = -ENOSYS;
	if (!err)
		err = map_rings(ring, &params);
	if (err)
		close_ring(ring);
	return err;
}

int os_uring_create(struct os_uring *ring)
{
	int saved_errno = errno, err = create(ring);

	errno = saved_errno;
	return err;
}

void os_uring_destroy(struct os_uring *ring)
{
	int saved_errno = errno;

	if (!os_uring_exists(ring))
		return;
	os_uring_cancel(ring);
	close_ring(ring);
	errno = saved_errno;
}

/* ---- operations --------------------------------------------------------------------- */

/* There is room: the ring has at most two operations, and their cancels. */
static void submit(struct os_uring *ring, const struct io_uring_sqe *entry)
{
	struct io_uring_sqe *entries = ring->entries;
	/* relaxed: only this thread writes the tail. */
	uint32_t tail = load_relaxed(ring->sq_tail);

	entries[tail & ring->sq_mask] = *entry;
	ring->sq_array[tail & ring->sq_mask] = tail & ring->sq_mask;
	/* relaxed: the kernel reads it in a later system call of this thread. */
	store_relaxed(ring->sq_tail, tail + 1);
	ring->nr_new++;
}

void os_uring_arm_word(struct os_uring *ring, const uint32_t *word,
		       uint32_t expected)
{
	const struct io_uring_sqe entry = { .opcode = OP_FUTEX_WAIT,
					    .fd = FUTEX_U32_PRIVATE,
					    .addr = (uintptr_t)word,
					    .addr2 = expected,
					    .addr3 = FUTEX_ANY_BIT,
					    .user_data = OS_URING_WORD };

	if (ring->armed & OS_URING_WORD)
		return;
	submit(ring, &entry);
	ring->armed |= OS_URING_WORD;
}

void os_uring_arm_read(struct os_uring *ring, int fd)
{
	const struct io_uring_sqe entry = { .opcode = IORING_OP_POLL_ADD,
					    .fd = fd,
					    .poll32_events = POLLIN,
					    .user_data = OS_URING_READ };

	if (ring->armed & OS_URING_READ)
		return;
	submit(ring, &entry);
	ring->armed |= OS_URING_READ;
}

/* Takes all completions: their bits. */
static unsigned int take(struct os_uring *ring)
{
	const struct io_uring_cqe *cqes = ring->completions;
	/* relaxed: the kernel wrote it in a system call of this thread. */
	uint32_t tail = load_relaxed(ring->cq_tail);
	/* relaxed: only this thread writes the head. */
	uint32_t head = load_relaxed(ring->cq_head);
	unsigned int bits = 0;

	for (; head != tail; head++)
		bits |= (unsigned int)cqes[head & ring->cq_mask].user_data;
	/* relaxed: as the tail. */
	store_relaxed(ring->cq_head, head);
	bits &= ring->armed;
	ring->armed &= ~bits;
	return bits;
}

/* ---- sleeping ----------------------------------------------------------------------- */

static struct __kernel_timespec until(uint64_t deadline_ns)
{
	uint64_t now = os_now();
	uint64_t ns = deadline_ns > now ? deadline_ns - now : 0;

	if (ns > INT64_MAX)
		ns = INT64_MAX;
	return (struct __kernel_timespec){ .tv_sec = (long)(ns / NS_PER_SEC),
					   .tv_nsec = (long)(ns % NS_PER_SEC) };
}

/*
 * If the kernel took operations, the result of the call says nothing of the wait.  So
 * the completions and the clock decide.
 */
static int sleep_in(struct os_uring *ring, uint64_t deadline_ns)
{
	bool endless = deadline_ns == UINT64_MAX;
	struct __kernel_timespec timeout = { 0 };
	unsigned int bits;
	int nr;

	if (!endless)
		timeout = until(deadline_ns);
	nr = enter(ring, endless ? NULL : &timeout);
	if (nr >= 0)
		ring->nr_new -= (unsigned int)nr;
	else if (nr != -EINTR && nr != -ETIME)
		return nr;
	bits = take(ring);
	if (bits)
		return (int)bits;
	return !endless && os_now() >= deadline_ns ? -ETIMEDOUT : 0;
}

int os_uring_sleep(struct os_uring *ring, uint64_t deadline_ns)
{
	int saved_errno = errno, result = sleep_in(ring, deadline_ns);

	errno = saved_errno;
	return result;
}

static void submit_cancel(struct os_uring *ring, unsigned int bit)
{
	const struct io_uring_sqe entry = { .opcode = IORING_OP_ASYNC_CANCEL,
					    .addr = bit,
					    .user_data = MARK_CANCEL };

	if (ring->armed & bit)
		submit(ring, &entry);
}

void os_uring_cancel(struct os_uring *ring)
{
	int saved_errno = errno;

	submit_cancel(ring, OS_URING_WORD);
	submit_cancel(ring, OS_URING_READ);
	while (ring->armed) {
		int err = sleep_in(ring, UINT64_MAX);

		if (err < 0)
			break; /* denied; the end of the ring cancels, too */
	}
	errno = saved_errno;
}
