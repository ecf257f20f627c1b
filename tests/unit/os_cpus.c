/* SPDX-License-Identifier: MIT */
/*
 * os_cpus.c - sets of CPUs, the kernel's lists of them, and machines of many
 * kinds, from a tree of our own.
 */
#include "unit/tree.h"

#include "os/cpus.h"

#include <sched.h>

static struct sley_cpus set_of(const char *list)
{
	struct sley_cpus cpus;

	CHECK(os_cpus_parse(list, &cpus));
	return cpus;
}

static bool equal(const struct sley_cpus *a, const char *list)
{
	struct sley_cpus b = set_of(list);

	return memcmp(a, &b, sizeof(b)) == 0;
}

/* ---- sets --------------------------------------------------------------------- */

TEST(m37_a_set_has_what_was_added_and_not_removed)
{
	static const int cpu[] = { 0, 1, 63, 64, 127, 1024, 4095 };
	struct sley_cpus cpus = { { 0 } };

	CHECK_EQ(sley_cpus_count(&cpus), 0);
	CHECK_EQ(sley_cpus_next(&cpus, 0), -1);
	for (int i = 0; i < 7; i++) {
		CHECK(!sley_cpus_has(&cpus, cpu[i]));
		CHECK(sley_cpus_add(&cpus, cpu[i]));
		CHECK(sley_cpus_add(&cpus, cpu[i]));
		CHECK(sley_cpus_has(&cpus, cpu[i]));
		CHECK_EQ(sley_cpus_count(&cpus), i + 1);
	}
	/* marl skips the element behind one that it removed. */
	for (int i = 0; i < 7; i++) {
		CHECK_EQ(sley_cpus_next(&cpus, 0), cpu[i]);
		CHECK(sley_cpus_remove(&cpus, cpu[i]));
		CHECK(!sley_cpus_remove(&cpus, cpu[i]));
		CHECK_EQ(sley_cpus_count(&cpus), 6 - i);
	}
}

TEST(m37_the_nth_cpu_is_the_nth_set_bit)
{
	struct sley_cpus cpus = set_of("1,5-6,64,4095");

	CHECK_EQ(sley_cpus_nth(&cpus, 0), 1);
	CHECK_EQ(sley_cpus_nth(&cpus, 1), 5);
	CHECK_EQ(sley_cpus_nth(&cpus, 2), 6);
	CHECK_EQ(sley_cpus_nth(&cpus, 3), 64);
	CHECK_EQ(sley_cpus_nth(&cpus, 4), 4095);
	CHECK_EQ(sley_cpus_nth(&cpus, 5), -1);
	CHECK_EQ(sley_cpus_nth(&cpus, -1), -1);
	CHECK_EQ(sley_cpus_next(&cpus, -7), 1);
	CHECK_EQ(sley_cpus_next(&cpus, 7), 64);
	CHECK_EQ(sley_cpus_next(&cpus, 4095), 4095);
	CHECK_EQ(sley_cpus_next(&cpus, 4096), -1);
}

TEST(m37_numbers_that_no_cpu_has_change_nothing)
{
	struct sley_cpus cpus = set_of("3");

	CHECK(!sley_cpus_add(&cpus, -1));
	CHECK(!sley_cpus_add(&cpus, SLEY_CPUS_MAX));
	CHECK(!sley_cpus_remove(&cpus, SLEY_CPUS_MAX));
	CHECK(!sley_cpus_has(&cpus, -1));
	CHECK(!sley_cpus_has(&cpus, SLEY_CPUS_MAX));
	CHECK(equal(&cpus, "3"));
}

TEST(m37_sets_are_intersected_and_united)
{
	struct sley_cpus a = set_of("0-3,100"), b = set_of("2-5,100,300");
	struct sley_cpus both = a, either = a;

	sley_cpus_intersect(&both, &b);
	CHECK(equal(&both, "2-3,100"));
	sley_cpus_unite(&either, &b);
	CHECK(equal(&either, "0-5,100,300"));
}

/* ---- lists ----------------------------------------------------------------------- */

TEST(t29_a_list_may_go_beyond_1024_cpus)
{
	struct sley_cpus cpus = set_of("0-2047,4000\n");

	CHECK_EQ(sley_cpus_count(&cpus), 2049);
	CHECK(sley_cpus_has(&cpus, 1500));
	CHECK(sley_cpus_has(&cpus, 4000));
	CHECK(!sley_cpus_has(&cpus, 2048));
	/* What no set has room for is passed over, and takes no time. */
	cpus = set_of("1,4096,5000-18446744073709551615");
	CHECK(equal(&cpus, "1"));
}

TEST(t29_lists_that_are_none_are_refused)
{
	static const char *const bad[] = { "x",   "-",   "1-",    "3-1", "1,,2",
					   "1;2", "0x1", "1-2-3", "-1",  ",1" };
	struct sley_cpus cpus;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!os_cpus_parse(bad[i], &cpus));
	/* A node of memory alone has no CPUs. */
	CHECK(os_cpus_parse("\n", &cpus));
	CHECK_EQ(sley_cpus_count(&cpus), 0);
}

