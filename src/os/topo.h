/* SPDX-License-Identifier: MIT */
/*
 * topo.h - how many CPUs this process may use at the same time.
 *
 * There are two limits: the CPUs that the process may use at all (os/cpus.h), and
 * the quota of CPU time of the cgroup, which is how containers are cut to size.  A
 * quota of one and a half CPUs counts as two.
 *
 * The parsers are pure and take the text of the files.  0 means "no limit", and
 * that is also the answer to a text that a parser does not understand.
 */
#ifndef SLEY_OS_TOPO_H
#define SLEY_OS_TOPO_H

#include <sley/cpus.h>

/* How many of @cpus at the same time: at least 1.  Looks each time. */
int os_nr_usable_cpus(const struct sley_cpus *cpus);

/* cgroup v2, cpu.max: "150000 100000" is 2, "max 100000" is 0. */
int os_topo_parse_cpu_max(const char *text);

/* cgroup v1, cpu.cfs_quota_us and cpu.cfs_period_us: "-1" is 0. */
int os_topo_parse_cfs(const char *quota, const char *period);

/*
 * Finds the process's cgroup in the text of /proc/self/cgroup: the cgroup of
 * cgroup v1's @controller, or of cgroup v2 if @controller is "".  False:
 * there is no cgroup, or the path does not fit into @size bytes.
 */
bool os_topo_parse_cgroup(const char *text, const char *controller, char *path,
			  size_t size);

/*
 * The smallest quota of the process's cgroup and of all cgroups above, in CPUs; 0:
 * there is no quota.  @root is put in front of /proc and /sys; tests bring their
 * own tree.
 */
int os_topo_quota(const char *root);

#endif
