/* SPDX-License-Identifier: MIT */
/*
 * relation.c - the relations of a process, and what becomes of them.
 *
 * Almost no process has links or monitors, so struct relations is made on demand.
 * It is made by the first process that needs it, often a different process, and
 * never while a lock is held: a process that finds it missing releases the lock,
 * makes a struct relations, and looks again.
 *
 * At the end it is taken out of the process under the lock, together with the
 * pid.  So a process that takes the lock afterwards finds no relations, and a
 * process that came before is on one of the lists, and told.
 *
 * Rejected: heads of the lists in struct process (a million processes pay for
 * them); a table of all relations with locks of its own (two places that have to
 * agree on which processes live).
 */
#include "actor/relation/relation.h"

#include "mem/object_pool.h"

#include <errno.h>

static struct object_pool pool = { .object_size = 128 };

_Static_assert(sizeof(struct relations) <= 128, "an object of the pool");

static struct relations *create(void)
{
	struct relations *relations = object_pool_get(&pool, NULL);

	if (!relations)
		return NULL;
	list_init(&relations->links);
	list_init(&relations->watchers);
	list_init(&relations->watches);
	list_init(&relations->watching);
	relations->nr_links = 0;
	relations->nr_watchers = 0;
	relations->result = NULL;
	return relations;
}

int relations_lock(sley_pid pid, struct process **process)
{
	struct relations *spare = NULL;
	int error = 0;

	for (;;) {
		*process = related_lock(pid);
		if (!*process) {
			error = -ESRCH;
			break;
		}
		if (!(*process)->relations) {
			(*process)->relations = spare;
			spare = NULL;
		}
		if ((*process)->relations)
			break;
		process_unlock(*process);
		spare = create();
		if (!spare)
			return -ENOMEM;
	}
	if (spare)
		object_pool_put(&pool, NULL, spare);
	return error;
}

int relations_own(sley_pid pid, struct process **self)
{
	struct process *process = process_current();
	sley_pid own = sley_self();
	struct relations *spare;

	if (!own || pid == own)
		return -EINVAL;
	*self = process;
	spin_lock(&process->lock);
	spare = process->relations;
	spin_unlock(&process->lock);
	if (spare)
		return 0;
	spare = create();
	if (!spare)
		return -ENOMEM;
	spin_lock(&process->lock);
	if (!process->relations) {
		process->relations = spare;
		spare = NULL;
	}
	spin_unlock(&process->lock);
	if (spare)
		object_pool_put(&pool, NULL, spare);
	return 0;
}

struct relations *relations_take(struct process *process,
				 struct exit_info *ending)
{
	struct relations *relations = process->relations;

	process->relations = NULL;
	if (relations)
		ending->result = relations->result;
	return relations;
}

void relations_tell(struct relations *relations, sley_pid pid,
		    const struct exit_info *ending)
{
	if (!relations)
		return;
	process_monitors_leave(relations);
	links_tell(relations, ending->reason);
	process_monitors_tell(relations, ending);
	watches_tell(relations, pid, ending);
	object_pool_put(&pool, NULL, relations);
}

bool relation_arrived(struct process *process, struct sley_msg *msg)
{
	return msg->kind == SLEY_EXIT ? link_arrived(process, msg)
				      : process_monitor_arrived(msg);
}

void relation_free(struct sley_msg *msg)
{
	if (msg->kind == SLEY_EXIT)
		link_free(msg);
	else
		process_monitor_free(msg);
}

void relations_count(const struct process *process, uint32_t *links,
		     uint32_t *monitors)
{
	const struct relations *relations = process->relations;

	*links = relations ? relations->nr_links : 0;
	*monitors = relations ? relations->nr_watchers : 0;
}

static bool concerns(const struct sley_msg *msg, unsigned int kind,
		     uint64_t key)
{
	return msg->kind == kind &&
	       key == (kind == SLEY_EXIT ? msg->from : msg->tag);
}

void relations_withdraw(struct process *process, unsigned int kind,
			uint64_t key)
{
	struct mail_queue rest = { NULL };
	struct sley_msg *msg;

	while ((msg = mail_take(&process->control)))
		if (concerns(msg, kind, key))
			mail_free(msg);
		else
			mail_append(&rest, msg);
	process->control = rest;
}
