/* SPDX-License-Identifier: MIT */
/*
 * pipe.c - <sley/io.h>: a new pipe.
 */
#include <sley/io.h>

#include "io/descriptor.h"
#include "os/network.h"
#include "os/shared_memory.h"

int sley_io_pipe(int fd[2])
{
	int err = os_pipe(fd, false);

	if (err)
		return err;
	err = descriptor_is_new(fd[0], "sley_io_pipe");
	if (!err)
		err = descriptor_is_new(fd[1], "sley_io_pipe");
	if (!err)
		return 0;
	os_close(fd[0]);
	os_close(fd[1]);
	return err;
}
