/* SPDX-License-Identifier: MIT */
/*
 * quota.c - see quota.h.
 */
#include "ipc/quota.h"

#include <errno.h>

int quota_init(struct quota *quota, struct mem *mem, uint32_t max_clients,
	       uint32_t max_clients_per_user, uint32_t max_requests_per_user)
{
	*quota = (struct quota){
		.max_clients = max_clients,
		.max_clients_per_user = max_clients_per_user,
	};
	quota->users = mem_alloc(mem, max_clients * sizeof(*quota->users));
	if (!quota->users)
		return -ENOMEM;
	for (uint32_t i = 0; i < max_clients; i++)
		quota->users[i].max = max_requests_per_user;
	return 0;
}

void quota_end(struct quota *quota, struct mem *mem)
{
	mem_free(mem, quota->users, quota->max_clients * sizeof(*quota->users));
	quota->users = NULL;
}

/* With the lock: the place of @uid, or a free one. */
static struct quota_user *find(struct quota *quota, uint32_t uid)
{
	struct quota_user *free_place = NULL;

	for (uint32_t i = 0; i < quota->max_clients; i++) {
		struct quota_user *user = &quota->users[i];

		if (user->nr_clients && user->uid == uid)
			return user;
		if (!user->nr_clients && !free_place)
			free_place = user;
	}
	return free_place;
}

int quota_enter(struct quota *quota, uint32_t uid, struct quota_user **out)
{
	struct quota_user *user = NULL;
	int err = 0;

	spin_lock(&quota->lock);
	if (quota->nr_clients == quota->max_clients)
		err = -ENOSPC;
	else
		user = find(quota, uid);
	if (user && user->nr_clients >= quota->max_clients_per_user)
		err = -EDQUOT;
	if (!err) {
		user->uid = uid;
		user->nr_clients++;
		quota->nr_clients++;
		*out = user;
	}
	spin_unlock(&quota->lock);
	return err;
}

void quota_leave(struct quota *quota, struct quota_user *user)
{
	spin_lock(&quota->lock);
	user->nr_clients--;
	quota->nr_clients--;
	spin_unlock(&quota->lock);
}

bool quota_is_empty(struct quota *quota)
{
	bool empty;

	spin_lock(&quota->lock);
	empty = !quota->nr_clients;
	spin_unlock(&quota->lock);
	return empty;
}
