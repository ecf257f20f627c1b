/* SPDX-License-Identifier: MIT */
/*
 * lf_spin.c - src/lf/spin.h keeps others out, and never for ever.
 *
 * Complete for three threads that lock once and for two that lock twice.  More
 * threads add waiters, which do not see each other.  That anybody may be passed
 * over is not modelled: the lock is not fair.
 *
 * A waiter looks once and then sleeps, by the real lines of os/spin.c.  Its time-out
 * may come at any moment.  So no model can show that a wake was missed; they show
 * that a sleeper is counted and counted off, that a wake in vain does no harm, and
 * that the time-out is enough.
 */
#include "explorer.h"

#include "lf/spin.h"
#include "os/spin.c" /* its rooms are emptied by setup() */

#include <string.h>

static struct spinlock lock;
static int inside; /* plain: whom the lock lets in alone may touch it */
static struct ledger {
	int count, refused;
} ledger;

static void setup(void)
{
	lock = (struct spinlock){ 0 };
	inside = 0;
	spin_nr_sleepers = 0;
	memset(rooms, 0, sizeof(rooms));
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	model_name(&lock.word, "lock");
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
	ledger.count++;
}

static void lock_once(int id)
{
	(void)id;
	spin_lock(&lock);
	work();
	spin_unlock(&lock);
}

static void lock_twice(int id)
{
	lock_once(id);
	lock_once(id);
}

static void try_lock(int id)
{
	(void)id;
	if (!spin_try_lock(&lock)) {
		ledger.refused++;
		return;
	}
	work();
	spin_unlock(&lock);
}

/* At the end nobody is counted as a sleeper for ever. */
static void nobody_sleeps(void)
{
	MODEL_CHECK(spin_nr_sleepers == 0);
}

static void nobody_is_missing(void)
{
	nobody_sleeps();
	MODEL_CHECK(ledger.count + ledger.refused == 3);
	MODEL_CHECK(lock.word == 0);
}

static void four_sections(void)
{
	nobody_sleeps();
	MODEL_CHECK(ledger.count == 4);
	MODEL_CHECK(lock.word == 0);
}

MODEL(three_threads_take_turns, .setup = setup,
      .threads = { lock_once, lock_once, lock_once },
      .finish = nobody_is_missing);

MODEL(two_threads_lock_twice, .setup = setup,
      .threads = { lock_twice, lock_twice }, .finish = four_sections);

MODEL(try_lock_excludes_too, .setup = setup,
      .threads = { lock_once, try_lock, try_lock },
      .finish = nobody_is_missing);
