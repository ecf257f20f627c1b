/* SPDX-License-Identifier: MIT */
/*
 * core_waitq_lock.c - the lock bit of src/core/wait/waitq.h, and how its waiters
 * sleep.
 *
 * The first thread uses the object alone under the lock, the second unlocks with a
 * store, the third counts in the word's other bits without the lock.  A waiter tries
 * once and then sleeps, by the real lines of os/spin.c; the time-out may come at any
 * moment.  At the end no count is lost, no sleeper is counted, and the lock is free.
 *
 * Complete for three threads.  Waits for the object are in core_waitq.c.
 */
#include "explorer.h"

#include "core/wait/waitq.h"
#include "os/spin.c" /* its rooms are emptied by setup() */

#include <string.h>

#define ONE 2ull

static struct sley_waitq q;
static int inside; /* plain: only the holder of the lock touches it */

static void setup(void)
{
	q = (struct sley_waitq){ 0 };
	inside = 0;
	spin_nr_sleepers = 0;
	memset(rooms, 0, sizeof(rooms));
	model_name(&q.word, "q");
}

/* Each access is a scheduling point: two inside would be seen. */
static void work(void)
{
	model_access(&inside);
	MODEL_CHECK(inside == 0);
	inside = 1;
	model_access(&inside);
	MODEL_CHECK(inside == 1);
	inside = 0;
}

static void lock_counted(int id)
{
	(void)id;
	(void)waitq_lock(&q);
	work();
	waitq_unlock_counted(&q);
}

static void lock_alone(int id)
{
	(void)id;
	waitq_lock_alone(&q);
	work();
	waitq_unlock_as(&q, 0);
}

static void lock_plain(int id)
{
	(void)id;
	(void)waitq_lock(&q);
	work();
	waitq_unlock(&q);
}

/* Bits that a sleeper does not wait for change during the sleep. */
static void count(int id)
{
	(void)id;
	/* relaxed: a number. */
	(void)add_relaxed(&q.word, ONE);
	/* relaxed: as above. */
	(void)add_relaxed(&q.word, ONE);
}

static void check(uint64_t word)
{
	MODEL_CHECK(q.word == word);
	MODEL_CHECK(spin_nr_sleepers == 0);
}

static void is_free(void)
{
	check(0);
}

static void two_are_counted(void)
{
	check(2 * ONE);
}

MODEL(three_take_turns, .setup = setup,
      .threads = { lock_plain, lock_alone, lock_alone }, .finish = is_free);

MODEL(a_word_that_changes, .setup = setup,
      .threads = { lock_counted, lock_counted, count },
      .finish = two_are_counted);
