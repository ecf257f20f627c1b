/* SPDX-License-Identifier: MIT */
/*
 * uring_file.c - see uring_file.h.
 */
#include "os/uring_file.h"

#include "os/fault.h"

#include <errno.h>
#include <linux/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NR_ENTRIES 2
#define OP_FTRUNCATE                                                           \
	55 /* IORING_OP_FTRUNCATE; not in the headers of Debian 12 */

static const uint8_t operations[NR_OS_FILE_KINDS] = {
	[OS_FILE_READ] = IORING_OP_READV,
	[OS_FILE_WRITE] = IORING_OP_WRITEV,
	[OS_FILE_OPEN] = IORING_OP_OPENAT,
	[OS_FILE_OPEN_BENEATH] = IORING_OP_OPENAT2,
	[OS_FILE_CLOSE] = IORING_OP_CLOSE,
	[OS_FILE_SYNC] = IORING_OP_FSYNC,
	[OS_FILE_DATASYNC] = IORING_OP_FSYNC,
	[OS_FILE_TRUNCATE] = OP_FTRUNCATE,
	[OS_FILE_STAT] = IORING_OP_STATX,
	[OS_FILE_UNLINK] = IORING_OP_UNLINKAT,
	[OS_FILE_RENAME] = IORING_OP_RENAMEAT,
};

/* ---- begin and end -------------------------------------------------------------------- */

static uint32_t kinds_of(uint64_t has)
{
	uint32_t kinds = 0;

	for (unsigned int i = 0; i < NR_OS_FILE_KINDS; i++) {
		if (operations[i] && has & 1ull << operations[i])
			kinds |= 1u << i;
	}
	return kinds;
}

static int create(struct os_uring_file *ring, uint32_t nr_completions)
{
	const struct uring_wish wish = {
		.nr_entries = NR_ENTRIES,
		.nr_completions = nr_completions,
		.features = IORING_FEAT_NODROP | IORING_FEAT_NATIVE_WORKERS,
	};
	int err = uring_queue_open(&ring->queue, &wish);

	if (err)
		return err;
	ring->kinds = kinds_of(uring_queue_operations(&ring->queue));
	if (ring->kinds)
		return 0;
	uring_queue_close(&ring->queue);
	return -ENOSYS;
}

int os_uring_file_create(struct os_uring_file *ring, uint32_t nr_completions)
{
	int saved_errno = errno, err = create(ring, nr_completions);

	errno = saved_errno;
	return err;
}

void os_uring_file_destroy(struct os_uring_file *ring)
{
	int saved_errno = errno;

	uring_queue_close(&ring->queue);
	errno = saved_errno;
}

/* ---- submissions ---------------------------------------------------------------------- */

bool os_uring_file_takes(const struct os_uring_file *ring,
			 const struct os_file_call *call)
{
	bool at_position =
		(call->kind == OS_FILE_READ || call->kind == OS_FILE_WRITE) &&
		call->offset < 0;

	return ring->kinds & 1u << call->kind && !at_position;
}

/* 0 or -errno. */
static int enter(const struct uring_queue *queue)
{
	long nr;

	do {
		nr = fault_errno("io_uring_enter", EAGAIN, EPERM, EBUSY)
			     ? -1
			     : syscall(SYS_io_uring_enter, queue->fd, 1, 0, 0,
				       NULL, 0);
	} while (nr < 0 && errno == EINTR);
	return nr < 0 ? -errno : 0;
}

static int submit(struct os_uring_file *ring, const struct io_uring_sqe *entry)
{
	struct uring_queue *queue = &ring->queue;
	int saved_errno = errno, err;

	uring_queue_push(queue, entry);
	err = enter(queue);
	errno = saved_errno;
	if (uring_queue_is_taken(queue))
		return 0;
	uring_queue_retract(queue);
	return err ? err : -EAGAIN;
}

static uint64_t address(const void *pointer)
{
	return (uintptr_t)pointer;
}

/* The part of an entry that depends on the kind. */
static void describe(struct io_uring_sqe *entry,
		     const struct os_file_call *call)
{
	switch (call->kind) {
	case OS_FILE_READ:
	case OS_FILE_WRITE:
		entry->addr = address(call->part);
		entry->len = (uint32_t)call->nr;
		entry->off = (uint64_t)call->offset;
		break;
	case OS_FILE_OPEN:
		entry->addr = address(call->path);
		entry->len = call->mode;
		entry->open_flags = (uint32_t)call->flags;
		entry->flags = IOSQE_ASYNC;
		break;
	case OS_FILE_OPEN_BENEATH:
		entry->addr = address(call->path);
		entry->len = sizeof(*call->how);
		entry->off = address(call->how);
		entry->flags = IOSQE_ASYNC;
		break;
	case OS_FILE_CLOSE:
		entry->flags = IOSQE_ASYNC;
		break;
	case OS_FILE_DATASYNC:
		entry->fsync_flags = IORING_FSYNC_DATASYNC;
		break;
	case OS_FILE_TRUNCATE:
		entry->off = (uint64_t)call->offset;
		break;
	case OS_FILE_STAT:
		entry->addr = address(call->path);
		entry->len = call->mode;
		entry->off = address(call->stat);
		entry->statx_flags = (uint32_t)call->flags;
		break;
	case OS_FILE_UNLINK:
		entry->addr = address(call->path);
		entry->unlink_flags = (uint32_t)call->flags;
		break;
	case OS_FILE_RENAME:
		entry->addr = address(call->path);
		entry->len = (uint32_t)call->to_fd;
		entry->addr2 = address(call->to_path);
		entry->rename_flags = (uint32_t)call->flags;
		break;
	default:
		break;
	}
}

int os_uring_file_submit(struct os_uring_file *ring,
			 const struct os_file_call *call, uint64_t mark)
{
	struct io_uring_sqe entry = { .opcode = operations[call->kind],
				      .fd = call->fd,
				      .user_data = mark };

	describe(&entry, call);
	return submit(ring, &entry);
}

int os_uring_file_cancel(struct os_uring_file *ring, uint64_t mark,
			 uint64_t cancel_mark)
{
	const struct io_uring_sqe entry = { .opcode = IORING_OP_ASYNC_CANCEL,
					    .fd = -1,
					    .addr = mark,
					    .user_data = cancel_mark };

	return submit(ring, &entry);
}

/* ---- completions ------------------------------------------------------------------------ */

bool os_uring_file_has(const struct os_uring_file *ring)
{
	return uring_queue_has(&ring->queue);
}

/* The kernel's own errors for a call that a signal ended; see uring_file.h. */
#define RESTART_FIRST 512 /* ERESTARTSYS           */
#define RESTART_LAST 516  /* ERESTART_RESTARTBLOCK */

static int result_of(const struct io_uring_cqe *cqe)
{
	return cqe->res <= -RESTART_FIRST && cqe->res >= -RESTART_LAST
		       ? -EINTR
		       : cqe->res;
}

unsigned int os_uring_file_take(struct os_uring_file *ring,
				struct os_uring_done *done, unsigned int max)
{
	struct io_uring_cqe cqe;
	unsigned int nr = 0;

	while (nr < max && uring_queue_take(&ring->queue, &cqe))
		done[nr++] = (struct os_uring_done){ cqe.user_data,
						     result_of(&cqe) };
	return nr;
}
