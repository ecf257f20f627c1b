/* SPDX-License-Identifier: MIT */
/*
 * topo.c - affinity mask and cgroup quota.
 *
 * A quota may be set on the process's cgroup or on any above it, so the walk
 * goes from /proc/self/cgroup's path up to the root and keeps the smallest.
 * Directories that cannot be read are passed over.  That also does the right
 * thing in a container that sees its own cgroup mounted as the root, while the
 * path is the one outside: nothing of the path exists, and the root has it.
 *
 * Rejected: finding the mount points in /proc/self/mountinfo (a parser as
 * long as this file, for systems that mount cgroups where nobody else looks).
 */
#include "os/topo.h"

#include "base/bits.h"
#include "base/compiler.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Twice the most that a kernel for x86-64 can be built for.  A mask larger
 * than the kernel's own is fine, a smaller one is an error, so one large mask
 * replaces growing one until it fits.
 */
#define CPUS_MAX 16384
#define CPU_WORDS (CPUS_MAX / 64)

/* The caller may be a fiber: every frame here stays below a page. */
#define PATH_SIZE 1024 /* of a cgroup; the names of containers are long */
#define TEXT_SIZE 3840 /* of /proc/self/cgroup, 13 lines with such names */

static int smaller_limit(int a, int b)
{
	if (!a || !b)
		return a + b;
	return a < b ? a : b;
}

/* A decimal number at *@text, which moves behind it; false: there is none. */
static bool parse_number(const char **text, uint64_t *out)
{
	char *end;

	while (**text == ' ' || **text == '\t')
		(*text)++;
	if (!isdigit((unsigned char)**text)) /* strtoull would take a sign */
		return false;
	errno = 0;
	*out = strtoull(*text, &end, 10);
	if (errno)
		return false;
	*text = end;
	return true;
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

	if (!parse_number(&text, &quota) || !parse_number(&text, &period))
		return 0;
	return cpus_of(quota, period);
}

int os_topo_parse_cfs(const char *quota_text, const char *period_text)
{
	uint64_t quota, period;

	if (!parse_number(&quota_text, &quota) ||
	    !parse_number(&period_text, &period))
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

/* Reads what fits of a file into @text and ends it with a zero. */
static bool read_file(const char *path, char *text, size_t size)
{
	size_t length = 0;
	ssize_t nr = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	while (length < size - 1) {
		nr = read(fd, text + length, size - 1 - length);
		if (nr == 0 || (nr < 0 && errno != EINTR))
			break;
		length += nr > 0 ? (size_t)nr : 0;
	}
	close(fd);
	text[length] = '\0';
	return nr >= 0;
}

static bool read_in(const char *dir, const char *name, char *text, size_t size)
{
	char path[PATH_SIZE + 32]; /* the longest name has 17 bytes */

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >=
	    (int)sizeof(path))
		return false;
	return read_file(path, text, size);
}

static int quota_v2(const char *dir)
{
	char text[64];

	if (!read_in(dir, "cpu.max", text, sizeof(text)))
		return 0;
	return os_topo_parse_cpu_max(text);
}

static int quota_v1(const char *dir)
{
	char quota[64], period[64];

	if (!read_in(dir, "cpu.cfs_quota_us", quota, sizeof(quota)) ||
	    !read_in(dir, "cpu.cfs_period_us", period, sizeof(period)))
		return 0;
	return os_topo_parse_cfs(quota, period);
}

/* Where cgroups are mounted; the first of each kind is what systemd does. */
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
	char path[PATH_SIZE], dir[PATH_SIZE];
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

	if (!read_in(root, "proc/self/cgroup", text, sizeof(text)))
		return 0;
	for (size_t i = 0; i < array_size(mounts); i++)
		limit = smaller_limit(limit, quota_up(root, &mounts[i], text));
	return limit;
}

/* Of the calling thread: the threads it starts inherit its mask. */
static int nr_affine_cpus(void)
{
	uint64_t mask[CPU_WORDS];
	int nr = 0;

	memset(mask, 0, sizeof(mask));
	if (sched_getaffinity(0, sizeof(mask), (cpu_set_t *)mask) < 0)
		return (int)sysconf(_SC_NPROCESSORS_ONLN);
	for (size_t i = 0; i < CPU_WORDS; i++)
		nr += popcount(mask[i]);
	return nr;
}

int os_nr_usable_cpus(void)
{
	int saved = errno;
	int nr = smaller_limit(nr_affine_cpus(), os_topo_quota(""));

	errno = saved;
	return nr > 0 ? nr : 1;
}
