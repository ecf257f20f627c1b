/* SPDX-License-Identifier: MIT */
/*
 * uring.c - see uring.h.
 *
 * The kernel touches the ring only inside the system calls of the thread that owns
 * the ring (SINGLE_ISSUER, DEFER_TASKRUN).
 */
#include "os/uring.h"

#include "base/atomic.h"
#include "os/clock.h"
#include "os/fault.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Not in the headers of Debian 12. */
#define OP_FUTEX_WAIT 51 /* IORING_OP_FUTEX_WAIT, Linux 6.7              */
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
		     : syscall(SYS_io_uring_enter, ring->queue.fd, ring->nr_new,
			       1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG,
			       &arg, sizeof(arg));
	return nr < 0 ? -errno : (int)nr;
}

/* ---- begin and end ------------------------------------------------------------------ */

static int create(struct os_uring *ring)
{
	const struct uring_wish wish = {
		.nr_entries = NR_ENTRIES,
		/* Linux 6.1. */
		.flags = IORING_SETUP_SINGLE_ISSUER |
			 IORING_SETUP_DEFER_TASKRUN,
		.features = IORING_FEAT_EXT_ARG,
	};
	int err;

	*ring = (struct os_uring){ 0 };
	err = uring_queue_open(&ring->queue, &wish);
	if (err)
		return err;
	if (uring_queue_operations(&ring->queue) & 1ull << OP_FUTEX_WAIT)
		return 0;
	uring_queue_close(&ring->queue);
	return -ENOSYS;
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
	uring_queue_close(&ring->queue);
	errno = saved_errno;
}

/* ---- operations --------------------------------------------------------------------- */

/* There is room: the ring has at most two operations, and their cancels. */
static void submit(struct os_uring *ring, const struct io_uring_sqe *entry)
{
	uring_queue_push(&ring->queue, entry);
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
	struct io_uring_cqe cqe;
	unsigned int bits = 0;

	while (uring_queue_take(&ring->queue, &cqe))
		bits |= (unsigned int)cqe.user_data;
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
