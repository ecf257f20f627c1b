/* SPDX-License-Identifier: MIT */
/*
 * core_runq.c - the levelled queue of src/core/sched/runq.h and its bitmap: each task
 * is taken exactly once, also while its level changes; bitmap, hints and counts say
 * what the lists hold; the most urgent task known goes first.  The spill is one of
 * the lists.
 *
 * Complete for three threads and three tasks of three levels.  All of it is under
 * one lock, so more tasks add nothing but length.  A change of level against the push
 * and against the end of the queue is in core_place_level.c.  Not seen: more queues
 * than one, and a process with more than 255 of them.
 */
#include "payload.h"

#include "core/sched/runq.h"

#include <string.h>

#define TASKS 3

static struct runq runq;
static struct sley_task tasks[TASKS];
static struct payload payload[TASKS]; /* written before the push */
static struct ledger {
	int taken[TASKS];
} ledger;

static void setup(void)
{
	runq = (struct runq){ .tag = 1 };
	sley__runqs = (struct runqs){ .last = 1, .by_tag = { [1] = &runq } };
	memset(tasks, 0, sizeof(tasks));
	memset(payload, 0, sizeof(payload));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	model_lock_word(&runq.lock.word);
	model_lock_word(&sley__runqs.lock.word);
	model_name(&sley__runqs.lock.word, "all");
	model_name(&runq.lock.word, "lock");
	model_name(&runq.hint, "hint");
	model_name(&runq.has_first, "has_first");
	for (int i = 0; i < TASKS; i++) {
		task_build(&tasks[i], LEVEL_DEFAULT + 1 - (unsigned)i, 0);
		model_name(&tasks[i].state, "task%d", i);
		model_name(&tasks[i].flags, "flags%d", i);
	}
}

static void note(const struct sley_task *task)
{
	payload_check(&payload[task - tasks]);
	ledger.taken[task - tasks]++;
}

static void push(int i)
{
	payload_write(&payload[i]);
	runq_push(&runq, &tasks[i]);
}

static bool take_by_hint(void)
{
	uint64_t hint = runq_hint(&runq);
	struct sley_task *task;

	if (!hint)
		return false;
	task = runq_take(&runq, (unsigned)bits_first(hint));
	if (!task && (hint & 1ull << LEVEL_DEFAULT))
		(void)runq_take_spill(&runq, &task, 1);
	if (task)
		note(task);
	return task;
}

static void setup_full(void)
{
	setup();
	for (int i = 0; i < TASKS; i++)
		push(i);
}

/* Levels 33, 32, 31. */
static void push_all(int id)
{
	(void)id;
	for (int i = 0; i < TASKS; i++)
		push(i);
}

static void push_first(int id)
{
	(void)id;
	push(0);
}

static void push_others(int id)
{
	(void)id;
	tasks[1].next = NULL;
	payload_write(&payload[1]);
	runq_push_chain(&runq, &tasks[1]);
	push(2);
}

static void spill(int i, int last)
{
	for (int j = i; j <= last; j++) {
		tasks[j].next = j < last ? &tasks[j + 1] : NULL;
		payload_write(&payload[j]);
	}
	runq_spill_chain(&runq, &tasks[i]);
}

/* The second of them joins the spill. */
static void spill_all(int id)
{
	(void)id;
	spill(0, TASKS - 1);
}

static void take_spill(int id)
{
	struct sley_task *out[TASKS];
	unsigned int nr;

	(void)id;
	if (!runq_has_spill(&runq))
		return;
	nr = runq_take_spill(&runq, out, TASKS);
	for (unsigned int i = 0; i < nr; i++)
		note(out[i]);
}

static void take_two(int id)
{
	(void)id;
	(void)take_by_hint();
	(void)take_by_hint();
}

static void take_batch(int id)
{
	struct sley_task *out[TASKS];
	unsigned int nr;

	(void)id;
	nr = runq_take_batch(&runq, LEVEL_DEFAULT, out, TASKS);
	for (unsigned int i = 0; i < nr; i++)
		note(out[i]);
}

/* Up past everything, then down to the default. */
static void change_levels(int id)
{
	(void)id;
	(void)runq_move(&tasks[0], 1);
	(void)runq_move(&tasks[2], LEVEL_DEFAULT);
}

static uint32_t nr_queued(unsigned int level)
{
	const struct sley_task *task = level == RUNQ_SPILL
					       ? runq.spill.first
					       : runq.levels.fifo[level].first;
	uint32_t nr = 0;

	for (; task; task = task->next)
		nr++;
	return nr;
}

/*
 * A task that yielded goes on when runq_reached() says so: with a push or a take that
 * is not counted it would be too early for ever, or never while others come.
 */
static void queue_is_true(void)
{
	for (unsigned int i = 0; i < NR_LEVELS; i++) {
		bool bit = runq.levels.bitmap >> i & 1;

		MODEL_CHECK(runq.pushed[i] - runq.taken[i] == nr_queued(i));
		MODEL_CHECK(bit == (runq.levels.fifo[i].first != NULL));
		MODEL_CHECK(bit == (runq.levels.fifo[i].last != NULL));
	}
	MODEL_CHECK(runq.pushed[RUNQ_SPILL] - runq.taken[RUNQ_SPILL] ==
		    nr_queued(RUNQ_SPILL));
	MODEL_CHECK((runq.spill.first != NULL) == (runq.spill.last != NULL));
	MODEL_CHECK(
		runq.has_first ==
		(runq.levels.bitmap << (NR_LEVELS - 1 - LEVEL_DEFAULT) != 0));
	MODEL_CHECK(runq.hint ==
		    (runq.levels.bitmap | (uint64_t)(runq.spill.first != NULL)
						  << LEVEL_DEFAULT));
}

static void each_once(void)
{
	queue_is_true();
	while (take_by_hint())
		;
	queue_is_true();
	for (int i = 0; i < TASKS; i++) {
		MODEL_CHECK(ledger.taken[i] == 1);
		MODEL_CHECK(tasks[i].state == TASK_READY);
	}
}

MODEL(a_pusher_and_two_takers, .setup = setup,
      .threads = { push_all, take_two, take_batch }, .finish = each_once);

MODEL(two_pushers_and_a_taker, .setup = setup,
      .threads = { push_first, push_others, take_two }, .finish = each_once);

MODEL(a_spiller_and_two_takers, .setup = setup,
      .threads = { spill_all, take_two, take_spill }, .finish = each_once);

/* All at the default level; one of them came from outside. */
static void setup_spilled(void)
{
	setup();
	for (int i = 0; i < TASKS; i++)
		task_build(&tasks[i], LEVEL_DEFAULT, 0);
	push(2);
	spill(0, 1);
}

/* Out of the middle of the spill, and to its tail. */
static void change_spilled(int id)
{
	(void)id;
	(void)runq_move(&tasks[0], LEVEL_DEFAULT);
	(void)runq_move(&tasks[1], 1);
}

MODEL(levels_change_in_the_spill, .setup = setup_spilled,
      .threads = { change_spilled, take_two, take_spill }, .finish = each_once);

MODEL(levels_change_under_two_takers, .setup = setup_full,
      .threads = { change_levels, take_two, take_batch }, .finish = each_once);
