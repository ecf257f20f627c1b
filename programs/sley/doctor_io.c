/* SPDX-License-Identifier: MIT */
/*
 * doctor_io.c - how runtimes wait for descriptors and files here, and why.
 */
#include "doctor.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define OP_FUTEX_WAIT 51 /* Linux 6.7 */
#define OP_FTRUNCATE 55  /* Linux 6.9 */
#define NR_OPERATIONS 64

struct kernel_ring {
	int error;           /* 0: there is io_uring          */
	bool native_workers; /* Linux 5.12: files in a ring   */
	uint64_t operations;
};

static uint64_t ask_operations(int fd)
{
	union {
		struct io_uring_probe head;
		unsigned char
			bytes[sizeof(struct io_uring_probe) +
			      NR_OPERATIONS * sizeof(struct io_uring_probe_op)];
	} all;
	uint64_t bits = 0;

	memset(&all, 0, sizeof(all));
	if (syscall(SYS_io_uring_register, fd, IORING_REGISTER_PROBE, &all,
		    NR_OPERATIONS) < 0)
		return 0;
	for (int i = 0; i < all.head.ops_len; i++) {
		if (all.head.ops[i].flags & IO_URING_OP_SUPPORTED)
			bits |= 1ull << all.head.ops[i].op;
	}
	return bits;
}

static struct kernel_ring ask_kernel(void)
{
	struct io_uring_params params = { 0 };
	long fd = syscall(SYS_io_uring_setup, 1, &params);
	struct kernel_ring ring = { .error = fd < 0 ? errno : 0 };

	if (fd < 0)
		return ring;
	ring.native_workers = params.features & IORING_FEAT_NATIVE_WORKERS;
	ring.operations = ask_operations((int)fd);
	(void)close((int)fd);
	return ring;
}

/* What denies io_uring. */
static const char *denier(int error)
{
	if (read_number("/proc/sys/kernel/io_uring_disabled") > 0)
		return "by kernel.io_uring_disabled";
	return error == ENOSYS ? "by the kernel, or a sandbox" : "by a sandbox";
}

void probe_io_uring(struct finding *out)
{
	struct kernel_ring ring = ask_kernel();
	struct utsname name = { 0 };

	(void)uname(&name);
	if (ring.error)
		found(out, "not available: %s (%s)", strerror(ring.error),
		      denier(ring.error));
	else
		found(out, "Linux %s: files %s, truncation %s, futexes %s",
		      name.release, ring.native_workers ? "yes" : "no",
		      ring.operations & 1ull << OP_FTRUNCATE ? "yes" : "no",
		      ring.operations & 1ull << OP_FUTEX_WAIT ? "yes" : "no");
}

void probe_io(struct finding *out)
{
	const char *wish = getenv("SLEY_IO");
	struct kernel_ring ring = ask_kernel();

	if (!wish || !*wish)
		wish = NULL;
	if (wish && !strcmp(wish, "threads")) {
		found(out, "threads: SLEY_IO says so");
	} else if (wish && !strcmp(wish, "epoll")) {
		found(out, "epoll: SLEY_IO says so");
	} else if (wish && strcmp(wish, "uring")) {
		found(out, "none: SLEY_IO=%s is unknown", wish);
		not_ok(out, VERDICT_BROKEN, "sley_create() returns -EINVAL.",
		       "unset SLEY_IO, or set it to uring, epoll or threads");
	} else if (ring.error) {
		found(out, "epoll, files by threads: io_uring is denied %s",
		      denier(ring.error));
	} else if (!ring.native_workers) {
		found(out, "epoll, files by threads: Linux is older than 5.12");
	} else {
		found(out, "uring: %s",
		      wish ? "SLEY_IO says so" : "the kernel allows it");
	}
}
