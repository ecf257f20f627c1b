/* SPDX-License-Identifier: MIT */
/*
 * os_topo.c - quotas, from texts and from a tree of our own.
 */
#include "unit/tree.h"

#include "os/topo.h"

#include <limits.h>

TEST(cpu_max_is_rounded_up_to_whole_cpus)
{
	CHECK_EQ(os_topo_parse_cpu_max("150000 100000\n"), 2);
	CHECK_EQ(os_topo_parse_cpu_max("200000 100000\n"), 2);
	CHECK_EQ(os_topo_parse_cpu_max("200001 100000"), 3);
	CHECK_EQ(os_topo_parse_cpu_max("1000 100000"), 1);
	CHECK_EQ(os_topo_parse_cpu_max("50000 10000"), 5);
	CHECK_EQ(os_topo_parse_cpu_max("400000000 100000"), 4000);
}

TEST(cpu_max_without_a_number_is_no_limit)
{
	static const char *const text[] = {
		"max 100000\n",
		"",
		"\n",
		"100000",
		"100000 ",
		"-1 100000",
		"100000 -1",
		"100000 0",
		"0 100000",
		"x y",
		"99999999999999999999999 1",
	};

	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		CHECK_EQ(os_topo_parse_cpu_max(text[i]), 0);
}

TEST(an_enormous_quota_does_not_overflow)
{
	CHECK_EQ(os_topo_parse_cpu_max("18446744073709551615 1"), INT_MAX);
	CHECK_EQ(os_topo_parse_cpu_max("18446744073709551615 3"), INT_MAX);
}

TEST(the_old_quota_comes_in_two_files_and_minus_one_is_none)
{
	CHECK_EQ(os_topo_parse_cfs("150000\n", "100000\n"), 2);
	CHECK_EQ(os_topo_parse_cfs("50000\n", "100000\n"), 1);
	CHECK_EQ(os_topo_parse_cfs("-1\n", "100000\n"), 0);
	CHECK_EQ(os_topo_parse_cfs("100000\n", ""), 0);
}

TEST(the_cgroup_of_a_controller_is_found_by_its_whole_name)
{
	static const char text[] = "12:cpuset:/sets\n"
				   "4:cpuacct,cpu:/docker/a:b\n"
				   "1:name=systemd:/init\n"
				   "0::/user.slice/x\n";
	char path[64];

	CHECK(os_topo_parse_cgroup(text, "cpu", path, sizeof(path)));
	CHECK_STR(path, "/docker/a:b");
	CHECK(os_topo_parse_cgroup(text, "", path, sizeof(path)));
	CHECK_STR(path, "/user.slice/x");
	CHECK(os_topo_parse_cgroup(text, "cpuset", path, sizeof(path)));
	CHECK_STR(path, "/sets");
	CHECK(!os_topo_parse_cgroup(text, "cp", path, sizeof(path)));
	CHECK(!os_topo_parse_cgroup(text, "memory", path, sizeof(path)));
}

TEST(a_malformed_cgroup_text_finds_nothing)
{
	char path[8] = "before";

	CHECK(!os_topo_parse_cgroup("", "", path, sizeof(path)));
	CHECK(!os_topo_parse_cgroup("0::/cut off", "", path, sizeof(path)));
	CHECK(!os_topo_parse_cgroup("0\n\n:\n", "", path, sizeof(path)));
	CHECK(!os_topo_parse_cgroup("0::/too/long\n", "", path, sizeof(path)));
	CHECK_STR(path, "before");
	CHECK(os_topo_parse_cgroup("0::/fitted\n", "", path, 8));
}

#define V2 "/sys/fs/cgroup"
#define V1 "/sys/fs/cgroup/cpu,cpuacct"

TEST(the_smallest_quota_on_the_way_up_counts)
{
	make_tree();
	put("/proc/self/cgroup", "0::/a/b/c\n");
	CHECK_EQ(os_topo_quota(root), 0);
	put(V2 "/a/b/c/cpu.max", "max 100000\n");
	CHECK_EQ(os_topo_quota(root), 0);
	put(V2 "/a/cpu.max", "700000 100000\n");
	CHECK_EQ(os_topo_quota(root), 7);
	put(V2 "/a/b/cpu.max", "350000 100000\n");
	CHECK_EQ(os_topo_quota(root), 4);
	put(V2 "/a/b/c/cpu.max", "900000 100000\n");
	CHECK_EQ(os_topo_quota(root), 4);
	put(V2 "/other/cpu.max", "100000 100000\n");
	CHECK_EQ(os_topo_quota(root), 4);
	remove_tree();
}

TEST(a_container_finds_its_quota_at_the_root_of_its_mount)
{
	make_tree();
	put("/proc/self/cgroup", "5:cpu,cpuacct:/docker/0123\n0::/\n");
	put(V1 "/cpu.cfs_quota_us", "250000\n");
	put(V1 "/cpu.cfs_period_us", "100000\n");
	CHECK_EQ(os_topo_quota(root), 3);
	put(V2 "/cpu.max", "100000 100000\n");
	CHECK_EQ(os_topo_quota(root), 1);
	remove_tree();
}

TEST(without_cgroups_there_is_no_quota)
{
	make_tree();
	CHECK_EQ(os_topo_quota(root), 0);
	remove_tree();
}

TEST(a_set_of_one_cpu_leaves_one)
{
	struct sley_cpus cpus = { { 0 } };

	errno = E2BIG;
	CHECK(sley_cpus_add(&cpus, 77));
	CHECK_EQ(os_nr_usable_cpus(&cpus), 1);
	CHECK_EQ(errno, E2BIG);
	CHECK(sley_cpus_add(&cpus, 4095));
	CHECK_LE(os_nr_usable_cpus(&cpus), 2);
	CHECK_GE(os_nr_usable_cpus(&cpus), 1);
}
