/* SPDX-License-Identifier: MIT */
/*
 * hazard_million.c - fiber hazards: a million fibers at once under the default
 * vm.max_map_count, with guards and stacks of the default size.
 */
#include <stdio.h>
#include <stdlib.h>

#include "conformance/bound.h"

TEST_PROOF("hazard")

#define NR_FIBERS 1000000

struct blocked {
	struct sley_event event;
	atomic_int waiting, resumed;
};

static void block(void *arg)
{
	struct blocked *b = arg;

	atomic_fetch_add(&b->waiting, 1);
	CHECK_EQ(sley_event_wait(&b->event), 0);
	atomic_fetch_add(&b->resumed, 1);
}

static long memory_kib(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	long value = 0;
	char line[256];

	CHECK(file);
	while (!value && fgets(line, sizeof(line), file))
		(void)!sscanf(line, "MemAvailable: %ld", &value);
	fclose(file);
	return value;
}

static long nr_mappings(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[1024];
	long nr = 0;

	CHECK(file);
	while (fgets(line, sizeof(line), file))
		nr++;
	fclose(file);
	return nr;
}

static void skip_where_it_cannot_be(void)
{
	if (test_is_slow())
		test_skip("a million is for the real thing");
	if (memory_kib() < 8 << 20)
		test_skip("less than 8 GiB of memory are free");
}

TEST(mappings_a_million_blocked_fibers_fit_under_the_default_limit)
{
	struct sley_task *tasks = calloc(NR_FIBERS, sizeof(*tasks));
	struct blocked b = { .event = SLEY_EVENT_INIT };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_config config = config_of(2);
	struct sley_stats stats;
	struct sley *rt;

	skip_where_it_cannot_be();
	test_timeout(300);
	CHECK(tasks);
	config.stack_kib = 0; /* the default, 256 */
	rt = start_with(&config);
	for (int i = 0; i < NR_FIBERS; i++)
		sley_spawn(&group, &tasks[i], block, &b);
	while (atomic_load(&b.waiting) < NR_FIBERS)
		CHECK_EQ(sley_sleep(10 * SLEY_MSEC), 0);
	/* The default limit is 65,530. */
	CHECK_LT(nr_mappings(), 10000);
	sley_get_stats(rt, &stats);
	CHECK_GE(stats.fibers, NR_FIBERS);
	sley_event_set(&b.event);
	sley_join(&group);
	CHECK_EQ(b.resumed, NR_FIBERS);
	stop(rt);
	free(tasks);
}
