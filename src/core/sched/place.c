/* SPDX-License-Identifier: MIT */
/*
 * place.c - where a task goes that became ready.
 *
 * docs/ARCHITECTURE.md, section 2, says what each queue is for: ring, lane, fresh and
 * home list, ready levels, next slot, shared queue.  A hook is a task that runs first
 * or last on a worker (core/life/hooks.h).
 *
 *   new, default priority, by a worker      its ring; if full, a batch of the
 *                                           oldest to the spill of the shared
 *                                           queue
 *   new, another priority                   the shared queue, by level
 *   new, pinned                             the worker's own: its fresh list, or
 *                                           its ready levels
 *   new, by a foreign thread                the lane of a searching worker,
 *                                           else the shared queue; there, too,
 *                                           if that worker has found other work
 *   new, sent toward a worker               the lane of that worker, which is woken;
 *                                           another priority: the shared queue
 *   new, accepted earlier                   as if it were spawned now; where
 *                                           bound threads run their own tasks,
 *                                           home to the thread that accepted it
 *   new, a hook                             the home list of its worker
 *   woken, may move                         the waker's next slot (the task that
 *                                           was there goes to the ring)
 *   woken, runs in turns (core/task/turn.h)      the same, but thieves leave it
 *                                           alone (NEXT_OWN)
 *   woken, may not                          home: the ready levels if the waker
 *                                           is there, else the home list
 *
 * A task of a runtime that was lost in a fork() goes nowhere.  place_level.c says
 * what becomes of a task whose level changes while the task is queued.
 *
 * A submitter of work that any worker may take calls idle_notify(), or
 * idle_notify_toward(); a pusher to a home list calls idle_notify_seat().  A worker
 * that moves tasks to its own ring, from the shared queue, a lane or the ring of
 * another worker, calls idle_notify(), too.  Each such task was announced when it was
 * queued first, but a worker that looks everywhere while the task is on its way, and
 * then sleeps, has missed it.
 */
#include "core/life/after_fork.h"
#include "core/task/turn.h"
#include "core/sched/place.h"
#include "core/sched/yielded.h"

#include "os/futex.h"

/* As many as fit a small frame: this may run on the last page of a stack. */
#define OVERFLOW_BATCH 128

/* The ring is full: a batch of the oldest and @task go to the spill. */
static noinline void overflow(struct worker *worker, struct sley_task *task)
{
	void *item[OVERFLOW_BATCH];
	uint32_t nr = ring_take_half(&worker->ring, item,
				     (uint32_t)chaos_few(array_size(item), 1));
	struct sley_task *chain = NULL, **last = &chain;

	for (uint32_t i = 0; i < nr; i++) {
		*last = item[i];
		last = &((struct sley_task *)item[i])->next;
	}
	*last = task;
	task->next = NULL;
	runq_spill_chain(&worker->rt->runq, chain);
	yielded_spilled(worker, nr);
}

static inline void push_ring(struct worker *worker, struct sley_task *task)
{
	if (unlikely(!ring_push(&worker->ring, task)))
		overflow(worker, task);
}

/* Only workers with threads of their own share work. */
static inline void notify(struct worker *worker)
{
	struct sley *rt = worker->rt;

	if (rt->nr_workers > 1)
		idle_notify(&rt->idle);
}

/* The caller still has to announce @task. */
static void place_in_lane(struct worker *worker, struct sley_task *task)
{
	gauge_more(&worker->nr_lane);
	push_list_push(&worker->lane, task_node(task));
}

/* To any worker, if chaos wants so; the caller still has to announce @task. */
static bool place_anywhere(struct sley *rt, struct sley_task *task)
{
	if (!chaos_says(CHAOS_MOVE) || rt->nr_workers < 2)
		return false;
	place_in_lane(rt->worker[chaos_below(rt->nr_workers)], task);
	return true;
}

struct levels_differ sley__levels_differ;

/* An urgent task goes before the forks of the tasks that run. */
static noinline void push_shared(struct sley *rt, struct sley_task *task)
{
	unsigned int level = task_level(task);

	place_note_level(level);
	runq_push(&rt->runq, task);
	if (!overtake_is_urgent(level))
		return;
	overtake_ask_all(rt);
	if (lease_is_on(&rt->lease))
		lease_urgent(rt, level);
}

void place_shared(struct worker *worker, struct sley_task *task)
{
	push_shared(worker->rt, task);
	notify(worker);
}

/* A new task that only @worker, the caller, may run. */
static void place_fresh(struct worker *worker, struct sley_task *task)
{
	levels_count(&worker->ready, 1);
	fifo_push(&worker->fresh, task);
}

/* The same for a task of another level than the default. */
static void place_other_ready(struct worker *worker, struct sley_task *task,
			      unsigned int level)
{
	place_note_level(level);
	place_ready(worker, task, level);
}

