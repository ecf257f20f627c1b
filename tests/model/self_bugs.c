/* SPDX-License-Identifier: MIT */
/*
 * self_bugs.c - the explorer finds bugs.  Each broken protocol here must be found,
 * with the right kind of failure; the repaired twin must pass.
 */
#include "explorer.h"

#include "base/atomic.h"
#include "os/clock.h"
#include "os/futex.h"

#include <errno.h>

static uint32_t flag, waiters, lock_a, lock_b;
static int woken, data;
static uint32_t *block;

static void setup(void)
{
	flag = waiters = lock_a = lock_b = 0;
	woken = data = 0;
	block = NULL;
	model_name(&flag, "flag");
	model_name(&waiters, "waiters");
	model_name(&block, "block");
}

/* ---- lost wake-up: looks, then sleeps on a word that stays the same ------- */

static void sleep_if_unset(int id)
{
	(void)id;
	while (!load_acquire(&flag)) {
		store_release(&waiters, 1);
		if (os_futex_wait(&waiters, 1, UINT64_MAX))
			return;
	}
}

static void set_and_wake_if_waiting(int id)
{
	(void)id;
	store_release(&flag, 1);
	if (load_acquire(&waiters))
		os_futex_wake(&waiters, 1);
}

MODEL(a_naive_sleeper_loses_its_wake_up, .setup = setup,
      .threads = { sleep_if_unset, set_and_wake_if_waiting },
      .expect = MODEL_LOST_WAKEUP);

static void sleep_while_unset(int id)
{
	(void)id;
	while (!load_acquire(&flag)) {
		if (os_futex_wait(&flag, 0, UINT64_MAX))
			return;
	}
}

static void set_and_wake(int id)
{
	(void)id;
	store_release(&flag, 1);
	os_futex_wake(&flag, 2);
}

MODEL(a_sleeper_on_the_flag_itself_is_woken, .setup = setup,
      .threads = { sleep_while_unset, set_and_wake, sleep_while_unset });

/* Right in SC; with store buffers both sides look before they leap. */
static void announce_and_sleep(int id)
{
	(void)id;
	store_release(&waiters, 1);
	if (load_acquire(&flag))
		return;
	while (load_acquire(&waiters)) {
		if (os_futex_wait(&waiters, 1, UINT64_MAX))
			return;
	}
}

static void set_and_look(int id)
{
	(void)id;
	store_release(&flag, 1);
	if (load_acquire(&waiters)) {
		store_release(&waiters, 0);
		os_futex_wake(&waiters, 1);
	}
}

MODEL(announcing_by_a_store_works_in_sc, .modes = MODEL_SC, .setup = setup,
      .threads = { announce_and_sleep, set_and_look });

MODEL(announcing_by_a_store_loses_wake_ups_in_tso, .modes = MODEL_TSO,
      .setup = setup, .threads = { announce_and_sleep, set_and_look },
      .expect = MODEL_LOST_WAKEUP);

/* ---- futex details ------------------------------------------------------- */

/* Sleeps, but not for ever: this scene is not about late wakers. */
static bool woken_first(void)
{
	return os_futex_wait(&flag, 0, 2000000000u) == 0 &&
	       add_relaxed(&waiters, 1) == 0;
}

static void thread_0_is_not_first(int id)
{
	if (woken_first())
		MODEL_CHECK(id != 0);
}

static void thread_1_is_not_first(int id)
{
	if (woken_first())
		MODEL_CHECK(id != 1);
}

static void wake_one(int id)
{
	(void)id;
	os_futex_wake(&flag, 1);
}

MODEL(a_wake_may_pick_the_first_sleeper, .setup = setup,
      .threads = { thread_0_is_not_first, thread_0_is_not_first, wake_one },
      .expect = MODEL_ASSERTION);

MODEL(a_wake_may_pick_the_second_sleeper, .setup = setup,
      .threads = { thread_1_is_not_first, thread_1_is_not_first, wake_one },
      .expect = MODEL_ASSERTION);

static void wait_until_deadline(int id)
{
	uint64_t before = os_now();
	int err = os_futex_wait(&flag, 0, before + 5);

	(void)id;
	if (err) {
		MODEL_CHECK(err == -ETIMEDOUT);
		MODEL_CHECK(os_now() >= before + 5);
		woken = -1;
	} else {
		woken = 1;
	}
}

static void was_woken(void)
{
	MODEL_CHECK(woken == 1);
}

static void timed_out(void)
{
	MODEL_CHECK(woken == -1);
}

MODEL(a_timed_wait_can_time_out, .setup = setup,
      .threads = { wait_until_deadline, set_and_wake }, .finish = was_woken,
      .expect = MODEL_ASSERTION);

MODEL(a_timed_wait_can_be_woken, .setup = setup,
      .threads = { wait_until_deadline, set_and_wake }, .finish = timed_out,
      .expect = MODEL_ASSERTION);

/* ---- deadlock ------------------------------------------------------------ */

static void lock(uint32_t *word)
{
	while (xchg_acquire(word, 1))
		spin_hint(word);
}

static void unlock(uint32_t *word)
{
	store_release(word, 0);
}

static void lock_both(int id)
{
	uint32_t *first = id ? &lock_b : &lock_a;
	uint32_t *second = id ? &lock_a : &lock_b;

	lock(first);
	lock(second);
	unlock(second);
	unlock(first);
}

static void lock_both_in_order(int id)
{
	(void)id;
	lock(&lock_a);
	lock(&lock_b);
	model_access(&data);
	data++;
	unlock(&lock_b);
	unlock(&lock_a);
}

