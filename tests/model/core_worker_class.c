/* SPDX-License-Identifier: MIT */
/*
 * core_worker_class.c - src/core/sched/worker_class.c: a task in the queue of
 * a class is taken by a free worker, whichever workers are called, sleep or wake up
 * meanwhile; and the class is freed once, by its last user.
 *
 * A worker has a box for its runner, in place of the queues of the core, and a seat.
 * A task that is taken goes on for ever: its worker does nothing else.  A worker
 * that is woken by a call looks into its box first; the level of such a call ensures
 * that, see core_search.c for the rest.
 *
 * Complete for two sleeping workers and two tasks; for a worker that gets up for
 * other work just when it is called; for two workers that are busy when the task
 * comes, and the end of the class after the task; and for two tasks of different
 * levels on one worker.
 */
#include "core/sched/place.h"
#include "model_mem.h"
#include "never.h"
#include "payload.h"
#include "selves.h"

#include "core/sched/worker_class.c"

#include <string.h>

#define WORKERS 2
#define TASKS 2

static struct sley scene_rt;
static struct worker workers[WORKERS];
static struct worker *table[WORKERS] = { &workers[0], &workers[1] };
static struct sley_task *box[WORKERS]; /* a runner that was queued */
static uint32_t all_put;               /* no more workers are called */
static struct worker_class *class_of_all;
static struct scene_task {
	struct sley_task task;
	struct payload data;
} tasks[TASKS];
static struct ledger {
	int taken[TASKS];
	int nr_taken;
	int nr_by[WORKERS];
} ledger;

void drain_end_unbind(struct worker *worker)
{
	(void)worker;
	never();
}

bool place_at(struct worker *home, struct sley_task *task)
{
	uint32_t parked = SEAT_PARKED;

	MODEL_CHECK(!task->fiber);
	MODEL_CHECK(task_flags(task) & TASK_PINNED);
	store_release(&box[home->index], task);
	return cas_acq_rel(&home->seat.word, &parked, SEAT_WOKEN);
}

void place_spawned(struct worker *worker, struct sley_task *task)
{
	MODEL_CHECK(worker == worker_current());
	store_release(&box[worker->index], task);
}

void place_set_level(struct sley_task *task, unsigned int level)
{
	task_set_level(task, level);
}

/* ---- setting up --------------------------------------------------------------------- */

static void setup(uint32_t seats)
{
	memset(&scene_rt, 0, sizeof(scene_rt));
	memset(workers, 0, sizeof(workers));
	memset(box, 0, sizeof(box));
	memset(tasks, 0, sizeof(tasks));
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	all_put = 0;
	scene_rt.worker = table;
	scene_rt.nr_workers = WORKERS;
	selves_set(&(struct self){ .bound = &scene_rt });
	for (unsigned int i = 0; i < WORKERS; i++) {
		workers[i].rt = &scene_rt;
		workers[i].index = i;
		workers[i].seat.word = seats;
		selves[1 + i].worker = &workers[i];
		model_name(&box[i], "box%u", i);
		model_name(&workers[i].seat.word, "seat%u", i);
	}
	MODEL_CHECK(
		!worker_class_create(&class_of_all, &scene_rt, "all", NULL, 0));
	model_lock_word(&class_of_all->lock.word);
	model_name(&class_of_all->lock.word, "lock");
	model_name(&class_of_all->nr_putting, "nr_putting");
}

static void setup_asleep(void)
{
	setup(SEAT_PARKED);
}

static void setup_busy(void)
{
	setup(SEAT_AWAKE);
}

/* ---- the threads ------------------------------------------------------------------------ */

static void put_at(int i, unsigned int level)
{
	task_build(&tasks[i].task, level, TASK_TURNS | TASK_PINNED);
	payload_write(&tasks[i].data);
	worker_class_put(class_of_all, &tasks[i].task);
}

/*
 * As run_turn() in core/sched/worker.c, with the runner that is in the box; or NULL.
 */
static struct scene_task *run_box(int id)
{
	struct sley_task *task = load_acquire(&box[id]);
	struct scene_task *taken;

	if (!task)
		return NULL;
	/* relaxed: the worker's own. */
	store_relaxed(&box[id], NULL);
	(void)task_claim(task);
	task->fn(task);
	task->fiber = NULL;
	task = turns_of(task)->after(&workers[id], task);
	if (!task)
		return NULL;
	MODEL_CHECK(!task->fiber);
	taken = (struct scene_task *)(void *)task;
	payload_check(&taken->data);
	ledger.taken[taken - tasks]++;
	ledger.nr_taken++;
	ledger.nr_by[id]++;
	return taken;
}

/* In finish: all called runners have their turns, and the class ends. */
static void end(void)
{
	for (int i = 0; i < WORKERS; i++) {
		selves[0].worker = &workers[i];
		while (box[i])
			(void)run_box(i);
	}
	selves[0].worker = NULL;
	for (int i = 0; i < ledger.nr_taken; i++)
		MODEL_CHECK(ledger.taken[i] == 1);
}

