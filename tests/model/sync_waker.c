/* SPDX-License-Identifier: MIT */
/*
 * sync_waker.c - src/core/task/slot.c, src/sync/key.c and src/sync/waker.c with
 * plain threads and with tasks: waiter and waker meet in either order (R-U1),
 * numbers go stale in time, and a task does not end while a waker that found the
 * task by number touches the task.
 *
 * The waker writes plain memory before the wake, and the woken task reads this
 * memory.  The last model is the map that loses a wake-up: look, and then insert.
 * That model must fail, in the window that the other models do not have.
 *
 * Complete for one or two waiters, one or two wakes, the end of a key or of a task
 * against both, and a deadline, a cancel or both for a waiter.  The models could
 * miss mistakes that take two slots, as the list of free slots when two end at once,
 * or a new chunk of slots.
 */
#include "tasks_only.h"

#include "core/sched/place.h"
#include "core/wait/loan.h"
#include "core/task/slot.h"
#include "os/map.h"

#include <string.h>

static struct slot chunk[SLOT_CHUNK_FIRST];
static uint64_t key, next_key;
static int payload; /* written by the waker */
static struct ledger {
	int got, gone, gave_up;         /* counted by waiters */
	int woken, remembered, refused; /* counted by wakers  */
} ledger;

/* The first chunk is enough, and is mapped already; but see setup_unmapped(). */
void *os_map(size_t size)
{
	return size <= sizeof(chunk) ? memset(chunk, 0, size) : NULL;
}

void os_unmap(void *memory, size_t size)
{
	(void)memory;
	(void)size;
}

static void setup_with(enum tasks_flags flags)
{
	tasks_setup(flags);
	memset(chunk, 0, sizeof(chunk));
	sley__slots = (struct slots){ .chunk = { chunk } };
	sley__runqs = (struct runqs){ 0 };
	sley__level_changes.nr = 0;
	model_lock_word(&sley__runqs.lock.word);
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	payload = 0;
	next_key = 0;
	MODEL_CHECK(sley_key_create(&key) == 0);
	model_lock_word(&sley__slots.lock.word);
	model_lock_word(&chunk[0].q.word);
	model_name(&sley__slots.lock.word, "slots");
	model_name(&chunk[0].q.word, "slot0");
}

static void setup(void)
{
	setup_with(0);
}

static void setup_timed(void)
{
	setup_with(TASKS_TIMED);
}

static void note(int result)
{
	bool gone = result == -ESRCH || result == -EIDRM;

	ledger.got += result == 0;
	ledger.gone += gone;
	ledger.gave_up += result == -ETIMEDOUT || result == -ECANCELED;
	MODEL_CHECK(result == 0 || gone || result == -ETIMEDOUT ||
		    result == -ECANCELED);
}

static void wait_for_key(int id)
{
	(void)id;
	note(sley_key_wait(key));
}

/* There is a waker, and the key is not ended. */
static void wait_and_read(int id)
{
	wait_for_key(id);
	MODEL_CHECK(payload == 7);
}

static void wait_for_key_soon(int id)
{
	(void)id;
	note(sley_key_wait_until(key, LATER));
}

static void wake(int id)
{
	int result = sley_key_wake(key);

	(void)id;
	ledger.woken += result == 1;
	ledger.remembered += result == 0;
	ledger.refused += result == -ESRCH;
}

static void write_and_wake(int id)
{
	payload = 7;
	wake(id);
}

static void wake_twice(int id)
{
	wake(id);
	wake(id);
}

static void destroy(int id)
{
	(void)id;
	MODEL_CHECK(sley_key_destroy(key) == 0);
}

static void destroy_and_use_again(int id)
{
	destroy(id);
	MODEL_CHECK(sley_key_create(&next_key) == 0);
}

static bool is_signalled(void)
{
	return chunk[0].q.word & SLOT_SIGNALLED;
}

static void all_is_quiet(void)
{
	MODEL_CHECK(!chunk[0].q.first);
	MODEL_CHECK(!(chunk[0].q.word & WAITQ_LOCK));
}

static void one_wake_one_waiter(void)
{
	all_is_quiet();
	MODEL_CHECK(ledger.got == 1 && ledger.woken + ledger.remembered == 1);
	MODEL_CHECK(!is_signalled());
}

static void one_wake_is_used_or_kept(void)
{
	all_is_quiet();
	MODEL_CHECK(ledger.got + is_signalled() == 1);
}

/* Each wake is used, kept, or absorbed by the kept wake. */
static void no_wake_is_used_twice(void)
{
	all_is_quiet();
	MODEL_CHECK(ledger.woken + ledger.remembered == 2);
	MODEL_CHECK(ledger.got + is_signalled() >= 1);
	MODEL_CHECK(ledger.got + is_signalled() <= 2);
	MODEL_CHECK(ledger.got >= ledger.woken);
}

static void waiter_is_not_forgotten(void)
{
	all_is_quiet();
	MODEL_CHECK(ledger.got + ledger.gone == 1);
	MODEL_CHECK(sley_key_wake(key) == -ESRCH);
}

