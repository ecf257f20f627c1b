/* SPDX-License-Identifier: MIT */
/*
 * sync_future.c - src/sync/future.c over src/sync/event.c, with plain threads and
 * with tasks: a future is completed once, and a thread that knows of the completion
 * has the result, and the memory that the value points at.
 *
 * The values point at plain memory that is written before the future is set.  Where
 * no other thread may complete the futures, they are freed right after the wait.
 *
 * Complete for a thread that waits, or looks, and one or two completers; for waits
 * for any and for all of two futures; with a deadline and with a cancel.  The models
 * could miss mistakes that take three futures, or two waiters for any of the same
 * futures.
 */
#include "inline_paths.h"
#include "tasks_only.h"

#include <sley/future.h>

#define FAILED (-5)

static struct scene {
	struct sley_future future[2];
} * scene;
static int payload[MODEL_THREADS_MAX]; /* by the completer */
static struct ledger {
	int set, failed, late; /* completions that were first, or not */
	int got_value, got_error, gave_up;
} ledger;

static void setup_with(enum tasks_flags flags)
{
	tasks_setup(flags);
	scene = model_alloc(sizeof(*scene));
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	memset(payload, 0, sizeof(payload));
	for (int i = 0; i < 2; i++) {
		model_lock_word(&scene->future[i].done.q.word);
		model_name(&scene->future[i].done.q.word, "future%d", i);
	}
}

static void setup(void)
{
	setup_with(0);
}

static void setup_timed(void)
{
	setup_with(TASKS_TIMED);
}

static void free_scene(void)
{
	model_free(scene);
	scene = NULL;
}

/* ---- one future ------------------------------------------------------------------ */

static void note(int result, int *first)
{
	MODEL_CHECK(result == 0 || result == -EALREADY);
	if (result == 0)
		++*first;
	else
		ledger.late++;
}

static void set(int id)
{
	payload[id] = 7;
	note(sley_future_set(&scene->future[0], &payload[id]), &ledger.set);
}

static void fail(int id)
{
	(void)id;
	note(sley_future_fail(&scene->future[0], FAILED), &ledger.failed);
}

/* The future is complete: checks the result. */
static void look(const struct sley_future *future)
{
	void *value = NULL;
	int status = sley_future_get(future, &value);

	MODEL_CHECK(sley_future_is_done(future));
	if (status == 0)
		MODEL_CHECK(*(int *)value == 7);
	else
		MODEL_CHECK(status == FAILED && !value);
	ledger.got_value += status == 0;
	ledger.got_error += status != 0;
}

static void wait_for_it(int id)
{
	(void)id;
	MODEL_CHECK(sley_future_wait(&scene->future[0]) == 0);
	look(&scene->future[0]);
}

/* Thread 1 completes the future.  Its writes are visible without another look. */
static void wait_and_free(int id)
{
	(void)id;
	MODEL_CHECK(sley_future_wait(&scene->future[0]) == 0);
	MODEL_CHECK(payload[1] == 7);
	look(&scene->future[0]);
	free_scene();
}

static void wait_soon(int id)
{
	int err = sley_future_wait_until(&scene->future[0], LATER);

	(void)id;
	MODEL_CHECK(err == 0 || err == -ETIMEDOUT || err == -ECANCELED);
	if (err) {
		ledger.gave_up++;
		return;
	}
	MODEL_CHECK(payload[1] == 7);
	look(&scene->future[0]);
}

/* Never waits: a result that is seen must be whole. */
static void glance(int id)
{
	void *value = NULL;
	int status = sley_future_get(&scene->future[0], &value);

	(void)id;
	MODEL_CHECK(status == 0 || status == -EINPROGRESS);
	if (status == 0) {
		MODEL_CHECK(*(int *)value == 7);
		ledger.got_value++;
	}
}

static void settled(void)
{
	for (int i = 0; i < 2; i++) {
		const struct sley_waitq *q = &scene->future[i].done.q;

		MODEL_CHECK(!q->first && !(q->word & WAITQ_LOCK));
	}
	free_scene();
}

static void one_was_first(void)
{
	MODEL_CHECK(ledger.set + ledger.failed == 1 && ledger.late == 1);
	MODEL_CHECK(ledger.got_value == ledger.set);
	MODEL_CHECK(ledger.got_error == ledger.failed);
	settled();
}

static void gone(void)
{
	MODEL_CHECK(!scene && ledger.set == 1 && ledger.got_value == 1);
}

static void told_or_not(void)
{
	MODEL_CHECK(ledger.set == 1);
	MODEL_CHECK(ledger.got_value + ledger.gave_up == 1);
	settled();
}

static void seen_or_not(void)
{
	MODEL_CHECK(ledger.set == 1 && ledger.got_value <= 1);
	settled();
}

MODEL(who_waited_may_free_it, .setup = setup, .threads = { wait_and_free, set },
      .finish = gone);
MODEL(who_looks_sees_all_or_nothing, .setup = setup, .threads = { glance, set },
      .finish = seen_or_not);
MODEL(it_is_completed_once, .setup = setup,
      .threads = { wait_for_it, set, fail }, .finish = one_was_first);