static void end_and_close(void)
{
	end();
	worker_class_close(class_of_all);
	MODEL_CHECK(!scene_rt.drain.foreign_spawned);
}

/* ---- two sleep, two tasks come ------------------------------------------------------------- */

/* Until woken: then the worker takes a task, and is busy for ever. */
static void sleep_and_take(int id)
{
	while (load_acquire(&workers[id].seat.word) == SEAT_PARKED)
		spin_hint(&workers[id].seat.word);
	MODEL_CHECK(run_box(id));
}

static void put_first(int id)
{
	(void)id;
	put_at(0, LEVEL_DEFAULT);
}

static void put_second(int id)
{
	(void)id;
	put_at(1, LEVEL_DEFAULT);
}

static void put_both(int id)
{
	put_first(id);
	put_second(id);
}

static void each_took_one(void)
{
	end_and_close();
	MODEL_CHECK(ledger.nr_by[0] == 1 && ledger.nr_by[1] == 1);
}

MODEL(each_task_wakes_a_worker, .setup = setup_asleep,
      .threads = { sleep_and_take, sleep_and_take, put_both },
      .finish = each_took_one);

MODEL(tasks_that_come_at_once_wake_a_worker_each, .setup = setup_asleep,
      .threads = { sleep_and_take, sleep_and_take, put_first, put_second },
      .finish = each_took_one);

/* ---- a worker gets up for other work --------------------------------------------------------- */

/* By a timer, say; then the worker is busy for ever, and does not look. */
static void get_up(int id)
{
	/* As stand_up() of core/sched/idle.c. */
	if (xchg_acq_rel(&workers[id].seat.word, SEAT_AWAKE) == SEAT_PARKED)
		return;
	MODEL_CHECK(run_box(id));
	/* This worker was called: the other may sleep on. */
	(void)xchg_acq_rel(&workers[1].seat.word, SEAT_WOKEN);
}

static void sleep_and_look(int id)
{
	while (load_acquire(&workers[id].seat.word) == SEAT_PARKED)
		spin_hint(&workers[id].seat.word);
	(void)run_box(id);
}

static void one_took_it(void)
{
	MODEL_CHECK(ledger.nr_taken == 1);
	end_and_close();
	MODEL_CHECK(ledger.nr_taken == 1);
}

MODEL(one_that_is_not_asleep_after_all_is_not_relied_on, .setup = setup_asleep,
      .threads = { get_up, sleep_and_look, put_first }, .finish = one_took_it);

/* ---- two busy workers, and the end ------------------------------------------------------------- */

/* When the worker becomes free; the class ends with the task. */
static void take_and_close(int id)
{
	while (!load_acquire(&box[id]) && !load_acquire(&all_put))
		spin_hint(&all_put);
	if (run_box(id))
		worker_class_close(class_of_all);
}

static void put_last(int id)
{
	put_first(id);
	store_release(&all_put, 1);
}

static uint64_t nr_left(void)
{
	uint64_t nr = scene_rt.drain.foreign_spawned;

	for (int i = 0; i < WORKERS; i++)
		nr += workers[i].counters.spawned -
		      workers[i].counters.finished;
	return nr;
}

static void is_gone(void)
{
	/* A called worker may not have looked yet: the runtime knows. */
	MODEL_CHECK(!(box[0] || box[1]) == !nr_left());
	end();
	MODEL_CHECK(ledger.nr_taken == 1);
	MODEL_CHECK(!nr_left());
}

MODEL(the_last_one_frees_the_class, .setup = setup_busy,
      .threads = { take_and_close, take_and_close, put_last },
      .finish = is_gone);

/* ---- levels ---------------------------------------------------------------------------------- */

static void put_less_urgent(int id)
{
	(void)id;
	put_at(0, LEVEL_DEFAULT + 1);
}

static void put_urgent(int id)
{
	(void)id;
	put_at(1, LEVEL_DEFAULT - 1);
}

/* The worker looks once. */
static void look_once(int id)
{
	(void)run_box(id);
}

/* A worker is called for the most urgent task that is left. */
static void is_called_for_the_best(void)
{
	const struct worker_class *class = class_of_all;

	if (class->ready.bitmap) {
		MODEL_CHECK(class->nr_called == WORKERS);
		for (int i = 0; i < WORKERS; i++)
			MODEL_CHECK(task_level(&class->runner[i].task) <=
				    best_level(class));
	}
	end_and_close();
	MODEL_CHECK(ledger.nr_taken == 2);
}

MODEL(calls_are_raised_to_the_best_task, .setup = setup_busy,
      .threads = { look_once, put_less_urgent, put_urgent },
      .finish = is_called_for_the_best);