void place_spawned(struct worker *worker, struct sley_task *task)
{
	uint32_t flags = task_flags(task);
	unsigned int level = task_level_of(flags);

	if (unlikely((flags & TASK_PINNED) || !worker->rt->nr_workers)) {
		if (level == LEVEL_DEFAULT)
			place_fresh(worker, task);
		else
			place_other_ready(worker, task, level);
		return;
	}
	if (unlikely(level != LEVEL_DEFAULT))
		push_shared(worker->rt, task);
	else if (!place_anywhere(worker->rt, task))
		push_ring(worker, task);
	notify(worker);
}

void place_toward(struct worker *worker, struct sley_task *task)
{
	struct sley *rt = worker->rt;

	if (task_level(task) != LEVEL_DEFAULT)
		push_shared(rt, task);
	else if (!place_anywhere(rt, task))
		place_in_lane(worker, task);
	idle_notify_toward(&rt->idle, &worker->seat);
}

/* Puts the tasks of @chain back; the caller still has to announce them. */
static void put_back(struct worker *worker, struct sley_task *chain)
{
	while (chain) {
		struct sley_task *task = chain;

		chain = chain->next;
		place_in_lane(worker, task);
	}
}

/*
 * While the lane is in the hands of the caller, a worker that looks everywhere before
 * it sleeps misses these tasks: they are announced again.
 */
static struct sley_task *take_from_lane(struct worker *from,
					place_may_move *may, void *arg)
{
	struct sley_task *rest = place_take_lane(from), **link = &rest, *task;

	while (*link && !may(arg, *link))
		link = &(*link)->next;
	task = *link;
	if (task)
		*link = task->next;
	if (rest) {
		put_back(from, rest);
		idle_notify_toward(&from->rt->idle, &from->seat);
	}
	return task;
}

static struct sley_task *take_from_ring(struct worker *from,
					place_may_move *may, void *arg)
{
	struct sley_task *task = ring_steal_one(&from->ring);

	if (!task || may(arg, task))
		return task;
	place_toward(from, task);
	return NULL;
}

bool place_move(struct worker *from, struct worker *to, place_may_move *may,
		void *arg)
{
	struct sley_task *task = take_from_lane(from, may, arg);

	if (!task)
		task = take_from_ring(from, may, arg);
	if (task)
		place_toward(to, task);
	return task;
}

/*
 * To the lane of a worker that searches.  If the worker has found other work
 * meanwhile, a fair pick empties the lane: see end_search() in search.c.
 */
static void push_lane(struct sley *rt, uint32_t spinner, struct sley_task *task)
{
	struct worker *worker = rt->worker[spinner - 1];

	place_in_lane(worker, task);
	/* relaxed: a hint, the monitor looks at lanes, too. */
	if (unlikely(load_relaxed(&rt->spinner) != spinner))
		/* relaxed: obeyed sooner or later. */
		store_relaxed(&worker->poke, 1);
}

void place_foreign(struct sley *rt, struct sley_task *task)
{
	/* relaxed: a hint; any worker can empty a lane. */
	uint32_t spinner = load_relaxed(&rt->spinner);

	if (spinner && task_level(task) == LEVEL_DEFAULT)
		push_lane(rt, spinner, task);
	else
		push_shared(rt, task);
	idle_notify(&rt->idle);
}

static void place_next(struct worker *worker, struct sley_task *task)
{
	if (!place_anywhere(worker->rt, task)) {
		task = next_put(&worker->next, task, 0);
		if (task)
			push_ring(worker, task);
	}
	notify(worker);
}

/* Might @home be gone as soon as the task is queued? */
static bool is_guest(const struct worker *worker, const struct worker *home)
{
	return !worker || worker->rt != home->rt || !home->rt->nr_workers;
}

/*
 * A task that only @home may run; the caller is another thread.  True: @home
 * slept, and this call woke it.
 */
static bool place_home(struct worker *worker, struct worker *home,
		       struct sley_task *task)
{
	unsigned int level = task_level(task);
	bool guest = is_guest(worker, home);
	bool woken;

	if (guest && runtime_is_lost(home->rt))
		return false;
	if (guest)
		guest_enter(home);
	gauge_more(&home->nr_home);
	push_list_push(&home->home, task_node(task));
	woken = idle_notify_seat(&home->rt->idle, &home->seat);
	if (overtake_is_urgent(level) && !woken) {
		overtake_ask(home);
		if (lease_is_on(&home->rt->lease))
			lease_urgent_home(home, level);
	}
	if (guest)
		guest_leave(home);
	return woken;
}

/* A task that any worker may run, by a thread that is no worker. */
static void place_as_guest(struct worker *home, struct sley_task *task)
{
	if (runtime_is_lost(home->rt))
		return;
	guest_enter(home);
	place_foreign(home->rt, task);
	guest_leave(home);
}

bool place_at(struct worker *home, struct sley_task *task)
{
	return place_home(NULL, home, task);
}

/* A woken task that any worker may resume. */
static void place_movable(struct worker *worker, struct worker *home,
			  struct sley_task *task)
{
	if (is_guest(worker, home)) {
		place_as_guest(home, task);
		return;
	}
	if (task_level(task) == LEVEL_DEFAULT)
		place_next(worker, task);
	else
		place_spawned(worker, task);
}

