/* SPDX-License-Identifier: MIT */
/*
 * user.h - users and groups by name or number, and the step from root to a user.
 */
#ifndef SLEYD_USER_H
#define SLEYD_USER_H

#include <stdint.h>

struct group;

/*
 * The user of a name or a number; *@gid, which may be NULL, gets its first group.  0;
 * -ENOENT: there is none, or, if @gid is wanted, none with a group.
 */
int user_find(const char *text, uint32_t *uid, uint32_t *gid);

/*
 * The group of a name or a number.  NULL: there is no entry; *@gid is the number, if the
 * text is one, else UINT32_MAX.
 */
const struct group *group_find(const char *text, uint32_t *gid);

/*
 * The process becomes @user for good, with the groups of that user, and can never again
 * get more rights than it has: PR_SET_NO_NEW_PRIVS.  Without @user only the latter.
 * 0, or -errno; the log has a line.
 */
int user_become(const char *user);

#endif
