/* SPDX-License-Identifier: MIT */
/*
 * rights.c - see rights.h.
 */
#include "rights.h"

#include "control.h"
#include "log.h"
#include "user.h"

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <sley/admin.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct right {
	bool is_group;
	uint32_t id;
	uint32_t may;
};

/* Over the rights that workers ask for; held for a walk over a list. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- from names to numbers -------------------------------------------------------- */

static int add(struct rights *rights, bool is_group, uint32_t id, uint32_t may)
{
	struct right *list =
		realloc(rights->list, (rights->nr + 1) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	rights->list = list;
	list[rights->nr++] = (struct right){ is_group, id, may };
	return 0;
}

static int add_group(struct rights *rights, const struct group *group,
		     uint32_t may)
{
	int err = add(rights, true, group->gr_gid, may);

	for (char **name = group->gr_mem; *name && !err; name++) {
		const struct passwd *member = getpwnam(*name);

		if (member)
			err = add(rights, false, member->pw_uid, may);
	}
	return err;
}

static int add_entry(struct rights *rights, const struct sley_config_user *user,
		     const char *file)
{
	const struct group *group;
	uint32_t id;

	if (user->everybody) {
		rights->everybody |= user->may;
		return 0;
	}
	if (user->user) {
		if (user_find(user->user, &id, NULL) == 0)
			return add(rights, false, id, user->may);
		log_line("%s:%u:%u: there is no user '%s' on this machine: "
			 "correct the name, or use its number",
			 file, user->line, user->column, user->user);
		return -ENOENT;
	}
	group = group_find(user->group, &id);
	if (group)
		return add_group(rights, group, user->may);
	if (id != UINT32_MAX)
		return add(rights, true, id, user->may);
	log_line("%s:%u:%u: there is no group '%s' on this machine: correct "
		 "the name, or use its number",
		 file, user->line, user->column, user->group);
	return -ENOENT;
}

int rights_init(struct rights *rights, const struct sley_config_daemon *daemon,
		const char *file)
{
	int failed = 0;

	*rights = (struct rights){ .own_uid = geteuid() };
	for (size_t i = 0; i < daemon->nr_users; i++)
		failed = add_entry(rights, &daemon->users[i], file) ?: failed;
	if (failed)
		rights_fini(rights);
	return failed;
}

void rights_fini(struct rights *rights)
{
	free(rights->list);
	rights->list = NULL;
	rights->nr = 0;
}

void rights_swap(struct rights *rights, struct rights *next)
{
	struct rights last;

	pthread_mutex_lock(&lock);
	last = *rights;
	*rights = *next;
	pthread_mutex_unlock(&lock);
	*next = last;
}

/* ---- questions -------------------------------------------------------------------- */

uint32_t rights_of(const struct rights *rights, uint32_t uid, uint32_t gid)
{
	uint32_t may = rights->everybody;

	if (uid == 0 || uid == rights->own_uid)
		return RIGHTS_ALL;
	for (size_t i = 0; i < rights->nr; i++) {
		const struct right *right = &rights->list[i];

		if (right->id == (right->is_group ? gid : uid))
			may |= right->may;
	}
	return may;
}

static uint32_t rights_now(void *self, uint32_t uid, uint32_t gid)
{
	uint32_t may;

	pthread_mutex_lock(&lock);
	may = rights_of(self, uid, gid);
	pthread_mutex_unlock(&lock);
	return may;
}

static uint32_t rights_of_peer(void *self, const struct sley_server_peer *peer)
{
	return rights_now(self, peer->uid, peer->gid);
}

bool rights_join(void *self, const struct sley_domain_peer *peer)
{
	return rights_now(self, peer->uid, peer->gid) & SLEY_CONFIG_MAY_JOIN;
}

bool rights_connect(void *self, const struct sley_server_peer *peer)
{
	return rights_of_peer(self, peer) != 0;
}

bool rights_make(void *self, const struct sley_server_peer *peer,
		 const char *pool, const char *module)
{
	(void)pool;
	/* The params of an admin pool are addresses: only this program has any. */
	return strcmp(module, "admin") != 0 &&
	       rights_of_peer(self, peer) & SLEY_CONFIG_MAY_CREATE;
}

/* The method with the number of its place needs this right. */
static const uint32_t admin_needs[] = {
	[SLEY_ADMIN_MAKE] = SLEY_CONFIG_MAY_CREATE,
	[SLEY_ADMIN_DESTROY] = SLEY_CONFIG_MAY_CREATE,
	[SLEY_ADMIN_FLUSH] = SLEY_CONFIG_MAY_UPGRADE,
	[SLEY_ADMIN_DRAIN] = SLEY_CONFIG_MAY_UPGRADE,
	[SLEY_ADMIN_OPEN] = SLEY_CONFIG_MAY_UPGRADE,
	[SLEY_ADMIN_UPGRADE] = SLEY_CONFIG_MAY_UPGRADE,
	[SLEY_ADMIN_INSPECT] = SLEY_CONFIG_MAY_LOOK,
	[SLEY_ADMIN_LIST] = SLEY_CONFIG_MAY_LOOK,
	[SLEY_ADMIN_STOP] = SLEY_CONFIG_MAY_STOP,
	[SLEY_ADMIN_REFRESH] = SLEY_CONFIG_MAY_UPGRADE,
};

static const uint32_t control_needs[] = {
	[CONTROL_STATUS] = SLEY_CONFIG_MAY_LOOK,
	[CONTROL_STOP] = SLEY_CONFIG_MAY_STOP,
	[CONTROL_CLIENTS] = SLEY_CONFIG_MAY_LOOK,
	[CONTROL_EJECT] = SLEY_CONFIG_MAY_STOP,
};

static uint64_t methods_of(uint32_t may, const uint32_t *needs, size_t nr)
{
	uint64_t methods = 0;

	for (size_t i = 0; i < nr; i++) {
		if (may & needs[i])
			methods |= (uint64_t)1 << i;
	}
	return methods;
}

/* By the module: a pool of "admin" can do the same under any name. */
uint64_t rights_use(void *self, const struct sley_server_peer *peer,
		    const char *pool, const char *module)
{
	uint32_t may = rights_of_peer(self, peer);

	(void)pool;
	if (strcmp(module, "admin") == 0)
		return methods_of(may, admin_needs,
				  sizeof(admin_needs) / sizeof(*admin_needs));
	if (strcmp(module, CONTROL_MODULE) == 0)
		return methods_of(may, control_needs,
				  sizeof(control_needs) /
					  sizeof(*control_needs));
	return may & SLEY_CONFIG_MAY_SUBMIT ? SLEY_METHODS_ALL : 0;
}
