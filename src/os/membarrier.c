/* SPDX-License-Identifier: MIT */
/*
 * membarrier.c - membarrier(2), the private expedited kind.
 *
 * Registration makes the kernel keep the promise in its context switches, so
 * that only CPUs running this process need an interrupt.  The global kind asks
 * for no registration, but takes milliseconds.
 */
#include "os/membarrier.h"

#include "base/assert.h"
#include "os/fault.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* 0 or an errno value; errno itself stays.  fault: by the callers. */
static int membarrier(int command)
{
	int saved = errno, err = 0;

	if (syscall(SYS_membarrier, command, 0, 0) < 0)
		err = errno;
	errno = saved;
	return err;
}

bool os_membarrier_setup(void)
{
	return !(fault_error("membarrier", ENOSYS, EPERM)
			 ?: membarrier(
				    MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED));
}

void os_membarrier(void)
{
	int err = fault_error("membarrier", ENOMEM)
			  ?: membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);

	/*
	 * The kernel needs memory for a set of CPUs.  The other kind does
	 * without, and waits for all CPUs in turn.
	 */
	if (unlikely(err))
		err = membarrier(MEMBARRIER_CMD_GLOBAL);
	if (unlikely(err))
		sley_fatal("membarrier failed: %s.  It worked when the runtime "
			   "was created; a seccomp filter may forbid it since. "
			   "Install the filter before sley_create(), or create "
			   "the runtime with .no_membarrier",
			   strerror(err));
}
