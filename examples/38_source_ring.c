/* SPDX-License-Identifier: MIT */
/*
 * 38_source_ring.c - another process writes numbers into a ring in shared memory.
 *
 *   cc 38_source_ring.c $(pkg-config --cflags --libs sley)
 */
#define _GNU_SOURCE
#include "38_source_ring.h"
#include <sley/sley.h>
#include <sys/mman.h>

enum { ITEMS = 5000 };

static atomic_int sum, nr;

static void serve(void *arg)
{
	atomic_fetch_add(&sum, (int)(intptr_t)arg);
	atomic_fetch_add(&nr, 1);
}

static bool take(void *arg)
{
	struct ring *ring = arg;
	eventfd_t signals;

	eventfd_read(ring->fd, &signals); /* first, then the items */
	for (int i = 0; i < 32 && ring_has(ring); i++, ring->out++) {
		intptr_t item = ring->slot[ring->out % SLOTS];

		if (sley_schedule(serve, (void *)item))
			break;
	}
	return ring_has(ring);
}

int main(void)
{
	struct ring *ring = mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct sley_source *source;
	struct sley *rt;

	ring->fd = eventfd(0, EFD_NONBLOCK);
	if (fork() == 0) { /* before there is a runtime */
		for (int i = 0; i < ITEMS; i++)
			ring_put(ring, i);
		return 0;
	}
	if (sley_create(&rt, NULL) ||
	    sley_source_create(rt, &source,
			       SLEY_SOURCE_OPTIONS(.fd = ring->fd, .take = take,
						   .has = ring_has,
						   .arm = ring_arm),
			       ring))
		return 1;
	while (atomic_load(&nr) < ITEMS)
		sley_sleep(SLEY_MSEC);
	return sley_destroy(rt) || sum != ITEMS * (ITEMS - 1) / 2;
}