MODEL(locks_in_two_orders_deadlock, .setup = setup,
      .threads = { lock_both, lock_both }, .expect = MODEL_DEADLOCK);

static void setup_locks(void)
{
	setup();
	model_lock_word(&lock_a);
	model_lock_word(&lock_b);
}

MODEL(declared_locks_in_two_orders_deadlock, .setup = setup_locks,
      .threads = { lock_both, lock_both }, .expect = MODEL_DEADLOCK);

static void counted_all(void)
{
	MODEL_CHECK(data == 3);
}

MODEL(locks_in_one_order_do_not, .setup = setup,
      .threads = { lock_both_in_order, lock_both_in_order, lock_both_in_order },
      .finish = counted_all);

MODEL(declared_locks_in_one_order_do_not, .setup = setup_locks,
      .threads = { lock_both_in_order, lock_both_in_order, lock_both_in_order },
      .finish = counted_all);

/* Reads and writes under two different locks. */
static void count_under_own_lock(int id)
{
	uint32_t *mine = id ? &lock_b : &lock_a;
	int old;

	lock(mine);
	model_access(&data);
	old = data;
	model_access(&data);
	data = old + 1;
	unlock(mine);
}

static void counted_both(void)
{
	MODEL_CHECK(data == 2);
}

MODEL(two_locks_do_not_protect_one_counter, .modes = MODEL_SC | MODEL_TSO,
      .setup = setup_locks,
      .threads = { count_under_own_lock, count_under_own_lock },
      .finish = counted_both, .expect = MODEL_ASSERTION);

/* ---- livelock ------------------------------------------------------------ */

static void spin_undeclared(int id)
{
	(void)id;
	while (!load_acquire(&flag))
		;
}

MODEL(an_endless_loop_is_cut, .setup = setup, .threads = { spin_undeclared },
      .expect = MODEL_LIVELOCK);

/* ---- memory -------------------------------------------------------------- */

static void allocate(int id)
{
	uint32_t *old;

	(void)id;
	old = xchg_acq_rel(&block, (uint32_t *)model_alloc(sizeof(*block)));
	model_free(old);
}

/* Forgets the memory that was replaced. */
static void allocate_carelessly(int id)
{
	(void)id;
	if (!load_acquire(&block))
		store_release(&block, (uint32_t *)model_alloc(4));
}

static void free_block(void)
{
	model_free(block);
}

MODEL(an_exchanged_block_is_not_leaked, .setup = setup,
      .threads = { allocate, allocate, allocate }, .finish = free_block);

MODEL(an_overwritten_block_is_a_leak, .setup = setup,
      .threads = { allocate_carelessly, allocate_carelessly },
      .finish = free_block, .expect = MODEL_LEAK);

static void allocate_and_free(int id)
{
	uint32_t *mine = model_alloc(sizeof(*mine));

	(void)id;
	store_release(&block, mine);
	store_release(&block, (uint32_t *)NULL);
	model_free(mine);
}

static void use(int id)
{
	uint32_t *theirs = load_acquire(&block);

	(void)id;
	if (theirs)
		store_relaxed(theirs, 1);
}

MODEL(use_after_free_is_found, .modes = MODEL_SC | MODEL_TSO, .setup = setup,
      .threads = { allocate_and_free, use }, .expect = MODEL_USE_AFTER_FREE);

/* A word on the stack of a thread that returns before it is used. */
static uint32_t *lent;

static noinline void lend(void)
{
	uint32_t mine = 0;

	store_release(&lent, &mine);
	(void)load_acquire(&mine);
}

static void lend_a_frame(int id)
{
	(void)id;
	lend();
	store_release(&flag, 1);
}

static void use_the_frame(int id)
{
	(void)id;
	while (!load_acquire(&flag))
		spin_hint(&flag);
	store_release(load_acquire(&lent), 1);
}

MODEL(use_of_a_dead_frame_is_found, .setup = setup,
      .threads = { lend_a_frame, use_the_frame },
      .expect = MODEL_USE_AFTER_FREE);

static void follow(int id)
{
	(void)id;
	if (load_acquire(&flag))
		*(volatile int *)(uintptr_t)load_relaxed(&block) = 1;
}

MODEL(a_crash_is_a_failure, .setup = setup, .threads = { follow, set_and_wake },
      .expect = MODEL_CRASH);

/* ---- a declared lock that a thread only tries ------------------------------ */

static void setup_lock(void)
{
	setup();
	model_lock_word(&flag);
}

static void take_and_release(int id)
{
	(void)id;
	while (xchg_acquire(&flag, 1))
		spin_hint(&flag);
	store_release(&flag, 0);
}

static void try_by_cas(int id)
{
	uint32_t free = 0;

	(void)id;
	MODEL_CHECK(cas_acquire(&flag, &free, 1));
	store_release(&flag, 0);
}

MODEL(a_try_may_come_while_it_is_held, .setup = setup_lock,
      .threads = { take_and_release, try_by_cas }, .expect = MODEL_ASSERTION);

/* ---- a model that is wrong itself ---------------------------------------- */

static int never_reset;

static void depends_on_the_past(int id)
{
	(void)id;
	store_release(never_reset++ % 3 ? &flag : &waiters, 1);
	(void)load_acquire(&flag);
}

MODEL(state_that_setup_forgets_is_found, .modes = MODEL_SC | MODEL_TSO,
      .setup = setup, .threads = { depends_on_the_past, depends_on_the_past },
      .expect = MODEL_UNSTABLE);
