/* SPDX-License-Identifier: MIT */
/*
 * users.c - see users.h.
 */
#include "config/users.h"

#include "config/keys.h"

#include <errno.h>
#include <string.h>

/* An entry names a user, a group or everybody: one of the three. */
static void check_named(struct reader *reader, struct place at,
			const struct sley_config_user *user)
{
	int nr = !!user->user + !!user->group + user->everybody;

	if (nr != 1)
		(void)reader_mistake(reader, at,
				     "an entry of 'users' needs one of 'user', "
				     "'group' and 'everybody: true', and this "
				     "has %s",
				     nr ? "several" : "none");
}

static bool is_same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* USERS_MAX bounds the comparisons. */
static void check_others(struct reader *reader, struct place at,
			 const struct sley_config_user *first,
			 const struct sley_config_user *user)
{
	for (const struct sley_config_user *other = first; other != user;
	     other++) {
		if (is_same(other->user, user->user) ||
		    is_same(other->group, user->group) ||
		    (other->everybody && user->everybody))
			(void)reader_mistake(reader, at,
					     "this entry of 'users' is there "
					     "twice: line %u has it, too",
					     other->line);
	}
}

static const struct found *find(const struct found *found, const char *name)
{
	return &found[key_find(&keys_user, name) - keys_user.keys];
}

/* The entry has a key for which it has none of @rights: one was forgotten. */
static void check_right(struct reader *reader,
			const struct sley_config_user *user,
			const struct found *found, const char *name,
			uint32_t rights, const char *named)
{
	const struct found *key = find(found, name);

	if (found_any(key) && !(user->may & rights))
		(void)reader_mistake(reader, key->at,
				     "'%s' needs the right %s: add it to "
				     "'may', or take the key out",
				     name, named);
}

/* What the work of a user counts for, of a user who may have none. */
static void check_work(struct reader *reader,
		       const struct sley_config_user *user,
		       const struct found *found)
{
	check_right(reader, user, found, "domain_priority",
		    SLEY_CONFIG_MAY_JOIN | SLEY_CONFIG_MAY_SUBMIT,
		    "'join' or 'submit'");
	check_right(reader, user, found, "domain_share", SLEY_CONFIG_MAY_JOIN,
		    "'join'");
}

static int read_user(struct reader *reader, const struct node *node,
		     const struct sley_config_user *first,
		     struct sley_config_user *user)
{
	struct found found[NR_USER_KEYS] = { 0 };
	unsigned int before = reader->nr_mistakes;
	int err = keys_read(reader, &keys_user, node, user, found);

	user->line = node->at.line;
	user->column = node->at.column;
	user->has_domain_priority = found_any(find(found, "domain_priority"));
	if (!err && before == reader->nr_mistakes) {
		check_named(reader, node->at, user);
		check_others(reader, node->at, first, user);
		check_work(reader, user, found);
	}
	return err;
}

int users_make(struct reader *reader, const struct node *node,
	       struct users *out)
{
	struct sley_config_user *users;
	size_t nr = 0;

	if (node->kind != NODE_LIST || !node->nr || node->nr > USERS_MAX)
		return reader_mistake(
			reader, node->at,
			"'users' wants a list of 1 to %d entries, "
			"as '- user: NAME' with 'may: [ submit ]' "
			"below it",
			USERS_MAX);
	users = pile_alloc(&reader->pile, node->nr * sizeof(*users));
	if (!users)
		return -ENOMEM;
	for (const struct node *entry = node->first; entry;
	     entry = entry->next, nr++) {
		if (read_user(reader, entry, users, &users[nr]) == -ENOMEM)
			return -ENOMEM;
	}
	*out = (struct users){ users, nr };
	return 0;
}
