/* SPDX-License-Identifier: MIT */
/*
 * core_intensity.c - failures within a window that slides.
 */
#include "harness/test.h"

#include "core/life/intensity.h"

static struct mem mem;
static struct intensity intensity;

static bool take(uint32_t most, uint64_t within_ns, uint64_t now_ns)
{
	if (!mem.hook.alloc)
		mem_init(&mem, &test_config()->allocator);
	return intensity_take(&intensity, &mem, most, within_ns, now_ns);
}

static void finish(void)
{
	intensity_fini(&intensity, &mem);
	CHECK_EQ(mem_allocated(&mem), 0);
}

TEST(so_many_are_tolerated_and_no_more)
{
	for (uint64_t i = 0; i < 3; i++)
		CHECK(take(3, 100, 1000 + i));
	CHECK(!take(3, 100, 1003));
	CHECK(!take(3, 100, 1100));
	finish();
}

TEST(none_at_all_may_be_tolerated)
{
	CHECK(!take(0, 100, 1000));
	finish();
}

TEST(the_window_slides)
{
	CHECK(take(2, 100, 1000));
	CHECK(take(2, 100, 1090));
	CHECK(!take(2, 100,
		    1100)); /* exactly as old as the window still counts */
	CHECK(take(2, 100, 1101));  /* the first one does not count any more */
	CHECK(!take(2, 100, 1150)); /* a window that began anew would take it */
	CHECK(take(2, 100, 1191));
	finish();
}

TEST(a_large_number_costs_memory_only_for_what_has_failed)
{
	for (uint64_t i = 0; i < 1000; i++)
		CHECK(take(UINT32_MAX, 10000, 1000 + i));
	CHECK_LE(mem_allocated(&mem), 2 * 1024 * sizeof(uint64_t));
	CHECK(!take(1000, 10000, 2500));
	CHECK(take(1000, 1500, 2501)); /* 1000 and 1001 are too old */
	finish();
}

TEST(without_memory_the_oldest_is_forgotten)
{
	test_fail_allocation_after(0);
	CHECK(take(1, 100, 1000));
	CHECK(take(1, 100, 1000));
	test_fail_allocation_after(-1);
	CHECK(take(1, 100, 1000));
	CHECK(!take(1, 100, 1000));
	while (intensity.nr < intensity.room)
		CHECK(take(100, 100, 1001));
	test_fail_allocation_after(0);
	CHECK(take(100, 100, 1002));
	CHECK_EQ(intensity.nr, intensity.room);
	test_fail_allocation_after(-1);
	finish();
}
