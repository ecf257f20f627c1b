/* SPDX-License-Identifier: MIT */
/*
 * core_runq.c - the levelled queue of src/core/sched/runq.h and its bitmap: each task
 * is taken exactly once, also while its level changes; bitmap, hint and counts say
 * what the lists hold; the most urgent task known goes first.
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
	const struct sley_task *task = runq.levels.fifo[level].first;
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
	MODEL_CHECK(runq.hint == runq.levels.bitmap);
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

MODEL(levels_change_under_two_takers, .setup = setup_full,
      .threads = { change_levels, take_two, take_batch }, .finish = each_once);
