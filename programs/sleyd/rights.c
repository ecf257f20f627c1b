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
#include <sley/task.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum right_of {
	RIGHT_OF_USER,   /* whom the entry names                              */
	RIGHT_OF_MEMBER, /* of the group that it names                        */
	RIGHT_OF_GROUP,  /* the same: whose first group it is                 */
	RIGHT_OF_ALL,
};

/* In the order of the entries. */
struct right {
	enum right_of of;
	uint32_t id;
	uint32_t may;
	uint32_t share; /* of members; 0: the entry does not say             */
	bool has_priority;
	int32_t priority;
};

/* Over the rights that workers ask for; held for a walk over a list. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- from names to numbers -------------------------------------------------------- */

static int add(struct rights *rights, enum right_of of, uint32_t id,
	       const struct sley_config_user *entry)
{
	struct right *list =
		realloc(rights->list, (rights->nr + 1) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	rights->list = list;
	list[rights->nr++] = (struct right){
		.of = of,
		.id = id,
		.may = entry->may,
		.share = entry->domain_share,
		.has_priority = entry->has_domain_priority,
		.priority = entry->domain_priority,
	};
	return 0;
}

static int add_group(struct rights *rights, const struct group *group,
		     const struct sley_config_user *entry)
{
	int err = add(rights, RIGHT_OF_GROUP, group->gr_gid, entry);

	for (char **name = group->gr_mem; *name && !err; name++) {
		const struct passwd *member = getpwnam(*name);

		if (member)
			err = add(rights, RIGHT_OF_MEMBER, member->pw_uid,
				  entry);
	}
	return err;
}

static int add_entry(struct rights *rights, const struct sley_config_user *user,
		     const char *file)
{
	const struct group *group;
	uint32_t id;

	if (user->everybody)
		return add(rights, RIGHT_OF_ALL, 0, user);
	if (user->user) {
		if (user_find(user->user, &id, NULL) == 0)
			return add(rights, RIGHT_OF_USER, id, user);
		log_line("%s:%u:%u: there is no user '%s' on this machine: "
			 "correct the name, or use its number",
			 file, user->line, user->column, user->user);
		return -ENOENT;
	}
	group = group_find(user->group, &id);
	if (group)
		return add_group(rights, group, user);
	if (id != UINT32_MAX)
		return add(rights, RIGHT_OF_GROUP, id, user);
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

static bool is_for(const struct right *right, uint32_t uid, uint32_t gid)
{
	switch (right->of) {
	case RIGHT_OF_ALL:
		return true;
	case RIGHT_OF_GROUP:
		return right->id == gid;
	default:
		return right->id == uid;
	}
}

/* Root, and the user of the daemon. */
static bool may_all(const struct rights *rights, uint32_t uid)
{
	return uid == 0 || uid == rights->own_uid;
}

uint32_t rights_of(const struct rights *rights, uint32_t uid, uint32_t gid)
{
	uint32_t may = 0;

	if (may_all(rights, uid))
		return RIGHTS_ALL;
	for (size_t i = 0; i < rights->nr; i++) {
		if (is_for(&rights->list[i], uid, gid))
			may |= rights->list[i].may;
	}
	return may;
}

/* An entry for groups or everybody does not limit those who may all. */
static bool limits(const struct rights *rights, const struct right *right,
		   uint32_t uid, uint32_t gid)
{
	return is_for(right, uid, gid) &&
	       (right->of == RIGHT_OF_USER || !may_all(rights, uid));
}

static void find_terms(const struct rights *rights, uint32_t uid, uint32_t gid,
		       struct sley_domain_terms *terms)
{
	bool has_priority = false, has_share = false;

	for (size_t i = 0; i < rights->nr; i++) {
		const struct right *right = &rights->list[i];

		if (!limits(rights, right, uid, gid))
			continue;
		if (right->has_priority && !has_priority)
			terms->most_urgent = right->priority;
		if (right->share && !has_share)
			terms->share = right->share;
		has_priority = has_priority || right->has_priority;
		has_share = has_share || right->share;
	}
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

void rights_terms(void *self, const struct sley_domain_peer *peer,
		  struct sley_domain_terms *terms)
{
	pthread_mutex_lock(&lock);
	find_terms(self, peer->uid, peer->gid, terms);
	pthread_mutex_unlock(&lock);
}

int32_t rights_most_urgent(void *self, const struct sley_server_peer *peer)
{
	struct sley_domain_terms terms = { .most_urgent = SLEY_PRIORITY_MIN };

	pthread_mutex_lock(&lock);
	find_terms(self, peer->uid, peer->gid, &terms);
	pthread_mutex_unlock(&lock);
	return terms.most_urgent;
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
