/* SPDX-License-Identifier: MIT */
/*
 * sync_once.c - src/sync/once.c and its inline path, with plain threads and with
 * tasks: the function runs once, no caller returns before the function, all callers
 * see its writes, and the last caller to return may free the object.
 *
 * `made` is plain memory that the function writes.  Complete for two and three
 * callers, one of them with a deadline or a cancel.  The models could miss mistakes
 * that take two callers that give up, one behind the other.
 */
#include "inline_paths.h"
#include "tasks_only.h"

#include "holders.h"

#include <sley/once.h>

#define CALLERS 3

static struct sley_once_flag *once;
static int made; /* by the function */
static struct ledger {
	int returns, given_up;
	uint32_t inside; /* the function */
	uint32_t out;    /* callers that are done with the object */
} ledger;

static void setup_with(enum tasks_flags flags)
{
	tasks_setup(flags);
	holders_setup(false);
	once = model_alloc(sizeof(*once));
	made = 0;
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	model_lock_word(&once->q.word);
	model_name(&once->q.word, "once");
	model_name(&ledger.out, "out");
}

static void setup(void)
{
	setup_with(0);
}

static void setup_timed(void)
{
	setup_with(TASKS_TIMED);
}

static void function(void *arg)
{
	MODEL_CHECK(arg == once);
	made++;
	/* relaxed: a caller that returned sees it, or has returned too early. */
	MODEL_CHECK(!xchg_relaxed(&ledger.inside, 1));
	made += 6;
	/* relaxed: as above. */
	MODEL_CHECK(xchg_relaxed(&ledger.inside, 0));
}

/* Of @nr callers, the last to leave frees the object. */
static void leave(uint32_t nr)
{
	if (add_acq_rel(&ledger.out, 1) + 1 == nr)
		model_free(once);
}

static void call(uint32_t nr)
{
	sley_once(once, function, once);
	/* relaxed: see function(). */
	MODEL_CHECK(!load_relaxed(&ledger.inside));
	MODEL_CHECK(made == 7);
	ledger.returns++;
	leave(nr);
}

static void call_until(uint32_t nr, uint64_t deadline_ns)
{
	int err = sley_once_until(once, function, once, deadline_ns);

	MODEL_CHECK(err == 0 || err == -ETIMEDOUT || err == -ECANCELED);
	MODEL_CHECK(err || made == 7);
	ledger.returns += err == 0;
	ledger.given_up += err != 0;
	leave(nr);
}

static void one_of_two(int id)
{
	(void)id;
	call(2);
}

static void one_of_three(int id)
{
	(void)id;
	call(CALLERS);
}

static void hasty_of_two(int id)
{
	(void)id;
	call_until(2, LATER);
}

static void hasty_of_three(int id)
{
	(void)id;
	call_until(CALLERS, LATER);
}

/* Only looks; a caller that sees "done" sees the writes of the function. */
static void glance(int id)
{
	(void)id;
	if (sley_once_done(once))
		MODEL_CHECK(made == 7);
	leave(2);
}

static void both(void)
{
	MODEL_CHECK(made == 7 && ledger.returns + ledger.given_up == 2);
	MODEL_CHECK(ledger.given_up < 2);
}

static void all(void)
{
	MODEL_CHECK(made == 7 && ledger.returns + ledger.given_up == CALLERS);
	MODEL_CHECK(ledger.given_up < 2);
}

static void one(void)
{
	MODEL_CHECK(made == 7 && ledger.returns == 1);
}

MODEL(one_of_two_runs_it, .setup = setup, .threads = { one_of_two, one_of_two },
      .finish = both);

MODEL(who_sees_that_it_is_done_sees_what_was_done, .setup = setup,
      .threads = { one_of_two, glance }, .finish = one);

MODEL(one_waits_and_gives_up, .setup = setup,
      .threads = { one_of_two, hasty_of_two }, .finish = both);

MODEL(some_wait_and_some_give_up, .setup = setup,
      .threads = { one_of_three, one_of_three, hasty_of_three }, .slow = true,
      .finish = all);

/* ---- tasks ------------------------------------------------------------------------ */

static void task_of_two(int id)
{
	task_begin(id);
	call(2);
}

static void task_of_three(int id)
{
	task_begin(id);
	call(CALLERS);
}

static void hasty_task_of_two(int id)
{
	task_begin(id);
	call_until(2, LATER);
}

static void task_or_end_of_two(int id)
{
	task_begin(id);
	call_until(2, UINT64_MAX);
}

static void cancel_first(int id)
{
	task_begin(id);
	task_end_wait(0);
}

static void both_returned(void)
{
	MODEL_CHECK(made == 7 && ledger.returns == 2);
}

MODEL(one_of_three_tasks_runs_it, .setup = setup,
      .threads = { task_of_three, task_of_three, task_of_three },
      .finish = all);

MODEL(a_plain_call_is_not_cancelled, .setup = setup,
      .threads = { task_of_two, task_of_two, cancel_first },
      .finish = both_returned);

MODEL(a_cancelled_task_gives_up, .setup = setup,
      .threads = { task_or_end_of_two, task_of_two, cancel_first },
      .finish = both);

MODEL(wake_and_deadline_and_cancel, .setup = setup_timed,
      .threads = { hasty_task_of_two, task_of_two, cancel_first },
      .finish = both);
