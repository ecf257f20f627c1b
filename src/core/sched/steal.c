/* SPDX-License-Identifier: MIT */
/*
 * steal.c - see steal.h.
 *
 * Edges:
 *
 *   S1  see core/sched/worker.h
 */
#include "core/sched/place.h"
#include "core/sched/steal.h"

#include "core/life/drain.h"
#include "os/membarrier.h"

/* ---- storage ------------------------------------------------------------------ */

#define FORK_STORAGE 64 /* children, at first */

static size_t storage_size(uint32_t capacity)
{
	return sizeof(struct fork_storage) +
	       capacity * sizeof(struct sley_forked *);
}

bool fork_make_room(struct worker *worker)
{
	struct sley_forks *forks = &worker->strand->forks;
	uint32_t capacity = fork_storage(forks)
				    ? 2 * fork_capacity(forks)
				    : (uint32_t)chaos_few(FORK_STORAGE, 4);
	struct fork_storage *storage;

	storage = mem_alloc(&worker->rt->mem, storage_size(capacity));
	if (!storage)
		return false;
	storage->capacity = capacity;
	fork_stack_grow(forks, storage);
	return true;
}

void fork_storage_free(struct sley *rt, struct strand *strand)
{
	struct fork_storage *storage = fork_storage(&strand->forks);

	while (storage) {
		struct fork_storage *older = storage->older;

		mem_free(&rt->mem, storage, storage_size(storage->capacity));
		storage = older;
	}
	/* relaxed: no thief takes a child from a stack without children. */
	store_relaxed(&strand->forks.slot, strand->forks.first);
}

/* ---- a child as a task ---------------------------------------------------------- */

/*
 * The child has ended: nothing of the child may be touched after fork_finish().
 * Things that the child owns end before that: its cleanups may ask for its tree,
 * which is found through the child, and the joiner expects the cleanups to be
 * over.
 */
static void run_child(void *arg)
{
	struct strand *strand = worker_current()->strand;
	struct sley_forked *child = arg;
	struct sley_task *parent;

	if (likely(child->parent)) /* a task, not a thread that gave the child */
		scope_child_starts(strand, child->parent);
	fork_call(child);
	cleanups_run(&strand->cleanups);
	scope_child_ends(strand);
	parent = fork_finish(child);
	if (parent && task_decide(parent, VERDICT_WOKEN, 0) == DECIDED_QUEUE)
		task_enqueue(parent);
}

/*
 * The child has the level of its parent, and may move if its parent may: @inherited
 * are the flags of the parent.
 */
static void build_task(struct sley_task *task, struct sley_forked *child,
		       uint32_t inherited, uint32_t flags)
{
	*task = (struct sley_task){ .fn = run_child, .arg = child };
	task->name = "forked child";
	/* The parent relies on the child. */
	task_build(task, task_level_of(inherited),
		   flags | (inherited & TASK_MIGRATABLE) | TASK_MUST_RUN);
}

bool fork_give(struct sley *rt, struct strand *parent,
	       struct sley_forked *child)
{
	uint32_t inherited = LEVEL_DEFAULT << TASK_LEVEL_SHIFT;
	uint32_t flags = 0;
	struct sley_task *task;

	if (!rt || !rt->nr_workers)
		return false;
	task = slab_alloc(&rt->tasks);
	if (!task)
		return false;
	fork_mark(child, FORK_GIVEN);
	child->parent = parent;
	if (parent) {
		inherited = task_flags(parent->task);
		flags = TASK_FORKED;
	}
	build_task(task, child, inherited, flags | runtime_task_flags(rt));
	drain_count_foreign(rt, 1);
	place_foreign(rt, task);
	return true;
}

/* ---- the thief ------------------------------------------------------------------ */

/* A stolen child, and its parent. */
struct prey {
	struct strand *parent;
	struct sley_forked *child; /* NULL: no child */
};

/* Under the lock; @strand may be out already. */
static void parents_remove(struct worker *worker, struct strand *strand)
{
	if (list_empty(&strand->parents))
		return;
	list_remove(&strand->parents);
	/* relaxed: written under the lock; for other workers a hint. */
	store_relaxed(&worker->nr_parents, worker->nr_parents - 1);
}

