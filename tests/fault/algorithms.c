/* SPDX-License-Identifier: MIT */
/*
 * algorithms.c - what sorts and pipelines do without memory.
 */
#include "fault/sweep.h"

#include <errno.h>
#include <string.h>

/* ---- sorts ----------------------------------------------------------------- */

#define NR 5000

static int compare(const void *a, const void *b, void *arg)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	(void)arg;
	return (x > y) - (x < y);
}

static void check_sorted(const int32_t *a)
{
	for (int i = 1; i < NR; i++)
		CHECK_LE(a[i - 1], a[i]);
}

static void use_sorts(void *arg)
{
	static int32_t in[NR], a[NR];

	(void)arg;
	for (int i = 0; i < NR; i++)
		in[i] = i * 7919 % NR;
	memcpy(a, in, sizeof(a));
	if (TRY(sley_sort_stable(a, NR, sizeof(*a), compare, NULL), -ENOMEM))
		check_sorted(a);
	else
		CHECK_EQ(memcmp(a, in, sizeof(a)), 0);
	/* This one cannot fail. */
	memcpy(a, in, sizeof(a));
	sley_sort(a, NR, sizeof(*a), compare, NULL);
	check_sorted(a);
}

SCENARIO(sorts)
{
	trial_play(use_sorts);
}

/* ---- pipelines ------------------------------------------------------------- */

static int make(void **item, void *arg)
{
	int *nr = arg;

	if (*nr < 100)
		*item = nr + ++*nr;
	return 0;
}

static int nap(void **item, void *arg)
{
	(void)item;
	(void)arg;
	return sley_sleep(SLEY_USEC);
}

static int count(void **item, void *arg)
{
	(void)item;
	++*(int *)arg;
	return 0;
}

static void use_pipelines(void *arg)
{
	int numbers[101] = { 0 }, counted = 0;
	const struct sley_stage stages[] = {
		{ make, numbers, SLEY_STAGE_ORDERED, NULL },
		{ nap, NULL, SLEY_STAGE_PARALLEL, NULL },
		{ count, &counted, SLEY_STAGE_ORDERED | SLEY_STAGE_BLOCKS,
		  NULL },
	};

	(void)arg;
	CHECK_EQ(sley_pipeline_with(stages, 3, 6, NULL), 0);
	CHECK_EQ(counted, 100);
}

SCENARIO(pipelines)
{
	trial_play(use_pipelines);
}

static void use_feeds(void *arg)
{
	int numbers[20] = { 0 }, counted = 0, nr = 0;
	const struct sley_stage stages[] = {
		{ nap, NULL, SLEY_STAGE_PARALLEL, NULL },
		{ count, &counted, SLEY_STAGE_ORDERED, NULL },
	};
	struct sley_feed *feed;

	(void)arg;
	if (!TRY(sley_feed_open(&feed, stages, 2,
				SLEY_FEED_OPTIONS(.tokens = 3)),
		 -ENOMEM))
		return;
	while (nr < 20) {
		CHECK_EQ(sley_feed_put(feed, &numbers[nr]), 0);
		nr++;
	}
	CHECK_EQ(sley_feed_close(feed), 0);
	CHECK_EQ(counted, 20);
}

SCENARIO(feeds)
{
	trial_play(use_feeds);
}
