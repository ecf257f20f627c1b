/* SPDX-License-Identifier: MIT */
/*
 * seccomp.c - system calls that a sandbox forbids, or that an old kernel does
 * not have.
 */
#include "hostile/filter.h"
#include "hostile/surrounding.h"

#include "os/futex.h"
#include "os/sched_attr.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

TEST_PROOF("limit")

#define GUARD_INSTALL 102 /* MADV_GUARD_INSTALL, Linux 6.13 */

static void forbid(int number, int err)
{
	need(filter_forbid(number, err) == 0, "seccomp is not to be had");
}

/* ---- membarrier ------------------------------------------------------------- */

static void no_membarrier(void)
{
	forbid(SYS_membarrier, EPERM);
}

static void no_membarrier_yet(void)
{
	forbid(SYS_membarrier, ENOSYS);
}

/* Linux 4.3 to 4.13: there is the call, but not the quick kind. */
static void no_quick_membarrier(void)
{
	forbid(SYS_membarrier, EINVAL);
}

TEST(membarrier_forbidden)
{
	check_works(no_membarrier, NULL);
	check_works(no_membarrier, "4");
	check_doctor(no_membarrier, "degraded membarrier not available: "
				    "Operation not permitted");
}

TEST(membarrier_of_an_old_kernel)
{
	check_works(no_membarrier_yet, NULL);
	check_works(no_quick_membarrier, "3");
	check_doctor(no_membarrier_yet,
		     "Each spawn and each wake-up pays for a memory fence");
}

/* A program that locks itself in when it has started. */
TEST(membarrier_forbidden_too_late)
{
	char options[64];

	snprintf(options, sizeof(options), "2 forbid-late=%d", SYS_membarrier);
	check_dies(NULL, options,
		   "sley: membarrier failed: Operation not "
		   "permitted.  It worked when the runtime was created");
}

/* ---- guards and other advice --------------------------------------------------- */

static void no_guards(void)
{
	need(filter_forbid_argument(SYS_madvise, 2, GUARD_INSTALL, EINVAL) == 0,
	     "seccomp is not to be had");
	forbid(SYS_process_madvise, ENOSYS);
}

TEST(guards_of_an_old_kernel)
{
	check_works(no_guards, NULL);
	check_works(no_guards, "2 block=1000");
	check_doctor(no_guards, "degraded guards MADV_GUARD_INSTALL: Invalid");
	check_doctor(no_guards, "fibers at most");
	check_dies(no_guards, "2 overflow",
		   "stack overflow in fiber \"culprit\"");
}

static void no_batches(void)
{
	forbid(SYS_process_madvise, EBADF);
}

TEST(guards_one_by_one)
{
	check_works(no_batches, NULL);
}

static void no_madvise(void)
{
	forbid(SYS_madvise, EPERM);
	forbid(SYS_process_madvise, EPERM);
}

TEST(advice_forbidden)
{
	check_works(no_madvise, NULL);
	check_works(no_madvise, "2 block=5000");
	check_doctor(no_madvise,
		     "degraded guards MADV_GUARD_INSTALL: Operation");
}

/* ---- CPUs ------------------------------------------------------------------------ */

static void no_affinity(void)
{
	forbid(SYS_sched_getaffinity, EPERM);
	forbid(SYS_sched_setaffinity, EPERM);
}

TEST(affinity_forbidden)
{
	check_works(no_affinity, NULL);
	check_says(no_affinity, "2 placed",
		   "no runtime: Operation not permitted");
	check_doctor(no_affinity, "degraded placement refused");
	test_result("works, and says why where placed");
}

static void no_getcpu(void)
{
	forbid(SYS_getcpu, ENOSYS);
	forbid(SYS_sched_yield, EPERM);
	forbid(SYS_rseq, ENOSYS);
}

TEST(small_calls_forbidden)
{
	check_works(no_getcpu, NULL);
}

/* ---- priorities ------------------------------------------------------------------------ */

static void no_slices(void)
{
	forbid(SYS_sched_setattr, EPERM);
	forbid(SYS_setpriority, EPERM);
}

