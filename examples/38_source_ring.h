/* SPDX-License-Identifier: MIT */
/*
 * 38_source_ring.h - what the two processes of 38_source_ring.c share.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { SLOTS = 64, SLEEPS = 1, ONE = 2 };

struct ring {
	atomic_uint in;  /* items put * ONE + SLEEPS, if a worker sleeps */
	atomic_uint out; /* items taken                                  */
	int fd;          /* an eventfd, which wakes the worker           */
	int slot[SLOTS];
};

static inline bool ring_has(void *arg)
{
	struct ring *ring = arg;

	return ring->in / ONE != ring->out;
}

/* "There is more" and the look for a sleeper are one operation of one word ... */
static inline void ring_put(struct ring *ring, int item)
{
	while (ring->in / ONE - ring->out == SLOTS)
		(void)sleep(0); /* full */
	ring->slot[ring->in / ONE % SLOTS] = item;
	if (atomic_fetch_add(&ring->in, ONE) & SLEEPS) {
		atomic_fetch_and(&ring->in, ~(unsigned int)SLEEPS);
		eventfd_write(ring->fd, 1);
	}
}

/* ... and so are "I sleep" and the look for items. */
static inline bool ring_arm(void *arg)
{
	struct ring *ring = arg;

	return atomic_fetch_or(&ring->in, SLEEPS) / ONE != ring->out;
}