/* Behind the tasks that are queued here; without any, no worker is woken. */
void turn_again(struct worker *worker, struct sley_task *task)
{
	uint32_t flags = task_flags(task);

	task_turn_ready(task);
	if (task_level_of(flags) == LEVEL_DEFAULT && !(flags & TASK_PINNED) &&
	    next_empty(&worker->next) && !ring_size(&worker->ring) &&
	    !worker->ready.bitmap)
		(void)next_put(&worker->next, task, NEXT_OWN);
	else
		place_spawned(worker, task);
}

/* To the next slot, as the worker's own: see core/task/turn.h. */
static void place_own(struct worker *worker, struct sley_task *task)
{
	if (place_anywhere(worker->rt, task)) {
		notify(worker);
		return;
	}
	task = next_put(&worker->next, task, NEXT_OWN);
	if (task) {
		push_ring(worker, task);
		notify(worker);
	}
}

void turn_wake(struct worker *home, struct sley_task *task)
{
	uint32_t flags = task_flags(task);
	struct worker *worker = worker_current();

	task_turn_ready(task);
	if (unlikely(flags & TASK_PINNED)) {
		if (home == worker)
			place_ready(worker, task, task_level_of(flags));
		else
			(void)place_home(worker, home, task);
	} else if (unlikely(is_guest(worker, home))) {
		place_as_guest(home, task);
	} else if (likely(task_level_of(flags) == LEVEL_DEFAULT)) {
		place_own(worker, task);
	} else {
		place_spawned(worker, task);
	}
}

void place_accepted(struct sley_task *task)
{
	struct worker *worker = worker_current();
	struct worker *home = task_accepted_by(task);

	task->fiber = NULL;
	/*
	 * @task was accepted before everything was cancelled, and the worker that
	 * will take @task may not have heard of the cancel.
	 */
	if (unlikely(runtime_is_cancelled(home->rt)))
		task_cancel_unqueued(task);
	if (worker == home)
		place_spawned(worker, task);
	else if (!home->rt->nr_workers)
		(void)place_home(worker, home, task);
	else if (is_guest(worker, home))
		place_as_guest(home, task);
	else
		place_spawned(worker, task);
}

static void release_thread(struct sley_task *task)
{
	const uint32_t *futex = &task->state;

	task_release_thread(task);
	/* The thread may be gone: the kernel does not mind a stale address. */
	os_futex_wake(futex, 1);
}

void task_enqueue_elsewhere(struct sley_task *task)
{
	uint32_t flags = task_flags(task);
	struct worker *worker = worker_current();
	struct worker *home;

	if (unlikely(task_load(task) & TASK_THREAD)) {
		release_thread(task);
		return;
	}
	home = task_strand(task)->home;
	if (unlikely(task_moves(flags))) {
		place_movable(worker, home, task);
	} else if (likely(home == worker)) {
		place_ready(worker, task, task_level_of(flags));
	} else {
		(void)place_home(worker, home, task);
	}
}

void task_enqueue_chain(struct sley_task *chain)
{
	while (chain) {
		struct sley_task *task = chain;

		chain = chain->next;
		task_enqueue(task);
	}
}

void place_arrivals(struct worker *worker)
{
	struct push_node *node = push_list_take_all(&worker->home);
	uint32_t nr = 0;

	for (; node; nr++) {
		struct sley_task *task = node_task(node);

		node = node->next;
		levels_push(&worker->ready, task, task_level(task));
	}
	worker_publish_levels(worker);
	gauge_less(&worker->nr_home, nr);
}

void place_lane(struct worker *worker)
{
	struct sley_task *lane;

	if (likely(push_list_empty(&worker->lane)))
		return;
	lane = place_take_lane(worker);
	if (!lane)
		return;
	runq_push_chain(&worker->rt->runq, lane);
	notify(worker);
}

/* New or movable: by its level to the ring or to the shared queue. */
static void place_stealable(struct worker *worker, struct sley_task *task)
{
	if (likely(task_level(task) == LEVEL_DEFAULT))
		push_ring(worker, task);
	else
		place_shared(worker, task);
}

void place_moved(struct worker *worker)
{
	if (ring_size(&worker->ring))
		notify(worker);
}

void place_batch(struct worker *worker, struct sley_task *const *task,
		 unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		place_stealable(worker, task[i]);
	if (nr)
		place_moved(worker);
}

void place_chain(struct worker *worker, struct sley_task *chain)
{
	if (!chain)
		return;
	while (chain) {
		struct sley_task *task = chain;

		chain = chain->next;
		place_stealable(worker, task);
	}
	place_moved(worker);
}

void place_turn_ring(struct worker *worker)
{
	uint32_t nr = ring_size(&worker->ring);
	uint32_t left = yielded_left(worker);
	uint64_t tail = ring_tail(&worker->ring);
	struct sley_task *task;

	while (nr-- && (task = ring_take(&worker->ring)))
		place_stealable(worker, task);
	yielded_turned(worker, tail, left);
	place_moved(worker);
}
