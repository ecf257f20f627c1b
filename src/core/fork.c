/* SPDX-License-Identifier: MIT */
/*
 * fork.c - see fork.h.
 *
 * Edges:
 *
 *   S1  see core/worker.h
 */
#include "core/fork.h"

#include "core/drain.h"

/* ---- storage ------------------------------------------------------------------ */

static size_t storage_size(uint32_t capacity)
{
	return sizeof(struct fork_storage) +
	       capacity * sizeof(struct sley_fork *);
}

bool fork_make_room(struct worker *worker)
{
	struct fork_stack *forks = &worker->strand->forks;
	struct fork_storage *storage = fork_storage(forks);
	uint32_t capacity = storage ? 2 * storage->capacity
				    : (uint32_t)chaos_few(FORK_STACK_FIRST, 1);

	storage = mem_alloc(&worker->rt->mem, storage_size(capacity));
	if (!storage)
		return false;
	storage->capacity = capacity;
	fork_stack_grow(forks, storage);
	return true;
}

void fork_storage_free(struct sley *rt, struct strand *strand)
{
	struct fork_storage *storage = strand->forks.storage;

	while (storage) {
		struct fork_storage *older = storage->older;

		mem_free(&rt->mem, storage, storage_size(storage->capacity));
		storage = older;
	}
	strand->forks.storage = NULL;
}

/* ---- the thief ------------------------------------------------------------------ */

/*
 * The child has ended: nothing of it may be touched after fork_finish().  What
 * the child owns ends before that: its endings may ask for its tree, which is
 * found through the child, and who joins it expects them to be over.
 */
static void run_stolen(void *arg)
{
	struct strand *strand = worker_current()->strand;
	struct sley_fork *child = arg;
	struct sley_task *parent;

	child->fn(child->arg);
	endings_run(&strand->endings);
	parent = fork_finish(child);
	if (parent && task_decide(parent, VERDICT_WOKEN, 0) == DECIDED_QUEUE)
		task_enqueue(parent);
}

/* The oldest child on @strand, which knows its parent from now on. */
static struct sley_fork *steal_from(struct strand *strand)
{
	struct sley_fork *child = fork_stack_steal(&strand->forks);

	if (child)
		child->parent = strand;
	return child;
}

/* Under the lock; it may be out already. */
static void parents_remove(struct worker *worker, struct strand *strand)
{
	if (list_empty(&strand->parents))
		return;
	list_remove(&strand->parents);
	/* relaxed: written under the lock; for others a hint. */
	store_relaxed(&worker->nr_parents, worker->nr_parents - 1);
}

/* Among the strands that were suspended with children. */
static struct sley_fork *steal_left_behind(struct worker *victim)
{
	struct sley_fork *child = NULL;
	struct list *link, *next;

	spin_lock(&victim->parents_lock);
	for (link = victim->parents.next; link != &victim->parents && !child;
	     link = next) {
		struct strand *strand =
			container_of(link, struct strand, parents);

		next = link->next;
		child = steal_from(strand);
		/* One without children only keeps others from sleeping. */
		if (!fork_stack_has_public(&strand->forks))
			parents_remove(victim, strand);
	}
	spin_unlock(&victim->parents_lock);
	return child;
}

static bool has_parents(const struct worker *victim)
{
	/* relaxed: a glance; the lock comes later. */
	return load_relaxed(&victim->nr_parents);
}

static struct strand *current_strand(const struct worker *victim)
{
	/* Strands are never unmapped; the CAS on its word decides. */
	return load_acquire(&victim->strand); /* S1 */
}

bool fork_stealable(struct worker *victim)
{
	struct strand *strand = current_strand(victim);

	return has_parents(victim) ||
	       (strand && fork_stack_has_public(&strand->forks));
}

struct sley_task *fork_steal(struct worker *worker, struct worker *victim)
{
	struct strand *strand = current_strand(victim);
	struct sley_fork *child = NULL;
	struct sley_task *task;

	if (!fork_stealable(victim))
		return NULL;
	task = slab_alloc(&worker->rt->tasks);
	if (!task)
		return NULL;
	if (victim != worker && strand)
		child = steal_from(strand);
	if (!child)
		child = steal_left_behind(victim);
	if (!child) {
		slab_free(&worker->rt->tasks, task);
		return NULL;
	}
	*task = (struct sley_task){ .fn = run_stolen, .arg = child };
	task->name = "forked child";
	task_build(task, LEVEL_DEFAULT,
		   worker->task_flags | TASK_FORKED | TASK_MUST_RUN);
	drain_count_spawned(worker);
	return task;
}

/* ---- the parent ------------------------------------------------------------------- */

void fork_publish(struct worker *worker)
{
	if (fork_stack_publish(&worker->strand->forks))
		idle_notify(&worker->rt->idle);
}

void fork_leave_behind(struct worker *worker)
{
	struct strand *strand = worker->strand;

	if (likely(fork_stack_empty(&strand->forks)))
		return;
	(void)fork_stack_publish(&strand->forks);
	if (!fork_stack_has_public(&strand->forks))
		return;
	spin_lock(&worker->parents_lock);
	sley_assert(list_empty(&strand->parents));
	list_append(&worker->parents, &strand->parents);
	/* relaxed: written under the lock; for others a hint. */
	store_relaxed(&worker->nr_parents, worker->nr_parents + 1);
	strand->parents_home = worker;
	spin_unlock(&worker->parents_lock);
	idle_notify(&worker->rt->idle);
}

void fork_come_back(struct strand *strand)
{
	struct worker *home = strand->parents_home;

	spin_lock(&home->parents_lock);
	parents_remove(home, strand);
	spin_unlock(&home->parents_lock);
	strand->parents_home = NULL;
}

void fork_finish_wait(struct worker *worker, const struct after *after)
{
	struct sley_task *parent = after->strand->task;

	if (!task_park(parent, TASK_SHIELDED))
		sley_fatal("a parent was woken before its child knew it");
	if (fork_await(after->child, parent))
		return;
	if (task_decide(parent, VERDICT_WOKEN, 0) == DECIDED_QUEUE)
		levels_push(&worker->ready, parent, task_level(parent));
}
