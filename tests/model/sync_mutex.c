/* SPDX-License-Identifier: MIT */
/*
 * sync_mutex.c - src/sync/mutex.c and the inline paths of <sley/sync.h>, with
 * plain threads: one at a time, handed over, tried, and given up.
 *
 * Two threads: complete; three: at most three preemptions.  Not seen: fibers; how
 * they park is in core_task_state.c.
 */
#include "inline_paths.h"
#include "threads_only.h"

#include <errno.h>
#include <sley/sync.h>

#define LATER 2000000000u

static struct sley_mutex *mutex;
static int inside, nr_locked;
static bool tried, gave_up;

static void setup(void)
{
	mutex = model_alloc(sizeof(*mutex));
	inside = nr_locked = 0;
	tried = gave_up = false;
	model_lock_word(&mutex->q.word);
	model_name(&mutex->q.word, "mutex");
}

static void settled(void)
{
	MODEL_CHECK(mutex->q.word == 0 && !mutex->q.first);
	model_free(mutex);
}

static void enter_and_leave(void)
{
	model_access(&inside);
	MODEL_CHECK(++inside == 1);
	nr_locked++;
	model_access(&inside);
	inside--;
	sley_mutex_unlock(mutex);
}

static void lock(int id)
{
	(void)id;
	sley_mutex_lock(mutex);
	enter_and_leave();
}

static void lock_for_a_while(int id)
{
	(void)id;
	if (sley_mutex_lock_until(mutex, LATER) == 0)
		enter_and_leave();
	else
		gave_up = true;
}

static void try_once(int id)
{
	(void)id;
	if (sley_mutex_try_lock(mutex))
		enter_and_leave();
}

/* Whoever has just unlocked it finds it free, unless another one has it. */
static void lock_and_try(int id)
{
	lock(id);
	tried = sley_mutex_try_lock(mutex);
	if (tried)
		enter_and_leave();
}

static void free_was_taken(void)
{
	MODEL_CHECK(tried || !gave_up);
	settled();
}

MODEL(one_at_a_time, .setup = setup, .threads = { lock, lock },
      .finish = settled);
MODEL(one_tries, .setup = setup, .threads = { lock, try_once },
      .finish = settled);
MODEL(one_gives_up, .setup = setup, .threads = { lock, lock_for_a_while },
      .finish = settled);
MODEL(three_with_one_who_gives_up, .setup = setup,
      .threads = { lock, lock_for_a_while, try_once }, .bound = 3,
      .finish = settled);
MODEL(a_free_mutex_is_got_by_trying, .setup = setup,
      .threads = { lock_and_try, lock_for_a_while }, .finish = free_was_taken);
