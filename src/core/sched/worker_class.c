/* SPDX-License-Identifier: MIT */
/*
 * worker_class.c - see worker_class.h.
 */
#include "core/sched/worker_class.h"

#include "core/life/drain.h"
#include "core/sched/place.h"
#include "core/task/turn.h"

#include <errno.h>
#include <sley/error.h>

#define LEVEL_AT_ONCE 0 /* for workers that are woken */

/* ---- calls -------------------------------------------------------------------------- */

static bool is_empty(const struct worker_class *class)
{
	return !class->ready.bitmap;
}

/* The queue must not be empty. */
static unsigned int best_level(const struct worker_class *class)
{
	sley_assert(!is_empty(class));
	return (unsigned int)bits_first(class->ready.bitmap);
}

/* With the lock; the caller will queue the runner. */
static void build(struct runner *runner, unsigned int level)
{
	struct sley *rt = runner->class->rt;

	runner->task.fiber = NULL;
	task_build(&runner->task, level,
		   runtime_task_flags(rt) | TASK_TURNS | TASK_PINNED);
}

/* With the lock: raises calls for less urgent levels to @level. */
static void raise_calls(struct worker_class *class, unsigned int level)
{
	for (uint32_t i = 0; i < class->nr; i++) {
		struct runner *runner = &class->runner[i];

		if (runner->called && task_level(&runner->task) > level)
			place_set_level(&runner->task, level);
	}
}

/* True: the caller queues the runner. */
static bool begin_call(struct runner *runner, bool asleep)
{
	struct worker_class *class = runner->class;
	bool begun;

	spin_lock(&class->lock);
	begun = !runner->called && !is_empty(class);
	if (begun) {
		runner->called = true;
		class->nr_called++;
		build(runner, asleep ? LEVEL_AT_ONCE : best_level(class));
	}
	spin_unlock(&class->lock);
	return begun;
}

/* True: the worker slept, and takes a task at once. */
static bool call(struct runner *runner, bool asleep)
{
	if (!begin_call(runner, asleep))
		return false;
	if (runner->worker != worker_current())
		return place_at(runner->worker, &runner->task);
	place_spawned(runner->worker, &runner->task);
	return false;
}

static void call_workers(struct worker_class *class)
{
	for (uint32_t i = 0; i < class->nr; i++) {
		struct runner *runner = &class->runner[i];

		if (idle_is_parked(&runner->worker->seat) && call(runner, true))
			return;
	}
	for (uint32_t i = 0; i < class->nr; i++)
		(void)call(&class->runner[i], false);
}

void worker_class_put(struct worker_class *class, struct sley_task *task)
{
	unsigned int level = task_level(task);
	bool all_called;

	task->fiber = NULL;
	spin_lock(&class->lock);
	/* Existing calls are for the best task so far, or for a better level. */
	if (is_empty(class) || level < best_level(class))
		raise_calls(class, level);
	levels_push(&class->ready, task, level);
	all_called = class->nr_called == class->nr;
	if (!all_called)
		/* relaxed: the lock publishes it, before the task can end. */
		(void)add_relaxed(&class->nr_putting, 1);
	spin_unlock(&class->lock);
	if (all_called)
		return;
	call_workers(class);
	(void)sub_release(&class->nr_putting, 1); /* WC1 */
	spin_done(&class->nr_putting);
}

bool worker_class_lets_keep(struct worker_class *class,
			    const struct worker *worker)
{
	bool nobody_waits;

	if (!worker_class_has(class, worker->index))
		return false;
	spin_lock(&class->lock);
	nobody_waits = is_empty(class);
	spin_unlock(&class->lock);
	return nobody_waits;
}

/* ---- turns of runners ----------------------------------------------------------------- */

static void do_nothing(void *task)
{
	(void)task;
}

static void poke(struct sley_task *task)
{
	(void)task;
}

static size_t class_size(uint32_t nr_runners, uint32_t nr_words)
{
	return sizeof(struct worker_class) +
	       nr_runners * sizeof(struct runner) + nr_words * sizeof(uint64_t);
}

