/* SPDX-License-Identifier: MIT */
/*
 * user.c - see user.h.
 */
#include "user.h"

#include "log.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* UINT32_MAX is no user: system calls take it for "leave it as it is". */
static bool is_number(const char *text, uint32_t *number)
{
	char *end;
	unsigned long long value;

	if (*text < '0' || *text > '9')
		return false;
	value = strtoull(text, &end, 10);
	*number = (uint32_t)value;
	return !*end && value < UINT32_MAX;
}

int user_find(const char *text, uint32_t *uid, uint32_t *gid)
{
	const struct passwd *entry;
	bool is_uid = is_number(text, uid);

	entry = is_uid ? getpwuid(*uid) : getpwnam(text);
	if (entry) {
		*uid = entry->pw_uid;
		if (gid)
			*gid = entry->pw_gid;
		return 0;
	}
	return is_uid && !gid ? 0 : -ENOENT;
}

const struct group *group_find(const char *text, uint32_t *gid)
{
	if (is_number(text, gid))
		return getgrgid(*gid);
	*gid = UINT32_MAX;
	return getgrnam(text);
}

static int change(const char *user, uint32_t uid, uint32_t gid)
{
	const struct passwd *entry = getpwuid(uid);

	if (!entry || initgroups(entry->pw_name, gid) ||
	    setresgid(gid, gid, gid) || setresuid(uid, uid, uid)) {
		int err = entry ? -errno : -ENOENT;

		log_line("cannot become the user '%s': %s", user,
			 strerror(-err));
		return err;
	}
	/* A step that can be taken back is none. */
	if (uid && (setuid(0) == 0 || (gid && setegid(0) == 0))) {
		log_line("the rights of root cannot be dropped");
		return -EPERM;
	}
	return 0;
}

int user_become(const char *user)
{
	uint32_t uid, gid;
	int err = 0;

	if (user && user_find(user, &uid, &gid)) {
		log_line("'user: %s': there is no such user: make one by "
			 "'useradd --system %s', or name another",
			 user, user);
		return -ENOENT;
	}
	if (user && geteuid() == 0)
		err = change(user, uid, gid);
	else if (user && geteuid() != uid)
		log_line("'user: %s' is for a daemon that root starts: this "
			 "daemon stays user %u",
			 user, geteuid());
	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	return err;
}
