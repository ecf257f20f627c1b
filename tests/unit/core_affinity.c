/* SPDX-License-Identifier: MIT */
/*
 * core_affinity.c - in which order CPUs are dealt out to workers, on machines
 * of a tree of our own.
 */
#include "unit/tree.h"

#include "core/sched/affinity.h"
#include "os/cpus.h"

#include <sley/error.h>

static struct affinity affinity;
static struct sley_config config;
static struct sley_cpus cpus;

static void begin(const char *list)
{
	CHECK(os_cpus_parse(list, &cpus));
	config.cpus = &cpus;
	config.placement = SLEY_PLACE_ONE_OF;
	affinity_init(&affinity, root, &config);
}

static void deal(const int *expected, int nr)
{
	for (int i = 0; i < nr; i++)
		CHECK_EQ(affinity_deal(&affinity), expected[i]);
}

#define DEALS(...)                                                             \
	do {                                                                   \
		static const int expected_[] = { __VA_ARGS__ };                \
		deal(expected_, sizeof(expected_) / sizeof(expected_[0]));     \
	} while (0)

TEST(m37_without_topology_cpus_are_dealt_out_in_order_and_again)
{
	make_tree();
	begin("1,4-5,70");
	DEALS(1, 4, 5, 70, 1, 4, 5, 70, 1);
	remove_tree();
}

/* As most machines with hyper-threads count: siblings are n apart. */
TEST(m37_cores_come_first_where_siblings_are_far_apart)
{
	make_tree();
	for (int i = 0; i < 4; i++) {
		char list[16];

		snprintf(list, sizeof(list), "%d,%d\n", i, i + 4);
		put_cpu(i, "topology/core_cpus_list", list);
		put_cpu(i + 4, "topology/core_cpus_list", list);
	}
	begin("0-7");
	DEALS(0, 1, 2, 3, 4, 5, 6, 7, 0, 1);
	/* One core has lost its lower half. */
	begin("0-1,3-7");
	DEALS(0, 1, 3, 6, 4, 5, 7, 0, 1, 3);
	remove_tree();
}

TEST(m37_cores_come_first_where_siblings_are_neighbours)
{
	make_tree();
	for (int i = 0; i < 8; i++) {
		char list[16];

		snprintf(list, sizeof(list), "%d-%d\n", i & ~1, i | 1);
		put_cpu(i, "topology/thread_siblings_list", list);
	}
	begin("0-7");
	DEALS(0, 2, 4, 6, 1, 3, 5, 7, 0, 2);
	begin("1,6-7");
	DEALS(1, 6, 7, 1);
	remove_tree();
}

TEST(m37_four_threads_of_one_core_take_four_rounds)
{
	make_tree();
	for (int i = 0; i < 8; i++)
		put_cpu(i, "topology/core_cpus_list", i < 4 ? "0-3" : "4-7");
	begin("0-7");
	DEALS(0, 4, 1, 5, 2, 6, 3, 7, 0, 4);
	remove_tree();
}

/* ---- policies ------------------------------------------------------------------ */

static void nowhere(void *self, int worker, struct sley_cpus *out)
{
	CHECK(self == &config);
	CHECK_EQ(sley_cpus_count(out), 2);
	if (worker == 1)
		*out = (struct sley_cpus){ { 0 } };
	(void)sley_cpus_add(out, 99); /* is none of ours */
}

TEST(m37_a_custom_choice_is_kept_within_what_may_be_used)
{
	struct sley_cpus out;

	make_tree();
	begin("8-9");
	config.placement = SLEY_PLACE_CUSTOM;
	config.place = nowhere;
	config.hook_self = &config;
	CHECK_EQ(affinity_next(&affinity, 0, &out), 1);
	CHECK_EQ(sley_cpus_count(&out), 2);
	CHECK(!sley_cpus_has(&out, 99));
	CHECK_EQ(affinity_next(&affinity, 1, &out), SLEY_ECPUS);
	remove_tree();
}
