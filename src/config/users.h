/* SPDX-License-Identifier: MIT */
/*
 * users.h - the entries of "users" of a daemon: which user may do what.
 *
 * Names stay names here.  The daemon looks them up when it starts: only there is a user
 * that does not exist a mistake, and a file may be checked on another machine.
 */
#ifndef SLEY_CONFIG_USERS_H
#define SLEY_CONFIG_USERS_H

#include "config/tree.h"

#define USERS_MAX 1000

struct sley_config_user;

/* The fields .users and .nr_users of a struct sley_config_daemon. */
struct users {
	const struct sley_config_user *list;
	size_t nr;
};

/* 0; -EINVAL: a mistake was reported; -ENOMEM. */
must_check int users_make(struct reader *reader, const struct node *node,
			  struct users *out);

#endif