TEST(slices_forbidden)
{
	check_works(no_slices, NULL);
	check_doctor(no_slices, "degraded slices sched_setattr refused");
	check_doctor(no_slices, "ok lowering off: setpriority refused");
	no_slices();
	CHECK(!os_sched_has_slices());
	CHECK(!os_sched_may_restore_nice());
	CHECK_EQ(os_sched_set(0, OS_SCHED_BATCH, OS_SLICE_MAX_NS), -EPERM);
	CHECK_EQ(os_sched_set_nice(0, 19), -EPERM);
	test_result("works, and the doctor says so");
}

static void no_new_slices(void)
{
	need(filter_forbid(SYS_sched_getattr, ENOSYS) == 0,
	     "seccomp is not to be had");
}

TEST(slices_that_cannot_be_read)
{
	check_doctor(no_new_slices, "degraded slices sched_setattr refused");
	no_new_slices();
	CHECK(!os_sched_has_slices());
	test_result("the doctor says so");
}

/* ---- threads ----------------------------------------------------------------------- */

static void no_clone3_yet(void)
{
	forbid(SYS_clone3, ENOSYS);
}

TEST(clone3_of_an_old_kernel)
{
	check_works(no_clone3_yet, NULL);
}

static void no_clone3(void)
{
	forbid(SYS_clone3, EPERM);
}

/* As old container engines did; the C library takes it for a no. */
TEST(clone3_forbidden)
{
	check_says(no_clone3, NULL, "no runtime: Operation not permitted");
	check_doctor(no_clone3, "let clone3 fail with ENOSYS");
}

static void no_threads(void)
{
	forbid(SYS_clone3, EAGAIN);
	forbid(SYS_clone, EAGAIN);
}

TEST(threads_forbidden)
{
	check_says(no_threads, NULL,
		   "no runtime: Resource temporarily unavailable");
	check_doctor(no_threads, "broken sley does not start");
	/* The single-threaded mode needs none, but for blocking calls. */
	check_works(no_threads, "-1");
}

/* ---- signals ------------------------------------------------------------------------ */

static void no_alternate_stacks(void)
{
	forbid(SYS_sigaltstack, EPERM);
}

TEST(alternate_stacks_forbidden)
{
	check_works(no_alternate_stacks, NULL);
}

/* ---- files, futexes, rings ------------------------------------------------------------ */

static void no_io_uring(void)
{
	forbid(SYS_io_uring_setup, EPERM);
	forbid(SYS_io_uring_enter, EPERM);
	forbid(SYS_io_uring_register, EPERM);
}

TEST(io_uring_forbidden)
{
	check_works(no_io_uring, NULL);
	check_doctor(no_io_uring, "io_uring not available: Operation not");
}

static void no_new_futexes(void)
{
	forbid(449, ENOSYS); /* futex_waitv, Linux 5.16 */
}

TEST(futex_of_an_old_kernel)
{
	check_works(no_new_futexes, NULL);
	check_doctor(no_new_futexes, "degraded many words futex_waitv: "
				     "Function not implemented");
}

/* Both mean the same to a caller, which then sleeps on one word. */
TEST(futex_for_many_words_forbidden)
{
	uint32_t word = 1;
	const struct os_futex_word words[] = { { .word = &word } };

	forbid(449, EPERM);
	CHECK_EQ(os_futex_wait_many(words, 1, UINT64_MAX), -ENOSYS);
	forbid(449, ENOSYS);
	CHECK_EQ(os_futex_wait_many(words, 1, UINT64_MAX), -ENOSYS);
	CHECK_EQ(os_futex_wait_shared(&word, 0, UINT64_MAX), 0);
	test_result("the caller is told");
}

/* glibc cannot live without, either: somebody says so. */
TEST(futex_forbidden_too_late)
{
	char options[64];
	struct ending e;

	snprintf(options, sizeof(options), "2 forbid-late=%d", SYS_futex);
	run_scene(NULL, options, &e);
	CHECK_NE(e.status, 0);
	CHECK(strstr(e.text, "futex"));
	test_result("says why");
}
