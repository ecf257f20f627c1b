/* SPDX-License-Identifier: MIT */
/*
 * core_loan.c - src/core/wait/loan.c with src/sync/mutex.c: whatever comes at the same
 * time, in the end each task has its own level, nothing is in the table, and no memory
 * is left; and while an urgent task waits, the holder has its level.
 *
 * A task of a low level holds the mutex, and an urgent task waits for it: until it has
 * it, until a deadline, or until a cancel.  A third thread sets a level.  In the chain
 * a task in the middle waits, too, and holds what the urgent task waits for.
 *
 * Complete for one urgent waiter with one setter, and for a chain of two holders.  Not
 * seen: tasks that are queued when their level changes, which core_place_level.c has.
 */
#include "inline_paths.h"
#include "tasks_only.h"

#include "holders.h"
#include "model_mem.h"

#include <sley/sync.h>

#include "core/wait/loan.c"

enum { URGENT = 33, MIDDLE = 40, SET = 45, LOW = 50 };

struct mem sley__program_mem;

static struct sley_mutex mutex[2];
static unsigned int own[TASKS_MAX]; /* the level of each task in the end */

static struct sley_task *task_of(int id)
{
	return &task_threads[id].task;
}

static void give_level(int id, unsigned int level)
{
	own[id] = level;
	task_set_level(task_of(id), level);
}

static void setup_with(enum tasks_flags flags)
{
	tasks_setup(flags);
	holders_setup(false);
	memset(&table, 0, sizeof(table));
	memset(mutex, 0, sizeof(mutex));
	memset(own, 0, sizeof(own));
	sley__nr_promises = 0;
	sley__levels_differ.yes = 1;
	memset(&sley__runqs, 0, sizeof(sley__runqs));
	model_lock_word(&table.lock.word);
	model_lock_word(&sley__runqs.lock.word);
	for (int i = 0; i < 2; i++) {
		model_lock_word(&mutex[i].q.word);
		model_name(&mutex[i].q.word, "mutex%d", i);
	}
	give_level(0, LOW);
	give_level(1, URGENT);
}

static void setup(void)
{
	setup_with(0);
}

static void setup_timed(void)
{
	setup_with(TASKS_TIMED);
}

static void is_empty(void)
{
	for (int i = 0; i < 1 << TABLE_BITS; i++)
		MODEL_CHECK(!table.thing[i] && !table.debtor[i] &&
			    !table.loan[i]);
	for (int i = 0; i < TASKS_MAX && own[i]; i++) {
		MODEL_CHECK(task_level(task_of(i)) == own[i]);
		MODEL_CHECK(
			!(task_flags(task_of(i)) & (TASK_LENT | TASK_OWES)));
	}
	MODEL_CHECK(!mutex[0].q.word && !mutex[1].q.word);
	tasks_check();
}

/* With the lock of the loans a holder has the level of the loans for its mutex. */
static void check_level(int id, const struct sley_mutex *held)
{
	struct loan_thing *thing;

	spin_lock(&table.lock);
	thing = find_thing(held);
	if (thing && thing->bitmap)
		MODEL_CHECK(task_level(task_of(id)) <= most_urgent(thing));
	spin_unlock(&table.lock);
}

static void hold(int id)
{
	task_begin(id);
	sley_mutex_lock(&mutex[0]);
	check_level(id, &mutex[0]);
	sley_mutex_unlock(&mutex[0]);
}

static void hold_for_a_while(int id)
{
	task_begin(id);
	if (sley_mutex_lock_until(&mutex[0], LATER))
		return;
	check_level(id, &mutex[0]);
	sley_mutex_unlock(&mutex[0]);
}

static void set_level_of_holder(int id)
{
	(void)id;
	own[0] = SET;
	loan_set_level(task_of(0), SET);
}

static void set_waiter(int id)
{
	(void)id;
	own[1] = SET;
	loan_set_level(task_of(1), SET);
}

static void cancel_waiter(int id)
{
	task_begin(id);
	task_end_wait(1);
}

MODEL(a_holder_releases, .setup = setup, .threads = { hold, hold },
      .finish = is_empty);

MODEL(the_level_of_the_holder_is_set, .setup = setup,
      .threads = { hold, hold, set_level_of_holder }, .finish = is_empty);

MODEL(the_level_of_the_waiter_is_set, .setup = setup,
      .threads = { hold, hold, set_waiter }, .finish = is_empty);

MODEL(the_waiter_gives_up_in_time, .setup = setup_timed,
      .threads = { hold, hold_for_a_while }, .finish = is_empty);

MODEL(the_waiter_is_cancelled, .setup = setup,
      .threads = { hold, hold_for_a_while, cancel_waiter }, .finish = is_empty);

/* ---- a chain --------------------------------------------------------------------- */

static void setup_chain(void)
{
	setup();
	give_level(1, MIDDLE);
	give_level(2, URGENT);
}

static void hold_both(int id)
{
	task_begin(id);
	sley_mutex_lock(&mutex[1]);
	hold(id);
	sley_mutex_unlock(&mutex[1]);
}

static void hold_the_other(int id)
{
	task_begin(id);
	sley_mutex_lock(&mutex[1]);
	check_level(id, &mutex[1]);
	sley_mutex_unlock(&mutex[1]);
}

MODEL(each_of_a_chain_releases, .setup = setup_chain,
      .threads = { hold, hold_both, hold_the_other }, .finish = is_empty);

/* ---- a promise ------------------------------------------------------------------- */

static struct sley_task promiser;
static int thing_to_do;

static void setup_promise(void)
{
	setup();
	memset(&promiser, 0, sizeof(promiser));
	task_build_running(&promiser, 0, 0);
	task_set_level(&promiser, LOW);
	loan_promise(&promiser, &thing_to_do);
}

static void wait_for_it(int id)
{
	struct loan loan;

	task_begin(id);
	(void)loan_begin(&loan, &thing_to_do, NULL, NULL);
	loan_free(loan_end(&loan));
}

static void end_it(int id)
{
	(void)id;
	loan_forgive(&promiser);
	MODEL_CHECK(task_level(&promiser) == LOW);
	/* The memory of a task that has ended is its owner's. */
	memset(&promiser, 0, sizeof(promiser));
}

static void is_forgotten(void)
{
	MODEL_CHECK(!promiser.flags && !sley__nr_promises);
	is_empty();
}

MODEL(a_task_that_promised_ends, .setup = setup_promise,
      .threads = { end_it, wait_for_it }, .finish = is_forgotten);
