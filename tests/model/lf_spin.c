/* SPDX-License-Identifier: MIT */
/*
 * lf_spin.c - src/lf/spin.h keeps others out, and never for ever.
 *
 * Complete for three threads that lock once and for two that lock twice.  More
 * threads add waiters, which do not see each other.  That anybody may be passed
 * over is not modelled: the lock is not fair.
 *
 * A waiter looks once and then sleeps, by the real lines of os/spin.c.  Its time-out
 * may come at any moment.  So the scenes of whole locks cannot show that a wake was
 * missed; they show that a wake in vain does no harm, and that the time-out is
 * enough.
 *
 * The scenes behind these call spin_sleep() and spin_wake().  Two sleepers are
 * counted and counted off.  A sleeper without a time-out shows that a waker that
 * knows of a sleeper in the room never misses it; complete for two wakers.  A waker
 * that does not know of it may miss it in TSO and RA, see lf/spin.h.
 */
#include "explorer.h"

#include "lf/spin.h"
#include "os/clock.h"

/* In the scenes without a time-out the time that spin_sleep() adds to is the last. */
static bool sleeps_for_ever;
#define os_now() (sleeps_for_ever ? UINT64_MAX - NS_FIRST : (os_now)())

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
	sleeps_for_ever = false;
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

/*
 * At the end nobody is counted as a sleeper for ever: else every unlock, or every
 * unlock in that room, would make a system call from then on.
 */
static void nobody_sleeps(void)
{
	MODEL_CHECK(spin_nr_sleepers == 0);
	for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++)
		MODEL_CHECK(rooms[i].nr_sleepers == 0);
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

/* ---- sleepers -------------------------------------------------------------------- */

static void sleep_once(int id)
{
	(void)id;
	spin_sleep(&lock.word, spin_is_held, 0);
}

static void setup_held(void)
{
	setup();
	lock.word = 1;
	model_name(&spin_nr_sleepers, "sleepers");
	model_name(&room_of(&lock.word)->nr_sleepers, "in_room");
	model_name(&room_of(&lock.word)->nr_wakes, "wakes");
}

MODEL(two_sleepers_are_counted, .setup = setup_held,
      .threads = { sleep_once, sleep_once }, .finish = nobody_sleeps);

/* ---- wakes ----------------------------------------------------------------------- */

/*
 * Another sleeper of the room has been counted, and does not sleep yet: so each
 * waker knows that there are sleepers.
 */
static void setup_for_ever(void)
{
	setup_held();
	sleeps_for_ever = true;
	spin_nr_sleepers = 1;
	room_of(&lock.word)->nr_sleepers = 1;
}

static void sleep_until_free(int id)
{
	while (spin_is_held(&lock.word))
		sleep_once(id);
}

static void unlock(int id)
{
	(void)id;
	spin_unlock(&lock);
}

/* Of another lock, or of the same: only the number of the address matters. */
static void wake_in_vain(int id)
{
	(void)id;
	spin_wake(&lock.word);
}

static void only_the_other_sleeps(void)
{
	MODEL_CHECK(lock.word == 0);
	MODEL_CHECK(spin_nr_sleepers == 1);
	MODEL_CHECK(room_of(&lock.word)->nr_sleepers == 1);
}

MODEL(a_wake_is_not_missed, .setup = setup_for_ever,
      .threads = { sleep_until_free, unlock }, .finish = only_the_other_sleeps);

MODEL(a_wake_beside_another_is_not_missed, .setup = setup_for_ever,
      .threads = { sleep_until_free, unlock, wake_in_vain },
      .finish = only_the_other_sleeps);

/* Nobody else is there.  In TSO and RA the waker may not know of the sleeper yet. */
static void setup_alone(void)
{
	setup_held();
	sleeps_for_ever = true;
}

MODEL(a_sleeper_is_seen_in_time, .setup = setup_alone,
      .threads = { sleep_until_free, unlock }, .finish = nobody_sleeps,
      .modes = MODEL_SC);