static struct prey steal_from(struct strand *strand)
{
	return (struct prey){ strand, fork_stack_steal(&strand->forks) };
}

/* Among the strands that were suspended with children. */
static struct prey steal_left_behind(struct worker *victim)
{
	struct prey prey = { 0 };
	struct list *link, *next;

	spin_lock(&victim->parents_lock);
	for (link = victim->parents.next;
	     link != &victim->parents && !prey.child; link = next) {
		struct strand *strand =
			container_of(link, struct strand, parents);

		next = link->next;
		prey = steal_from(strand);
		/* A strand without children only keeps workers from sleeping. */
		if (!fork_stack_has_public(&strand->forks))
			parents_remove(victim, strand);
	}
	spin_unlock(&victim->parents_lock);
	return prey;
}

static bool has_parents(const struct worker *victim)
{
	/* relaxed: a glance; the lock comes later. */
	return load_relaxed(&victim->nr_parents);
}

/* The strand that @victim is on; NULL: @victim has not started. */
static struct strand *current_strand(const struct worker *victim)
{
	/* Strands are never unmapped; the CAS on the word of the forks decides. */
	return load_acquire(&victim->strand); /* S1 */
}

bool fork_stealable(struct worker *victim)
{
	struct strand *strand = current_strand(victim);

	return has_parents(victim) ||
	       (strand && fork_stack_has_public(&strand->forks));
}

/* A task for the stolen child: @task, which is freed if there is no child. */
static struct sley_task *task_for(struct worker *worker, struct sley_task *task,
				  const struct prey *prey)
{
	struct sley_task *parent;

	if (!prey->child) {
		slab_free(&worker->rt->tasks, task);
		return NULL;
	}
	/* Stealing acquired the task; the parent waits for its child. */
	parent = strand_task(prey->parent);
	prey->child->parent = prey->parent;
	build_task(task, prey->child, task_flags(parent),
		   worker->task_flags | TASK_FORKED);
	drain_count_spawned(worker);
	return task;
}

struct sley_task *fork_steal(struct worker *worker, struct worker *victim)
{
	struct strand *strand = current_strand(victim);
	struct prey prey = { 0 };
	struct sley_task *task;

	if (!fork_stealable(victim)) {
		if (victim != worker && strand)
			(void)fork_stack_ask(&strand->forks);
		return NULL;
	}
	task = slab_alloc(&worker->rt->tasks);
	if (!task)
		return NULL;
	if (victim != worker && strand)
		prey = steal_from(strand);
	if (!prey.child)
		prey = steal_left_behind(victim);
	return task_for(worker, task, &prey);
}

/* ---- private children ------------------------------------------------------------- */

bool fork_ask(struct worker *worker)
{
	struct strand *strand = current_strand(worker);

	return strand && fork_stack_ask(&strand->forks);
}

bool fork_ask_all(struct sley *rt)
{
	bool news = false;

	for (unsigned int i = 0; i < rt->nr_workers; i++) {
		if (fork_ask(rt->worker[i]))
			news = true;
	}
	return news;
}

static bool has_private(const struct sley *rt, const struct strand *strand)
{
	/* Without membarrier the parent is about to make the child public. */
	return strand && rt->membarrier &&
	       fork_stack_has_private(&strand->forks);
}

bool fork_is_private(struct worker *victim)
{
	return has_private(victim->rt, current_strand(victim));
}

/* One thief at a time: see lf/fork_stack.h. */
static struct sley_forked *seize_from(struct sley *rt, struct strand *strand)
{
	struct sley_forked *child = NULL;
	uint64_t seized;

	if (!spin_try_lock(&rt->seizing))
		return NULL;
	seized = fork_stack_seize_begin(&strand->forks);
	if (seized) {
		os_membarrier();
		child = fork_stack_seize(&strand->forks, seized);
	}
	spin_unlock(&rt->seizing);
	return child;
}

struct sley_task *fork_seize(struct worker *worker, struct worker *victim)
{
	/* Read once: a victim without a strand may have a strand a moment later. */
	struct prey prey = { .parent = current_strand(victim) };
	struct sley_task *task;

