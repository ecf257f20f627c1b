/* SPDX-License-Identifier: MIT */
/*
 * 35_feed.c - a loop feeds a pipeline, whose last stage may block its thread.
 *
 *   cc 35_feed.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>

struct block {
	int first, sum;
};

static int add_up(void **item, void *unused)
{
	struct block *block = *item;

	(void)unused;
	for (int i = block->first; i < block->first + 100; i++)
		block->sum += i;
	return 0;
}

/* SLEY_STAGE_BLOCKS: no worker waits for the terminal. */
static int write_down(void **item, void *arg)
{
	struct block *block = *item;

	*(int *)arg += block->sum;
	printf("%3d to %3d: %5d\n", block->first, block->first + 99,
	       block->sum);
	return fflush(stdout);
}

static void root(void *arg)
{
	static struct block blocks[6];
	const struct sley_stage stages[] = {
		{ add_up, NULL, SLEY_STAGE_PARALLEL, NULL },
		{ write_down, arg, SLEY_STAGE_ORDERED | SLEY_STAGE_BLOCKS,
		  NULL },
	};
	struct sley_feed *feed;
	int err = sley_feed_open(&feed, stages, 2, NULL);

	for (int i = 0; i < 6 && !err; i++) {
		blocks[i].first = 100 * i;
		err = sley_feed_put(feed, &blocks[i]);
	}
	if (sley_feed_close(feed) || err)
		*(int *)arg = -1;
}

int main(void)
{
	int total = 0;

	return sley_run(NULL, root, &total) != 0 || total != 600 * 599 / 2;
}
