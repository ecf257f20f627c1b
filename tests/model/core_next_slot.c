/* SPDX-License-Identifier: MIT */
/*
 * core_next_slot.c - src/core/sched/next_slot.h: each task that is put into the slot
 * comes out exactly once, and the taker sees the writes of the worker before.
 *
 * The worker puts a task in, as its own or not, then a second task, which pushes the
 * first out, and takes the remaining task; a monitor opens the slot meanwhile and a
 * thief steals, once and twice.  A task that was stolen and comes back may be in the
 * slot again while a thief still has the old word as a guess.
 *
 * Complete for one worker with two tasks, a monitor and two thieves of one try each.
 * The wake-up of a thief is in core_monitor.c and core_search.c.
 */
#include "payload.h"

#include "core/sched/next_slot.h"

#include <string.h>

#define JOBS 2

static struct next next;
static struct job {
	struct sley_task task;
	struct payload payload; /* written before the put */
} jobs[JOBS];
static struct ledger {
	int got[JOBS];
	int stolen[JOBS];
} ledger;

static void setup(void)
{
	next = (struct next){ 0 };
	memset(jobs, 0, sizeof(jobs));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	model_name(&next.word, "next");
	for (int i = 0; i < JOBS; i++)
		model_name(&jobs[i], "job%d", i);
}

static int got(struct sley_task *task)
{
	struct job *job = (struct job *)task;
	int i = (int)(job - jobs);

	MODEL_CHECK(i == 0 || i == 1);
	payload_check(&job->payload);
	ledger.got[i]++;
	return i;
}

static void put(int i, uintptr_t own)
{
	struct sley_task *before;

	payload_write(&jobs[i].payload);
	before = next_put(&next, &jobs[i].task, own);
	if (before)
		(void)got(before);
}

static void take(void)
{
	struct sley_task *task = next_take(&next);

	if (task)
		(void)got(task);
}

/* ---- threads ---------------------------------------------------------------------- */

static void put_two_own_and_take(int id)
{
	(void)id;
	put(0, NEXT_OWN);
	put(1, NEXT_OWN);
	take();
}

static void put_two_and_take(int id)
{
	(void)id;
	put(0, 0);
	put(1, 0);
	take();
}

static void put_own_and_take(int id)
{
	(void)id;
	put(0, NEXT_OWN);
	take();
}

static void open_it(int id)
{
	(void)id;
	(void)next_open(&next);
}

static void steal(int id)
{
	struct sley_task *task = next_steal(&next);

	(void)id;
	if (task)
		ledger.stolen[got(task)]++;
}

/* ---- conditions ------------------------------------------------------------------- */

static void each_once(void)
{
	take();
	MODEL_CHECK(ledger.got[0] == 1 && ledger.got[1] == 1);
	MODEL_CHECK(next.word == 0);
}

static void none_was_stolen(void)
{
	MODEL_CHECK(ledger.stolen[0] == 0 && ledger.stolen[1] == 0);
	each_once();
}

static void first_once(void)
{
	take();
	MODEL_CHECK(ledger.got[0] == 1 && ledger.got[1] == 0);
	MODEL_CHECK(next.word == 0);
}

MODEL(what_may_be_stolen_is_got_once, .setup = setup,
      .threads = { put_two_and_take, steal, steal }, .finish = each_once);

MODEL(what_is_the_workers_own_is_not_stolen, .setup = setup,
      .threads = { put_two_own_and_take, steal, steal },
      .finish = none_was_stolen);

MODEL(what_is_opened_is_got_once, .setup = setup,
      .threads = { put_two_own_and_take, open_it, steal }, .finish = each_once);

MODEL(two_steal_what_is_opened, .setup = setup,
      .threads = { put_own_and_take, open_it, steal, steal },
      .finish = first_once);

/* What thieves and parkers see of the slot; a wrong answer would keep them awake. */
static void glance(int id)
{
	(void)id;
	MODEL_CHECK(!next_stealable(&next) && !next_open(&next));
	put(0, NEXT_OWN);
	MODEL_CHECK(!next_stealable(&next) && next_open(&next));
	MODEL_CHECK(next_stealable(&next) && next_open(&next));
	take();
	MODEL_CHECK(!next_stealable(&next));
}

MODEL(a_glance_says_what_is_there, .setup = setup, .threads = { glance },
      .finish = first_once);

/* ---- a task comes back ---------------------------------------------------------------- */

/* The word that a thief or the monitor has read is there again. */
static void put_take_and_put_again(int id)
{
	(void)id;
	put(0, 0);
	if (next_take(&next)) {
		payload_write(&jobs[0].payload);
		MODEL_CHECK(!next_put(&next, &jobs[0].task, NEXT_OWN));
	}
}

static void once_or_there(void)
{
	take();
	MODEL_CHECK(ledger.got[0] == 1);
}

MODEL(a_task_comes_back, .setup = setup,
      .threads = { put_take_and_put_again, open_it, steal },
      .finish = once_or_there);
