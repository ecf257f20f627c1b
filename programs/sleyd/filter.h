/* SPDX-License-Identifier: MIT */
/*
 * filter.h - the system calls that the daemon, and modules in it, may make.
 *
 * A list of calls that are allowed; all other calls fail with ENOSYS, as on an older
 * kernel, so that the C library takes another way where there is one.  What a daemon whose
 * memory was taken over must not do is not in the list: start programs, make processes,
 * change users, trace or read other processes, mount, load code into the kernel.
 * docs/DAEMON.md has the list for operators.
 *
 * Threads are made by clone(2), whose flags the filter can see; clone3(2), whose flags are
 * in memory, fails, and the C library then uses the other.
 *
 * The filter holds for all threads that are started later, and for no subprocess of an
 * isolated pool: the fork server is older than the filter.
 */
#ifndef SLEYD_FILTER_H
#define SLEYD_FILTER_H

/* 0, or -errno.  For the only thread of the process, with PR_SET_NO_NEW_PRIVS. */
int filter_install(void);

#endif