static void destroy(struct worker_class *class)
{
	mem_free(&class->rt->mem, class,
		 class_size(class->nr, class->nr_words));
}

/* With the lock: a task that may run now, or NULL. */
static struct sley_task *take(struct worker_class *class,
			      unsigned int called_for)
{
	unsigned int level;

	if (is_empty(class))
		return NULL;
	level = best_level(class);
	if (level > called_for && called_for != LEVEL_AT_ONCE)
		return NULL;
	return levels_take(&class->ready, level);
}

static struct sley_task *after_turn(struct worker *worker,
				    struct sley_task *task)
{
	struct runner *runner = (struct runner *)(void *)task;
	struct worker_class *class = runner->class;
	struct sley_task *next;
	bool again, last;

	spin_lock(&class->lock);
	next = take(class, task_level(task));
	again = !is_empty(class);
	if (again) {
		build(runner, best_level(class));
	} else {
		runner->called = false;
		class->nr_called--;
	}
	last = class->closed && !class->nr_called;
	spin_unlock(&class->lock);
	if (again)
		place_spawned(worker, task);
	if (unlikely(last)) {
		destroy(class);
		drain_count_finished(worker);
	}
	return next;
}

static const struct turns turns = { after_turn, poke };

/* ---- life ----------------------------------------------------------------------------- */

static uint32_t count(const struct sley *rt, const uint64_t *workers,
		      uint32_t nr_words)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < runtime_nr_runners(rt); i++)
		nr += mask_has(workers, nr_words, i);
	return nr;
}

static void init_runner(struct runner *runner, struct worker_class *class,
			struct worker *worker)
{
	runner->class = class;
	runner->worker = worker;
	runner->task.fn = do_nothing;
	runner->task.name = class->name;
	runner->task.group = (struct sley_group *)(uintptr_t)&turns;
}

static void init(struct worker_class *class, const uint64_t *workers,
		 uint32_t nr_words)
{
	const struct sley *rt = class->rt;
	struct runner *runner = class->runner;

	for (uint32_t i = 0; i < runtime_nr_runners(rt); i++) {
		if (!mask_has(workers, nr_words, i))
			continue;
		class->workers[i / 64] |= 1ull << i % 64;
		if (rt->nr_workers)
			init_runner(runner++, class, rt->worker[i]);
	}
}

int worker_class_create(struct worker_class **out, struct sley *rt,
			const char *name, const uint64_t *workers,
			uint32_t nr_words)
{
	uint32_t nr = count(rt, workers, nr_words),
		 own_words = (runtime_nr_runners(rt) + 63) / 64;
	struct worker_class *class;

	if (!nr)
		return SLEY_EAFFINITY;
	if (!rt->nr_workers)
		nr = 0;
	class = mem_alloc(&rt->mem, class_size(nr, own_words));
	if (!class)
		return -ENOMEM;
	class->rt = rt;
	class->name = name ? name : "worker class";
	class->nr = nr;
	class->nr_words = own_words;
	class->runner = (struct runner *)(void *)(class + 1);
	class->workers = (uint64_t *)(void *)(class->runner + nr);
	init(class, workers, nr_words);
	*out = class;
	return 0;
}

/* The runtime waits for the rest of @class, which ends on one of its workers. */
static void count_left(const struct worker_class *class)
{
	struct worker *worker = worker_current();

	if (worker && worker->rt == class->rt)
		drain_count_spawned(worker);
	else
		drain_count_foreign(class->rt, 1);
}

static bool is_putting(const void *nr_putting)
{
	/* relaxed: only decides whether to sleep. */
	return load_relaxed((const uint32_t *)nr_putting);
}

void worker_class_close(struct worker_class *class)
{
	uint32_t nr_looks = 0;
	bool left;

	while (load_acquire(&class->nr_putting)) { /* WC1 */
		spin_hint(&class->nr_putting);
		spin_wait(&class->nr_putting, is_putting, nr_looks++);
	}
	spin_lock(&class->lock);
	sley_assert(is_empty(class));
	class->closed = true;
	left = class->nr_called;
	if (left)
		count_left(class);
	spin_unlock(&class->lock);
	if (!left)
		destroy(class);
}
