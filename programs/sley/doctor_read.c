/* SPDX-License-Identifier: MIT */
/*
 * doctor_read.c - helpers for the probes of the doctor: write findings, and read
 * files and limits of the kernel.
 */
#include "doctor.h"

#include "screen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

void found(struct finding *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(out->value, sizeof(out->value), format, args);
	va_end(args);
}

void not_ok(struct finding *out, enum verdict verdict, const char *effect,
	    const char *fix)
{
	out->verdict = verdict;
	(void)snprintf(out->effect, sizeof(out->effect), "%s", effect);
	(void)snprintf(out->fix, sizeof(out->fix), "%s", fix);
}

bool read_line(const char *path, char *line, int size)
{
	FILE *file = fopen(path, "re");
	bool good;

	if (!file)
		return false;
	good = fgets(line, size, file) != NULL;
	fclose(file);
	if (good)
		line[strcspn(line, "\n")] = '\0';
	return good;
}

long read_number(const char *path)
{
	char line[64];

	return read_line(path, line, sizeof(line)) ? strtol(line, NULL, 10)
						   : -1;
}

uint64_t read_limit(struct finding *out, int resource, const char *name,
		    uint64_t unit)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	char number[SCREEN_NUMBER_SIZE];

	(void)getrlimit((__rlimit_resource_t)resource, &limit);
	if (limit.rlim_cur == RLIM_INFINITY) {
		found(out, "%s unlimited", name);
		return NO_LIMIT;
	}
	found(out, "%s %s%s", name, screen_count(number, limit.rlim_cur / unit),
	      unit == 1 ? "" : " KiB");
	return limit.rlim_cur;
}

/* ---- cgroups ------------------------------------------------------------------ */

#define PATH_SIZE 1024
#define NEVER_REACHED (UINT64_MAX >> 4) /* "no limit" in v1 is a number above */

/* From @path below @mount up to @mount itself. */
static uint64_t read_upwards(const char *mount, char *path, const char *file)
{
	uint64_t least = NO_LIMIT;

	for (;;) {
		char name[2 * PATH_SIZE], line[64], *end;
		uint64_t value;

		(void)snprintf(name, sizeof(name), "%s%s/%s", mount, path,
			       file);
		if (read_line(name, line, sizeof(line))) {
			value = strtoull(line, &end, 10);
			if (end != line && value < NEVER_REACHED &&
			    value < least)
				least = value;
		}
		end = strrchr(path, '/');
		if (!end)
			return least;
		*end = '\0';
	}
}

/* A line of /proc/self/cgroup: "4:cpu,cpuacct:/path", or "0::/path" for v2. */
static uint64_t read_group(char *line, const char *controller, const char *v2,
			   const char *v1)
{
	char mount[64], *list = strchr(line, ':'), *path, copy[PATH_SIZE];
	uint64_t one, two;

	path = list ? strchr(list + 1, ':') : NULL;
	if (!path)
		return NO_LIMIT;
	*path++ = '\0';
	if (strcmp(list + 1, controller) == 0) {
		(void)snprintf(mount, sizeof(mount), "/sys/fs/cgroup/%s",
			       controller);
		return read_upwards(mount, path, v1);
	}
	if (list[1])
		return NO_LIMIT;
	(void)snprintf(copy, sizeof(copy), "%s", path);
	one = read_upwards("/sys/fs/cgroup", path, v2);
	two = read_upwards("/sys/fs/cgroup/unified", copy, v2);
	return one < two ? one : two;
}

uint64_t read_cgroup(const char *controller, const char *v2, const char *v1)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	uint64_t least = NO_LIMIT;
	char line[PATH_SIZE];

	while (file && fgets(line, sizeof(line), file)) {
		uint64_t value;

		line[strcspn(line, "\n")] = '\0';
		value = read_group(line, controller, v2, v1);
		least = value < least ? value : least;
	}
	if (file)
		fclose(file);
	return least;
}
