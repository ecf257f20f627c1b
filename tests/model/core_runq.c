/* SPDX-License-Identifier: MIT */
/*
 * core_runq.c - the levelled queue of src/core/runq.h and its bitmap: each task
 * is taken exactly once, also while its level changes; bitmap and hint say
 * what the lists hold; the most urgent task known goes first.
 *
 * Complete for three threads and three tasks of three levels; for a change of
 * level against the push and against the end of the queue.  All of it is under
 * one lock, so more tasks add nothing but length.  Not seen: two changes of
 * one task at a time, more queues than one, and a process with more than 255
 * of them.
 */
#include "payload.h"

#include "core/runq.h"

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

static void bitmap_is_true(void)
{
	for (unsigned int i = 0; i < NR_LEVELS; i++) {
		bool bit = runq.levels.bitmap >> i & 1;

		MODEL_CHECK(bit == (runq.levels.fifo[i].first != NULL));
		MODEL_CHECK(bit == (runq.levels.fifo[i].last != NULL));
	}
	MODEL_CHECK(runq.hint == runq.levels.bitmap);
}

static void each_once(void)
{
	bitmap_is_true();
	while (take_by_hint())
		;
	bitmap_is_true();
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

/* As place_set_level() does it, of a task that is ready all the time. */
static void set_level(int id)
{
	(void)id;
	do {
		if (runq_move(&tasks[0], 1))
			return;
		task_set_level(&tasks[0], 1);
		runq_settle();
	} while (task_queued_tag(&tasks[0]) != RUNQ_NO_TAG);
}

static void is_in_its_place(void)
{
	bitmap_is_true();
	MODEL_CHECK(task_level(&tasks[0]) == 1);
	MODEL_CHECK(runq_take(&runq, 1) == &tasks[0]);
	MODEL_CHECK(runq.hint == 0);
}

MODEL(a_level_changes_while_its_task_is_being_pushed, .setup = setup,
      .threads = { push_first, set_level }, .finish = is_in_its_place);

/* ---- the queue ends ------------------------------------------------------------- */

/* A queue that is freed at its end, when it is empty. */
static struct runq *ending;

static void setup_ending(void)
{
	setup();
	ending = model_alloc(sizeof(*ending));
	sley__runqs = (struct runqs){ 0 };
	runq_init(ending);
	model_lock_word(&ending->lock.word);
	runq_push(ending, &tasks[0]);
}

static void take_and_end(int id)
{
	struct sley_task *task = runq_take(ending, LEVEL_DEFAULT + 1);

	(void)id;
	if (!task)
		task = runq_take(ending, 1);
	ledger.taken[0] += task == &tasks[0];
	runq_fini(ending);
	model_free(ending);
}

/* Whoever has the task may change its level at any time. */
static void change_level(int id)
{
	(void)id;
	if (!runq_move(&tasks[0], 1))
		task_set_level(&tasks[0], 1);
	runq_settle();
}

static void is_taken_once(void)
{
	MODEL_CHECK(ledger.taken[0] == 1);
	MODEL_CHECK(task_level(&tasks[0]) == 1);
	MODEL_CHECK(!sley__runqs.by_tag[1]);
}

MODEL(a_level_changes_while_its_queue_ends, .setup = setup_ending,
      .threads = { take_and_end, change_level }, .finish = is_taken_once);