/* ---- which may be used -------------------------------------------------------------- */

TEST(t29_offline_cpus_are_left_out)
{
	struct sley_cpus cpus = set_of("0-7");

	make_tree();
	os_cpus_drop_offline(root, &cpus);
	CHECK(equal(&cpus, "0-7")); /* nobody knows better */
	put("/sys/devices/system/cpu/online", "0-2,4,6-100\n");
	os_cpus_drop_offline(root, &cpus);
	CHECK(equal(&cpus, "0-2,4,6-7"));
	put("/sys/devices/system/cpu/online", "nonsense");
	os_cpus_drop_offline(root, &cpus);
	CHECK(equal(&cpus, "0-2,4,6-7"));
	put("/sys/devices/system/cpu/online", "50");
	os_cpus_drop_offline(root, &cpus);
	CHECK(equal(&cpus, "0-2,4,6-7")); /* it runs on something */
	remove_tree();
}

TEST(m37_usable_are_the_bits_of_the_mask_and_not_their_count)
{
	struct sley_cpus cpus;
	cpu_set_t all, one;
	int last = -1;

	CHECK_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
	CHECK_EQ(sley_cpus_usable(&cpus), CPU_COUNT(&all));
	for (int i = 0; i < CPU_SETSIZE; i++) {
		CHECK_EQ(!!CPU_ISSET(i, &all), sley_cpus_has(&cpus, i));
		if (CPU_ISSET(i, &all))
			last = i;
	}
	/* marl under taskset -c 1 reports CPU 0. */
	CPU_ZERO(&one);
	CPU_SET(last, &one);
	CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
	errno = E2BIG;
	CHECK_EQ(sley_cpus_usable(&cpus), 1);
	CHECK_EQ(errno, E2BIG);
	CHECK_EQ(sley_cpus_nth(&cpus, 0), last);
}

/* ---- topology ------------------------------------------------------------------------- */

TEST(t29_without_sysfs_each_cpu_is_its_own_core)
{
	struct sley_cpu cpu;

	make_tree();
	os_cpu_describe(root, 5, &cpu);
	CHECK_EQ(cpu.cpu, 5);
	CHECK_EQ(cpu.core, 5);
	CHECK_EQ(cpu.cache, 5);
	CHECK_EQ(cpu.package, 0);
	CHECK_EQ(cpu.node, 0);
	remove_tree();
}

TEST(t29_topology_is_read_from_sysfs)
{
	struct sley_cpu cpu;

	make_tree();
	put("/sys/devices/system/node/online", "0,2\n");
	put_cpu(9, "node2/x", "");
	put_cpu(9, "topology/core_cpus_list", "3,9\n");
	put_cpu(9, "topology/physical_package_id", "1\n");
	put_cpu(9, "cache/index0/level", "1\n");
	put_cpu(9, "cache/index0/shared_cpu_list", "3,9\n");
	put_cpu(9, "cache/index1/level", "3\n");
	put_cpu(9, "cache/index1/shared_cpu_list", "2-10\n");
	put_cpu(9, "cache/index2/level", "2\n"); /* not the last level */
	put_cpu(9, "cache/index2/shared_cpu_list", "8-9\n");
	os_cpu_describe(root, 9, &cpu);
	CHECK_EQ(cpu.cpu, 9);
	CHECK_EQ(cpu.core, 3);
	CHECK_EQ(cpu.cache, 2);
	CHECK_EQ(cpu.package, 1);
	CHECK_EQ(cpu.node, 2);
	/* Older kernels have another name for it. */
	put_cpu(4, "topology/thread_siblings_list", "2,4\n");
	CHECK_EQ(os_cpu_core(root, 4), 2);
	/* Some virtual machines have -1 for what they do not know. */
	put_cpu(4, "topology/physical_package_id", "-1\n");
	os_cpu_describe(root, 4, &cpu);
	CHECK_EQ(cpu.package, 0);
	remove_tree();
}

TEST(t29_the_topology_of_this_machine_is_consistent)
{
	static struct sley_cpu cpu[SLEY_CPUS_MAX];
	struct sley_cpus usable;
	int nr = sley_cpus_usable(&usable);

	CHECK_EQ(sley_cpus_topology(NULL, 0), nr);
	CHECK_EQ(sley_cpus_topology(cpu, SLEY_CPUS_MAX), nr);
	for (int i = 0; i < nr; i++) {
		CHECK_EQ(cpu[i].cpu, sley_cpus_nth(&usable, i));
		CHECK_LE(cpu[i].core, cpu[i].cpu);
		CHECK_LE(cpu[i].cache, cpu[i].core);
		CHECK_GE(cpu[i].node, 0);
		CHECK_GE(cpu[i].package, 0);
	}
}
