/* SPDX-License-Identifier: MIT */
/*
 * os_cpu_distance.c - how far CPUs are from each other, from a tree of our own.
 * More machines are in core_victims.c.
 */
#include "unit/tree.h"

#include "os/cpus.h"
#include "os/cpu_distance.h"

static uint64_t place[SLEY_CPUS_MAX];
static struct sley_cpus cpus;

static void look_at(const char *where, const char *list)
{
	CHECK(os_cpus_parse(list, &cpus));
	errno = E2BIG;
	os_cpu_distance_read(where, &cpus, place);
	CHECK_EQ(errno, E2BIG);
}

TEST(without_sys_each_cpu_is_a_core_of_one_node)
{
	make_tree();
	look_at(root, "1,3-4");
	CHECK_EQ(place[0], PLACE_UNKNOWN);
	CHECK_EQ(place[1], place_of(0, 1, 1));
	CHECK_EQ(place[2], PLACE_UNKNOWN);
	CHECK_EQ(place[3], place_of(0, 3, 3));
	CHECK_EQ(place[4], place_of(0, 4, 4));
	remove_tree();
}

TEST(one_list_is_enough_for_all_that_are_in_it)
{
	make_tree();
	put_cpu(2, "topology/thread_siblings_list", "0,2\n");
	put_cpu(1, "topology/core_cpus_list", "1,3\n");
	put_cpu(1, "cache/index0/level", "2\n");
	put_cpu(1, "cache/index0/shared_cpu_list", "0-3\n");
	put_cpu(1, "node1/there", "");
	put("/sys/devices/system/node/online", "0-1\n");
	look_at(root, "1-3");
	CHECK_EQ(place[1], place_of(1, 0, 1));
	CHECK_EQ(place[2], place_of(0, 0, 0));
	CHECK_EQ(place[3], place_of(1, 0, 1));
	remove_tree();
}

/* Then each CPU is asked for itself, and siblings share what they can. */
TEST(a_list_that_is_too_long_is_as_good_as_none)
{
	static char list[2048];
	int length = 0;

	make_tree();
	while (length < 1200)
		length += snprintf(list + length, sizeof(list) - (size_t)length,
				   "%d,", length);
	for (int i = 0; i < 4; i++) {
		put_cpu(i, "topology/core_cpus_list", i < 2 ? "0-1" : "2-3");
		put_cpu(i, "cache/index0/level", "3\n");
		put_cpu(i, "cache/index0/shared_cpu_list", list);
	}
	look_at(root, "0-3");
	for (int i = 0; i < 4; i++)
		CHECK_EQ(place[i], place_of(0, i & 2, i & 2));
	remove_tree();
}

/* A list that does not name the CPU it is about is none. */
TEST(a_list_of_others_is_passed_over)
{
	make_tree();
	put_cpu(0, "topology/core_cpus_list", "1\n");
	put_cpu(1, "topology/core_cpus_list", "\n");
	look_at(root, "0-1");
	CHECK_EQ(place[0], place_of(0, 0, 0));
	CHECK_EQ(place[1], place_of(0, 1, 1));
	remove_tree();
}

TEST(distances_follow_from_places)
{
	uint64_t here = place_of(1, 8, 10);

	CHECK_LT(here ^ place_of(1, 8, 10), PLACE_CORE);
	CHECK_LT(here ^ place_of(1, 8, 12), PLACE_CACHE);
	CHECK_GE(here ^ place_of(1, 8, 12), PLACE_CORE);
	CHECK_LT(here ^ place_of(1, 16, 18), PLACE_NODE);
	CHECK_GE(here ^ place_of(1, 16, 18), PLACE_CACHE);
	CHECK_LT(here ^ place_of(0, 0, 0), PLACE_END);
	CHECK_GE(here ^ place_of(0, 8, 10), PLACE_NODE);
}

TEST(this_machine_is_as_described)
{
	os_cpus_usable("", &cpus);
	os_cpu_distance_read("", &cpus, place);
	for (int i = sley_cpus_next(&cpus, 0); i >= 0;
	     i = sley_cpus_next(&cpus, i + 1)) {
		struct sley_cpu about;
		struct sley_cpus sharers;

		os_cpu_describe("", i, &about);
		if (!os_cpu_cache_cpus("", i, &sharers))
			about.cache = about.core;
		CHECK_EQ(place[i],
			 place_of(about.node, about.cache, about.core));
	}
	CHECK_LT(os_cpu_current(), SLEY_CPUS_MAX);
}
