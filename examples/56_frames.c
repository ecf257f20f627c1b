/* SPDX-License-Identifier: MIT */
/*
 * 56_frames.c - urgent work: a frame is due every millisecond, beside a program that computes
 *
 *   cc -o frames 56_frames.c $(pkg-config --cflags --libs sley)
 *   ./frames 5                           # beside ./batch 60: no domain
 *   SLEY_DOMAIN=work ./frames 5          # beside SLEY_DOMAIN=work ./batch 60
 *
 * Says how late the frames were done.  In a domain they go before the work of 55_batch.c.
 */
#include <sley/sley.h>
#include <stdio.h>
#include <stdlib.h>

#define PERIOD (1 * SLEY_MSEC)
#define DRAWING (200 * SLEY_USEC)

static int nr_frames;
static uint64_t *late_ns;

static void frames(void *arg)
{
	uint64_t due_ns = sley_now();

	(void)arg;
	for (int i = 0; i < nr_frames; i++, due_ns += PERIOD) {
		uint64_t end_ns;

		if (sley_sleep_until(due_ns))
			return;
		end_ns = sley_after(DRAWING);
		while (sley_now() < end_ns) /* draws */
			;
		late_ns[i] = sley_now() - due_ns - DRAWING;
	}
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	struct sley *rt;

	nr_frames = argc > 1 ? atoi(argv[1]) * 1000 : 100;
	late_ns = calloc(nr_frames + 1, sizeof(uint64_t));
	if (!late_ns || sley_create(&rt, NULL) ||
	    sley_schedule_on(rt, frames, NULL, SLEY_OPTIONS(.priority = -10)) ||
	    sley_destroy(rt)) /* when all frames are done */
		return 1;
	qsort(late_ns, nr_frames, sizeof(uint64_t), by_size);
	printf("frames: %d, late by %.3f ms (median), %.3f ms (1 of 100)\n",
	       nr_frames, late_ns[nr_frames / 2] / 1e6,
	       late_ns[nr_frames * 99 / 100] / 1e6);
	return 0;
}
