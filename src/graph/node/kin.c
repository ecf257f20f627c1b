/* SPDX-License-Identifier: MIT */
/*
 * kin.c - see kin.h.
 */
#include "graph/node/kin.h"

#include "core/task/then.h"
#include "graph/placement/gang.h"

#include <sley/fork.h>

#define STEPS_MAX 16 /* groups on the way up */

/* The task that forked @task, directly or indirectly; or @task itself. */
static struct sley_task *root_of(struct sley_task *task)
{
	while (task && task_flags(task) & TASK_FORKED) {
		const struct sley_forked *child = task_forked(task);
		struct strand *parent = child->parent;

		/* A parent cannot end before its child. */
		task = strand_task(parent);
	}
	return task;
}

const struct node *kin_node(const struct sley_graph *graph,
			    struct sley_task *task)
{
	const struct node *node = NULL;

	task = root_of(task);
	if (task)
		node = task->fn == graph_turn ? node_of(task) : gang_node(task);
	return node && node->scope->graph == graph ? node : NULL;
}

static struct sley_task *current_task(void)
{
	struct strand *strand = strand_current();

	return strand ? strand->task : NULL;
}

/* The group that waits for @task, which may be a forked child; or NULL. */
static struct sley_group *group_of(struct sley_task *task)
{
	task = root_of(task);
	/* Nodes and processes have other data in the field of the group. */
	if (!task || task_flags(task) & TASK_TURNS)
		return NULL;
	return then_group(task);
}

/* One way up: the lists whose locks are held. */
struct way {
	struct sley_group *group[STEPS_MAX];
	unsigned int nr;
};

static bool way_has(const struct way *way, const struct sley_group *group)
{
	for (unsigned int i = 0; i < way->nr; i++) {
		if (way->group[i] == group)
			return true;
	}
	return false;
}

/*
 * With the lock of @group: a task that joins it, if possible a node of @graph
 * (*@found).  NULL: no task joins it yet, or only threads do.
 */
static struct sley_task *who_joins(const struct sley_graph *graph,
				   const struct sley_group *group, bool *found)
{
	const struct sley_waiter *first = group->q.first, *waiter = first;
	struct sley_task *task = NULL;

	if (!first)
		return NULL;
	do {
		if (!(task_load(waiter->task) & TASK_THREAD)) {
			task = waiter->task;
			*found = kin_node(graph, task) != NULL;
		}
		waiter = waiter->next;
	} while (!*found && waiter != first);
	return task;
}

bool kin_is_awaited(const struct sley_graph *graph)
{
	struct sley_group *group = group_of(current_task());
	struct way way = { .nr = 0 };
	bool found = false;

	/* A cycle of joins has no end, but its tasks are deadlocked anyway. */
	while (group && !found && way.nr < STEPS_MAX && !way_has(&way, group)) {
		struct sley_task *task;

		(void)waitq_lock(&group->q);
		way.group[way.nr++] = group;
		task = who_joins(graph, group, &found);
		group = task && !found ? group_of(task) : NULL;
	}
	while (way.nr)
		waitq_unlock_counted(&way.group[--way.nr]->q);
	return found;
}

bool kin_may_be_awaited(void)
{
	return group_of(current_task());
}