/* A wake for the old key has not come to the new key. */
static void new_key_is_clean(void)
{
	all_is_quiet();
	MODEL_CHECK(ledger.woken + ledger.remembered + ledger.refused == 1);
	MODEL_CHECK((uint32_t)next_key == (uint32_t)key && next_key != key);
	MODEL_CHECK(!is_signalled());
	MODEL_CHECK(sley_key_wake(next_key) == 0);
	MODEL_CHECK(slots_nr_live() == 1);
}

MODEL(either_side_may_come_first, .setup = setup,
      .threads = { wait_and_read, write_and_wake },
      .finish = one_wake_one_waiter);

MODEL(a_wake_is_not_lost_to_one_who_gives_up, .setup = setup,
      .threads = { wait_for_key_soon, wait_for_key_soon, wake },
      .finish = one_wake_is_used_or_kept);

MODEL(two_wakes_and_two_waiters, .setup = setup,
      .threads = { wait_for_key_soon, wait_for_key_soon, wake_twice },
      .finish = no_wake_is_used_twice);

MODEL(waiters_of_a_key_that_is_destroyed_return, .setup = setup,
      .threads = { wait_for_key, wake, destroy },
      .finish = waiter_is_not_forgotten);

MODEL(a_stale_wake_does_not_hit_the_next_tenant, .setup = setup,
      .threads = { destroy_and_use_again, wake, wait_for_key_soon },
      .finish = new_key_is_clean);

/* ---- the first chunk is made ------------------------------------------------------- */

static void setup_unmapped(void)
{
	setup();
	sley__slots = (struct slots){ 0 };
}

static void create(int id)
{
	(void)id;
	MODEL_CHECK(sley_key_create(&next_key) == 0);
}

/* A guessed number, or an old number: the number may be in use, or not. */
static void wake_by_guess(int id)
{
	int result = sley_key_wake(1ull << 32);

	(void)id;
	MODEL_CHECK(result == 0 || result == -ESRCH);
	ledger.remembered += result == 0;
}

static void first_key_is_there(void)
{
	all_is_quiet();
	MODEL_CHECK(next_key == 1ull << 32 && slots_nr_live() == 1);
	MODEL_CHECK(is_signalled() == (ledger.remembered == 1));
}

MODEL(who_finds_a_new_slot_finds_it_clean, .setup = setup_unmapped,
      .threads = { create, wake_by_guess }, .finish = first_key_is_there);

/* ---- tasks wait for a key -------------------------------------------------------- */

static void task_wait_and_read(int id)
{
	task_begin(id);
	wait_and_read(id);
}

static void task_wait_for_key(int id)
{
	task_begin(id);
	wait_for_key(id);
}

static void task_wait_for_key_soon(int id)
{
	task_begin(id);
	wait_for_key_soon(id);
}

static void task_write_and_wake(int id)
{
	task_begin(id);
	write_and_wake(id);
}

static void task_wake(int id)
{
	task_begin(id);
	wake(id);
}

static void task_destroy(int id)
{
	task_begin(id);
	destroy(id);
}

static void cancel_first(int id)
{
	task_begin(id);
	task_end_wait(0);
}

static void told_of_the_end_or_cancelled(void)
{
	all_is_quiet();
	MODEL_CHECK(ledger.gone + ledger.gave_up == 1);
}

MODEL(a_task_waits_and_a_task_wakes, .setup = setup,
      .threads = { task_wait_and_read, task_write_and_wake },
      .finish = one_wake_one_waiter);

MODEL(a_wake_is_not_lost_to_a_cancelled_task, .setup = setup,
      .threads = { task_wait_for_key, task_wake, cancel_first },
      .finish = one_wake_is_used_or_kept);

MODEL(wake_and_deadline_and_cancel, .setup = setup_timed,
      .threads = { task_wait_for_key_soon, task_wake, cancel_first },
      .finish = one_wake_is_used_or_kept);

MODEL(the_end_of_a_key_and_a_cancel, .setup = setup,
      .threads = { task_wait_for_key, task_destroy, cancel_first },
      .finish = told_of_the_end_or_cancelled);

/* ---- a task is suspended ------------------------------------------------------------ */

/* Thread 0 is a task that has asked for its waker. */
static void setup_suspend_with(enum tasks_flags flags)
{
	struct strand *strand = &task_threads[0].strand;
	struct sley_waker waker;

	setup_with(flags);
	sley__levels_differ.yes = 0;
	MODEL_CHECK(sley_key_destroy(key) == 0);
	sley__self.worker = &task_threads[0].worker;
	MODEL_CHECK(sley_waker_self(&waker) == 0);
	sley__self.worker = NULL;
	key = waker.id;
	MODEL_CHECK(strand->cleanups && sley_nr_wakers() == 1);
}

static void setup_suspend(void)
{
	setup_suspend_with(0);
}

static void setup_suspend_timed(void)
{
	setup_suspend_with(TASKS_TIMED);
}

static void suspend(int id)
{
	task_begin(id);
	note(sley_suspend());
}

static void suspend_and_read(int id)
{
	suspend(id);
	MODEL_CHECK(payload == 7);
}

