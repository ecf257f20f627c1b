/* SPDX-License-Identifier: MIT */
/*
 * topo.c - see topo.h.
 *
 * A quota may be set on the process's cgroup or on any cgroup above, so the walk
 * goes from /proc/self/cgroup's path up to the root and keeps the smallest.
 * Directories that cannot be read are passed over.  That also does the right
 * thing in a container that sees its own cgroup mounted as the root, while the
 * path is the outside path: nothing of the path exists, and the root has the quota.
 *
 * Rejected: finding the mount points in /proc/self/mountinfo (a parser as
 * long as this file, for systems that mount cgroups at unusual places).
 */
#include "os/topo.h"

#include "base/compiler.h"
#include "os/text.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The caller may be a fiber: every frame here stays below a page. */
#define TEXT_SIZE 3840 /* of /proc/self/cgroup, 13 lines with long names */

static int smaller_limit(int a, int b)
{
	if (!a || !b)
		return a + b;
	return a < b ? a : b;
}

/* In whole CPUs, rounded up. */
static int cpus_of(uint64_t quota, uint64_t period)
{
	uint64_t cpus;

	if (!quota || !period)
		return 0;
	cpus = quota / period + (quota % period != 0);
	return cpus < INT_MAX ? (int)cpus : INT_MAX;
}

int os_topo_parse_cpu_max(const char *text)
{
	uint64_t quota, period;

	if (!os_text_number(&text, &quota) || !os_text_number(&text, &period))
		return 0;
	return cpus_of(quota, period);
}

int os_topo_parse_cfs(const char *quota_text, const char *period_text)
{
	uint64_t quota, period;

	if (!os_text_number(&quota_text, &quota) ||
	    !os_text_number(&period_text, &period))
		return 0;
	return cpus_of(quota, period);
}

/* Is @word one of the @size bytes of comma-separated @list? */
static bool list_has(const char *list, size_t size, const char *word)
{
	const char *end = list + size;

	for (;;) {
		const char *comma = memchr(list, ',', (size_t)(end - list));
		size_t length = (size_t)((comma ? comma : end) - list);

		if (length == strlen(word) && !memcmp(list, word, length))
			return true;
		if (!comma)
			return false;
		list = comma + 1;
	}
}

/* Lines are "id:controllers:path"; cgroup v2 has no controllers and id 0. */
bool os_topo_parse_cgroup(const char *text, const char *controller, char *path,
			  size_t size)
{
	for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
		size_t length = (size_t)(end - text);
		const char *list = memchr(text, ':', length), *value;

		if (!list)
			continue;
		list++;
		value = memchr(list, ':', (size_t)(end - list));
		if (!value ||
		    !list_has(list, (size_t)(value - list), controller))
			continue;
		value++;
		length = (size_t)(end - value);
		if (length >= size)
			return false;
		memcpy(path, value, length);
		path[length] = '\0';
		return true;
	}
	return false;
}

static int quota_v2(const char *dir)
{
	char text[64];

	if (!os_text_read(text, sizeof(text), "%s/cpu.max", dir))
		return 0;
	return os_topo_parse_cpu_max(text);
}

static int quota_v1(const char *dir)
{
	char quota[64], period[64];

	if (!os_text_read(quota, sizeof(quota), "%s/cpu.cfs_quota_us", dir) ||
	    !os_text_read(period, sizeof(period), "%s/cpu.cfs_period_us", dir))
		return 0;
	return os_topo_parse_cfs(quota, period);
}

/* Where cgroups are mounted; the first of each kind is systemd's choice. */
static const struct mount {
	const char *controller;
	const char *dir;
	int (*quota)(const char *dir);
} mounts[] = {
	{ "", "/sys/fs/cgroup", quota_v2 },
	{ "", "/sys/fs/cgroup/unified", quota_v2 },
	{ "cpu", "/sys/fs/cgroup/cpu", quota_v1 },
	{ "cpu", "/sys/fs/cgroup/cpu,cpuacct", quota_v1 },
};

/* From the process's cgroup up to the root of the mount. */
static noinline int quota_up(const char *root, const struct mount *mount,
			     const char *text)
{
	char path[OS_PATH_SIZE], dir[OS_PATH_SIZE];
	int limit = 0;

	if (!os_topo_parse_cgroup(text, mount->controller, path, sizeof(path)))
		return 0;
	for (;;) {
		char *slash = strrchr(path, '/');

		if (snprintf(dir, sizeof(dir), "%s%s%s", root, mount->dir,
			     path) < (int)sizeof(dir))
			limit = smaller_limit(limit, mount->quota(dir));
		if (!slash)
			return limit;
		*slash = '\0';
	}
}

int os_topo_quota(const char *root)
{
	char text[TEXT_SIZE];
	int limit = 0;

	if (!os_text_read(text, sizeof(text), "%s/proc/self/cgroup", root))
		return 0;
	for (size_t i = 0; i < array_size(mounts); i++)
		limit = smaller_limit(limit, quota_up(root, &mounts[i], text));
	return limit;
}

int os_nr_usable_cpus(const struct sley_cpus *cpus)
{
	int saved = errno;
	int nr = smaller_limit(sley_cpus_count(cpus), os_topo_quota(""));

	errno = saved;
	return nr > 0 ? nr : 1;
}
