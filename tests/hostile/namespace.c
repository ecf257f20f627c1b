/* SPDX-License-Identifier: MIT */
/*
 * namespace.c - see namespace.h.
 */
#include "hostile/namespace.h"

#include "hostile/surrounding.h"

#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <unistd.h>

/* In a user namespace nobody can make files who has no name there. */
static void become_root(uid_t uid, gid_t gid)
{
	char map[64];

	write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", uid);
	write_file("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "0 %u 1", gid);
	write_file("/proc/self/gid_map", map);
}

void enter_namespaces(int flags)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	flags |= CLONE_NEWNS | (uid ? CLONE_NEWUSER : 0);
	need(unshare(flags) == 0, "namespaces cannot be had here");
	if (uid)
		become_root(uid, gid);
	/* What is mounted here is nobody else's business. */
	need(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0,
	     "mounts cannot be made private");
}

void cover(const char *path)
{
	need(mount("none", path, "tmpfs", 0, NULL) == 0,
	     "nothing can be mounted here");
}

void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	need(file && fputs(text, file) >= 0 && fclose(file) == 0,
	     "a file cannot be written");
}