/* And ends: the number means nothing from then on. */
static void suspend_and_end(int id)
{
	suspend(id);
	cleanups_run(&task_threads[0].strand.cleanups);
}

static void suspend_soon(int id)
{
	task_begin(id);
	note(sley_suspend_until(LATER));
}

static void wake_by_id(int id)
{
	task_begin(id);
	payload = 7;
	MODEL_CHECK(sley_wake_id(key) == 0);
}

/* After the end the waker is told so; before the end it has woken the task. */
static void wake_late(int id)
{
	int result;

	task_begin(id);
	result = sley_wake_id(key);
	MODEL_CHECK(result == 0 || result == -ESRCH);
	ledger.refused += result != 0;
}

/* All tasks have their own levels: src/core/wait/loan.c has nothing to do. */
void loan_set_level(struct sley_task *task, unsigned int level)
{
	place_set_level(task, level);
}

static void set_level(int id)
{
	int result;

	task_begin(id);
	result = sley_set_priority_id(key, 1);
	MODEL_CHECK(result == 0 || result == -ESRCH);
	ledger.refused += result != 0;
}

static void resumed(void)
{
	all_is_quiet();
	MODEL_CHECK(ledger.got == 1 && !is_signalled());
}

static void resumed_or_kept(void)
{
	all_is_quiet();
	MODEL_CHECK(ledger.got + ledger.gave_up == 1);
	MODEL_CHECK(ledger.got + is_signalled() == 1);
}

static void ended(void)
{
	all_is_quiet();
	MODEL_CHECK(ledger.got == 1 && ledger.refused <= 1);
	MODEL_CHECK(sley_nr_wakers() == 0);
	MODEL_CHECK(sley_wake_id(key) == -ESRCH && !is_signalled());
}

MODEL(a_wake_before_the_suspend_is_kept, .setup = setup_suspend,
      .threads = { suspend_and_read, wake_by_id }, .finish = resumed);

MODEL(a_suspended_task_is_woken_or_cancelled, .setup = setup_suspend,
      .threads = { suspend, wake_by_id, cancel_first },
      .finish = resumed_or_kept);

MODEL(wake_and_deadline_and_cancel_of_a_suspend, .setup = setup_suspend_timed,
      .threads = { suspend_soon, wake_by_id, cancel_first },
      .finish = resumed_or_kept);

MODEL(a_wake_at_the_end_hits_nobody, .setup = setup_suspend,
      .threads = { suspend_and_end, wake_late, wake_late }, .finish = ended);

MODEL(a_level_is_set_at_the_end, .setup = setup_suspend,
      .threads = { suspend_and_end, wake_by_id, set_level }, .finish = ended);

/* ---- the end of a task ------------------------------------------------------- */

static struct sley_task *task;
static struct slot *slot;

static void setup_task(void)
{
	setup();
	MODEL_CHECK(sley_key_destroy(key) == 0);
	task = model_alloc(sizeof(*task));
	task_build_running(task, 0, 0);
	MODEL_CHECK(slot_create(task, &slot) == 0);
	key = slot_id(slot);
	model_name(&task->flags, "task->flags");
}

static void end_task(int id)
{
	(void)id;
	slot_lock(slot);
	slot_destroy(slot);
	model_free(task);
}

static void change_priority(int id)
{
	struct slot *found = slot_lock_waker(key);

	(void)id;
	if (!found)
		return;
	place_set_level(found->task, 3);
	slot_unlock(found);
}

static void wake_task(int id)
{
	struct slot *found = slot_lock_waker(key);

	(void)id;
	if (found)
		MODEL_CHECK(!slot_wake(found));
}

static void task_is_gone(void)
{
	MODEL_CHECK(slots_nr_live() == 0);
	MODEL_CHECK(!is_signalled());
}

MODEL(a_task_does_not_end_under_who_found_it, .setup = setup_task,
      .threads = { end_task, change_priority, wake_task },
      .finish = task_is_gone);

/* ---- the map that loses a wake-up ----------------------------------------------- */

static uint32_t happened;
static struct sley_waitq map; /* the waiter's entry, or none */

static void setup_naive(void)
{
	happened = 0;
	map = (struct sley_waitq){ 0 };
	model_lock_word(&map.word);
	model_name(&map.word, "map");
	model_name(&happened, "happened");
}

static void naive_wait(int id)
{
	struct sley_waiter node;

	(void)id;
	if (load_acquire(&happened))
		return;
	(void)waitq_lock(&map);
	MODEL_CHECK(waitq_wait(&map, &node, UINT64_MAX, 0) == 0);
}

/* No entry: the wake is left out, since the waiter will see `happened`. */
static void naive_wake(int id)
{
	struct waitq_woken first;

	(void)id;
	store_release(&happened, 1);
	(void)waitq_lock(&map);
	first = waitq_wake_first(&map);
	waitq_unlock(&map);
	if (first.task)
		task_enqueue(first.task);
}

MODEL(a_map_that_looks_before_it_inserts_loses_a_wake, .setup = setup_naive,
      .threads = { naive_wait, naive_wake }, .expect = MODEL_LOST_WAKEUP);
