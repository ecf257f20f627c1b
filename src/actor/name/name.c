/* SPDX-License-Identifier: MIT */
/*
 * name.c - names of processes.
 *
 * A name is in two places: in the directory, where others find it, under the lock
 * of its shard; and in the list of holdings of its process, under the lock of the
 * process.  A registrar takes both locks, the lock of the process first, and
 * finds the process alive.  So the process does not end in between, and an ending
 * process gets no more names.
 *
 *   register     process, shard: into both places
 *   unregister   finds the owner, then process, shard: out of both places
 *   the end      pid = 0, under the lock of the process.  From here on the name
 *                counts as free, although it is still there: a look does not find
 *                it, and a registrar takes it over
 *                then, name by name, shard: out of the directory, unless it was
 *                taken over; the list belongs to the ending process alone
 *                then links and monitors are told
 *
 * Edges: those of the locks; and A1 of actor/process/process.h, to see whether
 * the owner is alive.
 *
 * Rejected: to refuse the name of a process that is about to end.  A caller that
 * got -ESRCH from the process, and starts a new process in its place, would have
 * to try again.
 */
#include "actor/name/name.h"

#include "actor/name/directory.h"
#include "actor/name/holding.h"
#include "actor/name/name_wait.h"
#include "mem/object_pool.h"
#include "os/at_fork.h"

#include <errno.h>
#include <string.h>

struct name {
	struct holding holding;
	struct entry entry;
	sley_pid pid; /* the owner: constant                         */
	bool labels;  /* is also the label of the process            */
	bool loose;   /* not in the directory any more (shard)       */
};

#define NAME_SIZE 128
_Static_assert(sizeof(struct name) <= NAME_SIZE, "names come from a pool");

static struct directory names;
static struct object_pool pool = { .object_size = NAME_SIZE };

/* ---- fork() ------------------------------------------------------------------- */

static void forget_names(void)
{
	directory_renew(&names);
}

FORK_PART(FORK_NAMES, .renew = forget_names);

/* ---- register, unregister, whereis ---------------------------------------------- */

/* Locked. */
static struct name *find(struct shard *shard, const struct key *key)
{
	struct entry *entry = shard_find(shard, key);

	return entry ? container_of(entry, struct name, entry) : NULL;
}

/* Locked.  The first name of a process without a label is its label. */
static void label(struct process *process, struct name *name)
{
	if (name->labels && !process->task.name)
		process->task.name = name->entry.text;
	else
		name->labels = false;
}

/* Locked, both.  NULL: @name is registered; else the name of the present owner. */
static struct name *add(struct process *process, struct shard *shard,
			const struct key *key, struct name *name)
{
	struct name *old = find(shard, key);

	if (old && process_find(old->pid))
		return old;
	if (old) {
		old->loose = true;
		shard_remove(shard, &old->entry);
	}
	shard_add(shard, &name->entry);
	holding_add(process, &name->holding);
	label(process, name);
	return NULL;
}

/*
 * 0: @name is registered, if *@owner is SLEY_NO_PID; else *@owner has it.
 * -ESRCH.
 */
static int enter(struct name *name, const struct key *key, sley_pid *owner)
{
	struct process *process = process_lock(name->pid);
	struct shard *shard;
	struct name *old;

	if (!process)
		return -ESRCH;
	shard = directory_lock(&names, key->hash);
	old = add(process, shard, key, name);
	*owner = old ? old->pid : SLEY_NO_PID;
	shard_unlock(shard);
	process_unlock(process);
	return 0;
}

static int register_as(const char *text, sley_pid pid, sley_pid *owner,
		       bool labels)
{
	sley_pid other = SLEY_NO_PID;
	struct name *name;
	struct key key;
	int err;

	if (!key_init(&key, text))
		return -EINVAL;
	if (pid & PID_PORT)
		return -ESRCH;
	name = object_pool_get(&pool, NULL);
	if (!name)
		return -ENOMEM;
	entry_init(&name->entry, &key);
	name->holding.kind = HOLDS_NAME;
	name->pid = pid;
	name->labels = labels;
	name->loose = false;
	err = enter(name, &key, &other);
	if (err || other)
		object_pool_put(&pool, NULL, name);
	else
		name_appeared(key.hash);
	if (err || !other || other == pid)
		return err;
	if (owner)
		*owner = other;
	return -EEXIST;
}

int name_register(const char *text, sley_pid pid, sley_pid *owner)
{
	return register_as(text, pid, owner, true);
}

int sley_name_register(const char *name, sley_pid pid, sley_pid *owner)
{
	return register_as(name, pid, owner, false);
}

/*
 * Take the name of @process, which is locked.  False: @process does not have that
 * name (any more).  *@gone is to be freed; but a label is freed when the process
 * ends.
 */
static bool take(const struct process *process, const struct key *key,
		 struct name **gone)
{
	struct shard *shard = directory_lock(&names, key->hash);
	struct name *name = find(shard, key);
	/* Written under the lock of the process. */
	bool ours = name && name->pid == process_pid(process);

	*gone = NULL;
	if (ours) {
		shard_remove(shard, &name->entry);
		name->loose = name->labels;
		if (!name->labels) {
			holding_remove(&name->holding);
			*gone = name;
		}
	}
	shard_unlock(shard);
	return ours;
}

static sley_pid whereis(const struct key *key)
{
	struct shard *shard = directory_lock(&names, key->hash);
	struct name *name = find(shard, key);
	sley_pid pid = name ? name->pid : SLEY_NO_PID;

	shard_unlock(shard);
	return process_find(pid) ? pid : SLEY_NO_PID;
}

int sley_name_unregister(const char *text)
{
	struct key key;
	sley_pid pid;

	if (!key_init(&key, text))
		return -ENOENT;
	while ((pid = whereis(&key))) {
		struct process *process = process_lock(pid);
		struct name *gone;
		bool taken;

		if (!process)
			continue;
		taken = take(process, &key, &gone);
		process_unlock(process);
		if (gone)
			object_pool_put(&pool, NULL, gone);
		if (taken)
			return 0;
	}
	return -ENOENT;
}

sley_pid sley_name_find(const char *name)
{
	struct key key;

	return key_init(&key, name) ? whereis(&key) : SLEY_NO_PID;
}

/* ---- for processes ------------------------------------------------------------------ */

void names_forget(struct process *process)
{
	struct holding *holding;

	while ((holding = holding_take(process, HOLDS_NAME))) {
		struct name *name = container_of(holding, struct name, holding);
		struct shard *shard =
			directory_lock(&names, name->entry.node.word);

		if (!name->loose)
			shard_remove(shard, &name->entry);
		shard_unlock(shard);
		object_pool_put(&pool, NULL, name);
	}
}

/*
 * Copy @name to @text, unless it was taken over: a new owner does not wait until
 * the last owner has ended.
 */
static void copy_name(const struct name *name, char text[SLEY_NAME_MAX + 1])
{
	struct shard *shard = directory_lock(&names, name->entry.node.word);

	if (!name->loose)
		memcpy(text, name->entry.text, sizeof(name->entry.text));
	shard_unlock(shard);
}

/* The first name that the process got: the name in its options, if there is one. */
void name_of(sley_pid pid, char text[SLEY_NAME_MAX + 1])
{
	struct process *process = process_lock(pid);
	const struct holding *holding;

	text[0] = '\0';
	if (!process)
		return;
	for (holding = process->holdings; holding; holding = holding->next) {
		if (holding->kind == HOLDS_NAME)
			copy_name(container_of(holding, struct name, holding),
				  text);
	}
	process_unlock(process);
}
