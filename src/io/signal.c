/* SPDX-License-Identifier: MIT */
/*
 * signal.c - <sley/signal.h>: signals as waits.
 *
 * A signalfd for each wait.  A blocked signal stays pending between two waits, so none
 * is lost; and a wait needs nothing that would have to be kept.
 */
#include <sley/signal.h>

#include "io/descriptor.h"
#include "os/shared_memory.h"
#include "os/signalfd.h"

#include <poll.h>
#include <sley/io.h>

int sley_signal_wait_until(const sigset_t *set, uint64_t deadline_ns)
{
	int fd = os_signals_blocked(set) ? os_signalfd_create(set) : -EINVAL;
	int signal;

	if (fd < 0)
		return fd;
	signal = descriptor_is_new(fd, "sley_signal_wait");
	while (!signal) {
		signal = sley_io_poll_until(fd, POLLIN, deadline_ns);
		/* Another waiter may have been faster. */
		if (signal > 0)
			signal = os_signalfd_read(fd);
	}
	sley_io_close(fd);
	return signal;
}