MODEL(it_is_complete_or_the_deadline_comes, .setup = setup,
      .threads = { wait_soon, set }, .finish = told_or_not);

/* ---- tasks ---------------------------------------------------------------------- */

static void task_set(int id)
{
	task_begin(id);
	set(id);
}

static void task_fail(int id)
{
	task_begin(id);
	fail(id);
}

static void task_wait_for_it(int id)
{
	task_begin(id);
	wait_for_it(id);
}

static void task_wait_and_free(int id)
{
	task_begin(id);
	wait_and_free(id);
}

static void task_wait_soon(int id)
{
	task_begin(id);
	wait_soon(id);
}

static void task_wait_or_end(int id)
{
	int err;

	task_begin(id);
	err = sley_future_wait(&scene->future[0]);
	MODEL_CHECK(err == 0 || err == -ECANCELED);
	if (err == 0)
		look(&scene->future[0]);
	else
		ledger.gave_up++;
}

static void cancel_first(int id)
{
	task_begin(id);
	task_end_wait(0);
}

MODEL(a_task_may_free_it, .setup = setup,
      .threads = { task_wait_and_free, task_set }, .finish = gone);
MODEL(it_is_completed_once_for_a_task, .setup = setup,
      .threads = { task_wait_for_it, task_set, task_fail },
      .finish = one_was_first);
MODEL(it_is_complete_or_a_cancel_comes, .setup = setup,
      .threads = { task_wait_or_end, task_set, cancel_first },
      .finish = told_or_not);
MODEL(wake_and_deadline_and_cancel, .setup = setup_timed,
      .threads = { task_wait_soon, task_set, cancel_first },
      .finish = told_or_not);

/* ---- two futures ------------------------------------------------------------------- */

/* Threads 1 and 2 complete one each. */
static void set_one(int id)
{
	payload[id] = 7;
	note(sley_future_set(&scene->future[id - 1], &payload[id]),
	     &ledger.set);
}

static void task_set_one(int id)
{
	task_begin(id);
	set_one(id);
}

static int any_until(uint64_t deadline_ns)
{
	struct sley_future *const futures[] = { &scene->future[1],
						&scene->future[0] };
	int index = sley_future_wait_any_until(futures, 2, deadline_ns);

	MODEL_CHECK(index == 0 || index == 1 || index == -ETIMEDOUT ||
		    index == -ECANCELED);
	if (index < 0) {
		ledger.gave_up++;
		return index;
	}
	MODEL_CHECK(payload[2 - index] == 7);
	look(futures[index]);
	return index;
}

static void any(int id)
{
	(void)id;
	MODEL_CHECK(any_until(UINT64_MAX) >= 0);
}

static void task_any(int id)
{
	task_begin(id);
	any(id);
}

/* Only one future is ever completed, by thread 1. */
static void any_and_free(int id)
{
	(void)id;
	MODEL_CHECK(any_until(UINT64_MAX) == 1);
	free_scene();
}

static void task_any_and_free(int id)
{
	task_begin(id);
	any_and_free(id);
}

static void any_soon(int id)
{
	(void)id;
	any_until(LATER);
}

static void task_any_or_end(int id)
{
	task_begin(id);
	any_until(UINT64_MAX);
}

static void all_and_free(int id)
{
	struct sley_future *const futures[] = { &scene->future[0],
						&scene->future[1] };

	(void)id;
	MODEL_CHECK(sley_future_wait_all(futures, 2) == 0);
	look(futures[0]);
	look(futures[1]);
	free_scene();
}

static void task_all_and_free(int id)
{
	task_begin(id);
	all_and_free(id);
}

static void one_of_two(void)
{
	MODEL_CHECK(ledger.set == 2 && ledger.got_value + ledger.gave_up == 1);
	settled();
}

static void both_gone(void)
{
	MODEL_CHECK(!scene && ledger.set == 2 && ledger.got_value == 2);
}

MODEL(any_of_two, .setup = setup, .threads = { any, set_one, set_one },
      .finish = one_of_two);
MODEL(any_of_two_or_the_deadline, .setup = setup,
      .threads = { any_soon, set_one, set_one }, .finish = one_of_two);
MODEL(who_waited_for_any_may_free_both, .setup = setup,
      .threads = { any_and_free, set_one }, .finish = gone);
MODEL(who_waited_for_all_may_free_both, .setup = setup,
      .threads = { all_and_free, set_one, set_one }, .finish = both_gone);
MODEL(any_of_two_by_tasks, .setup = setup,
      .threads = { task_any, task_set_one, task_set_one },
      .finish = one_of_two);
MODEL(a_task_that_waited_for_any_may_free_both, .setup = setup,
      .threads = { task_any_and_free, task_set_one }, .finish = gone);
MODEL(a_task_that_waited_for_all_may_free_both, .setup = setup,
      .threads = { task_all_and_free, task_set_one, task_set_one },
      .finish = both_gone);
MODEL(any_of_two_or_a_cancel, .setup = setup,
      .threads = { task_any_or_end, task_set_one, cancel_first },
      .finish = told_or_not);
