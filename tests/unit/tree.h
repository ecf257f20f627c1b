/* SPDX-License-Identifier: MIT */
/*
 * tree.h - a little file system below a directory of its own, in place of the
 * kernel's /proc and /sys.
 */
#ifndef SLEY_TESTS_UNIT_TREE_H
#define SLEY_TESTS_UNIT_TREE_H

#include "harness/test.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[] = "/tmp/sley-tree-XXXXXX";

static inline int remove_entry(const char *path, const struct stat *st,
			       int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void make_tree(void)
{
	CHECK(mkdtemp(root));
}

static inline void remove_tree(void)
{
	nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Writes @text to @name below the root and makes the folders on the way. */
static inline void put(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", root, name);
	for (char *c = path + strlen(root) + 1; *c; c++) {
		if (*c != '/')
			continue;
		*c = '\0';
		CHECK(mkdir(path, 0700) == 0 || errno == EEXIST);
		*c = '/';
	}
	file = fopen(path, "w");
	CHECK(file);
	fputs(text, file);
	fclose(file);
}

/* The same for a file about one CPU. */
static inline void put_cpu(int cpu, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/%s", cpu,
		 name);
	put(path, text);
}

#endif
