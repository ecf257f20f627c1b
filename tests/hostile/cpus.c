/* SPDX-License-Identifier: MIT */
/*
 * cpus.c - few CPUs, little of their time, and others who want it, too.
 */
#include "hostile/namespace.h"
#include "hostile/surrounding.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TEST_PROOF("limit")

/* ---- one CPU ------------------------------------------------------------------ */

static void one_cpu(void)
{
	cpu_set_t all, one;

	need(sched_getaffinity(0, sizeof(all), &all) == 0, "no affinity");
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	need(sched_setaffinity(0, sizeof(one), &one) == 0, "no affinity");
}

TEST(one_cpu_with_16_workers)
{
	check_works(one_cpu, "16");
	check_works(one_cpu, "16 placed");
	check_doctor(one_cpu, "1 in the affinity mask");
}

/* ---- quotas -------------------------------------------------------------------- */

/* What a container of half a CPU sees; the tree is ours. */
static void quota_of_half_a_cpu(void)
{
	enter_namespaces(0);
	cover("/sys/fs/cgroup");
	write_file("/sys/fs/cgroup/cpu.max", "50000 100000\n");
	/* Where the machine has the old kind of cgroups. */
	need(mkdir("/sys/fs/cgroup/cpu", 0755) == 0, "no folder");
	write_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
	write_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
}

TEST(quota_makes_one_worker)
{
	struct ending e;

	run_scene(quota_of_half_a_cpu, "0 threads", &e);
	CHECK_EQ(e.status, 0);
	CHECK(strstr(e.text, "1 workers"));
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		check_doctor(quota_of_half_a_cpu, "cgroup quota of 1");
	check_works(quota_of_half_a_cpu, "8");
}

static char group[128];

static void join_group(void)
{
	char path[160], pid[32];

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	write_file(path, pid);
}

static bool put(const char *name, const char *text)
{
	char path[160];
	FILE *file;
	bool good;

	snprintf(path, sizeof(path), "%s/%s", group, name);
	file = fopen(path, "r+"); /* made by the kernel, or not at all */
	if (!file)
		return false;
	good = fputs(text, file) >= 0;
	return fclose(file) == 0 && good;
}

/* A fifth of a CPU, in pieces of 2 ms: workers stop at any point. */
static bool make_group(void)
{
	static const char *const parents[] = { "/sys/fs/cgroup",
					       "/sys/fs/cgroup/cpu" };

	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		snprintf(group, sizeof(group), "%s/sley-test-%d", parents[i],
			 (int)getpid());
		if (mkdir(group, 0755))
			continue;
		if (put("cpu.max", "2000 10000\n") ||
		    (put("cpu.cfs_period_us", "10000\n") &&
		     put("cpu.cfs_quota_us", "2000\n")))
			return true;
		rmdir(group);
	}
	return false;
}

TEST(quota_of_a_fifth_of_a_cpu)
{
	struct ending e;

	if (!make_group())
		test_skip("cgroups cannot be made here");
	run_scene(join_group, "4", &e);
	CHECK_EVENTUALLY(rmdir(group) == 0); /* it may be busy for a moment */
	if (e.status)
		CHECK_STR(e.text, "works");
	test_result("works");
}

/* What other containers are cut down by. */
static void little_memory(void)
{
	enter_namespaces(0);
	cover("/sys/fs/cgroup");
	write_file("/sys/fs/cgroup/memory.max", "67108864\n");
	write_file("/sys/fs/cgroup/pids.max", "5\n");
	need(mkdir("/sys/fs/cgroup/memory", 0755) == 0 &&
		     mkdir("/sys/fs/cgroup/pids", 0755) == 0,
	     "no folder");
	write_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "67108864\n");
	write_file("/sys/fs/cgroup/pids/pids.max", "5\n");
}

TEST(cgroup_of_64_mebibytes_and_5_threads)
{
	check_doctor(little_memory,
		     "degraded memory the cgroup has 65,536 KiB");
	check_doctor(little_memory,
		     "degraded threads pids.max of the cgroup 5");
	test_result("says why");
}

/* ---- others -------------------------------------------------------------------------- */

#define NR_BUSY 2

static void nice_19(void)
{
	/* Not nice(): that counts from wherever the caller is. */
	need(setpriority(PRIO_PROCESS, 0, 19) == 0, "no setpriority()");
}

TEST(nice_19_beside_busy_programs)
{
	pid_t busy[NR_BUSY];

	test_timeout(90);
	for (int i = 0; i < NR_BUSY; i++) {
		busy[i] = fork();
		CHECK_GE(busy[i], 0);
		if (busy[i] == 0) {
			alarm(60);
			for (;;)
				;
		}
	}
	check_works(nice_19, "2");
	for (int i = 0; i < NR_BUSY; i++) {
		kill(busy[i], SIGKILL);
		waitpid(busy[i], NULL, 0);
	}
	check_doctor(nice_19, "degraded priority nice 19");
}
