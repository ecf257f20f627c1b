/* SPDX-License-Identifier: MIT */
/*
 * shared_rings.c - the memory of a request ring is created and attached to, where
 * calls fail.
 */
#include "fault/sweep.h"

#include "os/shared_memory.h"
#include "shm/request_ring.h"

#include <errno.h>

static struct request_ring ours, theirs;
static int fd;

static int create(void)
{
	fd = request_ring_create(&ours, "sweep", 4, 64);
	return fd < 0 ? fd : 0;
}

SCENARIO(memory_of_a_request_ring)
{
	if (!TRY(create(), -ENOMEM, -EMFILE, -ENOSPC, -EPERM))
		return;
	if (TRY(request_ring_attach(&theirs, fd), -ENOMEM)) {
		CHECK_EQ(theirs.depth, 4);
		request_ring_detach(&theirs);
	}
	request_ring_detach(&ours);
	os_close(fd);
}
