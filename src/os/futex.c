/* SPDX-License-Identifier: MIT */
/*
 * futex.c - futex(2), and futex_waitv(2).
 *
 * FUTEX_WAIT would take a timeout relative to now; FUTEX_WAIT_BITSET takes a
 * point in time of CLOCK_MONOTONIC, and with all bits set is the same wait.
 *
 * futex_waitv has no function in the C library, and older kernels' headers have no
 * struct for it: both are written down here.  Rejected for several words: one word
 * that all wakers write.  Nobody else may write to a page of this process, and a waker
 * would need a system call to tell.
 */
#include "os/futex.h"

#include "base/assert.h"
#include "base/chaos.h"
#include "os/clock.h"
#include "os/fault.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * Valgrind takes the word of a wake for memory that is read.  The kernel looks
 * at the address alone, and the word may be gone by then.
 */
#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif
#ifndef VALGRIND_DISABLE_ERROR_REPORTING
#define VALGRIND_DISABLE_ERROR_REPORTING ((void)0)
#define VALGRIND_ENABLE_ERROR_REPORTING ((void)0)
#endif

#define NS_PER_SEC 1000000000u

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449 /* on every architecture */
#endif

/* struct futex_waitv of the kernel; the size of a word is a flag. */
struct waitv {
	uint64_t expected;
	uint64_t word;
	uint32_t flags;
	uint32_t zero;
};
#define WAITV_U32 2u
#define WAITV_PRIVATE 128u

/*
 * The kernel keeps time in signed nanoseconds.  A time that does not fit lies
 * 292 years ahead and is as good as the last point in time that does.
 */
static struct timespec timespec_of(uint64_t ns)
{
	if (ns > INT64_MAX)
		ns = INT64_MAX;
	return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_SEC),
				  .tv_nsec = (long)(ns % NS_PER_SEC) };
}

/* Private words are found without asking for the page. */
static int wait_for(const uint32_t *word, int kind, uint32_t expected,
		    uint64_t deadline_ns)
{
	struct timespec until = timespec_of(deadline_ns);
	int saved = errno, err = 0;

	if (chaos_says(CHAOS_WAKE))
		return 0;
	if ((fault_spurious("futex", EINTR, EAGAIN) &&
	     os_now() < deadline_ns) ||
	    syscall(SYS_futex, word, FUTEX_WAIT_BITSET | kind, expected,
		    deadline_ns == UINT64_MAX ? NULL : &until, NULL,
		    FUTEX_BITSET_MATCH_ANY) < 0)
		err = errno;
	errno = saved;
	switch (err) {
	case 0:
	case EAGAIN: /* the word is different */
	case EINTR:
		return 0;
	case ETIMEDOUT:
		return -ETIMEDOUT;
	default:
		sley_fatal("futex wait failed: %s", strerror(err));
	}
}

int os_futex_wait(const uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
	return wait_for(word, FUTEX_PRIVATE_FLAG, expected, deadline_ns);
}

int os_futex_wait_shared(const uint32_t *word, uint32_t expected,
			 uint64_t deadline_ns)
{
	return wait_for(word, 0, expected, deadline_ns);
}

/* An errno value, 0 for a wake-up; errno itself stays. */
static int waitv(const struct waitv *words, int nr, uint64_t deadline_ns)
{
	struct timespec until = timespec_of(deadline_ns);
	int saved = errno, err = 0;

	if (fault_errno("futex_waitv", ENOSYS, ENOMEM) ||
	    syscall(SYS_futex_waitv, words, nr, 0,
		    deadline_ns == UINT64_MAX ? NULL : &until,
		    CLOCK_MONOTONIC) < 0)
		err = errno;
	errno = saved;
	return err;
}

int os_futex_wait_many(const struct os_futex_word *words, int nr,
		       uint64_t deadline_ns)
{
	struct waitv kernels[OS_FUTEX_WORDS_MAX];
	int err;

	sley_assert(nr > 0 && nr <= OS_FUTEX_WORDS_MAX);
	if (chaos_says(CHAOS_WAKE))
		return 0;
	for (int i = 0; i < nr; i++)
		kernels[i] = (struct waitv){
			.expected = words[i].expected,
			.word = (uintptr_t)words[i].word,
			.flags = WAITV_U32 |
				 (words[i].is_private ? WAITV_PRIVATE : 0),
		};
	err = waitv(kernels, nr, deadline_ns);
	switch (err) {
	case 0:
	case EAGAIN: /* a word is different */
	case EINTR:
		return 0;
	case ETIMEDOUT:
	case ENOMEM:
		return -err;
	case ENOSYS:
	case EPERM: /* a filter */
	case EACCES:
		return -ENOSYS;
	default:
		sley_fatal("futex wait for %d words failed: %s", nr,
			   strerror(err));
	}
}

static void wake(const uint32_t *word, int kind, int nr)
{
	int saved = errno;

	sley_assert(nr > 0);
	/*
	 * A failure is not reported.  The waker may be the last one to know
	 * the word: the sleeper saw the change and freed or unmapped it.
	 * fault: in no other case.
	 */
	VALGRIND_DISABLE_ERROR_REPORTING;
	syscall(SYS_futex, word, FUTEX_WAKE | kind, nr, NULL, NULL, 0);
	VALGRIND_ENABLE_ERROR_REPORTING;
	errno = saved;
}

void os_futex_wake(const uint32_t *word, int nr)
{
	wake(word, FUTEX_PRIVATE_FLAG, nr);
}

void os_futex_wake_shared(const uint32_t *word, int nr)
{
	wake(word, 0, nr);
}
