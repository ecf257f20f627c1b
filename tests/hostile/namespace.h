/* SPDX-License-Identifier: MIT */
/*
 * namespace.h - a view of the system of one's own, for surroundings.
 *
 * Root may have it; others get it along with a user namespace where the kernel
 * allows that.  Where not, the test is skipped.
 */
#ifndef SLEY_TESTS_HOSTILE_NAMESPACE_H
#define SLEY_TESTS_HOSTILE_NAMESPACE_H

/* Mounts are the process's own from now on; and what else @flags say. */
void enter_namespaces(int flags);

/* An empty folder, which can be written to, in place of @path. */
void cover(const char *path);

void write_file(const char *path, const char *text);

#endif