	if (!has_private(worker->rt, prey.parent))
		return NULL;
	task = slab_alloc(&worker->rt->tasks);
	if (!task)
		return NULL;
	prey.child = seize_from(worker->rt, prey.parent);
	return task_for(worker, task, &prey);
}

/* ---- the parent ------------------------------------------------------------------- */

/*
 * The owner raises the limit, then reads the counts.  A worker that goes to sleep
 * is counted, then asks, lets os_membarrier() pass, and looks at the limit again.
 * So if the owner took the request away, one of the two notices.
 */
void fork_answer(struct worker *worker)
{
	struct sley_forks *forks = &worker->strand->forks;
	struct idle *idle = &worker->rt->idle;
	bool alone = worker->rt->nr_workers < 2;
	uint64_t counts = 0;

	if (likely(alone || idle->membarrier)) {
		fork_stack_raise_limit(forks);
		counts = idle_counts(idle);
		if (alone || !counts)
			return;
	}
	/* Where no thief can seize the rest, there must be no rest. */
	if (idle->membarrier ? fork_stack_share(forks)
			     : fork_stack_publish(forks))
		idle_notify(idle);
	if (idle_parked(counts))
		fork_stack_drop_limit(forks);
}

/*
 * The children of a parent of another level take their turn at that level; a
 * worker that looks through the list of parents looks for default level.  Children
 * that would wait for a stack there stay in the list (see pick_left_behind()).
 */
static void queue_children(struct worker *worker, struct strand *strand)
{
	while (fork_stack_has_public(&strand->forks) &&
	       worker_has_spare_strand(worker)) {
		struct sley_task *task = slab_alloc(&worker->rt->tasks);
		struct prey prey;

		if (!task)
			return;
		prey = steal_from(strand);
		task = task_for(worker, task, &prey);
		if (task)
			place_spawned(worker, task);
	}
}

/* Under the lock of the home. */
static void parents_append(struct strand *strand)
{
	struct worker *home = strand->parents_home;

	list_append(&home->parents, &strand->parents);
	/* relaxed: written under the lock; for other workers a hint. */
	store_relaxed(&home->nr_parents, home->nr_parents + 1);
}

void fork_leave_behind(struct worker *worker)
{
	struct strand *strand = worker->strand;

	(void)fork_stack_publish(&strand->forks);
	if (unlikely(task_level(strand->task) != LEVEL_DEFAULT))
		queue_children(worker, strand);
	if (!fork_stack_has_public(&strand->forks))
		return;
	spin_lock(&worker->parents_lock);
	sley_assert(list_empty(&strand->parents));
	strand->parents_home = worker;
	parents_append(strand);
	spin_unlock(&worker->parents_lock);
	idle_notify(&worker->rt->idle);
}

/*
 * In a blocking region the parent has taken some children back, by a join in
 * another order.
 */
static void leave_again(struct strand *strand)
{
	struct worker *home = strand->parents_home;

	if (!fork_stack_publish(&strand->forks))
		return;
	sley_assert(home);
	spin_lock(&home->parents_lock);
	/* A thief that saw no children has taken the strand out. */
	if (list_empty(&strand->parents))
		parents_append(strand);
	spin_unlock(&home->parents_lock);
	idle_notify(&home->rt->idle);
}

void fork_show(struct strand *strand, struct worker *worker, uint32_t first)
{
	if (first >= fork_head(&strand->forks))
		return;
	if (!worker) {
		leave_again(strand);
		return;
	}
	fork_answer(worker);
	/* A thread may have asked for an urgent task: the next fork looks. */
	fork_stack_drop_limit(&strand->forks);
}

enum fork_pop fork_take_back(struct strand *strand, struct worker *worker,
			     uint32_t i)
{
	enum fork_pop pop = fork_stack_pop(&strand->forks, i);

	fork_show(strand, worker, pop == FORK_POP_OWN ? i : i + 1);
	return pop;
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
		sley_bug("a parent was woken before its child knew it");
	if (fork_await(after->child, parent))
		return;
	if (task_decide(parent, VERDICT_WOKEN, 0) == DECIDED_QUEUE)
		levels_push(&worker->ready, parent, task_level(parent));
}
